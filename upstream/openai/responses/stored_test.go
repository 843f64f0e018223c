package responses

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
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
	for body, param := range map[string]string{`"input":5`: "input", `"input":null`: "input", `"input":[7]`: "input[0]", `"tools":[{}]`: "tools[0].type"} {
		code, v := as(h, "a", "POST", "/v1/responses", `{"model":"m","previous_response_id":"`+first.Get("id").Str+`",`+body+`}`)
		if text := v.Get("error.message").Str; code != 400 || !strings.Contains(text, "'"+param+"'") && v.Get("error.param").Str != param {
			t.Errorf("%s: %d %s", body, code, v.Raw)
		}
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

// TestStoredState tests that the thinking after the last call is stored with its state, which the client did
// not ask for, and that the vendor gets it back, once.
func TestStoredState(t *testing.T) {
	think := func(n int, text string) []upstream.Event {
		return []upstream.Event{evOpen(n, &content.Thinking{}), evText(n, text), evSign(n, messages.Format, "sig "+text), evClose(n)}
	}
	for _, stream := range []bool{false, true} {
		u := &scripted{events: slices.Concat([]upstream.Event{evStart}, think(0, "one"), []upstream.Event{evOpen(1, toolCall("c", "f")), evInput(1, "{}"), evClose(1)},
			think(2, "two"), []upstream.Event{evOpen(3, &content.Text{}), evText(3, "Hello"), evClose(3), evStop(content.StopEnd)})}
		h := NewHandler(u, &Options{Store: NewMemoryStore(1 << 20)})
		members := `"model":"m","reasoning":{"summary":"auto"},"tools":[{"type":"function","name":"f","parameters":{}}],"stream":` + strconv.FormatBool(stream)
		r := httptest.NewRequest("POST", "/v1/responses", strings.NewReader(`{`+members+`,"input":"one"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		first := gjson.Parse(w.Body.String())
		if stream {
			first = readStream(t, w.Body.String()).Final
		}
		if strings.Contains(w.Body.String(), "encrypted_content") {
			t.Errorf("the client received state: %s", w.Body)
		}
		call := first.Get("output.1.call_id").Raw
		code, v := as(h, "", "POST", "/v1/responses", `{`+members+`,"previous_response_id":`+first.Get("id").Raw+`,"input":[{"type":"function_call_output","call_id":`+call+`,"output":"x"}]}`)
		if code != 200 {
			t.Fatal(v.Raw)
		}
		var got []string
		for _, turn := range u.got.Turns {
			for _, p := range turn.Parts {
				switch p := p.(type) { // other kinds have no state
				case *content.Thinking:
					got = append(got, p.Text+": "+p.Signature.Data)
				case *content.ToolUse:
					got = append(got, p.Name+": "+p.Signature.Data)
				}
			}
		}
		if diff := cmp.Diff([]string{"one: ", `f: [{"text":"one","signature":"sig one"}]`, "two: sig two"}, got); diff != "" {
			t.Errorf("stream %v: %s", stream, diff)
		}
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

func TestInputItems(t *testing.T) {
	h := NewHandler(hello(), &Options{Store: NewMemoryStore(1 << 20)})
	_, first := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one"}`)
	_, second := as(h, "a", "POST", "/v1/responses", `{"model":"m","previous_response_id":"`+first.Get("id").Str+`","input":[
		{"role":"assistant","content":"two"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"3"}]}`)
	path := "/v1/responses/" + second.Get("id").Str + "/input_items"
	list := func(query string) (items []string, v gjson.Result) {
		t.Helper()
		code, v := as(h, "a", "GET", path+query, "")
		if code != 200 || v.Get("object").Str != "list" {
			t.Fatalf("%s: %d %s", query, code, v.Raw)
		}
		for _, x := range v.Get("data").Array() {
			if x.Get("id").Str == "" {
				t.Errorf("no id: %s", x.Raw)
			}
			items = append(items, x.Get("type").Str+" "+x.Get("content.0.type").Str+" "+x.Get("content.0.text").Str)
		}
		return items, v
	}
	want := []string{"function_call_output  ", "function_call  ", "message output_text two", "message output_text Hello", "message input_text one"}
	all, v := list("")
	if diff := cmp.Diff(want, all); diff != "" || v.Get("has_more").Raw != "false" || v.Get("first_id").Str != v.Get("data.0.id").Str {
		t.Errorf("%s %s", v.Raw, diff)
	}
	page, v := list("?limit=2")
	if diff := cmp.Diff(want[:2], page); diff != "" || v.Get("has_more").Raw != "true" {
		t.Error(v.Raw, diff)
	}
	if page, _ = list("?limit=2&after=" + v.Get("last_id").Str); !cmp.Equal(want[2:4], page) {
		t.Error(page)
	}
	if page, _ = list("?order=asc&limit=1"); !cmp.Equal(want[4:], page) {
		t.Error(page)
	}
	if page, v = list("?after=other"); page != nil || v.Get("first_id").Type != gjson.Null {
		t.Error(v.Raw)
	}
	for query, param := range map[string]string{"?limit=0": "limit", "?limit=101": "limit", "?limit=x": "limit", "?order=up": "order"} {
		if code, v := as(h, "a", "GET", path+query, ""); code != 400 || v.Get("error.param").Str != param {
			t.Errorf("%s: %d %s", query, code, v.Raw)
		}
	}
	if code, v := as(h, "b", "GET", path, ""); code != 404 {
		t.Error(code, v.Raw)
	}
	if code, _ := as(h, "a", "POST", path, "{}"); code != 405 {
		t.Error(code)
	}
	if !h.Match(httptest.NewRequest("GET", path, nil)) {
		t.Error("the path does not match")
	}
}

// TestStoredStream tests that a streamed response is stored before its last event is sent.
func TestStoredStream(t *testing.T) {
	store := NewMemoryStore(1 << 20)
	w := post(NewHandler(hello(), &Options{Store: store}), "/v1/responses", `{"model":"m","input":"hi","stream":true}`)
	r := readStream(t, w.Body.String())
	v, err := store.Load(context.Background(), "", r.Final.Get("id").Str)
	if err != nil || gjson.GetBytes(v, "response.output").Raw != r.Final.Get("output").Raw || r.Final.Get("store").Raw != "true" {
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

// TestStoreRace uses a store by many clients at once.
func TestStoreRace(t *testing.T) {
	store := NewMemoryStore(100_000)
	u := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
		return hello().Generate(ctx, r, w)
	})
	h := NewHandler(u, &Options{Store: store})
	var wg sync.WaitGroup
	for i := range 8 {
		key := string(rune('a' + i%3))
		wg.Go(func() {
			for range 20 {
				_, v := as(h, key, "POST", "/v1/responses", `{"model":"m","input":"one"}`)
				id := v.Get("id").Str
				as(h, key, "POST", "/v1/responses", `{"model":"m","input":"two","previous_response_id":"`+id+`"}`)
				as(h, key, "GET", "/v1/responses/"+id+"/input_items", "")
				as(h, key, "DELETE", "/v1/responses/"+id, "")
			}
		})
	}
	wg.Wait()
	size := int64(0)
	for e := store.used.Front(); e != nil; e = e.Next() {
		size += e.Value.(*storedValue).cost()
	}
	if size != store.size || size > store.limit || len(store.values) != store.used.Len() {
		t.Errorf("%d bytes, want %d of at most %d; %d values, %d in order", size, store.size, store.limit, len(store.values), store.used.Len())
	}
}

// TestStoreClient tests that what Authenticate returns identifies a client, not its key.
func TestStoreClient(t *testing.T) {
	h := NewHandler(hello(), &Options{Store: NewMemoryStore(1 << 20), HandlerOptions: upstream.HandlerOptions{
		Authenticate: func(ctx context.Context, _ *http.Request, key string) (context.Context, error) {
			return upstream.WithClient(ctx, key[:1]), nil
		}}})
	_, v := as(h, "a1", "POST", "/v1/responses", `{"model":"m","input":"one"}`)
	path := "/v1/responses/" + v.Get("id").Str
	for key, want := range map[string]int{"a1": 200, "a2": 200, "b1": 404} {
		if code, _ := as(h, key, "GET", path, ""); code != want {
			t.Errorf("%s: %d, want %d", key, code, want)
		}
	}
}

// TestLargeResponse tests that a response of more than a tenth of the store is sent, not stored, and
// reported.
func TestLargeResponse(t *testing.T) {
	u := hello()
	u.events[2].Text = strings.Repeat("x", 20_000)
	var losses []content.Loss
	h := NewHandler(u, &Options{Store: NewMemoryStore(100_000), HandlerOptions: upstream.HandlerOptions{
		OnLoss: func(_ context.Context, l []content.Loss) { losses = append(losses, l...) }}})
	_, v := as(h, "a", "POST", "/v1/responses", `{"model":"m","input":"one","store":true}`)
	if len(v.Get("output.0.content.0.text").Str) != 20_000 || v.Get("store").Raw != "false" || len(losses) != 1 || losses[0].Reason != lossNotStored.Reason {
		t.Errorf("%.300s %v", v.Raw, losses)
	}
	if code, _ := as(h, "a", "GET", "/v1/responses/"+v.Get("id").Str, ""); code != 404 {
		t.Error(code)
	}
}

// TestStoreMember tests an explicit "store": true: it is a hint without a Store, and what the
// handler does with one.
func TestStoreMember(t *testing.T) {
	for _, store := range []Store{nil, NewMemoryStore(1 << 20)} {
		u := hello()
		_, v := as(NewHandler(u, &Options{Store: store}), "a", "POST", "/v1/responses", `{"model":"m","input":"one","store":true}`)
		_, losses, err := messages.RequestFromUpstream(u.got)
		if err != nil || v.Get("store").Bool() != (store != nil) {
			t.Fatal(err, v.Raw)
		}
		if hint := len(losses) == 1 && losses[0].Severity == content.LossHint; hint != (store == nil) || len(losses) > 1 {
			t.Errorf("with a store %v: %v", store != nil, losses)
		}
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
