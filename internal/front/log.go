package front

import (
	"context"
	"errors"
	"log/slog"

	"github.com/polywire/polywire/upstream"
)

// log tells the host's log about a failure: the code and the cause, never the
// text for the client, which may quote what it sent.
func (x *exchange) log(ctx context.Context, f *Failure) {
	if x.s.serving.Logger == nil {
		return
	}
	level, message := slog.LevelError, "request failed"
	switch f.Code {
	case upstream.CodeInternal, upstream.CodeUnavailable, upstream.CodeTimeout, upstream.CodeBadGateway:
	case upstream.CodeOverloaded, upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeUnsupported:
		level = slog.LevelWarn
	default:
		level, message = slog.LevelInfo, "request refused"
	}
	attrs := []slog.Attr{slog.String("code", string(f.Code))}
	if n := len(f.Faults) + f.More; n > 0 {
		attrs = append(attrs, slog.Int("faults", n))
	} else if cause := cause(f); cause != "" {
		attrs = append(attrs, slog.String("cause", cause))
	}
	var p *panicError
	if errors.As(f.Err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	x.say(ctx, level, message, attrs...)
}

// cause returns what the log is told of the error behind f.
func cause(f *Failure) string {
	if f.Err == nil {
		return ""
	}
	var e *upstream.Error
	if !errors.As(f.Err, &e) {
		return textOf(f.Err)
	}
	if e.Err != nil {
		return textOf(e.Err)
	}
	return "" // nothing but the text for the client
}

// textOf returns the text of an error of the host's, which may not know it. It
// is bounded, since it may quote what a server far away has sent.
func textOf(err error) (s string) {
	defer func() {
		if v := recover(); v != nil {
			s = "an error that panics when it is asked for its text"
		}
	}()
	return OneLine(err.Error(), maxText)
}

// say writes one line. A logger that panics is the host's trouble, not the
// client's.
func (x *exchange) say(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	l := x.s.serving.Logger
	if l == nil {
		return
	}
	defer func() { _ = recover() }()
	attrs = append(attrs,
		slog.String("request", x.id),
		slog.String("format", string(x.s.dialect.Format())),
		slog.String("path", x.r.URL.Path))
	l.LogAttrs(ctx, level, message, attrs...)
}
