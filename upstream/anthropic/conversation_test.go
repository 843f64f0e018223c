package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	fakes "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/upstream/anthropic"
)

type object = map[string]any

// A talker is a generateContent client that keeps its conversation in
// one of the ways that clients have.
type talker struct {
	t        *testing.T
	front    http.Handler
	stream   bool
	keep     string // "all", "calls" or "chunks"
	contents []any
}

// say sends the conversation with another user turn, and stores the response. It
// returns the tool calls in the response.
func (k *talker) say(parts ...any) (calls []object) {
	k.t.Helper()
	k.turn("user", parts)
	body, _ := json.Marshal(object{
		"contents": k.contents, "tools": []any{object{"functionDeclarations": []any{object{"name": "find"}, object{"name": "save"}}}},
		"generationConfig": object{"thinkingConfig": object{"includeThoughts": true, "thinkingBudget": 4096}},
	})
	path := "/v1beta/models/claude-sonnet-4-5:generateContent"
	if k.stream {
		path = "/v1beta/models/claude-sonnet-4-5:streamGenerateContent?alt=sse"
	}
	w := post(k.front, path, string(body))
	if w.Code != http.StatusOK {
		k.t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	for _, got := range chunks(k.t, w, k.stream) {
		calls = append(calls, k.note(got)...)
	}
	return calls
}

// turn adds parts to the last turn if that has the same role, unless the client stores
// each piece as a separate turn.
func (k *talker) turn(role string, parts []any) {
	if n := len(k.contents); n > 0 && k.keep != "chunks" {
		if last := k.contents[n-1].(object); last["role"] == role {
			last["parts"] = append(last["parts"].([]any), parts...)
			return
		}
	}
	k.contents = append(k.contents, object{"role": role, "parts": parts})
}

// chunks returns the parts of each chunk of a response.
func chunks(t *testing.T, w *httptest.ResponseRecorder, stream bool) (list [][]any) {
	t.Helper()
	docs := []string{w.Body.String()}
	if stream {
		docs = nil
		for line := range strings.SplitSeq(w.Body.String(), "\n") {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				docs = append(docs, data)
			}
		}
	}
	for _, doc := range docs {
		var v struct {
			Candidates []struct{ Content struct{ Parts []any } }
		}
		if err := json.Unmarshal([]byte(doc), &v); err != nil {
			t.Fatalf("%v in %s", err, doc)
		}
		if len(v.Candidates) > 0 && len(v.Candidates[0].Content.Parts) > 0 {
			list = append(list, v.Candidates[0].Content.Parts)
		}
	}
	return list
}

// note stores the parts that a client of this kind keeps.
func (k *talker) note(parts []any) (calls []object) {
	var kept []any
	for _, p := range parts {
		p := p.(object)
		call, isCall := p["functionCall"].(object)
		if isCall {
			calls = append(calls, call)
		}
		if k.keep == "calls" {
			if p["thought"] == true {
				continue
			}
			if !isCall {
				delete(p, "thoughtSignature")
				if p["text"] == "" {
					continue
				}
			}
		}
		kept = append(kept, p)
	}
	if len(kept) > 0 {
		k.turn("model", kept)
	}
	return calls
}

// results sends the results of tool calls, in separate turns if the client does so.
func (k *talker) results(calls []object) []any {
	var list []any
	for _, c := range calls {
		r := object{"functionResponse": object{"name": c["name"], "id": c["id"], "response": object{"output": "found " + fmt.Sprint(c["args"])}}}
		if c["id"] == nil {
			delete(r["functionResponse"].(object), "id")
		}
		list = append(list, r)
	}
	return list
}

// TestConversation runs conversations of many turns between generateContent clients and
// a model with a thinking budget. The model rejects a step whose thinking is missing or
// changed. The messages of each request must begin with those of the previous one.
func TestConversation(t *testing.T) {
	for _, keep := range []string{"all", "calls", "chunks"} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", keep, stream), func(t *testing.T) {
				c, f := strict(t, anthropic.Options{}, fakes.Options{KeepThinking: true})
				_, front := fronts(c)
				k := &talker{t: t, front: front, stream: stream, keep: keep}
				for i := range 5 {
					f.Say(fake.Thinking(fmt.Sprintf("Where, in step %d, should one look?", i)), fake.Text("Let me look."),
						fake.Call("find", fmt.Sprintf(`{"q":"%d"}`, i)), fake.Call("find", `{"q":"é\n"}`))
					f.Say(fake.Thinking(""), fake.Call("save", `{}`))
					f.Say(fake.Redacted("b3BhcXVl"), fake.Text("I think that was it. "), fake.Text("Was it?"))
					calls := k.say(object{"text": fmt.Sprintf("Question %d", i)})
					if len(calls) != 2 {
						t.Fatalf("step %d: %d calls", i, len(calls))
					}
					if calls = k.say(k.results(calls)...); len(calls) != 1 {
						t.Fatalf("step %d: %d calls", i, len(calls))
					}
					if calls = k.say(k.results(calls)...); len(calls) != 0 {
						t.Fatalf("step %d: %d calls", i, len(calls))
					}
				}
				if s := refusals(f); s != "" {
					t.Errorf("the vendor has refused:\n%s", s)
				}
				growing(t, f)
			})
		}
	}
}

// growing checks that the turns of each request begin with those of the one
// before, byte for byte.
func growing(t *testing.T, f *fakes.Server) {
	t.Helper()
	last := ""
	for i, r := range f.Requests() {
		var v struct{ Messages json.RawMessage }
		if err := json.Unmarshal(r.Body, &v); err != nil {
			t.Fatal(err)
		}
		now := strings.TrimSuffix(string(v.Messages), "]")
		if !strings.HasPrefix(now, last) {
			n := 0
			for n < len(now) && n < len(last) && now[n] == last[n] {
				n++
			}
			t.Fatalf("request %d differs from byte %d on: %.200s, before: %.200s", i, n, now[max(0, n-50):], last[max(0, n-50):])
		}
		last = now
		if !strings.Contains(string(r.Body), `"thinking":{"type":"enabled","budget_tokens":4096`) {
			t.Errorf("request %d does not think", i)
		}
	}
}
