package generatecontent

import (
	"math"
	"slices"
	"strings"

	"github.com/tidwall/sjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/geminifile"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// baseTarget is what a server accepts that supports the whole format. Files.Keep is for
// callers that do not load files.
var baseTarget = lower.Target{
	Format: Format,
	Conversation: lower.Conversation{
		JoinUser: lower.JoinResults, EmptyTexts: true, AssistantFiles: true, Prefill: true,
	},
	Files: lower.Files{Alike: true, Keep: true, Stores: geminifile.IsID},
	Calls: lower.Calls{NoInput: true},
	Results: lower.Results{
		AsTheyCame: true, TextFirst: true, Files: true, Objects: true, Names: true, Errors: true,
	},
	Thoughts: lower.Thoughts{
		Unsigned: lower.UnsignedOnly,
		Recall:   func(*upstream.Request) func(content.Part) *loss.Rule { return lossOfReturned },
	},
	Own:     lower.Own{Members: true, Calls: true, Vendor: true},
	Members: lower.MemberRules{Headers: true},
	Tools: lower.ToolRules{
		Schema: schema.GeminiJSON, OpenAPI: true, Results: true, Strict: lower.StrictChoice,
		Vendor: ownTool, VendorFree: true, VendorJSON: true, VendorMember: withServerTools,
	},
	Choice: lower.ChoiceRules{Kind: lower.ChoiceFunctions},
	Output: lower.OutputRules{
		Types: mimeTypes, Schema: schema.GeminiJSON, OpenAPI: true, OwnSchema: hasOwnFormat,
		Modalities: []string{"image", "audio", "video"}, EachModality: true, AspectRatios: aspectRatios, ImageSizes: imageSizes,
	},
	Limit:    lower.LimitRules{Max: math.MaxInt32, Zero: true},
	Thinking: lower.ThinkingRules{Levels: &lower.Levels{Own: hasOwnThinking}},
	Sampling: lower.SamplingRules{
		Temperature: lower.Number{Range: true, High: 2},
		TopP:        lower.Number{Range: true, High: 1},
		TopK:        lower.Number{Range: true, Low: 1, High: math.MaxInt32},
		Seed:        lower.Number{Range: true, Low: math.MinInt32, High: math.MaxInt32},
		Presence:    penalties,
		Frequency:   penalties,
		Stops:       lower.Stops{NoEmpty: true, Max: maxStops},
		Candidates:  true,
		Logprobs:    askLogprobs,
	},
	Identity: lower.IdentityRules{Tiers: targetTiers},
}

// lossOfReturned returns the rule for parts that requests of this format cannot contain:
// thinking without a visible form, and built-in tools of kinds that it does not have or that
// are not valid JSON. It returns nil for others.
func lossOfReturned(p content.Part) *loss.Rule {
	ok := true
	switch p := p.(type) { // other kinds are returned
	case *content.Thinking:
		if p.Redacted.Data != "" {
			return lower.Thinking
		}
	case *content.ServerToolUse:
		ok = (p.Kind == "toolCall" || p.Kind == executableCode) && (p.Input == "" || jsonwire.ValidObject(p.Input))
	case *content.ServerToolResult:
		ok = (p.Kind == "toolResponse" || p.Kind == codeExecutionResult) && (p.Content == "" || jsonwire.ValidObject(p.Content))
	case *content.Unknown:
		ok = jsonwire.ValidObject(p.Raw)
	}
	if !ok {
		return lower.VendorPart
	}
	return nil
}

// penalties are the accepted penalties. The vendor excludes 2.
var penalties = lower.Number{Range: true, Low: -2, High: math.Nextafter(2, 0)}

// targetTiers maps service tiers to this format's. The tier "auto" is the same as none.
var targetTiers = map[string]string{
	"auto": "", "standard_only": "standard", "default": "standard",
	"unspecified": "unspecified", "standard": "standard", "flex": "flex", "priority": "priority",
}

// hasOwnFormat reports whether the members of x have the form o of the response.
func hasOwnFormat(x *content.Extra, o *upstream.Output) bool {
	c := requestFromExtra(x).GenerationConfig
	if c == nil {
		return false
	}
	mediaType, text := textFormat(c.ResponseFormat)
	return mediaType != "" && o.MediaType == mediaType && o.Schema == content.Schema{JSON: text}
}

// hasOwnThinking reports whether the members of x have the settings t.
func hasOwnThinking(x *content.Extra, t *upstream.Thinking) bool {
	c := requestFromExtra(x).GenerationConfig
	return c != nil && c.ThinkingConfig != nil && c.ThinkingConfig.equalsNeutral(t)
}

// A substitute is a built-in tool of this vendor that replaces one of another.
type substitute struct {
	prefix string // of the other tool's kind; a version follows
	kind   string
}

var substitutes = [...]substitute{
	{"web_search", "googleSearch"}, {"web_fetch", "urlContext"},
	{"code_execution", "codeExecution"}, {"code_interpreter", "codeExecution"},
}

// ownTool returns this vendor's built-in tool that is similar to another vendor's.
func ownTool(t *content.Tool) (own content.Tool, losses []lower.MemberLoss) {
	// bounded by substitutes
	i := slices.IndexFunc(substitutes[:], func(s substitute) bool { return strings.HasPrefix(t.Kind, s.prefix) })
	if i < 0 {
		return own, nil
	}
	if doc, err := jsonwire.Parse(t.Raw, codec.UnlimitedJSON); err == nil {
		defer doc.Close()
		for name, x := range doc.Root().Members() {
			if r := foreign.ToolMember(name, x); r != nil {
				losses = append(losses, lower.MemberLoss{Name: name, Rule: r})
			}
		}
	}
	return content.Tool{Kind: substitutes[i].kind, Format: Format, Raw: "{}"}, losses
}

// withServerTools returns members of a request with that for built-in tools beside
// functions.
func withServerTools(members string) string {
	with, err := sjson.SetRaw(members, "toolConfig.includeServerSideToolInvocations", "true")
	if err != nil {
		return members
	}
	return with
}
