package crosstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/polywire/polywire/upstream"
)

// TestNoLogger checks that a handler without a logger logs a panic to the
// default logger, but no errors of clients. It is not parallel, since there is
// one default logger.
func TestNoLogger(t *testing.T) {
	before, flags, w := slog.Default(), log.Flags(), log.Writer()
	defer func() {
		slog.SetDefault(before)
		log.SetFlags(flags)
		log.SetOutput(w)
	}()
	eachFormat(t, func(t *testing.T, s wireFormat) {
		h := s.handler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
			panic("panic in the host")
		}), upstream.HandlerOptions{})
		var seen bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&seen, nil))) // the handler looks up the default logger late
		if status, answer, _ := post(t, h, s.path, s.body(nil, true)); status != 400 || seen.Len() > 0 {
			t.Errorf("%d %s\nlogged: %s", status, answer, seen.String())
		}
		status, answer, _ := post(t, h, s.path, s.body(nil, false))
		if status != 500 || strings.Contains(answer, "panic") {
			t.Errorf("%d %s", status, answer)
		}
		for _, want := range []string{"level=ERROR", "panic in the host", "stack=", "log_test.go"} {
			if !strings.Contains(seen.String(), want) {
				t.Errorf("%q is not in the log: %s", want, seen.String())
			}
		}
	})
}

// TestViolationsAreLogged checks that the log has the first violation of a
// request with its path, and no content of the client.
func TestViolationsAreLogged(t *testing.T) {
	for _, tt := range []struct{ format, body, want string }{
		{"messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"hidden words"},{"type":"text"}]}]}`,
			"violations=1 violation=missing at=messages.0.content.1.text.text "},
		{"messages", `{"model":"hidden words","max_tokens":9,"messages":[{"role":"hidden words","content":"a"}],"stop_sequences":4}`,
			"violations=2 violation="},
		{"messages", `hidden words`, "violations=1 violation=syntax request="},
		{"generatecontent", `{"contents":[{"parts":[{"text":"hidden words"}]}],"generationConfig":{"topP":"hidden words"}}`,
			"violations=1 violation=type at=generation_config.top_p "},
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			if s.name != tt.format {
				return
			}
			var seen bytes.Buffer
			h := s.handler(&model{}, upstream.HandlerOptions{
				Strict: true, Logger: slog.New(slog.NewTextHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			status, answer, _ := post(t, h, s.path, tt.body)
			line := seen.String()
			if status != 400 || !strings.Contains(line, tt.want) || !strings.Contains(line, `level=DEBUG msg="request refused" code=invalid `) {
				t.Errorf("%d %.300s\nlogged %.500s\nwant %q", status, answer, line, tt.want)
			}
			if strings.Contains(line, "hidden") || len(line) > 800 || strings.Count(line, "\n") != 1 {
				t.Errorf("logged %d bytes: %.500s", len(line), line)
			}
		})
	}
}

// TestErrorsOfUpstreams checks that a client receives only an error's Text,
// before and after the first byte and for a count, and that the log has the
// cause and not the Text.
func TestErrorsOfUpstreams(t *testing.T) {
	cause := errors.New("hidden cause")
	limited := &upstream.Error{Code: upstream.CodeRateLimit, Text: "too fast", Err: cause}
	for name, err := range map[string]error{
		"plain": cause, "with Text": limited, "wrapped": fmt.Errorf("hidden words: %w", limited),
		"without Text": &upstream.Error{Code: upstream.CodeUnavailable, Err: cause},
		"nested":       &upstream.Error{Code: upstream.CodeBadGateway, Text: "no luck", Err: limited},
		"joined":       errors.Join(limited, cause),
		"with a key":   &upstream.Error{Code: upstream.CodeInternal, Err: fmt.Errorf("dial https://h.example/?key=k-1 with sk-ant-012345678: %w", cause)},
	} {
		t.Run(name, func(t *testing.T) {
			eachFormat(t, func(t *testing.T, s wireFormat) {
				late := failing{err: err, begun: true}
				body := s.body(nil, false)
				stream, streamed := s.streamed(s.path, body)
				for _, c := range []struct {
					up         upstream.Upstream
					path, body string
				}{{failing{err: err}, s.path, body}, {failing{err: err}, s.count, body}, {late, s.path, body}, {late, stream, streamed}} {
					if c.path == "" {
						continue // the format has no token counts
					}
					var seen bytes.Buffer
					h := s.handler(c.up, upstream.HandlerOptions{Logger: slog.New(slog.NewTextHandler(&seen, nil))})
					_, answer, _ := post(t, h, c.path, c.body)
					if strings.Contains(answer, "hidden") || strings.Contains(answer, "upstream:") {
						t.Errorf("%s: %s", c.path, answer)
					}
					line := seen.String()
					if !strings.Contains(line, "hidden cause") || strings.Contains(line, "too fast") || strings.Contains(line, "k-") {
						t.Errorf("%s: logged %s", c.path, line)
					}
				}
			})
		})
	}
}
