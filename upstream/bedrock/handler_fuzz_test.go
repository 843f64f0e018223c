package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzEvents tests that the frames of a stream do not depend on how it is written, and that
// the reader of this package accepts them.
func FuzzEvents(f *testing.F) {
	f.Add(strings.Join(events[:], ""), 7)
	f.Add(": c\n\nevent: ping\ndata: {}\n\n"+events[0]+"event: error\ndata: {\"error\":{\"type\":\"timeout_error\"}}\n\n", 1)
	f.Add("data:a\ndata: b\n\n\n\nx\n\ndata", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		write := func(size int) string {
			var out strings.Builder
			o := &responseWriter{w: recorder{make(http.Header), &out}}
			o.Header().Set("Content-Type", "text/event-stream")
			for piece := range slices.Chunk([]byte(text), size) {
				if _, err := o.Write(piece); err != nil {
					t.Fatal(err)
				}
			}
			return out.String()
		}
		whole := write(max(1, len(text)))
		if pieces := write(min(max(1, size), 1<<10)); pieces != whole {
			t.Errorf("in pieces of %d: got %q, want %q", size, pieces, whole)
		}
		if _, err := io.ReadAll(newReader(strings.NewReader(whole))); err != nil {
			t.Errorf("%q: %v", whole, err)
		}
	})
}

// A recorder keeps a response.
type recorder struct {
	header http.Header
	body   *strings.Builder
}

func (r recorder) Header() http.Header         { return r.header }
func (r recorder) WriteHeader(int)             {}
func (r recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

// FuzzCountBody tests that a body of CountTokens becomes the one in it, with the model.
func FuzzCountBody(f *testing.F) {
	wrap := func(s string) string {
		return `{"input":{"invokeModel":{"body":"` + base64.StdEncoding.EncodeToString([]byte(s)) + `"}}}`
	}
	f.Add(wrap(`{"max_tokens":1}`))
	f.Add(strings.ReplaceAll(wrap(` {"a":"???ÿÿ"}`), "/", `\/`))
	f.Add(wrap(`{}`) + " \n")
	f.Add(`{"input":{"invokeModel":{"body":"e30=","x":1}}}`)
	f.Add("{\"input\":\f{\"invokeModel\":{\"body\":\"e30=\"}}}") // a form feed is not white space in JSON
	f.Fuzz(func(t *testing.T, body string) {
		got, err := io.ReadAll(newCountBody(io.NopCloser(iotest.HalfReader(strings.NewReader(body))), "m"))
		var v struct {
			Input struct{ InvokeModel struct{ Body *[]byte } }
		}
		wantErr := json.Unmarshal([]byte(body), &v)
		if err != nil {
			return // other forms of the same document may be refused
		}
		if wantErr != nil || v.Input.InvokeModel.Body == nil {
			t.Fatalf("%q: no error, want %v", body, wantErr)
		}
		want := strings.TrimLeft(string(*v.Input.InvokeModel.Body), " \t\r\n")
		if string(got) != `{"model":"m",`+strings.TrimPrefix(want, "{") || !strings.HasPrefix(want, "{") {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	})
}
