package handler

import (
	"context"
	"errors"
	"log/slog"

	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// log tells the host's log about a failure: the code and the cause, never the
// text for the client, which may quote what it sent. Of faults the first is told,
// by code and place.
func (x *exchange) log(ctx context.Context, f *Failure, more ...slog.Attr) {
	level, message := level(ctx, f)
	attrs := []slog.Attr{slog.String("code", string(f.Code))}
	if len(f.Violations) > 0 {
		first := f.Violations[0]
		attrs = append(attrs, slog.Int("faults", len(f.Violations)+f.More), slog.String("fault", string(first.Code)))
		if first.Path != "" {
			attrs = append(attrs, slog.String("at", OneLine(first.Path, maxPath)))
		}
	} else if cause := cause(f); cause != "" {
		attrs = append(attrs, slog.String("cause", cause))
	}
	var p *panicError
	if errors.As(f.Err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	x.say(ctx, level, message, append(attrs, more...)...)
}

// maxPath bounds the path of a fault, which may hold names of the client's.
const maxPath = 256

// level returns how much a failure is the host's affair. What clients bring about
// by themselves is for debugging only, or they could fill the log.
func level(ctx context.Context, f *Failure) (slog.Level, string) {
	switch f.Code {
	case upstream.CodeTimeout:
		if context.Cause(ctx) == errWithin { // which is as short as it wants
			return slog.LevelDebug, "request failed"
		}
		fallthrough
	case upstream.CodeInternal, upstream.CodeUnavailable, upstream.CodeBadGateway:
		if f.byHost {
			return slog.LevelWarn, "request failed"
		}
		return slog.LevelError, "request failed"
	case upstream.CodeOverloaded, upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeBilling, upstream.CodeUnsupported:
		return slog.LevelWarn, "request failed"
	}
	return slog.LevelDebug, "request refused"
}

// cause returns what the log is told of the error behind f. Texts for the client
// are left out: of an error that has nothing else there is its code.
func cause(f *Failure) string {
	reason, err, code := f.reason(), f.Err, f.Code
	for e := (*upstream.Error)(nil); errors.As(err, &e); {
		err, code = e.Err, e.Code
	}
	switch {
	case err != nil && reason != "":
		return reason + ": " + textOf(err)
	case err != nil:
		return textOf(err)
	case reason != "":
		return reason
	case code != f.Code:
		return string(code)
	}
	return ""
}

// textOf returns the text of an error of the host's, which may not know it. It
// is bounded, and without what looks like a key, since it may quote what a server
// far away was sent or has sent.
func textOf(err error) (s string) {
	defer func() {
		if v := recover(); v != nil {
			s = "an error that panics when it is asked for its text"
		}
	}()
	return redact.Line(err.Error())
}

// say writes one line. A logger that panics is the host's trouble, not the
// client's.
func (x *exchange) say(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	l := x.s.serving.Logger
	if l == nil {
		l = slog.Default() // as it is now: a program may set it later than it makes handlers
	}
	defer func() { _ = recover() }()
	attrs = append(attrs,
		slog.String("request", x.id),
		slog.String("format", string(x.s.dialect.Format())),
		slog.String("path", x.r.URL.Path))
	l.LogAttrs(ctx, level, message, attrs...)
}
