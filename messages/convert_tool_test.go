package messages

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestRequestOfChoice checks which tools are told, and how they are chosen. In
// content generation mode and names bind functions only, not the vendor's own
// tools beside them; the choice of Messages binds all.
func TestRequestOfChoice(t *testing.T) {
	const none, any, auto, checked = content.ChoiceNone, content.ChoiceAny, content.ChoiceAuto, content.ChoiceValidated
	for _, tt := range []struct {
		name, tools string // in capitals: googleSearch
		mode        content.ChoiceMode
		names       string
		wantTools   string
		wantChoice  ToolChoice
		wantLosses  string
	}{
		{"auto", "S f", auto, "", "S f", ToolChoice{Type: "auto"}, "degraded tools.0"},
		{"two names", "S f g h", any, "f g", "S f g", ToolChoice{Type: "any"},
			"degraded choice.names degraded tools.0 degraded choice.mode"},
		{"two names of functions", "f g h", any, "f g", "f g", ToolChoice{Type: "any"}, "degraded choice.names"},
		{"one name", "S f g", any, "f", "S f g", ToolChoice{Type: "tool", Name: "f"}, "degraded tools.0"},
		{"a name to be checked", "S f g", checked, "f", "S f", ToolChoice{Type: "auto"},
			"degraded choice.names degraded tools.0 degraded choice.mode"},
		{"all names", "f g", any, "g f", "f g", ToolChoice{Type: "any"}, ""},
		{"names of nothing", "S f g", any, "x y", "S f g", ToolChoice{Type: "any"},
			"degraded choice.names degraded tools.0 degraded choice.mode"},
		{"none", "f g", none, "", "f g", ToolChoice{Type: "none"}, ""},
		{"none beside a search", "S f", none, "", "S", ToolChoice{Type: "auto"}, "degraded choice.mode degraded tools.0"},
		{"none beside a search, and a name", "S f", none, "f", "S", ToolChoice{Type: "auto"}, "degraded choice.mode degraded tools.0"},
		{"none of no functions", "S", none, "", "S", ToolChoice{Type: "auto"}, "degraded tools.0"},
		{"a call beside a search", "S f", any, "", "S f", ToolChoice{Type: "tool", Name: "f"}, "degraded tools.0"},
		{"some call beside a search", "S f g", any, "", "S f g", ToolChoice{Type: "any"}, "degraded tools.0 degraded choice.mode"},
		{"a call of nothing", "S", any, "", "S", ToolChoice{Type: "auto"}, "degraded tools.0 hint choice"},
		{"this vendor's own", "W f", any, "", "W f", ToolChoice{Type: "any"}, ""},
		{"none of this vendor's own", "W f", none, "", "W f", ToolChoice{Type: "none"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := dialog(some(said1))
			n.Choice = content.ToolChoice{Mode: tt.mode, Names: strings.Fields(tt.names)}
			for name := range strings.FieldsSeq(tt.tools) {
				tool := content.Tool{Name: name}
				switch name {
				case "S":
					tool = content.Tool{Kind: "googleSearch", Format: "generatecontent", Raw: "{}"}
				case "W":
					tool = content.Tool{Kind: "web_search_20250305", Format: Format, Name: "web_search", Raw: `{"type":"web_search_20250305","name":"web_search"}`}
				}
				n.Tools = append(n.Tools, tool)
			}
			r, list := RequestFromUpstream(n)
			var tools, losses []string
			for i, tool := range r.Tools {
				if tool.Kind != "" {
					tool.Name = strings.Fields(tt.tools)[i]
				}
				tools = append(tools, tool.Name)
			}
			for _, l := range list {
				losses = append(losses, l.Severity.String()+" "+l.Path)
			}
			if diff := cmp.Diff(tt.wantTools, strings.Join(tools, " ")); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if r.ToolChoice == nil {
				t.Fatal("no choice is told")
			}
			if diff := cmp.Diff(tt.wantChoice, *r.ToolChoice); diff != "" {
				t.Errorf("choice (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantLosses, strings.Join(losses, " ")); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
	if r, _ := RequestFromUpstream(&upstream.Request{Choice: content.ToolChoice{Mode: checked}}); r.ToolChoice != nil {
		t.Errorf("%v is chosen from nothing", r.ToolChoice)
	}
}
