package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// TestNoUsage checks responses of servers that report no token counts, in all
// formats. The report contains an estimate that is marked as one. The response
// contains it too, with a loss, unless the server's document is forwarded.
func TestNoUsage(t *testing.T) {
	const text = "Once upon a time there was a lighthouse."
	responses := map[string][2]string{ // whole and streamed
		"anthropic": {`{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"` + text + `"}],"stop_reason":"end_turn","stop_sequence":null}`,
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[]}}\n\n" +
				"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
				"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" + text + "\"}}\n\n" +
				"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		"gemini": {`{"candidates":[{"content":{"role":"model","parts":[{"text":"` + text + `"}]},"finishReason":"STOP","index":0}]}`,
			`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"` + text + `"}]},"finishReason":"STOP","index":0}]}` + "\r\n\r\n"},
		"chat": {`{"id":"c","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"` + text + `"},"finish_reason":"stop"}],"usage":null}`,
			`data: {"id":"c","model":"x","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"},
		"responses": {`{"id":"r","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}],"usage":null}`,
			`data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"` + text + `"}` +
				"\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n"},
	}
	adapter := func(name, answer string) (upstream.Upstream, error) {
		c := &http.Client{Transport: &script{answer: answer}}
		switch name {
		case "anthropic":
			return anthropic.New(&anthropic.Options{HTTPClient: c})
		case "gemini":
			return gemini.New(&gemini.Options{HTTPClient: c})
		case "chat":
			return openai.New(&openai.Options{HTTPClient: c})
		}
		return openai.NewResponses(&openai.Options{HTTPClient: c})
	}
	for name, both := range responses {
		for i, stream := range []bool{false, true} {
			for _, front := range []string{"messages", "generatecontent"} {
				t.Run(fmt.Sprintf("%s to %s, streamed %v", name, front, stream), func(t *testing.T) {
					up, err := adapter(name, both[i])
					if err != nil {
						t.Fatal(err)
					}
					var report *upstream.Report
					serving := upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}
					w := httptest.NewRecorder()
					counts, path := `"input_tokens":(\d+).*"output_tokens":(\d+)`, "/v1/messages"
					if front == "messages" {
						r := httptest.NewRequest("POST", path, strings.NewReader(fmt.Sprintf(
							`{"model":"m","max_tokens":64,"stream":%v,"messages":[{"role":"user","content":"Tell me a long story."}]}`, stream)))
						r.Header.Set("Content-Type", "application/json")
						r.Header.Set("Anthropic-Version", "2023-06-01")
						messages.NewHandler(up, &messages.Options{HandlerOptions: serving}).ServeHTTP(w, r)
					} else {
						counts, path = `"promptTokenCount":(\d+).*"candidatesTokenCount":(\d+)`, "/v1beta/models/m:generateContent"
						if stream {
							path = "/v1beta/models/m:streamGenerateContent?alt=sse"
						}
						r := httptest.NewRequest("POST", path, strings.NewReader(`{"contents":[{"role":"user","parts":[{"text":"Tell me a long story."}]}]}`))
						r.Header.Set("Content-Type", "application/json")
						generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: serving}).ServeHTTP(w, r)
					}
					if u := report.Usage; w.Code != 200 || !u.Estimated || u.Input < 5 || u.Input > 20 || u.Output < 8 || u.Output > 14 {
						t.Errorf("status %d, usage %+v", w.Code, u)
					}
					lost := false
					for _, l := range lossplaces.Of(report.Losses) {
						lost = lost || l.Path == "usage" && l.Severity == content.LossDegraded
					}
					all := regexp.MustCompile(counts).FindAllStringSubmatch(w.Body.String(), -1)
					if name == "gemini" && front == "generatecontent" { // the server's document is forwarded
						if lost || len(all) > 0 || !strings.Contains(w.Body.String(), strings.TrimSuffix(both[i], "}")[:40]) {
							t.Errorf("losses %v: %s", report.Losses, w.Body)
						}
						return
					}
					want := []string{fmt.Sprint(report.Usage.Input), fmt.Sprint(report.Usage.Output)}
					if !lost || len(all) == 0 || all[len(all)-1][1] != want[0] || all[len(all)-1][2] != want[1] {
						t.Errorf("losses %v, counts %v, want %v: %s", report.Losses, all, want, w.Body)
					}
				})
			}
		}
	}
}
