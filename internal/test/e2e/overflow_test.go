package e2e

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/upstream"
)

// TestPromptTooLong checks that clients of each format receive their vendor's
// own error message for a prompt that is too long, on all paths: coding agents
// shorten the conversation when they see it. The sentences are recorded or
// documented.
func TestPromptTooLong(t *testing.T) {
	const (
		anthropicWords = "prompt is too long: 3333404 tokens > 200000 maximum"
		geminiWords    = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
		gemini         = "The input token count exceeds the maximum number of tokens allowed"
	)
	chat := func(members string) string { return `{"type":"invalid_request_error","param":null,` + members + `}` }
	for _, tt := range []struct {
		name, format, object string
		status               int
		messages, generate   string
	}{
		{"Anthropic", "messages", `{"type":"invalid_request_error","message":"` + anthropicWords + `"}`, 400, anthropicWords,
			"The input token count (3333404) exceeds the maximum number of tokens allowed (200000)."},
		{"Anthropic, with the output limit", "messages", `{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 188240 + 21333 > 200000"}`, 400,
			"input length and max_tokens exceed context limit: 188240 + 21333 > 200000", gemini + ": input length and max_tokens exceed context limit: 188240 + 21333 > 200000"},
		{"Gemini", "generatecontent", `{"code":400,"message":"` + geminiWords + `","status":"INVALID_ARGUMENT"}`, 400,
			"prompt is too long: 1048577 tokens > 1048576 maximum (" + geminiWords + ")", geminiWords},
		{"Gemini, 500", "generatecontent", `{"code":500,"message":"The input token count exceeds the maximum number of tokens allowed 1048576.","status":"INTERNAL"}`, 500,
			"prompt is too long: The input token count exceeds the maximum number of tokens allowed 1048576.", "The input token count exceeds the maximum number of tokens allowed 1048576."},
		{"OpenAI", "", chat(`"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."`), 400,
			"prompt is too long: Your input exceeds the context window of this model. Please adjust your input and try again.", gemini + ": Your input exceeds the context window of this model. Please adjust your input and try again."},
		{"code only", "", chat(`"code":"context_length_exceeded","message":"Less, please."`), 400, "prompt is too long: Less, please.", gemini + ": Less, please."},
		{"Perplexity", "", `{"message":"The total length of all messages is too long.","type":"too_many_prompt_tokens","code":400}`, 400,
			"prompt is too long: The total length of all messages is too long.", gemini + ": The total length of all messages is too long."},
		{"DeepSeek", "", chat(`"code":"invalid_request_error","message":"This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 in the messages, 0 in the completion)."`), 400,
			"prompt is too long: 1250025 tokens > 1048565 maximum (This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 in the messages, 0 in the completion).)",
			"The input token count (1250025) exceeds the maximum number of tokens allowed (1048565). This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 in the messages, 0 in the completion)."},
		{"llama.cpp", "", `{"code":500,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}`, 500,
			"prompt is too long: the request exceeds the available context size, try increasing it", gemini + ": the request exceeds the available context size, try increasing it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, f := range endpoints {
				for _, b := range adapters {
					if b.format != tt.format {
						continue
					}
					for _, late := range []bool{false, true} {
						s := httptest.NewServer(&constant{sentError{tt.status, nil, tt.object}, tt.format, late})
						h := f.handler(b.at(t, s.URL, s.Client()), upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
						want := tt.messages
						if f.name != "messages" {
							want = tt.generate
						}
						for _, m := range append(f.modes, count) {
							if late && m != sse || m == count && b.name != "anthropic" && b.name != "gemini" {
								continue
							}
							w := httptest.NewRecorder()
							h.ServeHTTP(w, f.request("m", (&vendorResponse{}).request(f), m))
							quoted, _ := json.Marshal(want)
							got := strings.ReplaceAll(w.Body.String(), `\u003e`, ">")
							if !strings.Contains(got, `"message":`+strings.ReplaceAll(string(quoted), `\u003e`, ">")) || !late && w.Code != 400 && f.name != b.format {
								t.Errorf("%s→%s, %s, late %v: %d %s\nwant %s", f.name, b.name, m, late, w.Code, got, want)
							}
						}
						s.Close()
					}
				}
			}
		})
	}
}
