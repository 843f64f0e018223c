package responses

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// as sends a request with a key.
func as(h http.Handler, key, method, path, body string) (int, gjson.Result) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, gjson.Parse(w.Body.String())
}

// texts returns the texts of a request, with the roles of their turns.
func texts(r *upstream.Request) (list []string) {
	for _, t := range r.Turns {
		for _, p := range t.Parts {
			if p, ok := p.(*content.Text); ok {
				list = append(list, string(t.Role)+": "+p.Text)
			}
		}
	}
	return list
}

func TestPreviousResponse(t *testing.T) {
	u := hello()
	h := NewHandler(u, &Options{Store: NewMemoryStore(1 << 20)})
	code, first := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one"}`)
	if code != 200 || first.Get("store").Raw != "true" {
		t.Fatal(code, first.Raw)
	}
	code, second := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":[{"role":"user","content":"two"}],"previous_response_id":"`+first.Get("id").Str+`"}`)
	if code != 200 || second.Get("previous_response_id").Str != first.Get("id").Str {
		t.Fatal(code, second.Raw)
	}
	code, third := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"three","previous_response_id":"`+second.Get("id").Str+`"}`)
	if code != 200 {
		t.Fatal(code, third.Raw)
	}
	want := []string{"user: one", "assistant: Hello", "user: two", "assistant: Hello", "user: three"}
	if diff := cmp.Diff(want, texts(u.got)); diff != "" {
		t.Error(diff)
	}

	// Violations are at the client's places.
	code, v := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text"}]}],"previous_response_id":"`+first.Get("id").Str+`"}`)
	if got := v.Get("error.param").Str; code != 400 || got != "input[0].content[0].text" {
		t.Errorf("%d at %q", code, got)
	}
	// The other clients do not have it.
	code, v = as(h, "b", "POST", "/v1/responses", `{"model":"m","input":"two","previous_response_id":"`+first.Get("id").Str+`"}`)
	if code != 400 || v.Get("error.code").Str != "previous_response_not_found" || v.Get("error.param").Str != "previous_response_id" {
		t.Error(code, v.Raw)
	}
}

func TestItemReference(t *testing.T) {
	u := &scripted{events: []upstream.Event{evStart, evOpen(0, &content.Thinking{Redacted: content.Signature{Format: Format, Data: `{"type":"web_search_call","id":"ws_1","status":"completed"}`}}), evClose(0),
		evOpen(1, &content.Text{}), evText(1, "Hello"), evClose(1), evStop(content.StopEnd)}}
	h := NewHandler(u, &Options{Store: NewMemoryStore(1 << 20)})
	_, first := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one"}`)
	ids := first.Get("output.#.id").Array()
	body := `{"model":"m","input":[{"role":"user","content":"one"},{"type":"item_reference","id":"` + ids[0].Str + `"},{"id":"` + ids[1].Str + `"},{"role":"user","content":"two"}]}`
	code, v := as(h, "a", "POST", "/v1/responses", body)
	if code != 200 {
		t.Fatal(v.Raw)
	}
	if diff := cmp.Diff([]string{"user: one", "assistant: Hello", "user: two"}, texts(u.got)); diff != "" {
		t.Error(diff)
	}
	code, v = as(h, "b", "POST", "/v1/responses", body)
	if code != 400 || v.Get("error.param").Str != "input[1].id" {
		t.Error(code, v.Raw)
	}
}

func TestStoredResponse(t *testing.T) {
	h := NewHandler(hello(), &Options{Store: NewMemoryStore(1 << 20)})
	_, first := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one"}`)
	id := first.Get("id").Str
	if code, v := as(h, "a", "GET", "/v1/responses/"+id, ""); code != 200 || v.Get("output").Raw != first.Get("output").Raw {
		t.Error(code, v.Raw)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if code, v := as(h, "b", method, "/v1/responses/"+id, ""); code != 404 || v.Get("error.message").Str == "" {
			t.Error(code, v.Raw)
		}
	}
	if code, v := as(h, "a", "DELETE", "/v1/responses/"+id, ""); code != 200 || v.Raw != `{"id":"`+id+`","object":"response","deleted":true}` {
		t.Error(code, v.Raw)
	}
	if code, _ := as(h, "a", "GET", "/v1/responses/"+id, ""); code != 404 {
		t.Error(code)
	}
	_, v := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one","store":false}`)
	if code, _ := as(h, "a", "GET", "/v1/responses/"+v.Get("id").Str, ""); code != 404 || v.Get("store").Raw != "false" {
		t.Error("a response was stored against the will of the client")
	}
}

// TestStoredStream tests that a streamed response is stored before its last event is sent.
func TestStoredStream(t *testing.T) {
	store := NewMemoryStore(1 << 20)
	w := post(NewHandler(hello(), &Options{Store: store}), "/v1/responses", `{"model":"m","input":"hi","stream":true}`)
	r := readStream(t, w.Body.String())
	v, err := store.Load(context.Background(), "", r.final.Get("id").Str)
	if err != nil || gjson.GetBytes(v, "response.output").Raw != r.final.Get("output").Raw || r.final.Get("store").Raw != "true" {
		t.Error(err, string(v))
	}
}

// A failingStore fails.
type failingStore struct{}

var errStore = errors.New("down")

func (failingStore) Save(context.Context, string, string, []byte) error { return errStore }
func (failingStore) Load(context.Context, string, string) ([]byte, error) {
	return nil, errStore
}
func (failingStore) Delete(context.Context, string, string) error { return errStore }

func TestFailingStore(t *testing.T) {
	var losses []content.Loss
	h := NewHandler(hello(), &Options{Store: failingStore{}, HandlerOptions: upstream.HandlerOptions{
		OnLoss: func(_ context.Context, l []content.Loss) { losses = append(losses, l...) }}})
	code, v := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one"}`)
	if code != 200 || v.Get("store").Raw != "false" || len(losses) != 1 || losses[0].Reason != lossNotStored.Reason {
		t.Error(code, v.Raw, losses)
	}
	if code, _ := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one","previous_response_id":"resp_1"}`); code != 503 {
		t.Error(code)
	}
	if code, _ := as(h, "a", "GET", "/v1/responses/resp_1", ""); code != 503 {
		t.Error(code)
	}
}

func TestMemoryStore(t *testing.T) {
	ctx, s := context.Background(), NewMemoryStore(20_000)
	value := make([]byte, 1000)
	for _, id := range []string{"a", "b", "c"} {
		if err := s.Save(ctx, "k", id, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(ctx, "k", "large", make([]byte, 2000)); err != ErrTooLarge {
		t.Error(err)
	}
	for i := range 11 { // "a" is used, the others are dropped
		if _, err := s.Load(ctx, "k", "a"); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(ctx, "k", strings.Repeat("x", i+2), value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Load(ctx, "k", "b"); err != ErrNotStored {
		t.Error("b was not dropped:", err)
	}
	if _, err := s.Load(ctx, "other", "a"); err != ErrNotStored {
		t.Error("another client has the value:", err)
	}
	if err := s.Delete(ctx, "k", "a"); err != nil {
		t.Error(err)
	}
	if err := s.Delete(ctx, "k", "a"); err != ErrNotStored {
		t.Error(err)
	}
	if s.size > s.limit || len(s.values) != s.used.Len() {
		t.Error(s.size, len(s.values), s.used.Len())
	}
}

// TestManyReferences tests that stored items count against the limit of bodies.
func TestManyReferences(t *testing.T) {
	u := hello()
	u.events[2].Text = strings.Repeat("x", 5000)
	h := NewHandler(u, &Options{Store: NewMemoryStore(1 << 20), HandlerOptions: upstream.HandlerOptions{Limits: content.Limits{Body: 100_000}}})
	_, first := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one"}`)
	ref := `{"type":"item_reference","id":"` + first.Get("output.0.id").Str + `"}`
	for n, want := range map[int]int{10: 200, 100: 413} {
		body := `{"model":"m","input":[{"role":"user","content":"one"}` + strings.Repeat(","+ref, n) + `]}`
		if code, v := as(h, "a", "POST", "/v1/responses", body); code != want {
			t.Errorf("%d references: status %d, want %d: %.300s", n, code, want, v.Raw)
		}
	}
}
