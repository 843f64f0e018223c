package gemini

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/lowertest"
	"github.com/polywire/polywire/upstream"
)

func TestFamilyOf(t *testing.T) {
	for name, want := range map[string]family{
		"gemini-2.5-pro":                   {2, 5, pro},
		"gemini-2.5-flash-lite-preview-09": {2, 5, flashLite},
		"models/gemini-3.1-pro-preview":    {3, 1, pro},
		"gemini-3-flash-preview":           {3, 0, flash},
		"gemini-3.1-flash-image":           {3, 1, image},
		"gemini-flash-latest":              {0, 0, flash},
		"gemini-1.5-flash":                 {1, 5, flash},
		"gemini-99999":                     {999, 0, other},
		"tunedModels/mine":                 {},
		"gpt-5":                            {},
		"":                                 {},
		"projects/p/locations/l/publishers/google/models/gemini-2.5-flash": {2, 5, flash},
	} {
		if got := familyOf(name); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}

func fitted(t *testing.T, model string, n *upstream.Request) (config string, lost []string) {
	t.Helper()
	c, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	q := *n
	q.Model = model
	p := c.plan(&q)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	r := generatecontent.Request{GenerationConfig: p.document().GenerationConfig}
	b, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	lost = append(lost, lossplaces.Names(p.Losses)...)
	return strings.TrimSuffix(strings.TrimPrefix(string(b[1:]), `"generationConfig":`), "}"), lost
}

func budget(n int64) upstream.Thinking {
	return upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &n, Display: "summarized"}
}

// A fitCase is a thinking configuration and the expected result.
type fitCase struct {
	model string
	from  upstream.Thinking
	want  string // the thinkingConfig, but for includeThoughts
	lost  string
}

var fits = []fitCase{
	{"gemini-2.5-pro", budget(31999), `"thinkingBudget":31999`, ""},
	{"gemini-2.5-pro", budget(40000), `"thinkingBudget":32768`, "degraded thinking.budget"},
	{"gemini-2.5-pro", budget(100), `"thinkingBudget":128`, "degraded thinking.budget"},
	{"gemini-2.5-flash", budget(31999), `"thinkingBudget":24576`, "degraded thinking.budget"},
	{"gemini-2.5-flash-lite", budget(100), `"thinkingBudget":512`, "degraded thinking.budget"},
	{"gemini-3.8-flash", budget(31999), `"thinkingBudget":31999`, ""},
	{"gemini-3.8-flash", budget(100000), `"thinkingBudget":65535`, "degraded thinking.budget"},
	{"gemini-2.5-pro", upstream.Thinking{Mode: upstream.ThinkingOff}, `"includeThoughts":false,"thinkingBudget":128`, "degraded thinking.mode"},
	{"gemini-2.5-flash", upstream.Thinking{Mode: upstream.ThinkingOff}, `"thinkingBudget":0`, ""},
	{"gemini-3.1-pro-preview", upstream.Thinking{Mode: upstream.ThinkingOff}, `"thinkingLevel":"LOW"`, "degraded thinking.mode"},
	{"gemini-3.8-flash", upstream.Thinking{Mode: upstream.ThinkingOff}, `"thinkingLevel":"MINIMAL"`, "degraded thinking.mode"},
	{"gemini-2.5-flash", upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "high"}, `"thinkingBudget":24576`, "degraded thinking.effort"},
	{"gemini-3.8-flash", upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "high"}, `"thinkingLevel":"HIGH"`, ""},
	{"gemini-3.8-flash", upstream.Thinking{Mode: upstream.ThinkingAuto}, `"thinkingBudget":-1`, ""},
	{"gemini-3.1-pro-preview", upstream.Thinking{Effort: "minimal"}, `"thinkingLevel":"LOW"`, "degraded thinking.effort"},
	{"gemini-3.8-flash", upstream.Thinking{Effort: "minimal"}, `"thinkingLevel":"MINIMAL"`, ""},
	{"gemini-2.0-flash", budget(2048), ``, "degraded thinking.mode, degraded thinking.budget"},
	{"gemini-2.0-flash", upstream.Thinking{Mode: upstream.ThinkingOff}, ``, ""},
	{"gemini-2.0-flash", upstream.Thinking{Mode: upstream.ThinkingBudget, Effort: "max", Display: "full"}, ``, "degraded thinking.mode, degraded thinking.effort"},
	{"gemini-2.0-flash", upstream.Thinking{Effort: "xhigh"}, ``, "degraded thinking.effort"},
	{"gemini-2.5-pro", upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "xhigh"}, `"thinkingBudget":24576`, "degraded thinking.effort"},
	{"gemini-2.5-flash", upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}, `"thinkingBudget":0`, "degraded thinking.effort"},
	{"gemini-3.8-flash", upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}, `"thinkingLevel":"MINIMAL"`, "degraded thinking.effort, degraded thinking.mode"},
	{"gemini-3.8-flash", upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "xhigh"}, `"thinkingLevel":"HIGH"`, "degraded thinking.effort"},
	{"gemini-2.5-flash-image", budget(2048), ``, "degraded thinking.mode, degraded thinking.budget"},
	{"other", budget(5), `"thinkingBudget":5`, ""},
	{"other", upstream.Thinking{Mode: upstream.ThinkingOff}, `"thinkingBudget":0`, ""},
}

func TestThinkingFits(t *testing.T) {
	for _, tt := range fits {
		config, lost := fitted(t, tt.model, &upstream.Request{Thinking: tt.from})
		want := `{"thinkingConfig":{` + tt.want + `}}`
		if tt.from.Enabled() {
			want = `{"thinkingConfig":{"includeThoughts":true,` + tt.want + `}}`
		}
		if tt.want == "" {
			want = ""
		}
		if config != want || strings.Join(lost, ", ") != tt.lost {
			t.Errorf("%s, %+v: %s, lost %q; want %s, lost %q", tt.model, tt.from, config, lost, want, tt.lost)
		}
	}
}

// TestNativeThinking checks that an edited request of this format keeps its thinking
// configuration.
func TestNativeThinking(t *testing.T) {
	r, err := generatecontent.ParseRequest([]byte(`{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":128}},"safetySettings":[` +
		`{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}],"labels":{"a":"b"},"x":1}`))
	if err != nil {
		t.Fatal(err)
	}
	n := r.Upstream().Clone()
	n.Model = "gemini-2.5-pro"
	c, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := c.plan(n)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	got, err := p.document().AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}],` +
		`"generationConfig":{"thinkingConfig":{"thinkingBudget":128}},"labels":{"a":"b"},"x":1}`
	if diff := cmp.Diff(want, string(got)); diff != "" || p.Losses != nil {
		t.Errorf("lost %+v (-want +got):\n%s", p.Losses, diff)
	}
}

func TestFormBesideFunctions(t *testing.T) {
	n := &upstream.Request{Tools: []content.Tool{{Name: "a b"}, {Kind: "web_search_20250305", Format: "messages"}},
		Output: upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: `{"type":"string"}`}}}
	for model, want := range map[string]string{
		"gemini-2.5-flash": " degraded output, hint tools.0.name, dropped tools.1",
		"gemini-3.8-flash": `{"responseMimeType":"application/json","responseJsonSchema":{"type":"string"}} hint tools.0.name, degraded tools.1`,
	} {
		config, lost := fitted(t, model, n)
		if got := config + " " + strings.Join(lost, ", "); got != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
}

// targetLosses are the rules that only the targets of this package report.
var targetLosses = []*loss.Rule{
	lower.RenamedTool, lower.HeaderNotSent, lower.ModeNone, lower.ModeOff, lower.BudgetRange,
	lower.EffortAsBudget, lower.EffortNearest, lower.OutputWithTools, lower.LimitLowered,
}

// TestTargetLosses checks that the tests above report these rules.
func TestTargetLosses(t *testing.T) {
	var reported []content.Loss
	lowering := func(model string, n *upstream.Request) {
		c, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		reported = append(reported, c.plan(n.WithModel(model)).Losses...)
	}
	for _, tt := range fits {
		lowering(tt.model, &upstream.Request{Thinking: tt.from})
	}
	lowering("gemini-2.5-flash", &upstream.Request{Tools: []content.Tool{{Name: "a b"}}, Output: upstream.Output{MediaType: "application/json"}})
	limit := int64(8193)
	lowering("gemini-2.0-flash", &upstream.Request{MaxTokens: &limit, Header: []upstream.HeaderField{{Name: "anthropic-version"}, {Name: "x"}}})
	for _, r := range targetLosses {
		if !slices.ContainsFunc(reported, r.Of) {
			t.Errorf("never reported: %+v", r)
		}
	}
}

// TestKeepAttribution checks the line of a coding agent before its system prompt.
func TestKeepAttribution(t *testing.T) {
	line := &content.Text{Text: "x-anthropic-billing-header: cc_version=2.1.197.90a; cc_entrypoint=cli;"}
	n := &upstream.Request{Model: "gemini-3-pro-preview", System: []content.Part{line}, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "q"}}}}}
	for _, keep := range []bool{false, true} {
		c, err := New(&Options{KeepAttribution: keep})
		if err != nil {
			t.Fatal(err)
		}
		want, losses := []content.Part(nil), []content.Loss{lower.Attribution.At("system.0")}
		if keep {
			want, losses = n.System, nil
		}
		p := c.plan(n)
		if diff := cmp.Diff(want, p.Request.System) + cmp.Diff(losses, p.Losses); diff != "" {
			t.Errorf("keep %v (-want +got):\n%s", keep, diff)
		}
	}
}

// someTargets returns targets of all kinds.
func someTargets(t testing.TB) []*lower.Target {
	c, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	base := generatecontent.BaseTarget()
	targets := []*lower.Target{&base, documentTargets[documentTarget{vertex: true}],
		c.target("gemini-2.5-pro", true, false), c.target("gemini-3.8-flash", true, true)}
	for _, model := range []string{"gemini-2.0-flash", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-pro-preview", "other"} {
		targets = append(targets, c.target(model, false, false))
	}
	return targets
}

// TestLowerTwice checks that lowering what was lowered loses nothing.
func TestLowerTwice(t *testing.T) {
	targets := someTargets(t)
	lowertest.Requests(t, "../..", func(name string, n *upstream.Request) {
		t.Run(name, func(t *testing.T) {
			for _, target := range targets {
				lowertest.Twice(t, n, target)
			}
		})
	})
}

// FuzzLowerTwice is TestLowerTwice for changed requests.
func FuzzLowerTwice(f *testing.F) { lowertest.Fuzz(f, someTargets(f)) }
