package anthropic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// marksIn returns the paths of the blocks of a document that have a mark, in its order.
func marksIn(document string) (paths []string) {
	var walk func(v gjson.Result, path string)
	walk = func(v gjson.Result, path string) {
		v.ForEach(func(key, x gjson.Result) bool {
			if name := key.String(); name == "cache_control" {
				paths = append(paths, strings.TrimPrefix(path, "."))
			} else if x.IsArray() || x.IsObject() {
				walk(x, path+"."+name)
			}
			return true
		})
	}
	for _, name := range []string{"tools", "system", "messages"} { // the order of the cache
		n := 0
		gjson.Get(document, name).ForEach(func(_, x gjson.Result) bool {
			walk(x, fmt.Sprintf("%s.%d", name, n))
			n++
			return true
		})
	}
	return paths
}

// TestCacheMarks checks where requests of clients that cannot mark have marks, and that the
// next request of the conversation begins with what is marked.
func TestCacheMarks(t *testing.T) {
	long := strings.Repeat("All of this is the same in every request. ", 300) // about 2,700 tokens
	const result = `{"role":"tool","tool_call_id":"c1","content":"7"}`
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	chat := func(system string, tools bool, more ...string) string {
		list := ""
		if tools {
			list = `"tools":[{"type":"function","function":{"name":"f","description":"` + long + `","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],`
		}
		turns := append([]string{`{"role":"system","content":"` + system + `"}`, `{"role":"user","content":"q"}`}, more...)
		return `{"model":"m",` + list + `"messages":[` + strings.Join(turns, ",") + `]}`
	}
	parseChat := func(body string) (*upstream.Request, error) {
		r, _, err := chatcompletions.DecodeRequest([]byte(body), nil)
		return r, err
	}
	parseResponses := func(body string) (*upstream.Request, error) {
		r, _, err := responses.DecodeRequest([]byte(body), nil)
		return r, err
	}
	parseGemini := func(body string) (*upstream.Request, error) {
		r, _, err := generatecontent.DecodeRequest([]byte(body), nil)
		return r, err
	}
	for _, tt := range []struct {
		name, model string
		parse       func(string) (*upstream.Request, error)
		body, next  string
		want        []string
	}{
		{"tools, system text and a turn", "claude-sonnet-4-5", parseChat, chat(long, true), chat(long, true, call, result),
			[]string{"tools.1", "system.0", "messages.0.content.0"}},
		{"the last two turns", "claude-sonnet-4-5", parseChat, chat(long, true, call, result), chat(long, true, call, result, `{"role":"assistant","content":"a"}`, `{"role":"user","content":"b"}`),
			[]string{"tools.1", "system.0", "messages.0.content.0", "messages.2.content.0"}},
		{"only long prompts", "claude-sonnet-4-5", parseChat, chat("s", false), chat("s", false, call, result), nil},
		{"from where it is long enough", "claude-opus-4-5", parseChat, chat(long, false, `{"role":"assistant","content":"a"}`, `{"role":"user","content":"`+long+`"}`),
			chat(long, false, `{"role":"assistant","content":"a"}`, `{"role":"user","content":"`+long+`"}`, call, result), []string{"messages.2.content.0"}},
		{"a conversation that ends with the assistant", "claude-sonnet-5", parseChat, chat(long, false, `{"role":"assistant","content":"a"}`),
			chat(long, false, `{"role":"assistant","content":"a"}`, `{"role":"user","content":"b"}`), []string{"system.0", "messages.0.content.0"}},
		{"a client's own mark", "claude-sonnet-4-5", parseResponses,
			`{"model":"m","instructions":"` + long + `","input":[{"role":"user","content":[{"type":"input_text","text":"q","prompt_cache_breakpoint":{"mode":"explicit"}}]}]}`, "",
			[]string{"messages.0.content.0"}},
		{"Responses", "claude-sonnet-4-5", parseResponses, `{"model":"m","instructions":"` + long + `","input":"q"}`,
			`{"model":"m","instructions":"` + long + `","input":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}`,
			[]string{"system.0", "messages.0.content.0"}},
		{"generateContent", "claude-sonnet-4-5", parseGemini, `{"systemInstruction":{"parts":[{"text":"` + long + `"}]},"contents":[{"role":"user","parts":[{"text":"q"}]}]}`, "",
			[]string{"system.0", "messages.0.content.0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := New(&Options{CacheMarks: true})
			if err != nil {
				t.Fatal(err)
			}
			r, err := tt.parse(tt.body)
			if err != nil {
				t.Fatal(err)
			}
			r.Model = tt.model
			e, err := upstream.EncodeRequest(t.Context(), c, r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, marksIn(e.Document)); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if tt.next == "" {
				return
			}
			next, err := tt.parse(tt.next)
			if err != nil {
				t.Fatal(err)
			}
			next.Model = tt.model
			n, err := upstream.EncodeRequest(t.Context(), c, next)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range tt.want { // up to each mark, both are equal
				if a, b := without(gjson.Get(e.Document, path).Raw), without(gjson.Get(n.Document, path).Raw); a != b {
					t.Errorf("%s is %s in the next request, and was %s", path, b, a)
				}
			}
		})
	}
}

// without returns a block without its mark.
func without(block string) string {
	return strings.Replace(block, `,"cache_control":{"type":"ephemeral"}`, "", 1)
}

// TestNoCacheMarks checks that clients of the format and the default have no other marks.
func TestNoCacheMarks(t *testing.T) {
	body := `{"model":"claude-sonnet-4-5","max_tokens":9,"system":"` + strings.Repeat("The same in every request. ", 600) + `","messages":[{"role":"user","content":"q"}]}`
	r, _, err := messages.DecodeRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	native := r.Clone()
	native.Header = []upstream.HeaderField{{Name: "anthropic-version", Value: "2023-06-01"}}
	native.Turns = append(native.Turns, content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.Text{Text: "a"}}}, native.Turns[0])
	for name, tt := range map[string]struct {
		marks bool
		r     *upstream.Request
	}{"document": {true, r}, "changed request": {true, native}, "without the option": {false, r.Clone()}} {
		c, err := New(&Options{CacheMarks: tt.marks})
		if err != nil {
			t.Fatal(err)
		}
		e, err := upstream.EncodeRequest(t.Context(), c, tt.r)
		if err != nil {
			t.Fatal(err)
		}
		if got := marksIn(e.Document); got != nil {
			t.Errorf("%s: got marks at %q", name, got)
		}
	}
}
