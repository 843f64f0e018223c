package fake

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChunks(t *testing.T) {
	tests := []struct {
		s     string
		n     int
		runes bool
		want  []string
	}{
		{"", 3, true, []string{""}},
		{"abc", 3, true, []string{"abc"}},
		{"abcd", 3, true, []string{"abc", "d"}},
		{"aéb", 2, true, []string{"aé", "b"}},
		{"aéb", 2, false, []string{"a\xc3", "\xa9b"}},
		{"abcd", 0, true, []string{"abcd"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Chunks(tt.s, tt.n, tt.runes)); diff != "" {
			t.Errorf("Chunks(%q, %d, %v):\n%s", tt.s, tt.n, tt.runes, diff)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{``, `{`, `{"a":1,"a":2}`, `{} {}`, `[1,]`, `{"x":{"a":1,"a":2}}`} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("Parse(%s): want an error", bad)
		}
	}
	n, err := Parse([]byte(`{"b":[1,"x",null,true],"a":{"c":2.5}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a"}, n.Keys); diff != "" {
		t.Error(diff)
	}
	if f, ok := n.Get("a").Num("c"); f != 2.5 || !ok || len(n.List("b")) != 4 || n.Get("nope").Get("x").Text("y") != "" {
		t.Errorf("c is %v, %v", f, ok)
	}
}

func TestChecker(t *testing.T) {
	shape := Obj(Fields{
		"n!": Int(1, 5), "s": Str(1, 2), "e": Enum("a", "b"), "l": List(Flag, 0, 2),
		"beta@new-*|other": Free, "u": Tagged("type", map[string]Shape{"x": Obj(Fields{"type!": Free, "y!": Base64})}),
	})
	tests := []struct {
		body string
		beta string
		want []string
	}{
		{`{"n":3,"s":"ab","e":"b","l":[true],"u":{"type":"x","y":"AA=="}}`, "", nil},
		{`{"n":1.5}`, "", []string{"type n"}},
		{`{"n":6,"s":"abc","e":"c","l":[1,true,true]}`, "", []string{"value n", "value s", "value e", "value l", "type l 0"}},
		{`{"x":1}`, "", []string{"unknown x", "missing n"}},
		{`{"n":1,"beta":1}`, "", []string{"unknown beta"}},
		{`{"n":1,"beta":1}`, "other", nil},
		{`{"n":1,"u":{"type":"z"}}`, "", []string{"tag u"}},
		{`{"n":1,"u":{"type":"x","y":"AA"}}`, "", []string{"value u x y"}},
	}
	for _, tt := range tests {
		n, err := Parse([]byte(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		c := Checker{Beta: func(b string) bool { return b == tt.beta }}
		shape(&c, nil, n)
		var got []string
		for _, p := range c.Problems {
			s := p.What
			for _, k := range p.At {
				if k.Index >= 0 {
					s += " " + strconv.Itoa(k.Index)
				} else {
					s += " " + k.Key
				}
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.body, diff)
		}
	}
}

func TestMarked(t *testing.T) {
	r := &Request{Header: http.Header{"X-Client": {"Yes"}}, Query: map[string][]string{"k": {"a b"}}, Body: []byte(`{"x":"SECRET"}`)}
	for mark, want := range map[string]string{"x-client": "header X-Client", "a b": "the query", "secret": "the body", "other": ""} {
		if got := Marked(r, []string{mark}); got != want {
			t.Errorf("Marked(%q) = %q, want %q", mark, got, want)
		}
	}
}

// TestConcurrent sends requests from many goroutines. Each response of the
// script must be used once.
func TestConcurrent(t *testing.T) {
	s := NewServer()
	for i := range 50 {
		s.Say(Text(strconv.Itoa(i)))
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	seen := map[Text]bool{}
	for range 50 {
		wait.Go(func() {
			req, done := s.Begin(httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x")))
			defer done()
			turn := s.Next(req)
			s.End(req, Whole)
			_ = s.Requests()
			mu.Lock()
			defer mu.Unlock()
			seen[turn[0].(Text)] = true
		})
	}
	wait.Wait()
	s.Settle()
	if len(seen) != 50 || len(s.Requests()) != 50 || s.Left() != 0 || s.Last().End != Whole {
		t.Errorf("%d responses, %d requests, %d left", len(seen), len(s.Requests()), s.Left())
	}
	s.Answer(func(r Request) []Piece { return []Piece{Text(r.Body)} })
	req, done := s.Begin(httptest.NewRequest(http.MethodPost, "/", strings.NewReader("echo")))
	defer done()
	if got := s.Next(req); got[0] != Text("echo") {
		t.Errorf("got response %v", got)
	}
}
