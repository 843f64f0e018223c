package crosstest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// These tests follow carried state through clients of the other format: from a
// vendor's response to the next request to that vendor.

const lookTool = `"name":"look","description":"d"`

// serveText sends one request to h and returns the response.
func serveText(t *testing.T, h http.Handler, path, body string) string {
	t.Helper()
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("%d %s\n%s", w.Code, w.Body, body)
	}
	return w.Body.String()
}

// TestThinkingCarriedInToolCalls runs generateContent clients against a
// Messages vendor. Some clients return only texts and tool calls.
func TestThinkingCarriedInToolCalls(t *testing.T) {
	const sig = "EqQBCkYIBxgCKkA+/w=="
	var asked *upstream.Request
	up := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		asked = r
		_ = w.Thinking("Let me ")
		_ = w.Thinking("see: é\u2028.")
		_ = w.Signature(content.Signature{Format: messages.Format, Data: sig})
		_ = w.Part(&content.Thinking{Redacted: content.Signature{Format: messages.Format, Data: "b3BhcXVl"}})
		_ = w.Text("Both ")
		_ = w.Text("of them.")
		_ = w.Part(&content.ToolUse{ID: "toolu_1", Name: "look", Input: `{"at":1}`})
		return w.Part(&content.ToolUse{ID: "toolu_2", Name: "look", Input: `{"at":2}`})
	})
	want := []any{
		map[string]any{"type": "thinking", "thinking": "Let me see: é\u2028.", "signature": sig},
		map[string]any{"type": "redacted_thinking", "data": "b3BhcXVl"},
		map[string]any{"type": "text", "text": "Both of them."},
		map[string]any{"type": "tool_use", "id": "toolu_1", "name": "look", "input": map[string]any{"at": 1.0}},
		map[string]any{"type": "tool_use", "id": "toolu_2", "name": "look", "input": map[string]any{"at": 2.0}},
	}
	h := generatecontent.NewHandler(up, nil)
	for name, client := range map[string]func(pieces [][]map[string]any) (turns []string){
		"client that keeps everything": func(pieces [][]map[string]any) []string {
			var all []map[string]any
			for _, p := range pieces {
				all = append(all, p...)
			}
			return []string{turnOf(t, all)}
		},
		"client that keeps each chunk": func(pieces [][]map[string]any) (turns []string) {
			for _, p := range pieces {
				turns = append(turns, turnOf(t, p))
			}
			return turns
		},
		"client that keeps texts and tool calls": func(pieces [][]map[string]any) []string {
			var all []map[string]any
			for _, p := range pieces {
				for _, part := range p {
					if part["thought"] != nil || part["text"] == "" {
						continue
					}
					if part["text"] != nil && len(all) > 0 && all[len(all)-1]["text"] != nil {
						all[len(all)-1] = map[string]any{"text": fmt.Sprint(all[len(all)-1]["text"], part["text"])}
						continue
					}
					all = append(all, part)
				}
			}
			return []string{turnOf(t, all)}
		},
	} {
		for _, method := range []string{"generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"} {
			t.Run(name+" "+method, func(t *testing.T) {
				const head = `{"tools":[{"functionDeclarations":[{` + lookTool + `}]}],"contents":[{"role":"user","parts":[{"text":"go"}]}`
				answer := serveText(t, h, "/v1beta/models/m:"+method, head+"]}")
				results := `,{"role":"user","parts":[{"functionResponse":{"id":"toolu_1","name":"look","response":{"output":"1"}}},` +
					`{"functionResponse":{"id":"toolu_2","name":"look","response":{"output":"2"}}}]}]}`
				serveText(t, h, "/v1beta/models/m:"+method, head+strings.Join(client(piecesOf(t, answer)), "")+results)
				r, losses, err := messages.RequestFromUpstream(asked)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range losses {
					if strings.HasPrefix(l.Path, "turns.") && l.Severity > content.LossHint {
						t.Errorf("lost: %v", l)
					}
				}
				nine := int64(9)
				r.MaxTokens = &nine
				doc, err := r.AppendJSON(nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, joinedTexts(partsByRole(t, doc, "messages", "assistant", "content"))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func turnOf(t *testing.T, parts []map[string]any) string {
	t.Helper()
	b, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	return `,{"role":"model","parts":` + string(b) + `}`
}

// piecesOf returns the parts of each chunk of a response, whole or streamed.
func piecesOf(t *testing.T, answer string) (pieces [][]map[string]any) {
	t.Helper()
	type response struct {
		Candidates []struct {
			Content struct{ Parts []map[string]any }
		}
	}
	var list []response
	switch {
	case strings.HasPrefix(answer, "["):
		if err := json.Unmarshal([]byte(answer), &list); err != nil {
			t.Fatal(err)
		}
	default:
		for data := range strings.SplitSeq(strings.ReplaceAll(answer, "data: ", ""), "\r\n\r\n") {
			var r response
			if data == "" {
				continue
			}
			if err := json.Unmarshal([]byte(data), &r); err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
	}
	for _, r := range list {
		if parts := r.Candidates[0].Content.Parts; len(parts) > 0 {
			pieces = append(pieces, parts)
		}
	}
	return pieces
}

// partsByRole returns the parts of all turns with one role as one list.
func partsByRole(t *testing.T, doc []byte, turns, role, parts string) (all []any) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(doc, &m); err != nil {
		t.Fatal(err)
	}
	for _, turn := range m[turns].([]any) {
		if turn := turn.(map[string]any); turn["role"] == role {
			all = append(all, turn[parts].([]any)...)
		}
	}
	return all
}

// joinedTexts joins consecutive texts, since clients may split them anywhere.
func joinedTexts(list []any) (joined []any) {
	for _, x := range list {
		m := x.(map[string]any)
		if last := len(joined) - 1; last >= 0 && m["text"] != nil {
			if before := joined[last].(map[string]any); before["text"] != nil {
				before["text"] = fmt.Sprint(before["text"], m["text"])
				continue
			}
		}
		joined = append(joined, x)
	}
	return joined
}

// TestSignaturesCarriedInThinking runs a Messages client against a
// generateContent vendor: the signatures of tool calls return in their ids.
func TestSignaturesCarriedInThinking(t *testing.T) {
	own := func(data string) content.Signature {
		return content.Signature{Format: generatecontent.Format, Data: data}
	}
	var asked *upstream.Request
	up := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		asked = r
		_ = w.Thinking("Let me see.")
		_ = w.Text("Both.")
		_ = w.Signature(own("dGV4dA=="))
		_ = w.Part(&content.ToolUse{ID: "fc-1", Name: "look", Input: `{"at":1}`, Signature: own("CiQB+/8=")})
		return w.Part(&content.ToolUse{ID: "fc-2", Name: "look", Input: `{"at":2}`})
	})
	h := messages.NewHandler(up, nil)
	const head = `{"model":"m","max_tokens":9,"tools":[{` + lookTool + `,"input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"go"}`
	var answer struct{ Content []map[string]any }
	if err := json.Unmarshal([]byte(serveText(t, h, "/v1/messages", head+"]}")), &answer); err != nil {
		t.Fatal(err)
	}
	blocks, err := json.Marshal(answer.Content)
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	for _, b := range answer.Content {
		if b["type"] == "tool_use" {
			results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"1"}`, b["id"]))
		}
	}
	serveText(t, h, "/v1/messages", head+`,{"role":"assistant","content":`+string(blocks)+`},{"role":"user","content":[`+strings.Join(results, ",")+`]}]}`)
	r, losses, err := generatecontent.RequestFromUpstream(asked)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range losses {
		if strings.HasPrefix(l.Path, "turns.") && l.Severity > content.LossHint {
			t.Errorf("lost: %v", l)
		}
	}
	doc, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for _, p := range partsByRole(t, doc, "contents", "model", "parts") {
		if p.(map[string]any)["thought"] == nil { // the vendor ignores thinking
			got = append(got, p)
		}
	}
	call := func(id string, at float64, sig string) any {
		m := map[string]any{"functionCall": map[string]any{"id": id, "name": "look", "args": map[string]any{"at": at}}}
		if sig != "" {
			m["thoughtSignature"] = sig
		}
		return m
	}
	want := []any{map[string]any{"text": "Both."}, call("fc-1", 1, "CiQB+/8="), call("fc-2", 2, "")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
