package messages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/upstream"
)

// marked is a key that must not appear in any output or argument.
const marked = "marked-key-7f3c"

// carriers are the ways to send a key. An empty text means that the key is accepted.
var carriers = []struct {
	name   string
	header []string // "Name: value"
	text   string
}{
	{"bearer", []string{"Authorization: Bearer " + marked}, ""},
	{"bearer in lower case", []string{"Authorization: bearer " + marked}, ""},
	{"bearer in upper case", []string{"Authorization: BEARER " + marked}, ""},
	{"bearer with spaces", []string{"Authorization:   Bearer    " + marked + "  "}, ""},
	{"x-api-key", []string{"x-api-key: " + marked}, ""},
	{"X-API-KEY", []string{"X-API-KEY: " + marked}, ""},
	{"spaces around", []string{"x-api-key:    " + marked + " "}, ""},
	{"same key in both", []string{"x-api-key: " + marked, "authorization: Bearer " + marked}, ""},
	{"same key twice", []string{"x-api-key: " + marked, "x-api-key: " + marked}, ""},
	{"one is empty", []string{"x-api-key:", "authorization: Bearer " + marked}, ""},
	{"the other is empty", []string{"x-api-key: " + marked, "authorization: Bearer"}, ""},
	{"basic ignored", []string{"authorization: Basic " + marked, "x-api-key: " + marked}, ""},
	{"none", nil, noKey},
	{"empty", []string{"x-api-key:", "authorization: Bearer "}, noKey},
	{"basic", []string{"Authorization: Basic " + marked}, noKey},
	{"bare", []string{"Authorization: " + marked}, noKey},
	{"scheme and key in one", []string{"Authorization: Bearer" + marked}, noKey},
	{"tab", []string{"Authorization: Bearer\t" + marked}, noKey},
	{"another header", []string{"api-key: " + marked, "x-goog-api-key: " + marked, "x_api_key: " + marked}, noKey},
	{"cookie", []string{"Cookie: x-api-key=" + marked}, noKey},
	{"wrong", []string{"x-api-key: " + marked + "x"}, badKey},
	{"shorter", []string{"x-api-key: " + marked[:len(marked)-1]}, badKey},
	{"other case", []string{"x-api-key: " + strings.ToUpper(marked)}, badKey},
	{"space within", []string{"x-api-key: " + marked + " " + marked}, badKey},
	{"comma", []string{"x-api-key: " + marked + "," + marked}, badKey},
	{"quoted", []string{`x-api-key: "` + marked + `"`}, badKey},
	{"scheme in x-api-key", []string{"x-api-key: Bearer " + marked}, badKey},
	{"two schemes", []string{"authorization: Bearer Bearer " + marked}, badKey},
	{"two that differ", []string{"x-api-key: " + marked, "authorization: Bearer other"}, twoKeys},
	{"two that differ, the other way", []string{"x-api-key: other", "authorization: Bearer " + marked}, twoKeys},
	{"two good ones that differ", []string{"x-api-key: " + marked, "authorization: Bearer another"}, twoKeys},
	{"two lines that differ", []string{"x-api-key: " + marked, "x-api-key: other"}, twoKeys},
	{"two bearers that differ", []string{"authorization: Bearer " + marked, "authorization: Bearer other"}, twoKeys},
	{"two wrong ones that differ", []string{"x-api-key: one", "authorization: Bearer other"}, twoKeys},
}

const (
	noKey   = "x-api-key header is required"
	badKey  = "invalid x-api-key"
	twoKeys = "authorization and x-api-key hold different keys; send one"
)

// TestCarriers sends keys in every way over a connection. If the key is invalid, the
// body never arrives, and the handler must not wait for it. Only Authenticate gets
// the key.
func TestCarriers(t *testing.T) {
	for _, tt := range carriers {
		for _, where := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			t.Run(tt.name+" "+where, func(t *testing.T) {
				var seen spy
				serving, done := reports()
				serving.Authenticate = upstream.Keys("another", marked)
				serving.Logger = slog.New(slog.NewJSONHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))
				serving.OnLoss = func(c context.Context, ls []content.Loss) { seen.see(c, ls) }
				c := dial(t, onLoopback(t, &seen, Options{HandlerOptions: serving}, (*httptest.Server).Start))
				head := requestHead(strings.Join(append(tt.header, fmt.Sprint("Content-Length: ", len(smallBody))), "\r\n"))
				c.say(t, strings.Replace(head, "/v1/messages", where+"?key="+marked, 1))
				if tt.text == "" {
					c.say(t, smallBody)
				} else if err := c.CloseWrite(); err != nil { // otherwise the server waits for the body
					t.Error(err)
				}
				res, body := c.answer(t)
				r := await(t, "report", done)
				switch {
				case tt.text == "":
					if res.StatusCode != 200 && where == "/v1/messages" || r.Code == upstream.CodeUnauthenticated {
						t.Errorf("%s %s", res.Status, body)
					}
				case res.StatusCode != 401 || !strings.Contains(body, `"authentication_error","message":"`+tt.text+`"`):
					t.Errorf("%s %s, want %q", res.Status, body, tt.text)
				case r.Status != 401 || r.Code != upstream.CodeUnauthenticated || seen.calls > 0:
					t.Errorf("report %+v, %d calls", r, seen.calls)
				}
				if tt.text != "" {
					c.closed(t)
				}
				seen.see(r, body, res.Header)
				for e := r.Err; e != nil; e = errors.Unwrap(e) {
					seen.see(e.Error())
				}
				if got := strings.ToLower(seen.String()); strings.Contains(got, marked[:10]) {
					t.Errorf("output contains the key: %s", got)
				}
			})
		}
	}
}

// A spy is an upstream that records all values that it and the hooks get, including
// unexported fields.
type spy struct {
	bytes.Buffer
	calls int
}

func (s *spy) Generate(c context.Context, r *upstream.Request, w *upstream.Writer) error {
	s.calls++
	s.see(r)
	_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossHint}})
	return w.Text("Hello")
}

func (s *spy) CountTokens(c context.Context, r *upstream.Request) (upstream.TokenCount, error) {
	s.calls++
	s.see(r)
	return upstream.TokenCount{Tokens: 1}, nil
}

func (s *spy) see(values ...any) {
	for _, v := range values {
		if _, ok := v.(context.Context); !ok { // the context of the server refers to the whole server
			s.walk(reflect.ValueOf(v), map[uintptr]bool{})
		}
	}
}

// walk records every string that is reachable from v.
func (s *spy) walk(v reflect.Value, been map[uintptr]bool) {
	switch v.Kind() {
	case reflect.String:
		fmt.Fprintln(s, v.String())
	case reflect.Pointer:
		if !v.IsNil() && !been[v.Pointer()] {
			been[v.Pointer()] = true
			s.walk(v.Elem(), been)
		}
	case reflect.Interface:
		if !v.IsNil() {
			s.walk(v.Elem(), been)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.walk(v.Field(i), been)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(s, "%s\n", v.Bytes())
			return
		}
		for i := range v.Len() {
			s.walk(v.Index(i), been)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			s.walk(it.Key(), been)
			s.walk(it.Value(), been)
		}
	}
}

// TestSpy checks that the spy finds keys.
func TestSpy(t *testing.T) {
	var s spy
	r := &upstream.Request{Wire: &document.Document{Body: marked}, Header: []upstream.HeaderField{{Value: marked}}}
	s.see(r)
	if !strings.Contains(s.String(), marked) {
		t.Errorf("found %q", s.String())
	}
	s = spy{}
	s.see(http.Header{"X": {marked}})
	if !strings.Contains(s.String(), marked) {
		t.Errorf("found %q", s.String())
	}
}

// TestKeyBeforeAll checks that the handler validates only the path before the key.
func TestKeyBeforeAll(t *testing.T) {
	budget := &upstream.Budget{Requests: 1}
	if !budget.State.Enter(1) {
		t.Fatal("the budget refuses the first request")
	}
	o := Options{HandlerOptions: upstream.HandlerOptions{Authenticate: upstream.Keys(marked), Budget: budget}}
	for _, tt := range refusedRequests {
		r := post(or(tt.body, smallBody))
		if tt.edit != nil {
			tt.edit(r)
		}
		want := http.StatusUnauthorized
		if tt.status == 404 || tt.status == 405 {
			want = tt.status
		}
		w := httptest.NewRecorder()
		NewHandler(hello, &o).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d %s, want %d", tt.name, w.Code, w.Body, want)
		}
	}
}
