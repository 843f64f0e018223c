package crosstest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// TestNothingIsFetched checks that invalid requests and token counts fetch
// nothing.
func TestNothingIsFetched(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newFileServer(t)
		good := fileReference{link: o.URL + "/a.png", mediaType: "image/png"}
		bad := fileReference{link: "https://user@127.0.0.1/", mediaType: "image/png"}
		for _, tt := range []struct {
			name, path, body string
			links            content.Resolver
			pass             bool
			want             int
			violations       []string
		}{
			{"other violation", s.path, s.body([]fileReference{good}, true), nil, false, 400, nil},
			{"invalid link", s.path, s.body([]fileReference{good, bad}, false), nil, false, 400, []string{s.place(1, bad)}},
			{"invalid link with ForwardLinks", s.path, s.body([]fileReference{good, bad}, false), nil, true, 400, []string{s.place(1, bad)}},
			{"invalid link by default", s.path, s.body([]fileReference{bad}, false), fetch.Off{}, true, 400, []string{s.place(0, bad)}},
			{"token count", s.count, s.body([]fileReference{good}, false), nil, false, 200, nil},
			{"token count with an invalid link", s.count, s.body([]fileReference{bad}, false), nil, false, 400, []string{s.place(0, bad)}},
			{"off", s.path, s.body([]fileReference{good}, false), fetch.Off{}, false, 400, []string{s.place(0, good)}},
			{"passed", s.path, s.body([]fileReference{good}, false), nil, true, 200, nil},
		} {
			if tt.path == "" {
				continue // the format has no token counts
			}
			t.Run(tt.name, func(t *testing.T) {
				if tt.links == nil {
					tt.links = o.fetcher(t, 0)
				}
				m := &model{}
				h := s.handler(m, upstream.HandlerOptions{Links: tt.links, ForwardLinks: tt.pass})
				status, answer, _ := post(t, h, tt.path, tt.body)
				if status != tt.want || tt.violations != nil && cmp.Diff(tt.violations, violationPaths(t, s, answer)) != "" {
					t.Errorf("status %d %s, want %d and violations at %v", status, answer, tt.want, tt.violations)
				}
				if n := o.asked.Load(); n != 0 {
					t.Errorf("%d requests at the file server", n)
				}
				if called := m.calls.Load() != 0; called != (tt.want == 200 && tt.path == s.path) {
					t.Errorf("the upstream was called: %v", called)
				}
			})
		}
	})
}

// TestDefaultLinks checks that the default fetches nothing from this machine.
func TestDefaultLinks(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newFileServer(t)
		files := []fileReference{{link: o.URL + "/a.png", mediaType: "image/png"}, {link: "https://localhost/a.png", mediaType: "image/png"}}
		status, answer, _ := post(t, s.handler(&model{}, upstream.HandlerOptions{}), s.path, s.body(files, false))
		want := []string{s.place(0, files[0]), s.place(1, files[1])}
		if diff := cmp.Diff(want, violationPaths(t, s, answer)); status != 400 || diff != "" {
			t.Errorf("%d %s\n%s", status, answer, diff)
		}
		if n := o.asked.Load(); n != 0 {
			t.Errorf("%d requests at the file server", n)
		}
	})
}

func TestPassedLinks(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newFileServer(t)
		m := &model{asked: func(ctx context.Context, r *upstream.Request) error {
			if !r.ForwardLinks || snapshot.DocumentOf(r, s.format) == nil {
				t.Error("the request has changed")
			}
			for _, src := range lastSources(r.LastParts()) {
				if b, err := r.Load(ctx, src); err != nil || b.MediaType != "image/png" {
					t.Errorf("Load: %v, %v", b.MediaType, err)
				}
			}
			return nil
		}}
		file := fileReference{link: o.URL + "/a.png", mediaType: "image/png"}
		h := s.handler(m, upstream.HandlerOptions{Links: o.fetcher(t, 0), ForwardLinks: true})
		if status, answer, _ := post(t, h, s.path, s.body([]fileReference{file, file}, false)); status != 200 || o.asked.Load() != 1 {
			t.Errorf("%d %s, %d requests at the file server, want 1", status, answer, o.asked.Load())
		}
	})
}

func TestLinksInResults(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		if s.results == nil {
			return
		}
		o := newFileServer(t)
		m := &model{asked: func(ctx context.Context, r *upstream.Request) error {
			_, err := r.Load(ctx, lastSources(r.LastParts())[0])
			return err
		}}
		h := s.handler(m, upstream.HandlerOptions{Links: o.fetcher(t, 0)})
		body, _ := s.results(fileReference{link: o.URL + "/a.png", mediaType: "image/png"})
		if status, answer, _ := post(t, h, s.path, body); status != 200 || o.asked.Load() != 1 {
			t.Errorf("%d %s, %d requests at the file server", status, answer, o.asked.Load())
		}
		body, place := s.results(fileReference{link: o.URL + "/nothing", mediaType: "image/png"})
		status, answer, _ := post(t, h, s.path, body)
		if diff := cmp.Diff([]string{place}, violationPaths(t, s, answer)); status != 400 || diff != "" {
			t.Errorf("%d %s\n%s", status, answer, diff)
		}
	})
}

// TestFilesByID checks that the host's Resolver finds files by id, or the
// upstream does.
func TestFilesByID(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		file := fileReference{id: "report.pdf", mediaType: "application/pdf"}
		kept := content.Files{FS: fstest.MapFS{"report.pdf": {Data: []byte(pdfFile)}, "a.png": {Data: []byte(pngFile(t))}}}
		for _, tt := range []struct {
			name       string
			resolver   content.Resolver
			files      []fileReference
			want       int
			violations []string
			found      bool
		}{
			{"no Resolver", nil, []fileReference{file}, 200, nil, false},
			{"Resolver without the file", unresolved{}, []fileReference{file}, 200, nil, false},
			{"found", kept, []fileReference{file, file}, 200, nil, true},
			{"missing file", kept, []fileReference{{id: "x", mediaType: "image/png"}}, 400, []string{s.place(0, fileReference{id: "x", mediaType: "image/png"})}, false},
			{"other media type", kept, []fileReference{{id: "a.png", mediaType: "application/pdf"}}, 400, nil, false},
			{"broken", broken{}, []fileReference{file}, 500, nil, false},
		} {
			t.Run(tt.name, func(t *testing.T) {
				m := &model{asked: func(ctx context.Context, r *upstream.Request) error {
					for _, src := range lastSources(r.LastParts()) {
						b, err := r.Load(ctx, src)
						if tt.found && (err != nil || string(b.Data) != pdfFile) || !tt.found && !errors.Is(err, content.ErrUnresolved) {
							t.Errorf("Load: %v", err)
						}
					}
					if wire := snapshot.DocumentOf(r, s.format); (wire == nil) != tt.found {
						t.Errorf("Wire is set: %v", wire != nil)
					}
					return nil
				}}
				status, answer, _ := post(t, s.handler(m, upstream.HandlerOptions{Resolver: tt.resolver}), s.path, s.body(tt.files, false))
				if status != tt.want || tt.violations != nil && cmp.Diff(tt.violations, violationPaths(t, s, answer)) != "" {
					t.Errorf("%d %s, want %d", status, answer, tt.want)
				}
				if strings.Contains(answer, "secret") {
					t.Error("the response contains the host's error")
				}
				if called := m.calls.Load() != 0; called != (tt.want == 200) {
					t.Errorf("the upstream was called: %v", called)
				}
			})
		}
	})
}

// unresolved finds no source, and broken fails.
type (
	unresolved struct{}
	broken     struct{}
)

func (unresolved) Resolve(context.Context, content.Source) (content.Blob, error) {
	return content.Blob{}, fmt.Errorf("not here: %w", content.ErrUnresolved)
}

func (broken) Resolve(context.Context, content.Source) (content.Blob, error) {
	return content.Blob{}, errors.New("secret trouble")
}

// TestLinksTogether checks that the links of one request are fetched in
// parallel, eight at a time.
func TestLinksTogether(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		const links, together = 24, 8
		var mu sync.Mutex
		now, peak := 0, 0
		full := make(chan struct{}) // closed when eight are in progress; fewer would block
		origin := &fileServer{}
		origin.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now++
			if peak = max(peak, now); now == together {
				select {
				case <-full:
				default:
					close(full)
				}
			}
			mu.Unlock()
			select {
			case <-full:
			case <-r.Context().Done():
			}
			mu.Lock()
			now--
			mu.Unlock()
			_, _ = w.Write([]byte(pdfFile))
		}))
		defer origin.Close()
		var files []fileReference
		for i := range links {
			files = append(files, fileReference{link: fmt.Sprint(origin.URL, "/", i), mediaType: "application/pdf"})
		}
		status, answer, _ := post(t, s.handler(&model{}, upstream.HandlerOptions{Links: origin.fetcher(t, 0)}), s.path, s.body(files, false))
		if status != 200 || peak != together {
			t.Errorf("status %d %s; %d in parallel, want %d", status, answer, peak, together)
		}
	})
}

// TestClientLeavesWhileFetching checks that fetching ends when the client
// disconnects.
func TestClientLeavesWhileFetching(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newFileServer(t)
		m := &model{}
		budget := new(upstream.Budget)
		done := make(chan *upstream.Report, 1)
		front := httptest.NewServer(s.handler(m, upstream.HandlerOptions{
			Links: o.fetcher(t, 0), Budget: budget,
			OnDone: func(_ context.Context, r *upstream.Report) { done <- r },
		}))
		defer front.Close()
		ctx, leave := context.WithCancel(t.Context())
		body := s.body([]fileReference{{link: o.URL + "/slow", mediaType: "image/png"}, {link: o.URL + "/a.png", mediaType: "image/png"}}, false)
		r, err := http.NewRequestWithContext(ctx, "POST", front.URL+s.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Anthropic-Version", "2023-06-01")
		failed := make(chan error, 1)
		go func() {
			resp, err := http.DefaultClient.Do(r)
			if err == nil {
				resp.Body.Close()
			}
			failed <- err
		}()
		for o.asked.Load() < 2 {
			select {
			case err := <-failed:
				t.Fatal("got a response before the files:", err)
			default:
			}
		}
		leave()
		<-o.left
		if report := <-done; report.Status != 499 || m.calls.Load() != 0 {
			t.Errorf("status %d, upstream called %d times", report.Status, m.calls.Load())
		}
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if n, bytes := budget.InFlight(); n != 0 || bytes != 0 {
			t.Errorf("%d requests and %d bytes are left in the budget", n, bytes)
		}
	})
}

// TestFetchedBytesAndBudget checks that fetched bytes count against the budget
// until the request ends.
func TestFetchedBytesAndBudget(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newFileServer(t)
		file := fileReference{link: o.URL + "/a.png", mediaType: "image/png"}
		body, size := s.body([]fileReference{file}, false), int64(len(pngFile(t)))
		for _, room := range []int64{size - 1, size} {
			budget := &upstream.Budget{Bytes: int64(len(body)) + room}
			m := &model{asked: func(context.Context, *upstream.Request) error {
				if _, bytes := budget.InFlight(); bytes != budget.Bytes {
					t.Errorf("%d bytes are in flight, want %d", bytes, budget.Bytes)
				}
				return nil
			}}
			want := 200
			if room < size {
				want = s.failure(upstream.CodeOverloaded).status
			}
			status, answer, header := post(t, s.handler(m, upstream.HandlerOptions{Links: o.fetcher(t, 0), Budget: budget}), s.path, body)
			if status != want || (want != 200) != (header.Get("Retry-After") != "") {
				t.Errorf("%d bytes left: status %d %s", room, status, answer)
			}
			if n, bytes := budget.InFlight(); n != 0 || bytes != 0 {
				t.Errorf("%d requests and %d bytes are left in the budget", n, bytes)
			}
		}
	})
}
