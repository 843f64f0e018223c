package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

const (
	cacheTools  = `"tools":[{"name":"f","description":"Finds.","input_schema":{"type":"object"}},{"name":"g","input_schema":{"type":"object"}}],`
	cacheSystem = `"system":[{"type":"text","text":"Be kind."},{"type":"text","text":"Be short."}],`
	cacheTurns  = `{"role":"user","content":"Where?"},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"f","input":{"at":1}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"},{"type":"text","text":"Well?"}]}`
	cacheMore = `,{"role":"assistant","content":"There."},{"role":"user","content":"Thanks."}`
)

func decodeMessages(t *testing.T, members string) *upstream.Request {
	t.Helper()
	r, _, err := messages.DecodeRequest([]byte(`{"model":"some-model","max_tokens":9,`+members+`}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCacheBreak changes the second request of a conversation.
func TestCacheBreak(t *testing.T) {
	const rest = cacheTools + cacheSystem + `"messages":[` + cacheTurns + cacheMore + `]`
	replace := func(old, new string) string { return strings.Replace(rest, old, new, 1) }
	for name, tt := range map[string]struct {
		next string
		path string // empty if the cache is not broken
		only string // the adapter whose cache is broken; empty means all
	}{
		"more turns":    {rest, "", ""},
		"a limit":       {`"temperature":0.5,` + rest, "", ""},
		"marks":         {replace(`{"type":"text","text":"Be short."`, `{"type":"text","text":"Be short.","cache_control":{"type":"ephemeral"}`), "", ""},
		"a tool":        {replace("Finds.", "Finds it."), "tools.0", ""},
		"a new tool":    {replace(`"tools":[`, `"tools":[{"name":"new","input_schema":{"type":"object"}},`), "tools.0", ""},
		"system":        {replace("Be short.", "Be brief."), "system.1", ""},
		"first turn":    {replace("Where?", "When?"), "messages.0.content.0", ""},
		"a call":        {replace(`"at":1`, `"at":2`), "messages.1.content.1", ""},
		"after results": {replace("Well?", "So?"), "messages.2.content.1", ""},
		"fewer turns":   {cacheTools + cacheSystem + `"messages":[{"role":"user","content":"Where?"}]`, "messages.1", ""},
		"tool choice":   {`"tool_choice":{"type":"any"},` + rest, "tool_choice", "claude"},
		"schema":        {`"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false,"properties":{}}}},` + rest, "output_config.format.schema", "claude chat responses"},
	} {
		var c counter
		for adapter, up := range adapters(t, &c) {
			prev := decodeMessages(t, cacheTools+cacheSystem+`"messages":[`+cacheTurns+`]`)
			next := decodeMessages(t, tt.next)
			d, err := upstream.CacheBreak(t.Context(), up, prev, next)
			if err != nil {
				t.Fatal(err)
			}
			path := tt.path
			if !strings.Contains(tt.only, adapter) && tt.only != "" {
				path = ""
			}
			if d.Path != path || d.Broken != (path != "") || d.Broken != (d.Shared < d.Total) || d.Broken != (d.WirePath != "") || d.Total < 100 {
				t.Errorf("%s, %s: %+v, want the path %q", name, adapter, d, path)
			}
			if c != (counter{}) {
				t.Errorf("%s, %s: sent or loaded: %+v", name, adapter, c)
			}
		}
	}
}

// TestCacheBreakGenerateContent checks paths in a document of another format.
func TestCacheBreakGenerateContent(t *testing.T) {
	decode := func(tool, system, text string) *upstream.Request {
		r, _, err := generatecontent.DecodeRequest([]byte(`{"systemInstruction":{"parts":[{"text":"`+system+`"}]},"tools":[{"functionDeclarations":[{"name":"f"},{"name":"`+tool+`"}]}],`+
			`"contents":[{"role":"user","parts":[{"text":"a"},{"text":"`+text+`"}]}]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Model = "some-model"
		return r
	}
	var c counter
	for adapter, up := range adapters(t, &c) {
		for path, next := range map[string]*upstream.Request{
			"tools[0].function_declarations[1]": decode("h", "s", "b"),
			"system_instruction.parts[0]":       decode("g", "S", "b"),
			"contents[0].parts[1]":              decode("g", "s", "B"),
		} {
			d, err := upstream.CacheBreak(t.Context(), up, decode("g", "s", "b"), next)
			if err != nil || !d.Broken || d.Path != path {
				t.Errorf("%s: %+v, %v, want the path %q", adapter, d, err, path)
			}
		}
	}
}

// TestCacheBreakWrapped checks models, clones and wrapped upstreams.
func TestCacheBreakWrapped(t *testing.T) {
	var c counter
	n := 0
	var m upstream.Mux
	up := adapters(t, &c)["chat"]
	m.HandleAs("via/*", upstream.First(upstream.Failover([]upstream.Upstream{up}, nil)), "*")
	m.Handle("timed", upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		n++
		r = r.Clone()
		r.System = []content.Part{&content.Text{Text: fmt.Sprint("It is ", n, " o'clock.")}}
		return r, nil
	}))
	r := decodeMessages(t, cacheTools+cacheSystem+`"messages":[`+cacheTurns+`]`)
	changed := r.Clone()
	changed.Turns[2].Parts[1] = &content.Text{Text: "So?"}
	for _, tt := range []struct {
		prev, next *upstream.Request
		path       string
	}{
		{r.WithModel("via/a"), r.WithModel("via/b"), "model"},
		{r.WithModel("via/a"), changed.WithModel("via/a"), "turns.2.parts.1"},
		{r.WithModel("timed"), r.WithModel("timed"), ""},
	} {
		d, err := upstream.CacheBreak(t.Context(), &m, tt.prev, tt.next)
		if err != nil || !d.Broken || d.Path != tt.path {
			t.Errorf("%+v, %v, want the path %q", d, err, tt.path)
		}
	}
	if _, err := upstream.CacheBreak(t.Context(), &m, r, r); err == nil {
		t.Error("no error for an unknown model")
	}
	none := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return nil })
	if _, err := upstream.CacheBreak(t.Context(), none, r, r); !errors.Is(err, upstream.ErrUnsupported) {
		t.Errorf("the error is %v", err)
	}
}

// A keyed encoder sends the id of the user as the key of the cache.
type keyed struct{ upstream.Upstream }

func (keyed) EncodeRequest(_ context.Context, r *upstream.Request) (upstream.EncodedRequest, error) {
	return upstream.EncodedRequest{
		Document: fmt.Sprintf(`{"key":%q,"text":%q}`, r.UserID, r.System[0].(*content.Text).Text), Prompt: []string{"text"}, CacheKey: "key",
	}, nil
}

// TestCacheBreakKey checks that a different key breaks the cache, and that a different text
// is reported before it.
func TestCacheBreakKey(t *testing.T) {
	request := func(user, text string) *upstream.Request {
		return &upstream.Request{UserID: user, System: []content.Part{&content.Text{Text: text}}}
	}
	for _, tt := range []struct {
		next *upstream.Request
		want upstream.CacheDiff
	}{
		{request("a", "text"), upstream.CacheDiff{Shared: 4, Total: 4}},
		{request("b", "text"), upstream.CacheDiff{Broken: true, Path: "user_id", WirePath: "key", Total: 4}},
		{request("", "text"), upstream.CacheDiff{Broken: true, Path: "user_id", WirePath: "key", Total: 4}},
		{request("b", "team"), upstream.CacheDiff{Broken: true, Path: "system.0", WirePath: "text", Shared: 2, Total: 4}},
	} {
		if d, err := upstream.CacheBreak(t.Context(), keyed{}, request("a", "text"), tt.next); err != nil || d != tt.want {
			t.Errorf("%+v, %v, want %+v", d, err, tt.want)
		}
	}
}

// A rewriting encoder changes the first text if there are more than two turns.
type rewriting struct{ upstream.Upstream }

func (rewriting) EncodeRequest(_ context.Context, r *upstream.Request) (upstream.EncodedRequest, error) {
	head := "short"
	if len(r.Turns) > 2 {
		head = "long"
	}
	return upstream.EncodedRequest{Document: `{"head":"` + head + `","turns":"` + strings.Repeat("x", len(r.Turns)) + `"}`, Prompt: []string{"head", "turns"}}, nil
}

// TestCacheBreakAddedTurn checks a cache that is broken because turns were added.
func TestCacheBreakAddedTurn(t *testing.T) {
	turns := make([]content.Turn, 3)
	d, err := upstream.CacheBreak(t.Context(), rewriting{}, &upstream.Request{Turns: turns[:2]}, &upstream.Request{Turns: turns})
	if err != nil || d.Path != "turns.2" || d.WirePath != "head" || d.Shared != 0 || d.Total != 7 {
		t.Errorf("%+v, %v", d, err)
	}
	const want = "broken at turns.2: 0 of 7 bytes shared"
	if d.String() != want {
		t.Errorf("%q, want %q", d.String(), want)
	}
}

// TestCacheBreakLong checks that a long conversation takes few encodings.
func TestCacheBreakLong(t *testing.T) {
	var c counter
	calls := 0
	up := upstream.Edit(adapters(t, &c)["chat"], func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		calls++
		return r, nil
	})
	prev := &upstream.Request{Model: "m"}
	for i := range 4000 {
		prev.Turns = append(prev.Turns, content.Turn{Role: [...]content.Role{content.RoleUser, content.RoleAssistant}[i%2], Parts: []content.Part{&content.Text{Text: "text"}}})
	}
	next := prev.Clone()
	for i := 1234; i < 4000; i++ {
		next.Turns[i].Parts[0] = &content.Text{Text: "other text"}
	}
	d, err := upstream.CacheBreak(t.Context(), up, prev, next)
	if err != nil || d.Path != "turns.1234.parts.0" {
		t.Errorf("%+v, %v", d, err)
	}
	if calls > 24 {
		t.Errorf("%d encodings", calls)
	}
}

// TestEncodeRequestFiles checks that files are represented without being loaded.
func TestEncodeRequestFiles(t *testing.T) {
	var c counter
	for name, up := range adapters(t, &c) {
		for _, p := range []content.Part{
			&content.Image{Source: &content.URL{URL: "https://example.com/a.png"}},
			&content.Image{Source: &content.URL{URL: "https://example.com/a", MediaType: "image/jpeg"}},
			&content.Document{Source: &content.URL{URL: "https://example.com/a.pdf"}},
			&content.Document{Source: &content.URL{URL: "https://example.com/a.txt"}},
			&content.Document{Source: &content.File{ID: "file-1"}},
		} {
			encode := func(p content.Part) (string, error) {
				r := &upstream.Request{Model: "some-model", Resolver: &c, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{p, &content.Text{Text: "What is it?"}}}}}
				e, err := upstream.EncodeRequest(t.Context(), up, r)
				return e.Document, err
			}
			document, err := encode(p)
			if err != nil && !strings.Contains(err.Error(), "not available here") && !strings.Contains(err.Error(), "accept files") {
				t.Errorf("%s: %v: the error is about the placeholder", name, err)
			}
			if list, _ := content.Violations(err); err != nil && list == nil || err == nil && !strings.Contains(document, "What is it?") {
				t.Errorf("%s: %v, %s", name, err, document)
			}
			if again, _ := encode(p); again != document {
				t.Errorf("%s: encoded again: %s", name, again)
			}
		}
		for _, forward := range []bool{false, true} {
			const link = "https://example.com/a.png"
			e, err := upstream.EncodeRequest(t.Context(), up, &upstream.Request{Model: "some-model", ForwardLinks: forward, Turns: []content.Turn{
				{Role: content.RoleUser, Parts: []content.Part{&content.Image{Source: &content.URL{URL: link}}, &content.Text{Text: "What is it?"}}}}})
			sent := strings.Contains(e.Document, `"`+link+`"`)
			want := []content.Source{&content.URL{URL: link}}
			if sent {
				want = nil
			}
			if diff := cmp.Diff(want, e.Placeholders); err != nil || sent && !forward || diff != "" {
				t.Errorf("%s, ForwardLinks %v: %v, placeholders (-want +got):\n%s\n%s", name, forward, err, diff, e.Document)
			}
		}
	}
	if c != (counter{}) {
		t.Errorf("sent or loaded: %+v", c)
	}
}

// TestCacheBreakWithoutDocument checks that a request which is encoded anew, because the
// vendor would reject its document, still has the paths of the client.
func TestCacheBreakWithoutDocument(t *testing.T) {
	decode := func(text string) *upstream.Request {
		return decodeMessages(t, `"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"`+text+`"}]},{"role":"user","content":"c"}]`)
	}
	var c counter
	for name, up := range adapters(t, &c) {
		next := decode("B")
		if _, ok := upstream.WireOf(next, messages.Format); ok {
			t.Fatal("the request has a document")
		}
		d, err := upstream.CacheBreak(t.Context(), up, decode("b"), next.WithModel(next.Model))
		if err != nil || d.Path != "messages.1.content.1" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// A mark that a host sets in a request of a format without marks is sent to servers that have marks,
// also to those of that format, and is a loss for others. A removed one is not sent.
func TestMarksOfOtherFormats(t *testing.T) {
	const lost = "hint contents[0].parts[0].cache: the server accepts no cache mark at this place; the mark was omitted, and the server decides what it caches"
	openaiLost := strings.Replace(lost, "contents[0].parts[0].cache", "messages[0].content", 1)
	responsesLost := strings.Replace(lost, "contents[0].parts[0].cache", "input", 1)
	chat, responsesUp, google := must(openai.New(nil)), must(openai.NewResponses(nil)), must(gemini.New(nil))
	for _, tt := range []struct {
		name   string
		decode func([]byte) (*upstream.Request, []content.Loss, error)
		body   string
		up     upstream.Upstream
		sent   string // of the mark
		losses []string
	}{
		{"generateContent", func(b []byte) (*upstream.Request, []content.Loss, error) {
			return generatecontent.DecodeRequest(b, nil)
		},
			`{"contents":[{"role":"user","parts":[{"text":"Hi."}]}]}`, google, "", []string{lost}},
		{"Chat Completions", decodeChat, `{"model":"gpt-5.2","messages":[{"role":"user","content":"Hi."}]}`, chat, "", []string{openaiLost}},
		{"Chat Completions with breakpoints", decodeChat, `{"model":"gpt-5.6","messages":[{"role":"user","content":"Hi."}]}`, chat, `"prompt_cache_breakpoint":{"mode":"explicit"}`, nil},
		{"Responses", decodeResponses, `{"model":"gpt-5.2","input":"Hi.","store":false}`, responsesUp, "", []string{responsesLost}},
		{"Responses with breakpoints", decodeResponses, `{"model":"gpt-5.6","input":"Hi.","store":false}`, responsesUp, `"prompt_cache_breakpoint":{"mode":"explicit"}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _, err := tt.decode([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if r.Model == "" { // it is in the path
				r.Model = "gemini-3.1-pro-preview"
			}
			for _, c := range []*content.Cache{{}, nil} {
				marked := *r // its Wire converts paths only
				marked.Turns = []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi.", Cache: c}}}}
				r := &marked
				losses, err := upstream.Preflight(t.Context(), tt.up, r)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, l := range losses {
					l.Path = r.Path(l.Path)
					got = append(got, l.String())
				}
				e, err := upstream.EncodeRequest(t.Context(), tt.up, r)
				if err != nil {
					t.Fatal(err)
				}
				want, sent := tt.losses, tt.sent
				if c == nil {
					want, sent = nil, ""
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("losses with mark %v (-want +got):\n%s", c, diff)
				}
				if has := strings.Contains(e.Document, "prompt_cache_breakpoint"); has != (sent != "") || !strings.Contains(e.Document, sent) || !strings.Contains(e.Document, "Hi.") {
					t.Errorf("with mark %v: %s", c, e.Document)
				}
			}
		})
	}
}

// must returns u, a client that no option can make invalid.
func must[U upstream.Upstream](u U, err error) U {
	if err != nil {
		panic(err)
	}
	return u
}

func decodeChat(b []byte) (*upstream.Request, []content.Loss, error) {
	return chatcompletions.DecodeRequest(b, nil)
}

func decodeResponses(b []byte) (*upstream.Request, []content.Loss, error) {
	return responses.DecodeRequest(b, nil)
}
