package openai_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// A conversation is held by a client that stores its own history.
type conversation struct {
	history []any
	last    []map[string]any // parts of the last response
}

// An apiFormat is a client's format: how it writes requests and reads responses.
type apiFormat struct {
	path, stream string
	body         func(t *conversation, stream bool) string
	read         func(t *testing.T, answer string, stream bool) []map[string]any
	add          func(t *conversation, user string, results []any)
	result       func(call map[string]any) any // nil if it is not a tool call
}

var apiFormats = func() map[string]apiFormat {
	forgetful := fromGenerateContent
	forgetful.read = func(t *testing.T, answer string, stream bool) []map[string]any {
		return slices.DeleteFunc(fromGenerateContent.read(t, answer, stream), func(p map[string]any) bool { return p["thought"] == true })
	}
	calling := fromGenerateContent // returns signatures of tool calls only
	calling.read = func(t *testing.T, answer string, stream bool) []map[string]any {
		list := fromGenerateContent.read(t, answer, stream)
		for _, p := range list {
			if p["functionCall"] == nil {
				delete(p, "thoughtSignature")
			}
		}
		return slices.DeleteFunc(list, func(p map[string]any) bool { return p["text"] == "" })
	}
	plain := fromMessages // does not ask for thinking
	plain.body = func(t *conversation, stream bool) string {
		return strings.Replace(fromMessages.body(t, stream), `"thinking":{"type":"adaptive"},`, "", 1)
	}
	omitting := fromMessages // thinks, and omits it from responses
	omitting.body = func(t *conversation, stream bool) string {
		return strings.Replace(fromMessages.body(t, stream), `"adaptive"`, `"adaptive","display":"omitted"`, 1)
	}
	omitting.read = func(t *testing.T, answer string, stream bool) []map[string]any {
		list := fromMessages.read(t, answer, stream)
		for _, b := range list {
			if text, _ := b["thinking"].(string); text != "" {
				t.Errorf("the client got the thinking %q", text)
			}
		}
		return list
	}
	dropping := fromMessages // asks for thinking, but returns texts and tool calls only
	dropping.read = func(t *testing.T, answer string, stream bool) []map[string]any {
		return slices.DeleteFunc(fromMessages.read(t, answer, stream), func(b map[string]any) bool { return b["type"] != "text" && b["type"] != "tool_use" })
	}
	unsigned := fromMessages // asks for thinking, but returns it without signatures
	unsigned.read = func(t *testing.T, answer string, stream bool) []map[string]any {
		list := slices.DeleteFunc(fromMessages.read(t, answer, stream), func(b map[string]any) bool { return b["type"] == "redacted_thinking" })
		for _, b := range list {
			if b["type"] == "thinking" && b["signature"] == "" {
				t.Errorf("an empty signature: %v", b)
			}
			delete(b, "signature")
		}
		return list
	}
	return map[string]apiFormat{"messages": fromMessages, "generatecontent": fromGenerateContent, "generatecontent without thinking": forgetful,
		"generatecontent with signed calls only": calling,
		"messages, thinking omitted":             omitting, "messages without thinking": plain, "messages without blocks": dropping, "messages without signatures": unsigned}
}()

var (
	fromMessages = apiFormat{
		path: "/v1/messages", stream: "/v1/messages",
		body: func(t *conversation, stream bool) string {
			return fmt.Sprintf(`{"model":"gpt-6.2-sol","max_tokens":1000,"stream":%v,"thinking":{"type":"adaptive"},"tools":[{"name":"f","input_schema":%s}],"messages":%s}`, stream, schemaOfF, encode(t.history))
		},
		read: func(t *testing.T, answer string, stream bool) []map[string]any {
			if stream {
				return blocksOf(t, answer)
			}
			var a struct{ Content []map[string]any }
			decode(t, answer, &a)
			return a.Content
		},
		add: func(t *conversation, user string, results []any) {
			if t.last != nil {
				t.history = append(t.history, map[string]any{"role": "assistant", "content": t.last})
			}
			if user != "" {
				results = append(results, map[string]any{"type": "text", "text": user})
			}
			t.history = append(t.history, map[string]any{"role": "user", "content": results})
		},
		result: func(b map[string]any) any {
			if b["type"] != "tool_use" {
				return nil
			}
			return map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": encode(b["input"])}
		},
	}
	fromGenerateContent = apiFormat{
		path: "/v1beta/models/gpt-6.2-sol:generateContent", stream: "/v1beta/models/gpt-6.2-sol:streamGenerateContent?alt=sse",
		body: func(t *conversation, _ bool) string {
			return fmt.Sprintf(`{"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":%s}]}],"contents":%s}`, schemaOfF, encode(t.history))
		},
		read: func(t *testing.T, answer string, stream bool) []map[string]any {
			chunks := []string{answer}
			if stream {
				chunks = dataOf(answer)
			}
			var parts []map[string]any
			for _, c := range chunks {
				var a struct {
					Candidates []struct {
						Content struct{ Parts []map[string]any }
					}
				}
				decode(t, c, &a)
				for _, x := range a.Candidates {
					parts = append(parts, x.Content.Parts...)
				}
			}
			return parts
		},
		add: func(t *conversation, user string, results []any) {
			if t.last != nil {
				t.history = append(t.history, map[string]any{"role": "model", "parts": t.last})
			}
			if user != "" {
				results = append(results, map[string]any{"text": user})
			}
			t.history = append(t.history, map[string]any{"role": "user", "parts": results})
		},
		result: func(p map[string]any) any {
			c, ok := p["functionCall"].(map[string]any)
			if !ok {
				return nil
			}
			return map[string]any{"functionResponse": map[string]any{"name": c["name"], "id": c["id"], "response": map[string]any{"output": encode(c["args"])}}}
		},
	}
)

// dataOf returns the data of the events of a stream.
func dataOf(stream string) []string {
	var list []string
	sc := bufio.NewScanner(strings.NewReader(stream))
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
			list = append(list, data)
		}
	}
	return list
}

// blocksOf merges the blocks of a streamed message.
func blocksOf(t *testing.T, stream string) []map[string]any {
	t.Helper()
	var blocks []map[string]any
	inputs := map[int]string{}
	for _, data := range dataOf(stream) {
		var e struct {
			Type  string
			Index int
			Block map[string]any `json:"content_block"`
			Delta map[string]any
		}
		decode(t, data, &e)
		switch e.Type {
		case "content_block_start":
			blocks = append(blocks, e.Block)
		case "content_block_delta":
			for name, v := range e.Delta {
				switch name {
				case "partial_json":
					inputs[e.Index] += v.(string)
				case "text", "thinking", "signature":
					blocks[e.Index][name] = fmt.Sprint(blocks[e.Index][name]) + v.(string)
				}
			}
		}
	}
	for i, s := range inputs {
		if s != "" {
			blocks[i]["input"] = json.RawMessage(s)
		}
	}
	return blocks
}

// longTalk are the responses of a model, turn by turn, and longItems the items in the
// last request.
var (
	longTalk = [][]fake.Piece{
		{fake.Thinking("Two calls."), fake.Text("Calling."), fake.Call("f", `{"n":1}`), fake.Call("f", `{"n":2}`)},
		{fake.Thinking("Once more."), fake.Thinking(""), fake.Call("f", `{"n":3}`)},
		{fake.Thinking("Text, then a thought."), fake.Text("All three are done."), fake.Redacted("hidden"), fake.Text("Really.")},
		{fake.Redacted("no summary"), fake.Call("f", `{"n":4}`)},
		{fake.Raw(`{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}}`), fake.Text("Found.")},
		{fake.Text("No thought at all.")},
		{fake.Thinking("A text and a call."), fake.Text("Calling again."), fake.Call("f", `{"n":5}`)},
		{fake.Thinking("The last."), fake.Text("Bye.")},
	}
	longItems = []string{
		"message", "reasoning", "message", "function_call", "function_call", "function_call_output", "function_call_output",
		"reasoning", "reasoning", "function_call", "function_call_output",
		"reasoning", "message", "reasoning", "message", "message",
		"reasoning", "function_call", "function_call_output",
		"web_search_call", "message", "message", "message", "message",
		"reasoning", "message", "function_call", "function_call_output",
	}
)

// TestResponsesConversations runs long conversations through each handler. The server
// compares its own thinking byte by byte, and rejects it at any other place.
func TestResponsesConversations(t *testing.T) {
	for name, sp := range apiFormats {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", name, stream), func(t *testing.T) {
				c, s := responses(t, fakeopenai.Options{}, openai.Options{})
				for _, turn := range longTalk {
					s.Say(turn...)
				}
				var talk conversation
				prefix := ""
				for i := range longTalk {
					talk.ask(t, c, sp, stream)
					if len(s.Refused()) > 0 {
						t.Fatalf("turn %d was rejected: %s", i, s.Last().Body)
					}
					prefix = follows(t, s.Last().Body, prefix)
				}
				want := longItems
				switch {
				case strings.HasPrefix(name, "messages without"), strings.HasSuffix(name, "signed calls only"):
					want = idItems(name)
				case strings.HasPrefix(name, "generatecontent"): // reasoning returns at the start of its step
					want = slices.Delete(slices.Clone(want), 12, 13)
				}
				if diff := cmp.Diff(want, kindsOf(t, s.Last().Body)); diff != "" {
					t.Errorf("items (-want +got):\n%s\n%s", diff, s.Last().Body)
				}
				for _, want := range []string{`"content":"Calling.","phase":"commentary"`, `"content":"Found.","phase":"final_answer"`} {
					if !strings.Contains(string(s.Last().Body), want) {
						t.Errorf("no %s in %s", want, s.Last().Body)
					}
				}
			})
		}
	}
}

// idItems returns the items of the last request if only the ids of tool calls carry
// state. Items after the last tool call of a response are missing. If the client asks
// for thinking and drops it, items before the first tool call are missing too.
func idItems(name string) []string {
	list := []string{
		"message", "reasoning", "message", "function_call", "function_call", "function_call_output", "function_call_output",
		"reasoning", "reasoning", "function_call", "function_call_output",
		"message", "message",
		"reasoning", "function_call", "function_call_output",
		"message", "message", "message", "message",
		"reasoning", "message", "function_call", "function_call_output",
	}
	if name == "messages without blocks" || name == "messages without signatures" {
		list = slices.Delete(list, 1, 2)
	}
	return list
}

// ask sends the next request: with the results of the last tool calls or, without any,
// with a text.
func (k *conversation) ask(t *testing.T, c upstream.Upstream, sp apiFormat, stream bool) {
	t.Helper()
	var results []any
	for _, p := range k.last {
		if r := sp.result(p); r != nil {
			results = append(results, r)
		}
	}
	user, path := "", sp.path
	if len(results) == 0 {
		user = "and now?"
	}
	if stream {
		path = sp.stream
	}
	sp.add(k, user, results)
	w := post(t, c, path, sp.body(k, stream))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	k.last = sp.read(t, w.Body.String(), stream)
}

// follows checks that the items of a request begin with those of the previous request,
// and returns them without their end.
func follows(t *testing.T, body []byte, prefix string) string {
	t.Helper()
	var doc struct{ Input json.RawMessage }
	decode(t, string(body), &doc)
	items := strings.TrimSuffix(string(doc.Input), "]")
	if !strings.HasPrefix(items, prefix) {
		t.Errorf("earlier items have changed: %s", items)
	}
	return items
}

// kindsOf returns the kinds of the items of a request.
func kindsOf(t *testing.T, body []byte) []string {
	t.Helper()
	var doc struct{ Input []struct{ Type string } }
	decode(t, string(body), &doc)
	var list []string
	for _, item := range doc.Input {
		if item.Type == "" {
			item.Type = "message"
		}
		list = append(list, item.Type)
	}
	return list
}
