package messages

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	docs "github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/upstream"
)

// setMark sets a mark at a place: "tools", "system" or a turn.
func setMark(n *upstream.Request, list string, turn, part int, c *content.Cache) (*upstream.Request, error) {
	switch list {
	case "tools":
		return n.WithToolCache(part, c)
	case "system":
		return n.WithSystemCache(part, c)
	}
	return n.WithCache(turn, part, c)
}

// TestWithCache checks that only the mark changes in the document.
func TestWithCache(t *testing.T) {
	const ephemeral = `{"type":"ephemeral"}`
	hour := &content.Cache{TTL: "1h"}
	for name, tt := range map[string]struct {
		before, after string // members of the document
		list          string
		turn, part    int
		cache         *content.Cache
	}{
		"string": {`"messages":[{"role":"user", "content" : "a\u00e9" }]`,
			`"messages":[{"role":"user", "content" : [{"type":"text","text":"a\u00e9","cache_control":` + ephemeral + `}] }]`, "turns", 0, 0, &content.Cache{}},
		"string, nil": {`"messages":[{"role":"user","content":"a"}]`, `"messages":[{"role":"user","content":"a"}]`, "turns", 0, 0, nil},
		"block": {`"messages":[{"role":"user","content":[{"type":"text","text":"a"},{ "text" : "b", "type":"text" }]}]`,
			`"messages":[{"role":"user","content":[{"type":"text","text":"a"},{ "text" : "b", "type":"text","cache_control":{"type":"ephemeral","ttl":"1h"} }]}]`, "turns", 0, 1, hour},
		"replaced": {`"messages":[{"role":"user","content":[{"type":"text","cache_\u0063ontrol" : {"type":"ephemeral", "ttl":"5m"} ,"text":"a"}]}]`,
			`"messages":[{"role":"user","content":[{"type":"text","cache_\u0063ontrol" : {"type":"ephemeral","ttl":"1h"} ,"text":"a"}]}]`, "turns", 0, 0, hour},
		"null": {`"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":null}]}]`,
			`"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":` + ephemeral + `}]}]`, "turns", 0, 0, &content.Cache{}},
		"null, nil": {`"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":null}]}]`,
			`"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":null}]}]`, "turns", 0, 0, nil},
		"removed last": {`"messages":[{"role":"user","content":[{"type":"text","text":"a" , "cache_control" : {"type":"ephemeral"} }]}]`,
			`"messages":[{"role":"user","content":[{"type":"text","text":"a" }]}]`, "turns", 0, 0, nil},
		"removed first": {`"messages":[{"role":"user","content":[{ "cache_control":{"type":"ephemeral"} , "type":"text","text":"a"}]}]`,
			`"messages":[{"role":"user","content":[{ "type":"text","text":"a"}]}]`, "turns", 0, 0, nil},
		"system string": {`"system":"s","messages":[{"role":"user","content":"a"}]`,
			`"system":[{"type":"text","text":"s","cache_control":` + ephemeral + `}],"messages":[{"role":"user","content":"a"}]`, "system", 0, 0, &content.Cache{}},
		"tool": {`"tools":[{"name":"f","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}],"messages":[{"role":"user","content":"a"}]`,
			`"tools":[{"name":"f","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search","cache_control":` + ephemeral + `}],"messages":[{"role":"user","content":"a"}]`, "tools", 0, 1, &content.Cache{}},
		"mark with members": {`"messages":[{"role":"user","content":"a"}]`,
			`"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","scope":"global"}}]}]`, "turns", 0, 0,
			&content.Cache{Extra: &content.Extra{Format: Format, JSON: `{"scope":"global"}`}}},
	} {
		// Members that adapters replace are on both sides of the mark.
		document := func(members string) string {
			return "\n{\"stream\":true, " + members + `,"max_tokens":9 , "model" : "m"}`
		}
		n, _, err := DecodeRequest([]byte(document(tt.before)), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kept := n.Clone()
		marked, err := setMark(n, tt.list, tt.turn, tt.part, tt.cache)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		body, ok := upstream.WireOf(marked, Format)
		if want := document(tt.after); !ok || body != want {
			t.Errorf("%s: got\n%s, %v, want\n%s", name, body, ok, want)
		}
		for _, s := range docs.Of(marked.Wire).Spans {
			if value := body[s.From:s.To]; value != "true" && value != `"m"` {
				t.Errorf("%s: the member %s is %s", name, s.Name, value)
			}
		}
		if d := cmp.Diff(kept, n.Clone()); d != "" {
			t.Errorf("%s: the original was changed:\n%s", name, d)
		}
		if before, ok := upstream.WireOf(n, Format); !ok || before != document(tt.before) {
			t.Errorf("%s: the document of the original was changed", name)
		}
	}
}

// TestWithCacheChanged checks requests that are encoded anew, and places that do not exist.
func TestWithCacheChanged(t *testing.T) {
	decode := func() *upstream.Request {
		n, _, err := DecodeRequest([]byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := decode()
	n.Turns[2].Parts[0].(*content.Text).Text = "changed"
	marked, err := n.WithCache(1, 1, &content.Cache{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := upstream.WireOf(marked, Format); ok {
		t.Error("a changed request still has its document")
	}
	if c := marked.Turns[1].Parts[1].(*content.Text).Cache; c == nil {
		t.Error("a changed request has no mark")
	}
	if marked, err = decode().WithCache(1, 1, &content.Cache{}); err != nil {
		t.Fatal(err)
	}
	if again, err := marked.WithCache(0, 0, &content.Cache{}); err != nil {
		t.Error(err)
	} else if body, ok := upstream.WireOf(again, Format); !ok || strings.Count(body, "cache_control") != 2 {
		t.Errorf("after a second mark: %v, %s", ok, body)
	}
	marked.Turns[0].Parts = []content.Part{&content.Text{Text: "changed"}}
	if _, ok := upstream.WireOf(marked, Format); ok {
		t.Error("a request that was changed after marking still has its document")
	}
	if clone, err := decode().Clone().WithCache(0, 0, &content.Cache{}); err != nil || clone.Wire != nil {
		t.Errorf("of a clone: %v, %v", clone.Wire, err)
	}
	for _, at := range [][2]int{{-1, 0}, {3, 0}, {0, 1}, {0, -1}, {1, 0}} { // the last is thinking
		if _, err := decode().WithCache(at[0], at[1], &content.Cache{}); err == nil {
			t.Errorf("no error at %v", at)
		}
	}
	if _, err := decode().WithSystemCache(0, nil); err == nil {
		t.Error("no error without system text")
	}
	if _, err := decode().WithToolCache(0, nil); err == nil {
		t.Error("no error without tools")
	}
	if _, err := decode().WithCache(0, 0, &content.Cache{Extra: &content.Extra{Format: Format, JSON: `{"a":`}}); err == nil {
		t.Error("no error for a mark that is not valid JSON")
	}
}

// FuzzWithCache compares a marked document, parsed again, with the marked request.
func FuzzWithCache(f *testing.F) {
	for _, members := range []string{
		`"messages":[{"role":"user","content":"a"}]`,
		`"system":"s","tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"cache_control":null,"type":"text","text":"a"}]}]`,
		`"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://example.com/"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}],"role":"user"}]`,
		`"messages":[{"role":"user","content":[{"type":"text","cache_contro\u006c" : {"type":"ephemeral","ttl":"5m"} ,"text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":[{"type":"text","text":"c"}]}]`,
	} {
		for _, list := range []string{"turns", "system", "tools"} {
			f.Add(`{"model":"m","max_tokens":9,`+members+`}`, list, 0, 0, "")
			f.Add(`{ "model":"m","max_tokens":9,`+members+`}`, list, 0, 1, "1h")
			f.Add(`{"stream":true,`+members+`,"max_tokens":9 , "model" : "m"}`, list, 0, 0, "remove")
		}
	}
	f.Fuzz(func(t *testing.T, document, list string, turn, part int, ttl string) {
		n, _, err := DecodeRequest([]byte(document), nil)
		if err != nil {
			return
		}
		_, hasDocument := upstream.WireOf(n, Format)
		var c *content.Cache
		switch ttl {
		case "remove":
		case "", "5m", "1h":
			c = &content.Cache{TTL: ttl}
		default:
			return
		}
		marked, err := setMark(n, list, turn, part, c)
		if err != nil {
			return
		}
		body, ok := upstream.WireOf(marked, Format)
		if ok != hasDocument {
			t.Fatalf("has a document: %v, before %v", ok, hasDocument)
		}
		if !ok {
			return
		}
		// Marks may be more than the vendor accepts, so the document is only parsed.
		parsed, err := ParseRequest([]byte(body))
		if err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		want := marked.Clone()
		want.Header = nil // not in the document
		if d := cmp.Diff(want, parsed.Upstream().Clone()); d != "" {
			t.Errorf("the document (+) differs from the request (-):\n%s\n%s", d, body)
		}
	})
}
