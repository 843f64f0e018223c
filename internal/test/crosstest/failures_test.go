package crosstest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// failure returns the error of the format for a code, from the wire references.
func (s wireFormat) failure(code upstream.Code) failure { return s.failures[code] }

// TestFailures checks the error response of every code, before and after the first byte
// and from WriteError: its status, its type or name, and a text without the cause.
func TestFailures(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		synctest.Test(t, func(t *testing.T) { // streams pause before an error
			for code := range s.failures {
				for _, text := range []string{"", "a sentence"} {
					err := &upstream.Error{Code: code, Text: text, Err: errors.New("secret")}
					before := s.ask(t, s.handler(failing{err: err}, upstream.HandlerOptions{}), m)
					after := s.ask(t, s.handler(failing{err: err, begun: true}, upstream.HandlerOptions{}), m)
					list := []*answer{before, after}
					if code != upstream.CodeUnauthenticated { // see TestWriteError
						list = append(list, s.writeError(t, m, nil, err))
					}
					for _, a := range list {
						a.wants(t, s.failure(code), text)
						if a.code != s.failure(code).code && !a.coded {
							t.Errorf("%s: code %q", code, a.code)
						}
						if strings.Contains(a.body, "secret") || (a.status == 200) != (a == after && m.stream) {
							t.Errorf("%s: %d %s", code, a.status, a.body)
						}
					}
				}
			}
		})
	})
}

// writeError returns the response that WriteError writes to a request, which edit may
// change.
func (s wireFormat) writeError(t *testing.T, m mode, edit func(*http.Request), err error) *answer {
	t.Helper()
	r := m.request()
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	s.handler(hello, upstream.HandlerOptions{}).WriteError(w, r, err)
	return s.receive(t, m, w.Result())
}

// A failing upstream returns an error from every operation.
type failing struct {
	err   error
	begun bool // writes a word before
}

func (f failing) Generate(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	if f.begun {
		_ = w.Text("ab")
	}
	return f.err
}

func (f failing) CountTokens(context.Context, *upstream.Request) (upstream.TokenCount, error) {
	return upstream.TokenCount{}, f.err
}

func (f failing) Models(context.Context) ([]upstream.Model, error) { return nil, f.err }

// TestWriteError checks errors that middleware writes through a handler.
func TestWriteError(t *testing.T) {
	rate := &upstream.Error{Code: upstream.CodeRateLimit, Text: "five a minute", RetryAfter: 1500 * time.Millisecond, Err: errors.New("secret")}
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		write := func(err error) *answer { return s.writeError(t, m, nil, err) }
		none, bad := keyErrors[s.name][noKey], keyErrors[s.name][badKey]
		write(upstream.ErrNoKey).wants(t, none.failure, none.text)
		withKey := header("Authorization", "Bearer k")
		s.writeError(t, m, withKey, upstream.ErrBadKey).wants(t, bad.failure, bad.text)
		s.writeError(t, m, withKey, &upstream.Error{Code: upstream.CodeUnauthenticated, Text: "it has expired"}).wants(t, bad.failure, "it has expired")
		write(&content.Violation{Path: "turns.0.parts.1", Text: "no"}).wants(t, s.failure(upstream.CodeInvalid),
			s.errorText("a part"))
		write(errors.New("secret")).wants(t, s.failure(upstream.CodeInternal), s.errorText("secret"))
		a := write(rate)
		a.wants(t, s.failure(upstream.CodeRateLimit), "five a minute")
		if a.header.Get("Retry-After") != "2" || a.header.Values("X-Should-Retry") != nil || strings.Contains(a.body, "secret") ||
			strings.Contains(a.details, "retryDelay:1.5s") != s.retryDetail {
			t.Errorf("rate limit: %v %s", a.header, a.body)
		}
		for _, code := range []upstream.Code{upstream.CodeQuota, upstream.CodeOverloaded, upstream.CodeUnavailable, upstream.CodeInvalid} {
			want := ""
			if code == upstream.CodeQuota {
				want = "false" // retrying does not help
			}
			if a := write(&upstream.Error{Code: code}); a.header.Get("X-Should-Retry") != want || a.header.Get("Retry-After") != "" {
				t.Errorf("%s: %v, want X-Should-Retry %q", code, a.header, want)
			}
		}
	})
}

// TestErrorTexts checks the messages of errors: that of the outermost error with a text, in
// one line for each violation, and of limited length.
func TestErrorTexts(t *testing.T) {
	var two, many violation.List
	two.Add(content.CodeMissing, "seed", "Field required")
	two.Add(content.CodeRange, "top_k", "is\r\nodd\u2028")
	for range 300 {
		many.Add(content.CodeValue, "stop_sequences", strings.Repeat("x", 500))
	}
	eachFormat(t, func(t *testing.T, s wireFormat) {
		for _, tt := range []struct {
			name string
			err  error
			want string
		}{
			{"two violations", two.Err(), s.errorText("two violations")},
			{"wrapped", fmt.Errorf("at /etc/secret: %w", &content.Violation{Code: content.CodeValue, Path: "seed", Text: "b"}), s.errorText("wrapped")},
			{"line break in a path", &content.Violation{Code: content.CodeValue, Path: "x\ny", Text: "b"}, s.errorText("line break in a path")},
			{"outermost error", &upstream.Error{Code: upstream.CodeBadGateway, Text: "no use", Err: two.Err()}, "no use"},
			{"lines", &upstream.Error{Code: upstream.CodeInvalid, Text: "a\r\nevent: x\u2029"}, "a  event: x "},
			{"unknown", errors.New("secret"), s.errorText("secret")},
			{"joined", errors.Join(errors.New("secret"), &upstream.Error{Code: upstream.CodeNotFound, Text: "model: x"}), "model: x"},
		} {
			if got := s.writeError(t, s.modes[0], nil, tt.err).message; got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		}
		if got := s.writeError(t, s.modes[0], nil, many.Err()).message; len(got) > 17<<10 || !strings.HasSuffix(got, s.errorText("many violations end")) {
			t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-20:])
		}
		for _, err := range []error{
			&upstream.Error{Code: upstream.CodeInvalid, Text: strings.Repeat("é", 5000)}, &content.Violation{Code: content.CodeSyntax, Text: strings.Repeat("é", 5000)},
		} {
			if got := s.writeError(t, s.modes[0], nil, err).message; len(got) > 2<<10 || !utf8.ValidString(got) {
				t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
			}
		}
	})
}

// TestReportCode checks the error code in the report.
func TestReportCode(t *testing.T) {
	fail := func(code upstream.Code) upstream.Upstream { return failing{err: &upstream.Error{Code: code}} }
	for _, tt := range []struct {
		name string
		up   upstream.Upstream
		edit func(s wireFormat, r *http.Request)
		want upstream.Code
	}{
		{"success", hello, nil, ""},
		{"upstream error", fail(upstream.CodeQuota), nil, upstream.CodeQuota},
		{"unknown code", fail("odd"), nil, upstream.CodeInternal},
		{"no code", fail(""), nil, upstream.CodeInternal},
		{"other error", failing{err: errors.New("x")}, nil, upstream.CodeInternal},
		{"violation", failing{err: &content.Violation{Code: content.CodeValue, Text: "x"}}, nil, upstream.CodeInvalid},
		{"late", failing{err: errors.New("x"), begun: true}, nil, upstream.CodeInternal},
		{"timeout", waiting{begun: true}, nil, upstream.CodeTimeout},
		{"path", hello, func(_ wireFormat, r *http.Request) { r.URL.Path = "/" }, upstream.CodeNotFound},
		{"method", hello, func(_ wireFormat, r *http.Request) { r.Method = "PUT" }, upstream.CodeMethod},
		{"header", hello, func(s wireFormat, r *http.Request) {
			name, value, _ := strings.Cut(s.invalid, ": ")
			r.Header.Set(name, value)
		}, upstream.CodeInvalid},
		{"length", hello, func(_ wireFormat, r *http.Request) { r.ContentLength = 1 << 40 }, upstream.CodeTooLarge},
		{"disconnected client", waiting{begun: true}, func(_ wireFormat, r *http.Request) {
			c, cancel := context.WithCancel(r.Context())
			cancel()
			*r = *r.WithContext(c)
		}, upstream.CodeCanceled},
	} {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			var got []upstream.Code
			h := s.handler(tt.up, upstream.HandlerOptions{
				Timeouts: upstream.Timeouts{Idle: 20 * time.Millisecond, FirstByte: 20 * time.Millisecond},
				OnDone:   func(_ context.Context, r *upstream.Report) { got = append(got, r.Code) },
			})
			r := m.request()
			if tt.edit != nil {
				tt.edit(s, r)
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if diff := cmp.Diff([]upstream.Code{tt.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		})
	}
}

// TestReport checks the report that OnDone receives.
func TestReport(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var got *upstream.Report
		h := s.handler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossDropped, Reason: "r"}})
			_ = w.Start(upstream.Start{Model: "m-1"})
			_ = w.Text("ab")
			_ = w.Usage(content.Usage{Input: 1, Output: 2})
			return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
		}), upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { got = r }})
		a := s.ask(t, h, m)
		if got == nil || got.FirstByte <= 0 || got.Duration < got.FirstByte || got.Start.IsZero() {
			t.Fatalf("report: %+v", got)
		}
		got.Start, got.FirstByte, got.Duration = time.Time{}, 0, 0
		path, _, _ := strings.Cut(m.path, "?")
		want := &upstream.Report{
			ID: a.header.Get(s.id), Format: s.format, Method: "POST", Path: path, Mode: "plain", Model: "m", ResponseModel: "m-1",
			Status: 200, Usage: content.Usage{Input: 1, Output: 2}, Stop: upstream.Stop{Reason: content.StopMaxTokens},
			Losses:  []content.Loss{{Path: "top_k", Severity: content.LossDropped, Reason: "r"}},
			BytesIn: int64(len(m.body)), BytesOut: int64(len(a.body)),
		}
		if m.stream {
			want.Mode = "stream"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
