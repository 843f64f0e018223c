package generatecontent

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// TestUnsignedCalls checks that the first call of a response is signed where
// clients know by the name of the model that its vendor signs it, whoever the
// vendor is, and that such a signature comes back as none.
func TestUnsignedCalls(t *testing.T) {
	for model, signs := range map[string]bool{
		"gemini-3-pro-preview": true, "gemini-3.1-flash": true, "Gemini-10-pro": true, "google/gemini-3-flash": true, "gemini-flash-latest": true,
		"gemini-2.5-pro": false, "gemini-pro": false, "gpt-6.2": false, "my-gemini-3": false,
	} {
		for _, method := range []string{"generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"} {
			for _, vendor := range []content.Format{"openai-chat", Format} {
				var asked *upstream.Request
				h := NewHandler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
					asked = r
					for _, id := range []string{"a", "b"} {
						events := []upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: id, Name: "f", Input: "{}"}}, {Kind: upstream.EventClose}}
						if err := w.Frame(&upstream.Frame{Format: vendor, Events: events}); err != nil {
							return err
						}
					}
					return w.Stop(upstream.Stop{Reason: content.StopToolUse, Format: vendor, RawReason: "STOP"})
				}), nil)
				ask := func(body string) string {
					w := httptest.NewRecorder()
					r := httptest.NewRequest("POST", "/v1beta/models/"+model+":"+method, strings.NewReader(body))
					r.Header.Set("Content-Type", "application/json")
					h.ServeHTTP(w, r)
					if w.Code != 200 {
						t.Fatalf("%d %s", w.Code, w.Body)
					}
					return w.Body.String()
				}
				const tools = `"tools":[{"functionDeclarations":[{"name":"f"}]}],`
				got := ask(`{` + tools + `"contents":[{"role":"user","parts":[{"text":"a"}]}]}`)
				want := 0
				if signs && vendor != Format {
					want = 1
				}
				first, _, _ := strings.Cut(got, `"id":"b"`)
				if strings.Count(got, "thoughtSignature") != want || strings.Count(first, `"thoughtSignature":"`+envelope.UnsignedBase64+`"`) != want {
					t.Errorf("%s %s over %s: %s", model, method, vendor, got)
				}
				ask(fmt.Sprintf(`{%s"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"},"thoughtSignature":%q}]},`+
					`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{}}}]}]}`, tools, envelope.UnsignedBase64))
				if sig := asked.Turns[1].Parts[0].(*content.ToolUse).Signature; sig != (content.Signature{}) {
					t.Errorf("the signature came back as %v", sig)
				}
			}
		}
	}
}
