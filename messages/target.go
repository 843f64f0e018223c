package messages

import (
	"math"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	dialects "github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// target is what every server of the format accepts.
var target = lower.Target{
	Format: Format,
	Conversation: lower.Conversation{
		SystemTurns: lower.SystemBehind, LeadingSystem: true, SystemFiles: true,
		JoinUser: lower.JoinSection, AssistantDocuments: true, MoveFiles: true,
		NoBlanks: true, Prefill: true, Attribution: true,
	},
	Files: lower.Files{
		Images: imageTypes, ImageLinks: true, Documents: []string{pdfType}, DocumentLinks: true, Keep: true,
		DetectTypes: true, Citable: true, TitleLength: 500,
	},
	Results:  lower.Results{AsTheyCame: true, Files: true, Errors: true, Marks: true},
	Thoughts: lower.Thoughts{Carried: true, Named: true, NotLast: func(_ *content.Thinking, restored bool) bool { return restored }},
	Marks:    lower.Marks{System: true, User: true, Assistant: true, AnyTime: true},
	Own:      lower.Own{Members: true, Calls: true, Vendor: true, Parts: hasBlock},
	Citation: isCitable,
	Members:  lower.MemberRules{Headers: true, Foreign: []lower.ForeignMember{{Name: "cache_control", Mark: true}}},
	Tools: lower.ToolRules{
		Schema: dialects.JSONSchema, StrictSchema: dialects.MessagesStrict, Strict: lower.StrictAlways, KeepsSchema: true,
		Marks: true, Vendor: ownTool, VendorNames: true, FunctionsOnly: hasFunctionChoice, References: true,
	},
	Choice:   lower.ChoiceRules{Kind: lower.ChoiceTools, Tools: "mcp_servers", Parallel: true},
	Output:   lower.OutputRules{Schema: dialects.MessagesStrict, AnySchema: true, OwnSchema: hasOwnSchema},
	Limit:    lower.LimitRules{Zero: true},
	Thinking: lower.ThinkingRules{Modes: &lower.Modes{Member: "thinking"}},
	Sampling: lower.SamplingRules{
		Temperature: lower.Number{Range: true, High: 1, Clamp: true, HasUsual: true, Usual: 1},
		TopP:        lower.Number{Range: true, High: 1, HasUsual: true, Usual: 1},
		TopK:        lower.Number{Range: true, High: math.Inf(1)},
		Seed:        lower.Number{Off: true},
		Presence:    lower.Number{Off: true, HasUsual: true},
		Frequency:   lower.Number{Off: true, HasUsual: true},
		Stops:       lower.Stops{NoBlank: true},
	},
	Identity: lower.IdentityRules{
		User: maxUserID, DigestPrefix: "sha256-",
		Tiers: map[string]string{"auto": "auto", "standard_only": "standard_only", "unspecified": ""},
	},
}

// hasBlock reports whether the format has a block for a part at a place.
func hasBlock(p content.Part, in lower.Site) bool {
	kind, _ := typeOf(p)
	f := blockFormOf(kind)
	return f != nil && f.where&(1<<in) != 0
}

const (
	plainType = "text/plain"
	pdfType   = "application/pdf"
	maxUserID = 512 // characters
)

// hasOwnSchema reports whether the members of x have the schema of the response.
func hasOwnSchema(x *content.Extra, o *upstream.Output) bool {
	if x == nil {
		return false
	}
	r := fromExtra(x)
	return hasSchema(o.Schema.JSON, r.OutputConfig.format(), r.OutputFormat)
}

// hasFunctionChoice reports whether the tool choice of a tool's format is limited to
// functions.
func hasFunctionChoice(t *content.Tool) bool {
	m := toolMappingOf(t)
	return m != nil && m.ignoresChoice
}

// A toolMapping maps a built-in tool of another vendor to the tool of this vendor for the
// same purpose.
type toolMapping struct {
	foreignKind, kind, name string
	ignoresChoice           bool // the choice of the other vendor does not limit the tool
}

var toolMappings = [...]toolMapping{
	{"googleSearch", "web_search_20250305", "web_search", true},
	{"web_search", "web_search_20250305", "web_search", false},
	{"web_search_2025_08_26", "web_search_20250305", "web_search", false},
	{"web_search_preview", "web_search_20250305", "web_search", false},
	{"codeExecution", "code_execution_20250825", "code_execution", true},
	{"code_interpreter", "code_execution_20250825", "code_execution", false},
	{"tool_search", "tool_search_tool_bm25_20251119", bm25Tool, false},
	{"urlContext", "web_fetch_20250910", "web_fetch", true},
}

// toolMappingOf returns the mapping for a built-in tool of another vendor, or nil.
func toolMappingOf(t *content.Tool) *toolMapping {
	for i := range toolMappings {
		if toolMappings[i].foreignKind == t.Kind {
			return &toolMappings[i]
		}
	}
	return nil
}

// ownTool returns this vendor's built-in tool for the purpose of another vendor's tool, with
// the settings that have the same meaning.
func ownTool(t *content.Tool) (own content.Tool, losses []lower.MemberLoss) {
	m := toolMappingOf(t)
	if m == nil || m.name == bm25Tool && !foreign.SearchesTools(t) {
		return own, nil
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("type", m.kind)
	w.Member("name", m.name)
	doc, err := jsonwire.Parse(t.Raw, codec.UnlimitedJSON)
	if err == nil {
		defer doc.Close()
		for name, v := range doc.Root().Members() {
			if m.name != "web_search" || !writeSearchSetting(&w, name, v) {
				if r := foreign.ToolMember(name, v); r != nil {
					losses = append(losses, lower.MemberLoss{Name: name, Rule: r})
				}
			}
		}
	}
	w.EndObject()
	return content.Tool{Kind: m.kind, Format: Format, Name: m.name, Raw: w.Text()}, losses
}

// writeSearchSetting writes a setting of another vendor's web search that has the same
// meaning here. It reports whether it has written all of it.
func writeSearchSetting(w *jsonwire.Writer, name string, v jsonwire.Value) bool {
	switch name {
	case "filters":
		if domains := v.Get("allowed_domains"); domains.Len() > 0 {
			w.RawMember("allowed_domains", domains.Raw())
			return v.Len() == 1
		}
		return v.Len() == 0
	case "user_location":
		if v.Get("type").Is("approximate") {
			w.RawMember(name, v.Raw())
			return true
		}
	}
	return false
}

// isCitable reports whether the format has a form for a citation. Web citations must have
// the encrypted index of the vendor.
func isCitable(c *content.Citation) bool {
	if c.Kind == "" || c.Kind == content.CiteWeb {
		return codec.Own(c.Extra, Format) != nil && !isUnindexed(c)
	}
	return citationFormOf("", c.Kind) != nil
}

// isUnindexed reports whether a web citation is from a response of another vendor. Then it
// has the required index, which is empty.
func isUnindexed(c *content.Citation) bool {
	if c.Kind != content.CiteWeb {
		return false
	}
	index, _ := c.Extra.Get("encrypted_index")
	return index == `""`
}
