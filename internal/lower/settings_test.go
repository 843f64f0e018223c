package lower

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// A settingsCase is a request with settings, and what becomes of them.
type settingsCase struct {
	name   string
	target func(t *Target)
	from   upstream.Request
	to     func(r *Request) // changes that lowering makes in a request that equals from
	losses []Loss
	errors string // a part of the text of the error
}

// testSettings lowers the requests of cases, and lowers the results again: that changes
// nothing and reports only what holds for the target.
func testSettings(t *testing.T, cases []settingsCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.from.Turns == nil {
				c.from.Turns = []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}}
			}
			target := with(c.target)
			got, losses, err := Lower(&c.from, target, false)
			if c.errors != "" {
				if err == nil || !strings.Contains(err.Error(), c.errors) {
					t.Errorf("error %v, want one with %q", err, c.errors)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			want := &Request{Request: c.from}
			if c.to != nil {
				c.to(want)
			}
			want.Defaults.Format = target.Format
			same := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Request{})}
			if diff := cmp.Diff(want, got, same); diff != "" {
				t.Errorf("the request (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(settingsReports(c.losses), settingsReports(each(losses))); diff != "" {
				t.Errorf("the losses (-want +got):\n%s", diff)
			}
			if err != nil {
				return
			}
			again, more, err := Lower(&got.Request, target, false)
			if err != nil {
				t.Fatal(err)
			}
			got.Cut, again.Cut = nil, nil // the request does not have them any more
			if diff := cmp.Diff(got, again, same); diff != "" {
				t.Errorf("the request, lowered again (-first +second):\n%s", diff)
			}
			if more = slices.DeleteFunc(more, func(x Report) bool { return x.Rule.Always }); len(more) > 0 {
				t.Errorf("lowering again loses %v", Losses(more))
			}
		})
	}
}

func settingsReports(list []Loss) []string {
	var texts []string
	for _, x := range losses(list) {
		texts = append(texts, x.String())
	}
	return texts
}

// losses returns a list as hosts would get it if each place had a loss of its own.
func losses(list []Loss) (all []content.Loss) {
	for _, x := range list {
		all = append(all, x.Rule.At(x.Path.String()))
	}
	return all
}

// each returns the places of reports, in their order.
func each(reports []Report) (list []Loss) {
	for _, r := range reports {
		for _, at := range r.Paths {
			list = append(list, Loss{Rule: r.Rule, Path: at})
		}
	}
	slices.SortStableFunc(list, func(a, b Loss) int { return a.Path.compare(&b.Path) })
	return list
}

func lost(r *loss.Rule, path string) Loss { return Loss{Rule: r, Path: At(path)} }

func toolLost(r *loss.Rule, i int, member string) Loss {
	return Loss{Rule: r, Path: In(Tools, i).Member(member)}
}

func value[T any](v T) *T { return &v }

func TestMembers(t *testing.T) {
	replaced := func(t *Target) {
		t.Members = MemberRules{Fields: []string{"a", "off", "list", "o"}, Merged: []Merged{{"o", '{', []string{"x"}}, {"list", '[', nil}}}
	}
	members := func(f content.Format, json string) upstream.Request {
		return upstream.Request{Extra: &content.Extra{Format: f, JSON: json}}
	}
	header := []upstream.HeaderField{{Name: "Anthropic-Version", Value: "1"}, {Name: "X-A", Value: "b"}}
	testSettings(t, []settingsCase{
		{name: "own", target: replaced, from: members(own, `{"b":1,"list":[1],"o":{"y":1}}`)},
		{
			name: "own, replaced by fields", target: replaced, from: members(own, `{"a":1,"off":false,"b":2,"o":{"x":1,"y":2},"list":3}`),
			to:     func(r *Request) { r.Extra = &content.Extra{Format: own, JSON: `{"b":2,"o":{"y":2}}`} },
			losses: []Loss{lost(MemberReplaced, "extra.a"), lost(MemberReplaced, "extra.o.x"), lost(MemberReplaced, "extra.list")},
		},
		{
			name: "own, not valid", target: replaced, from: members(own, `{`),
			to: func(r *Request) { r.Extra = nil }, errors: "must be valid JSON",
		},
		{
			name: "own, not an object", target: replaced, from: members(own, `[{"a":1}]`),
			to: func(r *Request) { r.Extra = nil }, errors: "extra: the extra members must be a JSON object",
		},
		{
			name: "of another format", target: replaced, from: members(other, `{"a":1}`),
			to: func(r *Request) { r.Extra = nil }, losses: []Loss{lost(foreign.UnknownLoss, "extra.a")},
		},
		{
			name: "state at another vendor", target: replaced, from: members("messages", `{"thread":{"mode":"continue"}}`),
			to: func(r *Request) { r.Extra = nil }, losses: []Loss{lost(foreign.StateLoss, "extra.thread")}, errors: "extra.thread",
		},
		{
			name: "headers of another format", target: replaced, from: upstream.Request{Header: header},
			to: func(r *Request) { r.Header = nil }, losses: []Loss{lost(HeaderNotSent, "headers.x-a")},
		},
		{name: "own headers", target: func(t *Target) { t.Members.Headers = true }, from: upstream.Request{Header: header}},
		{
			name: "no usage", target: func(t *Target) { t.Members.NoUsage = true }, from: upstream.Request{Stream: true},
			losses: []Loss{lost(UsageNotSent, "stream")},
		},
		{
			name: "log probabilities", from: members("generatecontent", `{"generationConfig":{"responseLogprobs":true,"logprobs":2}}`),
			target: func(t *Target) {
				t.Sampling.Logprobs = func(top int64) string { return fmt.Sprintf(`{"top":%d}`, top) }
			},
			to: func(r *Request) { r.Extra = &content.Extra{Format: own, JSON: `{"top":2}`} },
		},
		{
			name: "no log probabilities", target: func(*Target) {}, from: members("openai-responses", `{"include":["message.output_text.logprobs"],"top_logprobs":3}`),
			to:     func(r *Request) { r.Extra = nil },
			losses: []Loss{lost(foreign.MembersLoss, "extra.include"), lost(foreign.SettingLoss, "extra.top_logprobs")},
		},
	})
}

func TestTools(t *testing.T) {
	function := content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}
	search := content.Tool{Name: "find", Kind: "web_1", Format: other, Raw: `{"type":"web_1"}`}
	with := func(change func(*content.Tool)) upstream.Request {
		f := function
		change(&f)
		return upstream.Request{Tools: []content.Tool{f}}
	}
	plainTool := func(r *Request) { r.Tools = []content.Tool{function} }
	vendor := func(t *Target) {
		t.Tools.Vendor = func(t *content.Tool) (content.Tool, []MemberLoss) {
			if !strings.HasPrefix(t.Kind, "web") {
				return content.Tool{}, nil
			}
			return content.Tool{Name: "search", Kind: "search", Format: own, Raw: "{}"}, []MemberLoss{{"setting", foreign.ToolSettings}}
		}
		t.Choice.Lists = true
	}
	mapped := content.Tool{Name: "search", Kind: "search", Format: own, Raw: "{}"}
	testSettings(t, []settingsCase{
		{name: "plain", target: func(t *Target) {}, from: upstream.Request{Tools: []content.Tool{function}}},
		{
			name: "what functions may not have", target: func(t *Target) { t.Tools.Description, t.Own = 3, Own{} },
			from: with(func(f *content.Tool) {
				f.Description, f.Strict, f.Cache = "éüöabc", new(true), &content.Cache{}
				f.Output, f.Extra = content.Schema{JSON: "{}"}, &content.Extra{Format: own, JSON: `{"x":1}`}
			}),
			to: func(r *Request) { plainTool(r); r.Tools[0].Description = "éüö" },
			losses: []Loss{
				toolLost(OwnMembers, 0, "extra"), toolLost(ToolCache, 0, "cache"), toolLost(ToolDescription, 0, "description"),
				toolLost(ToolStrict, 0, "strict"), toolLost(ToolOutput, 0, "output"),
			},
		},
		{
			name: "what functions may have", from: with(func(f *content.Tool) {
				f.Strict, f.Cache, f.Output = new(true), &content.Cache{}, content.Schema{JSON: "{}"}
				f.Extra = &content.Extra{Format: own, JSON: `{"x":1}`}
			}),
			target: func(t *Target) {
				t.Tools = ToolRules{Schema: schema.JSONSchema, StrictSchema: schema.JSONSchema, Strict: StrictAlways, Marks: true, Results: true}
			},
		},
		{
			name: "not strict by default", target: func(t *Target) { t.Format, t.Tools.StrictDefault = "t", true }, from: with(func(*content.Tool) {}),
			to: func(r *Request) {
				plainTool(r)
				r.Tools[0].Strict, r.Defaults.Format = new(false), "t"
			},
		},
		{
			name: "strict if equal", target: func(t *Target) { t.Tools.Strict, t.Tools.StrictSchema = StrictEqual, schema.OpenAIStrict },
			from: with(func(f *content.Tool) {
				f.Strict, f.Input.JSON = new(true), `{"type":"object","properties":{"a":{"type":"string"}}}`
			}),
			to: func(r *Request) {
				plainTool(r)
				r.Tools[0].Input.JSON, r.Tools[0].Strict = `{"type":"object","properties":{"a":{"type":"string"}}}`, new(false)
			},
			losses: []Loss{toolLost(ToolStrict, 0, "input")},
		},
		{
			name: "without a schema", target: func(t *Target) {}, from: with(func(f *content.Tool) { f.Input = content.Schema{} }),
			to: plainTool,
		},
		{
			name: "without a schema that is needed", target: func(t *Target) { t.Tools.KeepsSchema = true },
			from: with(func(f *content.Tool) { f.Input = content.Schema{} }),
		},
		{
			name: "unknown vendor's tool", target: vendor,
			from:   upstream.Request{Tools: []content.Tool{{Kind: "odd", Format: other, Raw: "{}"}, function}},
			to:     plainTool,
			losses: []Loss{toolLost(ToolVendor, 0, "")},
		},
		{
			name: "replaced once", target: vendor, from: upstream.Request{Tools: []content.Tool{search, function, search}},
			to:     func(r *Request) { r.Tools = []content.Tool{mapped, function} },
			losses: []Loss{toolLost(ToolMapped, 0, ""), toolLost(foreign.ToolSettings, 0, "setting"), toolLost(ToolTwice, 2, "")},
		},
		{
			name: "has it already", target: vendor, from: upstream.Request{Tools: []content.Tool{search, mapped}},
			to:     func(r *Request) { r.Tools = []content.Tool{mapped} },
			losses: []Loss{toolLost(ToolTwice, 0, "")},
		},
		{
			name: "name of a function", target: func(t *Target) { vendor(t); t.Tools.VendorNames = true },
			from:   upstream.Request{Tools: []content.Tool{search, {Name: "search", Input: function.Input}}},
			to:     func(r *Request) { r.Tools = []content.Tool{{Name: "search", Input: function.Input}} },
			losses: []Loss{toolLost(ToolNameTaken, 0, "")},
		},
		{
			name: "not beside functions", target: func(t *Target) { vendor(t); t.Tools.VendorAlone = true },
			from: upstream.Request{Tools: []content.Tool{search, function}}, to: plainTool,
			losses: []Loss{toolLost(ToolWithOthers, 0, "")},
		},
		{
			name: "after functions, with a member", from: upstream.Request{Tools: []content.Tool{search, function}},
			target: func(t *Target) {
				vendor(t)
				t.Tools.VendorFree, t.Tools.VendorMember = true, func(string) string { return `{"a":{"b":true}}` }
			},
			to: func(r *Request) {
				r.Tools = []content.Tool{function, mapped}
				r.Extra = &content.Extra{Format: own, JSON: `{"a":{"b":true}}`}
			},
			losses: []Loss{toolLost(ToolMapped, 0, ""), toolLost(foreign.ToolSettings, 0, "setting")},
		},
		{
			name: "own, not valid", target: vendor, from: upstream.Request{Tools: []content.Tool{{Kind: "k", Format: own, Raw: "1"}, function}},
			to: plainTool, errors: "must be a JSON object",
		},
		{
			name: "calls of unknown tools", target: func(t *Target) { t.Tools.DeclareCalls, t.Tools.KeepsSchema = true, true },
			from: upstream.Request{Turns: []content.Turn{
				{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a"}}},
				{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "1", Name: "g", Input: "{}"}}},
				{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1", Name: "g", Parts: []content.Part{&content.Text{Text: "b"}}}}},
			}},
			to: func(r *Request) {
				r.Tools, r.Choice.Mode = []content.Tool{{Name: "g"}}, content.ChoiceNone
			},
			losses: []Loss{lost(ToolUndeclared, "tools")},
		},
	})
}

func TestChoice(t *testing.T) {
	input := content.Schema{JSON: `{"type":"object","properties":{}}`}
	tools := []content.Tool{{Name: "f", Input: input}, {Name: "g", Input: input}, {Name: "h", Input: input}}
	choose := func(mode content.ChoiceMode, names ...string) upstream.Request {
		return upstream.Request{Tools: tools, Choice: content.ToolChoice{Mode: mode, Names: names}}
	}
	becomes := func(mode content.ChoiceMode, names ...string) func(r *Request) {
		return func(r *Request) { r.Choice.Mode, r.Choice.Names = mode, names }
	}
	lists := func(t *Target) { t.Choice = ChoiceRules{Single: true, Lists: true, Parallel: true} }
	none := func(t *Target) {}
	byTools := func(t *Target) { t.Choice = ChoiceRules{Kind: ChoiceTools, Parallel: true} }
	functions := func(t *Target) { t.Choice.Kind = ChoiceFunctions }
	const anyTool, auto, forbid, validated = content.ChoiceAny, content.ChoiceAuto, content.ChoiceNone, content.ChoiceValidated

	search := content.Tool{Name: "find", Kind: "web", Format: other, Raw: "{}"}
	vendor := func(f func(t *Target)) func(t *Target) {
		return func(t *Target) {
			f(t)
			t.Tools.Vendor = func(t *content.Tool) (content.Tool, []MemberLoss) {
				return content.Tool{Name: "search", Kind: "search", Format: own, Raw: "{}"}, nil
			}
			t.Tools.FunctionsOnly = func(t *content.Tool) bool { return t.Kind == "web" }
		}
	}
	mapped := content.Tool{Name: "search", Kind: "search", Format: own, Raw: "{}"}
	chooseBeside := func(mode content.ChoiceMode, names ...string) upstream.Request {
		r := choose(mode, names...)
		r.Tools = []content.Tool{tools[0], tools[1], search}
		return r
	}
	becomesBeside := func(mode content.ChoiceMode, names ...string) func(r *Request) {
		return func(r *Request) {
			r.Tools = []content.Tool{tools[0], tools[1], mapped}
			becomes(mode, names...)(r)
		}
	}
	replaced := toolLost(ToolMapped, 2, "")
	testSettings(t, []settingsCase{
		{name: "one function", target: lists, from: choose(anyTool, "g")},
		{name: "two functions", target: lists, from: choose(anyTool, "g", "f")},
		{name: "all functions", target: lists, from: choose(anyTool, "g", "f", "h"), to: becomes(anyTool)},
		{
			name: "names of unknown tools", target: lists, from: choose(anyTool, "g", "x", "f", "g"), to: becomes(anyTool, "g", "f"),
			losses: []Loss{lost(ChoiceNamesSome, "choice.names")},
		},
		{
			name: "no known name", target: lists, from: choose(anyTool, "x"), to: becomes(""),
			losses: []Loss{lost(ChoiceNamesNone, "choice.names")},
		},
		{
			name: "names without lists", target: none, from: choose(anyTool, "f", "g"), to: becomes(anyTool),
			losses: []Loss{lost(ChoiceNames, "choice.names")},
		},
		{
			name: "one name that may be ignored", target: func(t *Target) { t.Choice.Single, t.Choice.Trust = true, true }, from: choose(anyTool, "f"),
			losses: []Loss{lost(ChoiceNamesTrust, "choice.names")},
		},
		{
			name: "validated", target: lists, from: choose(validated, "f"), to: becomes(auto, "f"),
			losses: []Loss{lost(ChoiceValidated, "choice.mode")},
		},
		{
			name: "unknown mode", target: lists, from: choose("odd"), to: becomes(""),
			losses: []Loss{lost(ChoiceUnknown, "choice.mode")},
		},
		{
			name: "no tools", target: lists, from: upstream.Request{Choice: content.ToolChoice{Mode: anyTool, NoParallel: true}},
			to: func(r *Request) { r.Choice = content.ToolChoice{} }, losses: []Loss{lost(ChoiceNoTools, "choice.mode")},
		},
		{
			name: "no tools, automatic", target: lists, from: upstream.Request{Choice: content.ToolChoice{Mode: auto}},
			to: func(r *Request) { r.Choice = content.ToolChoice{} },
		},
		{
			name: "parallel calls", target: none, from: upstream.Request{Tools: tools, Choice: content.ToolChoice{NoParallel: true}},
			to: func(r *Request) { r.Choice.NoParallel = false }, losses: []Loss{lost(ChoiceParallel, "choice.no_parallel")},
		},
		{
			name: "no calls, in parallel or not", target: none,
			from: upstream.Request{Tools: tools, Choice: content.ToolChoice{Mode: forbid, NoParallel: true}},
			to:   func(r *Request) { r.Choice.NoParallel = false },
		},
		{
			name: "required, of a model that only may", target: func(t *Target) { lists(t); t.Choice.Optional = true },
			from: choose(anyTool), to: becomes(auto), losses: []Loss{lost(ChoiceForced, "choice.mode")},
		},
		{
			name: "no functions, but a free tool", target: vendor(lists), from: chooseBeside(forbid), to: becomesBeside(auto, "search"),
			losses: []Loss{replaced},
		},
		{
			name: "no functions, without lists", target: vendor(none), from: chooseBeside(forbid), to: becomesBeside(forbid),
			losses: []Loss{lost(ChoiceNoBuiltIn, "choice.mode"), replaced},
		},
		{
			name: "any function beside a free tool", target: vendor(lists), from: chooseBeside(anyTool),
			to: becomesBeside(anyTool, "f", "g"), losses: []Loss{replaced},
		},

		{name: "tools: one name", target: byTools, from: choose(anyTool, "f")},
		{
			name: "tools: several names", target: byTools, from: choose(anyTool, "f", "h"),
			to: func(r *Request) {
				r.Tools = []content.Tool{tools[0], tools[2]}
				becomes(anyTool)(r)
			},
			losses: []Loss{lost(ChoiceNamesAsTools, "choice.names")},
		},
		{
			name: "tools: no functions, but a free tool", target: vendor(byTools), from: chooseBeside(forbid),
			to: func(r *Request) {
				r.Tools = []content.Tool{mapped}
				becomes(auto)(r)
			},
			losses: []Loss{lost(ChoiceNoFunctions, "choice.mode"), replaced},
		},
		{
			name: "tools: any function beside a free tool", target: vendor(byTools), from: chooseBeside(anyTool),
			to: becomesBeside(anyTool), losses: []Loss{lost(ChoiceAnyTool, "choice.mode"), replaced},
		},

		{name: "functions: names", target: functions, from: choose(validated, "f", "g")},
		{
			name: "functions: names without a mode", target: functions, from: choose(auto, "f", "x"), to: becomes(validated, "f"),
			losses: []Loss{lost(ChoiceNamesUnknown, "choice.names"), lost(ChoiceNamesValidate, "choice.names")},
		},
		{
			name: "functions: names with none", target: functions, from: choose(forbid, "f"), to: becomes(forbid),
			losses: []Loss{lost(ChoiceNamesForbids, "choice.names")},
		},
		{
			name: "functions: no known name", target: functions, from: choose(anyTool, "x"), to: becomes(""),
			losses: []Loss{lost(ChoiceNamesUnknown, "choice.names")},
		},
		{
			name: "functions: excluded tool", target: func(t *Target) { vendor(functions)(t); t.Tools.VendorFree = true },
			from: chooseBeside(validated, "f"),
			to: func(r *Request) {
				r.Tools = tools[:2]
				becomes(validated, "f")(r)
			},
		},
		{
			name: "functions: chosen tool", target: func(t *Target) { vendor(functions)(t); t.Tools.VendorFree = true },
			from: chooseBeside(anyTool, "find"), to: becomesBeside(forbid),
			losses: []Loss{lost(ChoiceBuiltIn, "choice.mode"), replaced},
		},
	})
}

func TestOutput(t *testing.T) {
	object := content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`}
	loose := content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string"}}}`}
	output := func(mediaType string, s content.Schema) upstream.Request {
		return upstream.Request{Output: upstream.Output{MediaType: mediaType, Schema: s}}
	}
	strict := func(t *Target) {
		t.Output = OutputRules{Objects: true, Schema: schema.JSONSchema, Strict: true, StrictSchema: schema.OpenAIStrict}
	}
	only := func(t *Target) { t.Output = OutputRules{AnySchema: true, Schema: schema.MessagesStrict} }
	typed := func(t *Target) {
		t.Output = OutputRules{Types: []string{jsonType, plainType}, Schema: schema.GeminiJSON, OpenAPI: true}
	}
	named := func(t *Target) {
		strict(t)
		t.Output.Names, t.Output.Verbosity = &shortNames.Name, true
	}
	text := func(r *Request) { r.Output = upstream.Output{} }
	anyObject := func(r *Request) {
		r.Output, r.Object = upstream.Output{MediaType: jsonType}, true
		r.System = []content.Part{&content.Text{Text: "Answer in JSON."}}
	}
	enum := func(r *Request) {
		text(r)
		r.System = []content.Part{&content.Text{Text: "Answer with one of these lines and nothing else:\na\nb"}}
	}
	values := content.Schema{JSON: `{"type":"string","enum":["a","b"]}`}
	testSettings(t, []settingsCase{
		{name: "strict", target: strict, from: output("", object), to: func(r *Request) { r.Output.Strict = new(true) }},
		{
			name: "not strict by choice", target: strict,
			from: upstream.Request{Output: upstream.Output{Schema: object, Strict: new(false)}},
		},
		{
			name: "name, description and verbosity", target: named,
			from: upstream.Request{Output: upstream.Output{Schema: object, Name: "plan", Description: "A plan.", Verbosity: "low"}},
			to:   func(r *Request) { r.Output.Strict = new(true) },
		},
		{
			name: "invalid name", target: named, from: upstream.Request{Output: upstream.Output{Schema: object, Name: "a plan"}},
			to:     func(r *Request) { r.Output.Strict, r.Output.Name = new(true), shortNames.Name.convert("a plan", 0) },
			losses: []Loss{lost(OutputName, "output.name")},
		},
		{
			name: "name and description without a schema", target: named,
			from: upstream.Request{Output: upstream.Output{MediaType: plainType, Name: "plan", Description: "A plan."}}, to: text,
			losses: []Loss{lost(OutputName, "output.name"), lost(OutputDescription, "output.description")},
		},
		{
			name: "neither name, description nor verbosity", target: strict,
			from:   upstream.Request{Output: upstream.Output{Schema: object, Name: "plan", Description: "A plan.", Verbosity: "low"}},
			to:     func(r *Request) { r.Output = upstream.Output{Schema: object, Strict: new(true)} },
			losses: []Loss{lost(OutputVerbosity, "output.verbosity"), lost(OutputName, "output.name"), lost(OutputDescription, "output.description")},
		},
		{
			name: "not strict by default", target: strict,
			from: upstream.Request{Output: upstream.Output{Schema: object}, Defaults: upstream.Defaults{LooseOutput: true}},
		},
		{name: "not strict", target: strict, from: output(jsonType, loose), to: func(r *Request) { r.Output.Strict = new(false) }, losses: []Loss{lost(OutputStrict, "output.schema")}},
		{
			name: "any object", target: strict, from: output(jsonType, content.Schema{}), to: anyObject,
			losses: []Loss{lost(OutputObject, "output.media_type")},
		},
		{
			name: "any object, of which the prompt speaks", target: strict,
			from:   upstream.Request{Output: upstream.Output{MediaType: jsonType}, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "As JSON."}}}}},
			to:     func(r *Request) { r.Output, r.Object = upstream.Output{MediaType: jsonType}, true },
			losses: []Loss{lost(OutputOnlyObject, "output.media_type")},
		},
		{
			name: "no value", target: strict, from: output("", content.Schema{JSON: " false"}), to: anyObject,
			losses: []Loss{lost(OutputUnsatisfiable, "output.schema"), lost(OutputObject, "output.media_type")},
		},
		{name: "plain text", target: strict, from: output(plainType, content.Schema{}), to: text},
		{
			name: "values", target: strict, from: output("text/x.enum", values), to: enum,
			losses: []Loss{lost(OutputEnum, "output.media_type")},
		},
		{
			name: "unknown type", target: strict, from: output("a/b", object), to: text,
			losses: []Loss{lost(OutputType, "output.media_type")},
		},
		{
			name: "JSON without a schema", target: only, from: output(jsonType, content.Schema{}),
			to: func(r *Request) {
				text(r)
				r.System = []content.Part{&content.Text{Text: "Answer in JSON."}}
			},
			losses: []Loss{lost(OutputNoJSON, "output.media_type")},
		},
		{
			name: "any value", target: only, from: output(jsonType, content.Schema{JSON: "true"}),
			to:     func(r *Request) { r.Output.Schema.JSON = "{}" },
			losses: []Loss{lost(OutputSchema, "output.schema")},
		},
		{
			name: "own schema", from: output(jsonType, content.Schema{JSON: "true"}),
			target: func(t *Target) {
				only(t)
				t.Output.OwnSchema = func(x *content.Extra, o *upstream.Output) bool { return o.Schema.JSON == "true" }
			},
		},
		{name: "typed", target: typed, from: output(jsonType, loose)},
		{
			name: "schema without a type", target: typed, from: output("", loose),
			to: func(r *Request) { r.Output.MediaType = jsonType }, losses: []Loss{lost(OutputTypeAdded, "output.media_type")},
		},
		{
			name: "unknown type of several", target: typed, from: output("a/b", content.Schema{}), to: text,
			losses: []Loss{lost(OutputType, "output.media_type")},
		},
		{
			name: "JSON or functions", target: func(t *Target) { typed(t); t.Output.NoTools = true },
			from: upstream.Request{
				Output: upstream.Output{MediaType: jsonType, Schema: loose},
				Tools:  []content.Tool{{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}},
			},
			to: func(r *Request) {
				text(r)
				r.System = []content.Part{&content.Text{Text: "When you respond without a tool call, respond with one JSON value that matches this JSON schema, and with nothing else:\n" + loose.JSON}}
			},
			losses: []Loss{lost(OutputWithTools, "output")},
		},
		{
			name: "OpenAPI schema or functions", target: func(t *Target) { typed(t); t.Output.NoTools = true },
			from: upstream.Request{
				Output: upstream.Output{MediaType: jsonType, Schema: content.Schema{JSON: `{"type":"STRING","nullable":true}`, OpenAPI: true}},
				Tools:  []content.Tool{{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}},
			},
			to: func(r *Request) {
				text(r)
				r.System = []content.Part{&content.Text{Text: "When you respond without a tool call, respond with one JSON value that matches this JSON schema, and with nothing else:\n" + `{"type":["string","null"]}`}}
			},
			losses: []Loss{lost(OutputWithTools, "output")},
		},
		{
			name: "any JSON or functions", target: func(t *Target) { typed(t); t.Output.NoTools = true },
			from: upstream.Request{
				Output: upstream.Output{MediaType: jsonType},
				Tools:  []content.Tool{{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}},
			},
			to: func(r *Request) {
				text(r)
				r.System = []content.Part{&content.Text{Text: "Answer in JSON."}}
			},
			losses: []Loss{lost(OutputWithTools, "output")},
		},
		{
			name: "images", from: upstream.Request{Output: upstream.Output{AspectRatio: "16:9", ImageSize: "2K", Modalities: []string{"text", "image"}}},
			target: strict, to: text,
			losses: []Loss{lost(OutputImage, "output.aspect_ratio"), lost(OutputImage, "output.image_size"), lost(OutputModalities, "output.modalities")},
		},
		{
			name: "some images", from: upstream.Request{Output: upstream.Output{AspectRatio: "16:9", ImageSize: "9K", Modalities: []string{"text", "image", "odd"}}},
			target: func(t *Target) {
				t.Output = OutputRules{AspectRatios: []string{"16:9"}, ImageSizes: []string{"2K"}, Modalities: []string{"image"}, EachModality: true}
			},
			to: func(r *Request) {
				r.Output.ImageSize, r.Output.Modalities = "", []string{"text", "image"}
			},
			losses: []Loss{lost(OutputImage, "output.image_size"), lost(OutputModalities, "output.modalities")},
		},
	})
}

func TestLimit(t *testing.T) {
	limit := func(n int64) upstream.Request { return upstream.Request{MaxTokens: &n} }
	becomes := func(n int64) func(r *Request) { return func(r *Request) { r.MaxTokens = &n } }
	rules := func(x LimitRules) func(t *Target) { return func(t *Target) { t.Limit = x } }
	testSettings(t, []settingsCase{
		{name: "within", target: rules(LimitRules{Min: 16, Max: 100}), from: limit(50)},
		{
			name: "too high", target: rules(LimitRules{Max: 100}), from: limit(101), to: becomes(100),
			losses: []Loss{lost(LimitLowered, "max_tokens")},
		},
		{
			name: "too low", target: rules(LimitRules{Min: 16}), from: limit(1), to: becomes(16),
			losses: []Loss{lost(LimitRaised, "max_tokens")},
		},
		{name: "default", target: rules(LimitRules{Default: 500, Max: 100}), to: becomes(100)},
		{name: "no default", target: rules(LimitRules{Max: 100})},
		{name: "none", target: rules(LimitRules{Min: 16, Zero: true}), from: limit(0)},
		{name: "none, refused", target: rules(LimitRules{}), from: limit(0), errors: "max_tokens: must be at least 1"},
		{name: "negative", target: rules(LimitRules{Zero: true}), from: limit(-1), errors: "max_tokens: must not be negative"},
	})
}

func TestSampling(t *testing.T) {
	rules := func(x SamplingRules) func(t *Target) { return func(t *Target) { t.Sampling = x } }
	off := Number{Off: true}
	usual := Number{Off: true, HasUsual: true, Usual: 1}
	half := Number{Range: true, High: 0.5}
	all := upstream.Request{
		Temperature: value(2.0), TopP: value(1.0), TopK: value(int64(5)), Seed: value(int64(1)),
		PresencePenalty: value(0.0), FrequencyPenalty: value(1.5), Candidates: 2, StopSequences: []string{"a", "", " ", "b", "c"},
	}
	testSettings(t, []settingsCase{
		{name: "all", target: rules(SamplingRules{Candidates: true}), from: all},
		{
			name: "none", target: rules(SamplingRules{off, usual, off, off, Number{Off: true, HasUsual: true}, off, false, Stops{Off: true}, false, nil}), from: all,
			to: func(r *Request) { r.Request = upstream.Request{Turns: r.Turns} },
			losses: []Loss{
				lost(Temperature, "temperature"), lost(TopK, "top_k"), lost(Penalties, "frequency_penalty"), lost(Seed, "seed"),
				lost(Candidates, "candidates"), lost(StopsOff, "stop_sequences"),
			},
		},
		{
			name: "ranges", from: upstream.Request{Temperature: value(0.7), TopP: value(0.7), TopK: value(int64(-1)), Seed: value(int64(0))},
			target: rules(SamplingRules{Temperature: Number{Range: true, High: 0.5, Clamp: true}, TopP: half, TopK: half, Seed: half}),
			to: func(r *Request) {
				r.Temperature, r.TopP, r.TopK = value(0.5), nil, nil
			},
			losses: []Loss{lost(TemperatureNearest, "temperature"), lost(TopP, "top_p"), lost(TopK, "top_k")},
		},
		{
			name: "nearest value without a loss for it", from: upstream.Request{TopP: value(0.7), PresencePenalty: value(2.0)},
			target: rules(SamplingRules{TopP: Number{Range: true, High: 0.5, Clamp: true}, Presence: Number{Range: true, High: 1, Clamp: true}}),
			to:     func(r *Request) { r.TopP, r.PresencePenalty = nil, nil },
			losses: []Loss{lost(TopP, "top_p"), lost(Penalties, "presence_penalty")},
		},
		{
			name: "not finite", from: upstream.Request{Temperature: value(math.NaN()), TopP: value(math.Inf(1))},
			target: rules(SamplingRules{Temperature: Number{Range: true, High: 1, Clamp: true}}),
			to:     func(r *Request) { r.Temperature, r.TopP = nil, nil }, errors: "temperature: must be a finite number",
		},
		{name: "negative", target: rules(SamplingRules{}), from: upstream.Request{Candidates: -1}, errors: "candidates: must not be negative"},
		{
			name: "one of two", target: rules(SamplingRules{One: true}), from: upstream.Request{Temperature: value(0.5), TopP: value(0.5)},
			to: func(r *Request) { r.TopP = nil }, losses: []Loss{lost(TopPBeside, "top_p")},
		},
		{
			name: "one of two, the other without effect", from: upstream.Request{Temperature: value(1.0), TopP: value(0.5)},
			target: rules(SamplingRules{One: true, Temperature: Number{HasUsual: true, Usual: 1}}),
			to:     func(r *Request) { r.Temperature = nil },
		},
		{
			name: "while the model thinks", from: upstream.Request{Temperature: value(0.5), TopP: value(0.5), Thinking: upstream.Thinking{Effort: "low"}},
			target: func(t *Target) {
				t.Thinking.Dial = &Dial{Efforts: []string{"low"}}
				t.Sampling.Temperature.NotThinking = true
			},
			to:     func(r *Request) { r.Temperature, r.Effort = nil, "low" },
			losses: []Loss{lost(TemperatureThinking, "temperature")},
		},
		{
			name: "stops", target: rules(SamplingRules{Stops: Stops{NoBlank: true, Max: 2}}), from: upstream.Request{StopSequences: all.StopSequences},
			to:     func(r *Request) { r.StopSequences = []string{"a", "b"} },
			losses: []Loss{lost(StopEmpty, "stop_sequences"), lost(StopBlank, "stop_sequences"), lost(StopsOverLimit, "stop_sequences")},
		},
		{
			name: "stops of the reader", target: rules(SamplingRules{Stops: Stops{Cut: true}}), from: upstream.Request{StopSequences: []string{"a"}},
			to:     func(r *Request) { r.StopSequences, r.Cut = nil, []string{"a"} },
			losses: []Loss{lost(StopsCut, "stop_sequences")},
		},
	})
}

func TestIdentity(t *testing.T) {
	rules := func(x IdentityRules) func(t *Target) { return func(t *Target) { t.Identity = x } }
	tiers := map[string]string{"a": "b", "b": "b", "auto": ""}
	testSettings(t, []settingsCase{
		{name: "user", target: rules(IdentityRules{User: 3}), from: upstream.Request{UserID: "äöü"}},
		{
			name: "user, too long", target: rules(IdentityRules{UserBytes: 64}), from: upstream.Request{UserID: strings.Repeat("x", 65)},
			to:     func(r *Request) { r.UserID = "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9" },
			losses: []Loss{lost(UserDigest, "user_id")},
		},
		{
			name: "no user", target: rules(IdentityRules{}), from: upstream.Request{UserID: "x"},
			to: func(r *Request) { r.UserID = "" }, losses: []Loss{lost(User, "user_id")},
		},
		{
			name: "tier", target: rules(IdentityRules{Tiers: tiers}), from: upstream.Request{ServiceTier: "a"},
			to: func(r *Request) { r.ServiceTier = "b" },
		},
		{
			name: "usual tier", target: rules(IdentityRules{Tiers: tiers}), from: upstream.Request{ServiceTier: "auto"},
			to: func(r *Request) { r.ServiceTier = "" },
		},
		{
			name: "unknown tier", target: rules(IdentityRules{Tiers: tiers}), from: upstream.Request{ServiceTier: "c"},
			to: func(r *Request) { r.ServiceTier = "" }, losses: []Loss{lost(ServiceTier, "service_tier")},
		},
	})
}
