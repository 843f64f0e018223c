package crosstest

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// A fileReference is a file in a request: its link or id, and its declared
// media type.
type fileReference struct{ link, id, mediaType string }

func messagesFiles(files []fileReference, bad bool) string {
	blocks, role := "", "user"
	for _, f := range files {
		blocks += messagesFile(f) + ","
	}
	if bad {
		role = "unknown"
	}
	return `{"model":"m","max_tokens":9,"messages":[{"role":"` + role + `","content":[` + blocks + `{"type":"text","text":"q"}]}]}`
}

func messagesPlace(i int, f fileReference) string {
	return "messages.0.content." + strconv.Itoa(i) + "." + messagesKind(f) + messagesEnd(f)
}

func messagesResults(f fileReference) (body, place string) {
	return `{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"q"},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"x"},` + messagesFile(f) + `]}]}]}`,
		"messages.2.content.0.tool_result.content.1." + messagesKind(f) + messagesEnd(f)
}

func generateFiles(files []fileReference, bad bool) string {
	parts, role := "", "user"
	for _, f := range files {
		parts += fileData(f) + ","
	}
	if bad {
		role = "unknown"
	}
	return `{"contents":[{"role":"` + role + `","parts":[` + parts + `{"text":"q"}]}]}`
}

func generatePlace(i int, _ fileReference) string {
	return "contents[0].parts[" + strconv.Itoa(i) + "].file_data.file_uri"
}

func generateResults(f fileReference) (body, place string) {
	return `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"},"parts":[` + fileData(f) + `]}}]}]}`,
		"contents[2].parts[0].function_response.parts[0].file_data.file_uri"
}

func messagesKind(f fileReference) string {
	if strings.HasPrefix(f.mediaType, "image/") {
		return "image"
	}
	return "document"
}

func messagesEnd(f fileReference) string {
	if f.id != "" {
		return ".source.file.file_id"
	}
	return ".source.url.url"
}

func messagesFile(f fileReference) string {
	source := `{"type":"url","url":"` + f.link + `"}`
	if f.id != "" {
		source = `{"type":"file","file_id":"` + f.id + `"}`
	}
	return `{"type":"` + messagesKind(f) + `","source":` + source + `}`
}

func fileData(f fileReference) string {
	uri := f.link
	if f.id != "" {
		uri = "files/" + f.id
	}
	return `{"fileData":{"mimeType":"` + f.mediaType + `","fileUri":"` + uri + `"}}`
}

// A model records the last request and responds with a text.
type model struct {
	calls atomic.Int32
	asked func(ctx context.Context, r *upstream.Request) error // may be nil
}

func (m *model) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	m.calls.Add(1)
	if m.asked != nil {
		if err := m.asked(ctx, r); err != nil {
			return err
		}
	}
	return w.Text("ok.")
}

// lastSources returns the sources in the last turn, including those in results.
func lastSources(parts []content.Part) (list []content.Source) {
	for _, p := range parts {
		switch p := p.(type) {
		case *content.Image:
			list = append(list, p.Source)
		case *content.Document:
			list = append(list, p.Source)
		case *content.ToolResult:
			list = append(list, lastSources(p.Parts)...)
		}
	}
	return list
}

// A fileServer serves files on loopback and counts requests.
type fileServer struct {
	*httptest.Server
	asked atomic.Int32
	left  chan struct{} // receives one value for each client that leaves /slow
}

const pdfFile = "%PDF-1.7\n1 0 obj\n<<>>\nendobj\n"

func pngFile(t *testing.T) string {
	var b strings.Builder
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 3))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func newFileServer(t *testing.T) *fileServer {
	o := &fileServer{left: make(chan struct{}, 100)}
	picture := pngFile(t)
	mux := http.NewServeMux()
	serve := func(path, mediaType, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			_, _ = w.Write([]byte(body))
		})
	}
	serve("/a.png", "image/png", picture)
	serve("/cut.png", "image/png", picture[:20])
	serve("/a.pdf", "application/octet-stream", pdfFile)
	serve("/page", "text/html; charset=utf-8", "<p>Log in.")
	serve("/a.txt", "text/plain; charset=utf-8", "Ein Gedicht")
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		for chunk := []byte(pdfFile + strings.Repeat("x", 1<<16)); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		o.left <- struct{}{}
	})
	mux.Handle("/redirect", http.RedirectHandler("/a.pdf", http.StatusFound))
	mux.Handle("/metadata", http.RedirectHandler("http://169.254.169.254/latest/meta-data/", http.StatusFound))
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.asked.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(o.Close)
	return o
}

// fetcher returns a Fetcher that may fetch from the server, with these times.
func (o *fileServer) fetcher(t *testing.T, total time.Duration) *fetch.Fetcher {
	t.Helper()
	port := o.Listener.Addr().(*net.TCPAddr).Port
	f, err := fetch.New(&fetch.Options{
		AllowHTTP: true, AllowPrivate: true, Ports: []uint16{uint16(port)},
		Limits: fetch.Limits{File: 1 << 20}, Timeouts: fetch.Timeouts{Total: total},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// post sends a request to a handler and returns the status, body and headers.
func post(t *testing.T, h http.Handler, path, body string) (int, string, http.Header) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest("POST", path, body).WithContext(t.Context()))
	return w.Code, w.Body.String(), w.Result().Header
}

// violationPaths returns the paths of the violations in an error response.
func violationPaths(t *testing.T, s wireFormat, answer string) []string {
	t.Helper()
	var doc struct{ Error errorObject }
	if err := json.Unmarshal([]byte(answer), &doc); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	return s.where(doc.Error)
}

func TestLinksAreFetched(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newFileServer(t)
		files := []fileReference{
			{link: o.URL + "/a.png", mediaType: "image/png"},
			{link: o.URL + "/a.pdf", mediaType: "application/pdf"},
			{link: o.URL + "/a.png", mediaType: "image/png"},
			{link: o.URL + "/redirect", mediaType: "application/pdf"},
			{link: o.URL + "/a.txt", mediaType: "text/plain"},
		}
		var got []string
		m := &model{asked: func(ctx context.Context, r *upstream.Request) error {
			before := o.asked.Load()
			for _, src := range lastSources(r.LastParts()) {
				if _, ok := src.(*content.URL); !ok {
					t.Errorf("got a %T, want a link", src)
				}
				b, err := r.Load(ctx, src)
				got = append(got, fmt.Sprintf("%s %d %v", b.MediaType, len(b.Data), err))
			}
			if n := o.asked.Load() - before; n != 0 {
				t.Errorf("%d requests for files already fetched", n)
			}
			if snapshot.DocumentOf(r, s.format) != nil || r.ForwardLinks {
				t.Error("the links are still forwarded")
			}
			return nil
		}}
		h := s.handler(m, upstream.HandlerOptions{Links: o.fetcher(t, 0)})
		if status, answer, _ := post(t, h, s.path, s.body(files, false)); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
		picture := fmt.Sprintf("image/png %d <nil>", len(pngFile(t)))
		pdf := fmt.Sprintf("application/pdf %d <nil>", len(pdfFile))
		if diff := cmp.Diff([]string{picture, pdf, picture, pdf, "text/plain 11 <nil>"}, got); diff != "" {
			t.Errorf("files at the upstream (-want +got):\n%s", diff)
		}
		if n := o.asked.Load(); n != 5 { // the image once, the redirect in two steps
			t.Errorf("%d requests at the file server, want 5", n)
		}
	})
}

// TestFailingLinks checks that all errors of links are reported at once, before
// the upstream is called.
func TestFailingLinks(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newFileServer(t)
		var files []fileReference
		for _, path := range []string{"/nothing", "/endless", "/slow", "/metadata", "/page", "/a.png"} {
			files = append(files, fileReference{link: o.URL + path + "?token=sesame#part", mediaType: "application/pdf"})
		}
		files = append(files,
			fileReference{link: o.URL + "/a.pdf", mediaType: "image/png"},
			fileReference{link: o.URL + "/cut.png", mediaType: "image/png"},
			fileReference{link: o.URL + "/a.png", mediaType: "image/png"}) // valid
		m := &model{}
		h := s.handler(m, upstream.HandlerOptions{Links: o.fetcher(t, 2*time.Second)})
		status, answer, _ := post(t, h, s.path, s.body(files, false))
		var want []string
		for i, f := range files[:8] {
			place := s.place(i, f)
			switch {
			case i == 4 && s.anyText: // a page
				continue
			case s.declares != "" && i >= 4 && i < 7: // the declared type is wrong
				place = place[:strings.LastIndexByte(place, '.')+1] + s.declares
			}
			want = append(want, place)
		}
		if diff := cmp.Diff(want, violationPaths(t, s, answer)); status != 400 || diff != "" {
			t.Errorf("%d (-want +got):\n%s\n%s", status, diff, answer)
		}
		if strings.Contains(answer, "sesame") || strings.Contains(answer, "169.254") {
			t.Errorf("the response reveals too much: %s", answer)
		}
		path, body := s.streamed(s.path, s.body(files, false))
		status, streamed, _ := post(t, h, path, body)
		if diff := cmp.Diff(want, violationPaths(t, s, streamed)); status != 400 || diff != "" {
			t.Errorf("streamed: %d (-want +got):\n%s", status, diff)
		}
		if m.calls.Load() != 0 {
			t.Error("the upstream was called")
		}
	})
}
