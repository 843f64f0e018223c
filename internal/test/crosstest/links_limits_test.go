package crosstest

import (
	stdcmp "cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A resolverFunc is a function that implements [content.Resolver].
type resolverFunc func(ctx context.Context, s content.Source) (content.Blob, error)

func (f resolverFunc) Resolve(ctx context.Context, s content.Source) (content.Blob, error) {
	return f(ctx, s)
}

// links returns three links to PDFs.
func links() (files []fileReference) {
	for _, path := range []string{"a", "b", "c"} {
		files = append(files, fileReference{link: "https://files.example/" + path, mediaType: "application/pdf"})
	}
	return files
}

// TestResolverFailures checks that the client receives a response in time, and
// that the budget is released, if a host's Resolver is unresponsive, endless or
// broken.
func TestResolverFailures(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	size := func(n int) resolverFunc {
		return func(context.Context, content.Source) (content.Blob, error) {
			return content.Blob{Data: append([]byte(pdfFile), make([]byte, n)...)}, nil
		}
	}
	eachFormat(t, func(t *testing.T, s wireFormat) {
		all := []string{s.place(0, links()[0]), s.place(1, links()[1]), s.place(2, links()[2])}
		for _, tt := range []struct {
			name       string
			links      resolverFunc
			load       upstream.FileLimits
			want       int
			violations []string
			text       string
		}{
			{"unresponsive", func(context.Context, content.Source) (content.Blob, error) { <-gate; return content.Blob{}, nil },
				upstream.FileLimits{Time: 10 * time.Millisecond}, 400, all, "could not be loaded in time"},
			{"slow", func(ctx context.Context, _ content.Source) (content.Blob, error) {
				<-ctx.Done()
				return content.Blob{}, ctx.Err()
			}, upstream.FileLimits{Time: 10 * time.Millisecond}, 400, all, "could not be loaded in time"},
			{"files too large in total", size(1000), upstream.FileLimits{Bytes: 2500, PerRequest: 1}, 400, all[2:],
				"the files of the request are too large together: at most 2500 bytes are allowed"},
			{"one file too large", func(_ context.Context, src content.Source) (content.Blob, error) {
				if src.(*content.URL).URL == links()[1].link {
					return size(3000)(nil, nil)
				}
				return size(10)(nil, nil)
			}, upstream.FileLimits{Bytes: 2500}, 400, all[1:2], "the file is too large: at most 2500 bytes are allowed for all files of a request"},
			{"files within the limit", size(1000), upstream.FileLimits{Bytes: 3*1000 + 3*int64(len(pdfFile))}, 200, nil, "ok"},
			{"unresolved links", resolverFunc(unresolved{}.Resolve), upstream.FileLimits{}, 400, all, "this server does not fetch links"},
			{"empty files", func(context.Context, content.Source) (content.Blob, error) { return content.Blob{}, nil },
				upstream.FileLimits{}, 400, all, ""},
			{"broken", resolverFunc(broken{}.Resolve), upstream.FileLimits{}, 500, nil, ""},
			{"panics", func(context.Context, content.Source) (content.Blob, error) { panic("secret") }, upstream.FileLimits{}, 500, nil, ""},
		} {
			t.Run(tt.name, func(t *testing.T) {
				m, budget := &model{}, new(upstream.Budget)
				h := s.handler(m, upstream.HandlerOptions{Links: tt.links, FileLimits: tt.load, Budget: budget, Timeouts: upstream.Timeouts{Grace: 10 * time.Millisecond}})
				status, answer, _ := post(t, h, s.path, s.body(links(), false))
				if status != tt.want || !strings.Contains(answer, tt.text) || strings.Contains(answer, "secret") {
					t.Errorf("status %d %s, want %d and %q", status, answer, tt.want, tt.text)
				}
				if tt.violations != nil {
					if diff := cmp.Diff(tt.violations, violationPaths(t, s, answer)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				}
				if called := m.calls.Load() != 0; called != (tt.want == 200) {
					t.Errorf("the upstream was called: %v", called)
				}
				if n, bytes := budget.InFlight(); n != 0 || bytes != 0 {
					t.Errorf("%d requests and %d bytes are left in the budget", n, bytes)
				}
			})
		}
	})
}

// TestHostMediaTypes checks that media types that the host allows are accepted
// from every source.
func TestHostMediaTypes(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		mediaType := stdcmp.Or(s.hostType, "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
		serving := upstream.HandlerOptions{Links: resolverFunc(func(context.Context, content.Source) (content.Blob, error) {
			return content.Blob{MediaType: mediaType, Data: []byte("PK\x03\x04")}, nil
		})}
		file := fileReference{link: "https://files.example/a", mediaType: mediaType}
		for _, tt := range []struct {
			types []string
			want  int
		}{{nil, 400}, {[]string{mediaType}, 200}} {
			for _, body := range []string{s.body([]fileReference{file}, false), fmt.Sprintf(s.inline, mediaType, "UEsDBA==")} {
				if status, answer, _ := post(t, s.typed(&model{}, serving, tt.types), s.path, body); status != tt.want {
					t.Errorf("%v: %d %s", tt.types, status, answer)
				}
			}
		}
	})
}

// TestBytesCountedWhileFetching checks that the bytes of all files are counted
// while they arrive, not after.
func TestBytesCountedWhileFetching(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newFileServer(t)
		var files []fileReference
		for _, n := range []string{"1", "2", "3", "4"} {
			files = append(files, fileReference{link: o.URL + "/endless?" + n, mediaType: "application/pdf"})
		}
		for _, tt := range []struct {
			name   string
			budget int64
			load   upstream.FileLimits
			want   int
			text   string
			times  int
		}{
			{"limit of a request", 0, upstream.FileLimits{Bytes: 200_000, PerRequest: 1}, 400, "the file is too large: at most 200000 bytes", 1},
			{"limit of one file", 0, upstream.FileLimits{}, 400, "larger than", len(files)},
			{"limit of the budget", 200_000, upstream.FileLimits{}, s.failure(upstream.CodeOverloaded).status, "", 0},
		} {
			budget := &upstream.Budget{Bytes: tt.budget}
			h := s.handler(&model{}, upstream.HandlerOptions{Links: o.fetcher(t, 0), Budget: budget, FileLimits: tt.load})
			status, answer, _ := post(t, h, s.path, s.body(files, false))
			if status != tt.want || strings.Count(answer, tt.text) < tt.times || tt.times == 1 && len(violationPaths(t, s, answer)) != 1 {
				t.Errorf("%s: status %d %s, want %d and %q %d times", tt.name, status, answer, tt.want, tt.text, tt.times)
			}
			if n, bytes := budget.InFlight(); n != 0 || bytes != 0 {
				t.Errorf("%s: %d requests and %d bytes are left in the budget", tt.name, n, bytes)
			}
		}
	})
}
