package crosstest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// A logprobServer responds with the tokens "Hi" and "é", each with the most probable ones.
type logprobServer struct {
	name          string
	whole, stream string
	model         string
	asked         []string // must be in the request
	refusal       string   // of the log probabilities
	new           func(url string) (upstream.Upstream, error)
}

func logprobServers() []*logprobServer {
	const (
		hi   = `{"token":"Hi","logprob":-0.5,"bytes":[72,105],"top_logprobs":[{"token":"Hi","logprob":-0.5,"bytes":[72,105]},{"token":"Ho","logprob":-2,"bytes":[72,111]}]}`
		mark = `{"token":"é","logprob":-0.25,"bytes":[195,169],"top_logprobs":[{"token":"é","logprob":-0.25,"bytes":[195,169]}]}`

		chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-4.1","choices":[{"index":0,"delta":{%s},"logprobs":%s,"finish_reason":%s}]}` + "\n\n"

		item   = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hié","annotations":[],"logprobs":[` + hi + `,` + mark + `]}]}`
		answer = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"gpt-4.1","output":[` + item + `],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}`
		delta  = `data: {"type":"response.output_text.delta","sequence_number":%d,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"%s","logprobs":[%s]}` + "\n\n"

		gemHi   = `{"token":"Hi","tokenId":1,"logProbability":-0.5}`
		gemMark = `{"token":"é","tokenId":2,"logProbability":-0.25}`
		topHi   = `{"candidates":[` + gemHi + `,{"token":"Ho","tokenId":3,"logProbability":-2}]}`
		topMark = `{"candidates":[` + gemMark + `]}`
		gem     = `{"candidates":[{"content":{"role":"model","parts":[{"text":"%s"}]}%s,"index":0,"logprobsResult":{"topCandidates":[%s],"chosenCandidates":[%s]}}],"modelVersion":"gemini-2.0-flash","usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3}}`
		end     = `,"finishReason":"STOP","avgLogprobs":-0.375`
	)
	logprobs := func(s string) string { return `{"content":[` + s + `],"refusal":null}` }
	return []*logprobServer{
		{
			name: "Chat Completions", model: "gpt-4.1", asked: []string{`"logprobs":true`, `"top_logprobs":2`},
			refusal: `{"error":{"message":"Unsupported parameter: 'logprobs' is not supported with this model.","type":"invalid_request_error","param":"logprobs","code":"unsupported_parameter"}}`,
			whole: `{"id":"c","object":"chat.completion","created":1,"model":"gpt-4.1","choices":[{"index":0,"message":{"role":"assistant","content":"Hié"},"logprobs":` + logprobs(hi+","+mark) +
				`,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
			stream: fmt.Sprintf(chunk, `"role":"assistant","content":"Hi"`, logprobs(hi), "null") + fmt.Sprintf(chunk, `"content":"é"`, logprobs(mark), "null") +
				fmt.Sprintf(chunk, "", "null", `"stop"`) + "data: [DONE]\n\n",
			new: func(url string) (upstream.Upstream, error) {
				return openai.New(&openai.Options{BaseURL: url + "/v1", Key: "k"})
			},
		},
		{
			name: "Responses", model: "gpt-4.1", asked: []string{`"message.output_text.logprobs"`, `"top_logprobs":2`},
			refusal: `{"error":{"message":"logprobs are not supported with reasoning models.","type":"invalid_request_error","param":"include","code":null}}`,
			whole:   answer,
			stream: `data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"gpt-4.1","output":[]}}` + "\n\n" +
				`data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}` + "\n\n" +
				`data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}` + "\n\n" +
				fmt.Sprintf(delta, 3, "Hi", hi) + fmt.Sprintf(delta, 4, "é", mark) +
				`data: {"type":"response.output_item.done","sequence_number":5,"output_index":0,"item":` + item + "}\n\n" +
				`data: {"type":"response.completed","sequence_number":6,"response":` + answer + "}\n\n",
			new: func(url string) (upstream.Upstream, error) {
				return openai.NewResponses(&openai.Options{BaseURL: url + "/v1", Key: "k"})
			},
		},
		{
			name: "generateContent", model: "gemini-2.0-flash", asked: []string{`"responseLogprobs":true`, `"logprobs":2`},
			refusal: `{"error":{"code":400,"message":"Logprobs is not enabled for models/gemini-2.0-flash","status":"INVALID_ARGUMENT"}}`,
			whole:   fmt.Sprintf(gem, "Hié", end, topHi+","+topMark, gemHi+","+gemMark),
			stream:  "data: " + fmt.Sprintf(gem, "Hi", "", topHi, gemHi) + "\n\ndata: " + fmt.Sprintf(gem, "é", end, topMark, gemMark) + "\n\n",
			new: func(url string) (upstream.Upstream, error) {
				return gemini.New(&gemini.Options{BaseURL: url, Key: "k"})
			},
		},
	}
}

// logprobsIn returns the tokens in the documents that a client has received, each with its log
// probability and the most probable ones.
func logprobsIn(docs []string) (all []string) {
	add := func(x gjson.Result, name string, top []gjson.Result) {
		s := x.Get("token").Str + " " + x.Get(name).Raw
		for _, y := range top {
			s += " " + y.Get("token").Str + " " + y.Get(name).Raw
		}
		all = append(all, s)
	}
	for _, doc := range docs {
		v := gjson.Parse(doc)
		for _, path := range []string{"choices.0.logprobs.content", "output.0.content.0.logprobs"} {
			for _, x := range v.Get(path).Array() {
				add(x, "logprob", x.Get("top_logprobs").Array())
			}
		}
		if strings.HasSuffix(v.Get("type").Str, "output_text.delta") {
			for _, x := range v.Get("logprobs").Array() {
				add(x, "logprob", x.Get("top_logprobs").Array())
			}
		}
		result := v.Get("candidates.0.logprobsResult")
		for i, x := range result.Get("chosenCandidates").Array() {
			add(x, "logProbability", result.Get(fmt.Sprintf("topCandidates.%d.candidates", i)).Array())
		}
	}
	return all
}

// TestLogprobs lets clients of three formats ask the servers of three formats for log probabilities.
// Messages has none.
func TestLogprobs(t *testing.T) {
	var last string
	for _, s := range logprobServers() {
		for _, refuses := range []bool{false, true} {
			for _, streamed := range []bool{false, true} {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					b, _ := io.ReadAll(r.Body)
					last = string(b)
					w.Header().Set("Content-Type", "application/json")
					switch {
					case refuses && strings.Contains(last, "ogprobs"):
						w.WriteHeader(http.StatusBadRequest)
						_, _ = io.WriteString(w, s.refusal)
					case streamed:
						w.Header().Set("Content-Type", "text/event-stream")
						_, _ = io.WriteString(w, s.stream)
					default:
						_, _ = io.WriteString(w, s.whole)
					}
				}))
				defer server.Close()
				method := map[bool]string{false: "generateContent", true: "streamGenerateContent?alt=sse"}[streamed]
				g := generateClient("generateContent", s.model, method)
				g.body = `{"generationConfig":{"responseLogprobs":true,"logprobs":2},"contents":[{"parts":[{"text":"q"}]}]}`
				clients := []*codecClient{
					chatClient("Chat Completions", `"logprobs":true,"top_logprobs":2,`+askPlain, streamed),
					responsesClient("Responses", `"include":["message.output_text.logprobs"],"top_logprobs":2,"input":"q"`, streamed),
					g,
				}
				for _, c := range clients {
					if refuses && c.name == s.name {
						continue // the document of the client is sent
					}
					t.Run(fmt.Sprintf("%s over %s, streamed %v, refused %v", c.name, s.name, streamed, refuses), func(t *testing.T) {
						up, err := s.new(server.URL)
						if err != nil {
							t.Fatal(err)
						}
						var losses []string
						h := c.handler(up, upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) {
							for _, l := range r.Losses {
								losses = append(losses, l.Severity.String()+" "+l.Path)
							}
						}})
						req := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(strings.Replace(c.body, `"model":"m"`, `"model":"`+s.model+`"`, 1)))
						req.Header.Set("Content-Type", "application/json")
						rec := httptest.NewRecorder()
						h.ServeHTTP(rec, req)
						docs := []string{rec.Body.String()}
						if streamed {
							docs = nil
							for in := bufio.NewScanner(rec.Body); in.Scan(); {
								if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
									docs = append(docs, data)
								}
							}
						}
						for _, s := range s.asked {
							if strings.Contains(last, s) == refuses {
								t.Errorf("%s is in the last request, or missing: %s", s, last)
							}
						}
						want := []string{"Hi -0.5 Hi -0.5 Ho -2", "é -0.25 é -0.25"}
						if diff := cmp.Diff(want, logprobsIn(docs)); diff != "" && !refuses {
							t.Errorf("-want +got\n%s\n%s", diff, docs)
						}
						ids := 0 // of tokens, which other formats do not have
						if s.name == "generateContent" && c.name != s.name {
							ids = 1
						}
						if n := strings.Count(strings.Join(losses, ","), "hint logprobs"); n != ids {
							t.Errorf("losses %q", losses)
						}
						if got := strings.Count(strings.Join(losses, ","), "ogprobs") > ids; got != refuses {
							t.Errorf("losses %q", losses)
						}
						if streamed && !refuses {
							checkCollected(t, up, s.model)
						}
					})
				}
			}
		}
	}
}

// checkCollected checks that the collected response of a stream has the log probabilities of all pieces.
func checkCollected(t *testing.T, up upstream.Upstream, model string) {
	r, err := upstream.Collect(t.Context(), up, &upstream.Request{Model: model, Stream: true, Extra: &content.Extra{Format: chatcompletions.Format, JSON: `{"logprobs":true}`},
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "q"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	x := r.Extra
	if x == nil {
		x = r.Parts[0].(*content.Text).Extra // of Responses
	}
	list, _ := foreign.TakeLogprobs(x)
	var got []string
	for _, p := range list {
		got = append(got, p.Token+" "+p.Number)
	}
	if diff := cmp.Diff([]string{"Hi -0.5", "é -0.25"}, got); diff != "" {
		t.Errorf("collected (-want +got):\n%s", diff)
	}
}
