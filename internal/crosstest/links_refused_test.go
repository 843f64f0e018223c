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
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

// What is not to be answered, or only to be counted, makes no request.
func TestNothingIsFetched(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		o := newOrigin(t)
		good := named{link: o.URL + "/a.png", mediaType: "image/png"}
		bad := named{link: "https://user@127.0.0.1/", mediaType: "image/png"}
		for _, tt := range []struct {
			name, path, body string
			links            content.Resolver
			pass             bool
			want             int
			faults           []string
		}{
			{"another fault", s.path, s.body([]named{good}, true), nil, false, 400, nil},
			{"a bad text", s.path, s.body([]named{good, bad}, false), nil, false, 400, []string{s.place(1, bad)}},
			{"a bad text that might be passed", s.path, s.body([]named{good, bad}, false), nil, true, 400, []string{s.place(1, bad)}},
			{"and by default", s.path, s.body([]named{bad}, false), fetch.Off{}, true, 400, []string{s.place(0, bad)}},
			{"counting", s.count, s.body([]named{good}, false), nil, false, 200, nil},
			{"counting a bad text", s.count, s.body([]named{bad}, false), nil, false, 400, []string{s.place(0, bad)}},
			{"off", s.path, s.body([]named{good}, false), fetch.Off{}, false, 400, []string{s.place(0, good)}},
			{"passed", s.path, s.body([]named{good}, false), nil, true, 200, nil},
		} {
			t.Run(tt.name, func(t *testing.T) {
				if tt.links == nil {
					tt.links = o.fetcher(t, 0)
				}
				m := &model{}
				h := s.handler(m, upstream.HandlerOptions{Links: tt.links, ForwardLinks: tt.pass})
				status, answer, _ := post(t, h, tt.path, tt.body)
				if status != tt.want || tt.faults != nil && cmp.Diff(tt.faults, faults(t, s, answer)) != "" {
					t.Errorf("%d %s, want %d and faults at %v", status, answer, tt.want, tt.faults)
				}
				if n := o.asked.Load(); n != 0 {
					t.Errorf("%d requests at the origin", n)
				}
				if called := m.calls.Load() != 0; called != (tt.want == 200 && tt.path == s.path) {
					t.Errorf("the upstream was called: %v", called)
				}
			})
		}
	})
}

// By default nothing on this machine is fetched.
func TestDefaultLinks(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		o := newOrigin(t)
		files := []named{{link: o.URL + "/a.png", mediaType: "image/png"}, {link: "https://localhost/a.png", mediaType: "image/png"}}
		status, answer, _ := post(t, s.handler(&model{}, upstream.HandlerOptions{}), s.path, s.body(files, false))
		want := []string{s.place(0, files[0]), s.place(1, files[1])}
		if diff := cmp.Diff(want, faults(t, s, answer)); status != 400 || diff != "" {
			t.Errorf("%d %s\n%s", status, answer, diff)
		}
		if n := o.asked.Load(); n != 0 {
			t.Errorf("%d requests at the origin", n)
		}
	})
}

func TestPassedLinks(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		o := newOrigin(t)
		m := &model{asked: func(ctx context.Context, r *upstream.Request) error {
			if !r.ForwardLinks || upstream.WireOf(r, s.format) == nil {
				t.Error("the request is not as it came")
			}
			for _, src := range sources(r.LastParts()) {
				if b, err := r.Load(ctx, src); err != nil || b.MediaType != "image/png" {
					t.Errorf("Load: %v, %v", b.MediaType, err)
				}
			}
			return nil
		}}
		file := named{link: o.URL + "/a.png", mediaType: "image/png"}
		h := s.handler(m, upstream.HandlerOptions{Links: o.fetcher(t, 0), ForwardLinks: true})
		if status, answer, _ := post(t, h, s.path, s.body([]named{file, file}, false)); status != 200 || o.asked.Load() != 1 {
			t.Errorf("%d %s, %d requests at the origin, want 1", status, answer, o.asked.Load())
		}
	})
}

func TestLinksInResults(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		o := newOrigin(t)
		m := &model{asked: func(ctx context.Context, r *upstream.Request) error {
			_, err := r.Load(ctx, sources(r.LastParts())[0])
			return err
		}}
		h := s.handler(m, upstream.HandlerOptions{Links: o.fetcher(t, 0)})
		body, _ := s.results(named{link: o.URL + "/a.png", mediaType: "image/png"})
		if status, answer, _ := post(t, h, s.path, body); status != 200 || o.asked.Load() != 1 {
			t.Errorf("%d %s, %d requests at the origin", status, answer, o.asked.Load())
		}
		body, place := s.results(named{link: o.URL + "/nothing", mediaType: "image/png"})
		status, answer, _ := post(t, h, s.path, body)
		if diff := cmp.Diff([]string{place}, faults(t, s, answer)); status != 400 || diff != "" {
			t.Errorf("%d %s\n%s", status, answer, diff)
		}
	})
}

// Files by id are the host's Resolver's to find, or the upstream's.
func TestFilesByID(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		file := named{id: "report.pdf", mediaType: "application/pdf"}
		kept := content.Files{FS: fstest.MapFS{"report.pdf": {Data: []byte(pdfFile)}, "a.png": {Data: []byte(pngFile(t))}}}
		for _, tt := range []struct {
			name     string
			resolver content.Resolver
			files    []named
			want     int
			faults   []string
			found    bool
		}{
			{"no Resolver", nil, []named{file}, 200, nil, false},
			{"a Resolver that does not know", others{}, []named{file}, 200, nil, false},
			{"found", kept, []named{file, file}, 200, nil, true},
			{"not found", kept, []named{{id: "x", mediaType: "image/png"}}, 400, []string{s.place(0, named{id: "x", mediaType: "image/png"})}, false},
			{"another type", kept, []named{{id: "a.png", mediaType: "application/pdf"}}, 400, nil, false},
			{"broken", broken{}, []named{file}, 500, nil, false},
		} {
			t.Run(tt.name, func(t *testing.T) {
				m := &model{asked: func(ctx context.Context, r *upstream.Request) error {
					for _, src := range sources(r.LastParts()) {
						b, err := r.Load(ctx, src)
						if tt.found && (err != nil || string(b.Data) != pdfFile) || !tt.found && !errors.Is(err, content.ErrUnresolved) {
							t.Errorf("Load: %v", err)
						}
					}
					if wire := upstream.WireOf(r, s.format); (wire == nil) != tt.found {
						t.Errorf("Wire is there: %v", wire != nil)
					}
					return nil
				}}
				status, answer, _ := post(t, s.handler(m, upstream.HandlerOptions{Resolver: tt.resolver}), s.path, s.body(tt.files, false))
				if status != tt.want || tt.faults != nil && cmp.Diff(tt.faults, faults(t, s, answer)) != "" {
					t.Errorf("%d %s, want %d", status, answer, tt.want)
				}
				if strings.Contains(answer, "secret") {
					t.Error("the host's trouble is told")
				}
				if called := m.calls.Load() != 0; called != (tt.want == 200) {
					t.Errorf("the upstream was called: %v", called)
				}
			})
		}
	})
}

// others knows nothing, and broken fails.
type (
	others struct{}
	broken struct{}
)

func (others) Resolve(context.Context, content.Source) (content.Blob, error) {
	return content.Blob{}, fmt.Errorf("not here: %w", content.ErrUnresolved)
}

func (broken) Resolve(context.Context, content.Source) (content.Blob, error) {
	return content.Blob{}, errors.New("secret trouble")
}

// Links of one request are fetched side by side, eight at a time.
func TestLinksTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		const links, together = 24, 8
		var mu sync.Mutex
		now, most := 0, 0
		full := make(chan struct{}) // closed once eight are there: fewer would never end
		origin := &origin{}
		origin.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now++
			if most = max(most, now); now == together {
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
		var files []named
		for i := range links {
			files = append(files, named{link: fmt.Sprint(origin.URL, "/", i), mediaType: "application/pdf"})
		}
		status, answer, _ := post(t, s.handler(&model{}, upstream.HandlerOptions{Links: origin.fetcher(t, 0)}), s.path, s.body(files, false))
		if status != 200 || most != together {
			t.Errorf("%d %s; %d at once, want %d", status, answer, most, together)
		}
	})
}

// A client that leaves ends what is fetched for it.
func TestClientLeavesWhileFetching(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		o := newOrigin(t)
		m := &model{}
		budget := new(upstream.Budget)
		done := make(chan *upstream.Report, 1)
		front := httptest.NewServer(s.handler(m, upstream.HandlerOptions{
			Links: o.fetcher(t, 0), Budget: budget,
			OnDone: func(_ context.Context, r *upstream.Report) { done <- r },
		}))
		defer front.Close()
		ctx, leave := context.WithCancel(t.Context())
		body := s.body([]named{{link: o.URL + "/slow", mediaType: "image/png"}, {link: o.URL + "/a.png", mediaType: "image/png"}}, false)
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
				t.Fatal("the answer came before the files:", err)
			default:
			}
		}
		leave()
		<-o.left
		if report := <-done; report.Status != 499 || m.calls.Load() != 0 {
			t.Errorf("status %d, %d calls of the upstream", report.Status, m.calls.Load())
		}
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if n, bytes := budget.InFlight(); n != 0 || bytes != 0 {
			t.Errorf("%d requests and %d bytes are left in the budget", n, bytes)
		}
	})
}

// What was fetched counts for the budget while the request lives.
func TestFetchedBytesAndBudget(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		o := newOrigin(t)
		file := named{link: o.URL + "/a.png", mediaType: "image/png"}
		body, size := s.body([]named{file}, false), int64(len(pngFile(t)))
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
				want = 529
				if s.format == generatecontent.Format {
					want = 503
				}
			}
			status, answer, header := post(t, s.handler(m, upstream.HandlerOptions{Links: o.fetcher(t, 0), Budget: budget}), s.path, body)
			if status != want || (want != 200) != (header.Get("Retry-After") != "") {
				t.Errorf("%d bytes of room: %d %s", room, status, answer)
			}
			if n, bytes := budget.InFlight(); n != 0 || bytes != 0 {
				t.Errorf("%d requests and %d bytes are left in the budget", n, bytes)
			}
		}
	})
}
