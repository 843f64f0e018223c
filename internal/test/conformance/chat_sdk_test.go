package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream/gemini"
)

// twoChoices is a response with two choices and log probabilities, whole and as a stream.
const (
	twoChoices = `{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"gpt-4.1","choices":[` +
		`{"index":0,"message":{"role":"assistant","content":"Yes","refusal":null,"annotations":[]},"logprobs":{"content":[{"token":"Yes","logprob":-0.5,"bytes":[89,101,115],"top_logprobs":[]}],"refusal":null},"finish_reason":"stop"},` +
		`{"index":1,"message":{"role":"assistant","content":"No","refusal":null,"annotations":[]},"logprobs":{"content":[{"token":"No","logprob":-1.5,"bytes":[78,111],"top_logprobs":[]}],"refusal":null},"finish_reason":"length"}],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`
	twoChoicesHead   = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,"model":"gpt-4.1","choices":[`
	twoChoicesStream = twoChoicesHead + `{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n" +
		twoChoicesHead + `{"index":1,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n" +
		twoChoicesHead + `{"index":1,"delta":{"content":"No"},"logprobs":{"content":[{"token":"No","logprob":-1.5,"bytes":[78,111],"top_logprobs":[]}],"refusal":null},"finish_reason":null}],"usage":null}` + "\n\n" +
		twoChoicesHead + `{"index":0,"delta":{"content":"Yes"},"logprobs":{"content":[{"token":"Yes","logprob":-0.5,"bytes":[89,101,115],"top_logprobs":[]}],"refusal":null},"finish_reason":null}],"usage":null}` + "\n\n" +
		twoChoicesHead + `{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}` + "\n\n" +
		twoChoicesHead + `{"index":1,"delta":{},"logprobs":null,"finish_reason":"length"}],"usage":null}` + "\n\n" +
		twoChoicesHead + `],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}` + "\n\n" +
		"data: [DONE]\n\n"
)

// TestChatChoices requests two choices with log probabilities from a server of the format.
func TestChatChoices(t *testing.T) {
	bothOpenAI(t, func(t *testing.T, c openaiSDK, stream bool) {
		up, f := startChat(t)
		s := serveChat(t, up, nil)
		more := obj{"model": "gpt-4.1", "n": 2, "logprobs": true}
		if stream {
			more["stream_options"] = obj{"include_usage": true}
			f.Say(fake.Reply{Code: 200, ContentType: "text/event-stream", Body: twoChoicesStream})
		} else {
			f.Say(fake.Reply{Code: 200, ContentType: "application/json", Body: twoChoices})
		}
		a := s.mustAskOpenAI(t, c, call{Format: chatFormat, Stream: stream, Params: openaiRequest(chatFormat, "Well?", more)}, f)
		var d chatDocument
		if err := json.Unmarshal(a.Document, &d); err != nil {
			t.Fatal(err)
		}
		type choice struct {
			Text, Finish, Token string
			Logprob             float64
		}
		var got []choice
		for _, k := range d.Choices {
			x := choice{Text: k.Message.Content, Finish: k.FinishReason}
			for _, p := range k.Logprobs.Content {
				x.Token, x.Logprob = p.Token, p.Logprob
			}
			got = append(got, x)
		}
		if diff := cmp.Diff([]choice{{"Yes", "stop", "Yes", -0.5}, {"No", "length", "No", -1.5}}, got); diff != "" {
			t.Errorf("choices (-want +got):\n%s", diff)
		}
	})
}

// TestChatChoicesElsewhere checks that a vendor with one response for each request leaves a
// choice and a loss.
func TestChatChoicesElsewhere(t *testing.T) {
	bothOpenAI(t, func(t *testing.T, c openaiSDK, stream bool) {
		up, f := startAnthropic(t)
		f.Say(fake.Text("Yes"))
		s := serveChat(t, up, nil)
		a, err := c.ask(t.Context(), call{BaseURL: s.url, Key: key, Format: chatFormat, Stream: stream, Params: openaiRequest(chatFormat, "Well?", obj{"model": "claude-sonnet-4-5", "n": 2, "logprobs": true})})
		if err != nil || a.text() != "Yes" {
			t.Fatalf("%v, text %q", err, a.text())
		}
		var paths []string
		for _, l := range lossplaces.Of(s.report(t).Losses) {
			paths = append(paths, l.Path)
		}
		for _, want := range []string{"candidates", "extra.logprobs"} {
			if !strings.Contains(" "+strings.Join(paths, " ")+" ", " "+want+" ") {
				t.Errorf("no loss at %s: %q", want, paths)
			}
		}
	})
}

// TestChatUsage checks that a stream has its usage only if the client asks, and that the host has it
// in both cases.
func TestChatUsage(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		eachOpenAI(t, func(t *testing.T, c openaiSDK) {
			for _, included := range []bool{true, false} {
				up, f := v.start(t)
				s := serveChat(t, up, nil)
				f.Say(libraryCounts, fake.Text("Hello."))
				more := obj{"model": v.model}
				if included {
					more["stream_options"] = obj{"include_usage": true}
				}
				a, err := c.ask(t.Context(), call{BaseURL: s.url, Key: key, Format: chatFormat, Stream: true, Params: openaiRequest(chatFormat, "Hi.", more)})
				if err != nil {
					t.Fatal(err)
				}
				chunks := 0
				for _, e := range a.Events {
					if strings.Contains(e, `"choices":[]`) {
						chunks++
					}
				}
				want := map[bool]int{true: 1}[included]
				if chunks != want || (a.Input == 37) != included {
					t.Errorf("include_usage %t: %d chunks without choices and %d tokens", included, chunks, a.Input)
				}
				if r := s.report(t); r.Usage.Prompt() != 37 || r.Usage.Completion() != 5 {
					t.Errorf("include_usage %t: the host received %d+%d tokens", included, r.Usage.Prompt(), r.Usage.Completion())
				}
			}
		})
	})
}

// TestAzureClient checks the client that is configured for Azure, which has other paths and keys.
func TestAzureClient(t *testing.T) {
	for _, major := range []string{"openai-7", "openai-4"} {
		t.Run(major, func(t *testing.T) {
			c := tsOpenAI{needNode(t, openaiNode), major}
			everyVendor(t, func(t *testing.T, v vendor) {
				for _, stream := range []bool{false, true} {
					up, f := v.start(t)
					s := serveChat(t, up, nil)
					f.Say(fake.Text("Hello."))
					params := openaiRequest(chatFormat, "Hi.", obj{"model": v.model})
					if stream {
						params["stream_options"] = obj{"include_usage": true}
					}
					a := s.mustAskOpenAI(t, c, call{Format: chatFormat, Cloud: "azure", Stream: stream, Params: params}, f)
					if a.text() != "Hello." {
						t.Errorf("text %q", a.text())
					}
					if got, want := *s.path.Load(), "/openai/deployments/"+v.model+"/chat/completions"; got != want {
						t.Errorf("path %s, want %s", got, want)
					}
					if body := string(f.Last().Body); !strings.Contains(body, v.model) && !strings.Contains(f.Last().Path, v.model) {
						t.Errorf("the vendor did not receive the model: %s %s", f.Last().Path, body)
					}
				}
			})
		})
	}
}

// TestOpenAIModels lists models with the client of the formats.
func TestOpenAIModels(t *testing.T) {
	for _, format := range []string{chatFormat, responsesFormat} {
		t.Run(format, func(t *testing.T) {
			c := tsOpenAI{needNode(t, openaiNode), "openai-7"}
			up, _ := startChat(t)
			a, err := c.node.ask(call{BaseURL: serveOpenAI(t, format, up).url, Key: key, Op: "models", Format: format, Major: c.major})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, m := range a.Models {
				names = append(names, m.ID)
			}
			if diff := cmp.Diff([]string{"gpt-6.2-sol", "gpt-6-luna", "gpt-4.1"}, names); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChatChoicesOfGemini requests two choices from a model of another format that has them.
func TestChatChoicesOfGemini(t *testing.T) {
	const body = `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Yes"}]},"finishReason":"STOP"},` +
		`{"index":1,"content":{"role":"model","parts":[{"text":"No"}]},"finishReason":"MAX_TOKENS"}],` +
		`"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11},"modelVersion":"gemini-2.5-pro","responseId":"r1"}`
	bothOpenAI(t, func(t *testing.T, c openaiSDK, stream bool) {
		f := fake.NewServer()
		f.Listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, done := f.Begin(r)
			defer done()
			if stream {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: "+body+"\r\n\r\n")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}))
		up, err := gemini.New(&gemini.Options{BaseURL: f.URL, Key: vendorKey, HTTPClient: testClient(t)})
		s := serveChat(t, made(t, up, err), nil)
		more := obj{"model": "gemini-2.5-pro", "n": 2}
		if stream {
			more["stream_options"] = obj{"include_usage": true}
		}
		a := s.mustAskOpenAI(t, c, call{Format: chatFormat, Stream: stream, Params: openaiRequest(chatFormat, "Well?", more)}, f)
		var d chatDocument
		if err := json.Unmarshal(a.Document, &d); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range d.Choices {
			got = append(got, k.Message.Content+" "+k.FinishReason)
		}
		if diff := cmp.Diff([]string{"Yes stop", "No length"}, got); diff != "" {
			t.Errorf("choices (-want +got):\n%s", diff)
		}
		if !strings.Contains(string(f.Last().Body), `"candidateCount":2`) {
			t.Errorf("the vendor received %s", f.Last().Body)
		}
	})
}
