package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/polywire/polywire/upstream/script"
)

// An arrayReader reads a stream as a JSON array, element by element. No SDK
// requests this form.
type arrayReader struct {
	*json.Decoder
	status int
	kind   string // Content-Type
}

// array requests a stream without alt=sse, like a program without an SDK.
func (s googleServer) array(t *testing.T, query, key, body string) *arrayReader {
	t.Helper()
	url := s.url + "/v1beta/models/" + googleModel + ":streamGenerateContent" + query
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("x-goog-api-key", key)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	d := json.NewDecoder(resp.Body)
	d.UseNumber()
	if token, err := d.Token(); token != json.Delim('[') {
		t.Fatalf("got %v, %v at the beginning, want an array", token, err)
	}
	return &arrayReader{d, resp.StatusCode, resp.Header.Get("Content-Type")}
}

// An element is an element of the array: a chunk of the response, or an error.
type element struct {
	genai.GenerateContentResponse
	Error *struct {
		Code    int
		Status  string
		Message string
	}
}

// UnmarshalJSON decodes both forms, since the embedded type decodes only
// itself.
func (e *element) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &e.GenerateContentResponse); err != nil {
		return err
	}
	var f struct{ Error json.RawMessage }
	if err := json.Unmarshal(b, &f); err != nil || f.Error == nil {
		return err
	}
	return json.Unmarshal(f.Error, &e.Error)
}

// next reads one element. It returns nil at the end of the array, after which
// nothing may follow.
func (r *arrayReader) next(t *testing.T) *element {
	t.Helper()
	if r.More() {
		var e element
		if err := r.Decode(&e); err != nil {
			t.Fatal(err)
		}
		return &e
	}
	if token, err := r.Token(); token != json.Delim(']') {
		t.Fatalf("got %v, %v at the end", token, err)
	}
	// A failed stream breaks its connection after the array.
	if _, err := r.Token(); err != io.EOF && err != io.ErrUnexpectedEOF {
		t.Fatalf("after the array: %v", err)
	}
	return nil
}

// all reads all elements. last is the final one, which may be an error.
func (r *arrayReader) all(t *testing.T) (a *googleAnswer, last *element) {
	t.Helper()
	a = newGoogleAnswer()
	for e := r.next(t); e != nil; e = r.next(t) {
		if last != nil && last.Error != nil {
			t.Error("got an element after an error")
		}
		if last = e; e.Error == nil {
			a.add(&e.GenerateContentResponse)
		}
	}
	return a, last
}

func asking(text, more string) string {
	b, _ := json.Marshal(text) // a string can always be encoded
	return `{"contents":{"parts":{"text":` + string(b) + `}}` + more + `}`
}

func TestGoogleArray(t *testing.T) {
	const text = "Grüße, 世界! \u2028 and on it goes"
	s := serveGoogle(t, nil, actor{})
	for _, query := range []string{"", "?alt=json", "?$alt=json"} {
		r := s.array(t, query, key, asking("echo: say "+text, ""))
		a, _ := r.all(t)
		if r.status != http.StatusOK || !strings.HasPrefix(r.kind, "application/json") {
			t.Errorf("%d %s", r.status, r.kind)
		}
		if a.text() != text || a.finish != genai.FinishReasonStop || a.chunks < 4 {
			t.Errorf("%s: text %q in %d chunks, finish reason %s", query, a.text(), a.chunks, a.finish)
		}
		s.checkReport(t, true, a)
	}

	a, _ := s.array(t, "", key, asking(play(script.Say("Look."), weave([2]string{"weather", `{"city":"Oslo"}`}, [2]string{"clock", ""})), `,"tools":[{"functionDeclarations":[{"name":"weather"},{"name":"clock"}]}]`)).all(t)
	if calls := a.calls(); a.text() != "Look." || len(calls) != 2 || calls[0].Args["city"] != "Oslo" || calls[1].Name != "clock" {
		t.Errorf("text %q, tool calls %+v", a.text(), calls)
	}
	s.checkReport(t, true, a)

	a, _ = s.array(t, "", key, asking("A cat.", `,"generation_config":{"response_modalities":["IMAGE"],"image_config":{"aspect_ratio":"9:16"}}`)).all(t)
	wantDrawing(t, a, "9:16")
	s.checkReport(t, true, a)
}

// TestGoogleArrayFailures checks that an error is the last element, and the
// only one if the HTTP status is an error.
func TestGoogleArrayFailures(t *testing.T) {
	s := serveGoogle(t, nil, actor{})
	for _, tt := range failures {
		for _, midway := range []bool{false, true} {
			order, want, http := play(failing(tt.order)), "", tt.code
			if midway {
				order, want, http = play(script.Say("One two "), failing(tt.order)), "One two ", 200
			}
			r := s.array(t, "", key, asking(order, ""))
			a, last := r.all(t)
			if last == nil || last.Error == nil || last.Error.Code != tt.code || last.Error.Status != tt.status || last.Error.Message == "" {
				t.Fatalf("%s: the last element is %+v, want %d %s", order, last, tt.code, tt.status)
			}
			if r.status != http || a.text() != want || a.finish != "" {
				t.Errorf("%s: status %d after text %q, finish reason %q", order, r.status, a.text(), a.finish)
			}
			s.report(t)
		}
	}
	r := s.array(t, "", "k-wrong", asking("Hi.", ""))
	if _, last := r.all(t); r.status != 400 || last == nil || last.Error == nil || last.Error.Status != "INVALID_ARGUMENT" {
		t.Errorf("with a wrong key: status %d, %+v", r.status, last)
	}
}
