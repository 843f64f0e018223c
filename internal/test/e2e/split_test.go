package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream"
)

// TestSplitResults has clients that send each result of parallel tool calls in
// a separate turn, with the role of another vendor. Other formats must receive
// them together, right after the tool calls; in the same format they are
// forwarded unchanged.
func TestSplitResults(t *testing.T) {
	f := endpointNamed("generatecontent")
	const members = `"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"}]}],"contents":[{"role":"user","parts":[{"text":"T1"}]},` +
		`{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}},{"functionCall":{"name":"g","id":"2"}}]},` +
		`{"role":"tool","parts":[{"functionResponse":{"name":"f","id":"1","response":{"output":"RE1"}}}]},` +
		`{"role":"tool","parts":[{"functionResponse":{"name":"g","id":"2","response":{"output":"RE2"}}}]}]`
	for _, b := range adapters {
		t.Run(b.name, func(t *testing.T) {
			up, vendor := b.start(t, vendor{trust: true})
			g := newGateway(f, up, upstream.HandlerOptions{})
			a := g.ask(b.model, members, whole)
			body := string(vendor.Last().Body)
			if b.format == f.name { // the vendor applies its own rules
				if !strings.Contains(body, members[strings.Index(members, `{"role":"tool"`):]) {
					t.Errorf("sent %s", clip(body))
				}
				return
			}
			i, j := strings.Index(body, "RE1"), strings.Index(body, "RE2")
			if a.Status != http.StatusOK || i < 0 || j < i {
				t.Errorf("status %d %s\nsent %s", a.Status, clip(a.Body), clip(body))
			}
			if slices.ContainsFunc(a.losses(), func(l string) bool { return !strings.HasPrefix(l, "hint ") }) {
				t.Errorf("losses %q", a.losses())
			}
		})
	}
}

// TestTextInBase64 has clients send plain text as base64, which Messages does
// not accept in that form: its own vendor must receive a text source.
func TestTextInBase64(t *testing.T) {
	f := endpointNamed("messages")
	const members = `"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"VEUxIMOk"}},{"type":"text","text":"T1"}]}]`
	for _, b := range adapters {
		t.Run(b.name, func(t *testing.T) {
			up, vendor := b.start(t, vendor{trust: true})
			a := newGateway(f, up, upstream.HandlerOptions{}).ask(b.model, members, whole)
			body := string(vendor.Last().Body)
			want := "TE1 ä"
			if b.name == toGemini {
				want = "VEUxIMOk"
			}
			if a.Status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("status %d %s\nsent %s", a.Status, clip(a.Body), clip(body))
			}
			if b.name == toClaude && !slices.Equal(a.losses(), []string{"hint turns.0.parts.0.source"}) {
				t.Errorf("losses %q", a.losses())
			}
		})
	}
}

// TestClientTools has an agent declare the vendor's tool types that run on the
// client. Other models receive them as functions and call them by the same
// names.
func TestClientTools(t *testing.T) {
	f := endpointNamed("messages")
	const members = `"tools":[{"type":"bash_20250124","name":"bash"},{"type":"text_editor_20250728","name":"str_replace_based_edit_tool"},{"type":"memory_20250818","name":"memory"}],` +
		`"tool_choice":{"type":"tool","name":"bash"},"messages":[{"role":"user","content":"list the files"},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"memory","input":{"command":"view","path":"/memories"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"TR1"}]}]}]`
	for _, b := range adapters {
		t.Run(b.name, func(t *testing.T) {
			if b.format == f.name {
				t.Skip("is forwarded with the document")
			}
			up, vendor := b.start(t, vendor{trust: true})
			vendor.Always(fake.Call("bash", `{"command":"ls"}`))
			a := newGateway(f, up, upstream.HandlerOptions{}).ask(b.model, members, whole)
			body := string(vendor.Last().Body)
			for _, want := range []string{`"bash"`, `"str_replace_based_edit_tool"`, `"memory"`, "insert_text", "restart", "TR1"} {
				if !strings.Contains(body, want) {
					t.Errorf("the request has no %s: %s", want, clip(body))
				}
			}
			if a.Status != http.StatusOK || !strings.Contains(a.Body, `"name":"bash"`) || !strings.Contains(a.Body, `"input":{"command":"ls"}`) || !strings.Contains(a.Body, `"stop_reason":"tool_use"`) {
				t.Errorf("status %d %s", a.Status, clip(a.Body))
			}
			for _, want := range []string{"degraded tools.0", "degraded tools.1", "degraded tools.2", "hint turns.2.parts.0.parts.0"} {
				if !slices.Contains(a.losses(), want) {
					t.Errorf("%s is not reported: %q", want, a.losses())
				}
			}
		})
	}
}
