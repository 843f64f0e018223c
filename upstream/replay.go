package upstream

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/polywire/polywire/content"
)

// Replay returns an Upstream that responds to any request with the frames of r, such as
// those of a recorded stream. With it a decoded response can be passed to [Run], [Collect]
// and [Events], or to the [StreamWriter] of another format:
//
//	err := w.End(upstream.Run(ctx, upstream.Replay(r), req, w))
//
// The Upstream responds once: r has been read then, and further calls of Generate return an
// error. It sends no requests, so it accepts those that need an upstream of their own format.
// It uses the context only before the first frame; reads of r may be interrupted by closing
// the source.
func Replay(r FrameReader) Upstream { return &replay{frames: r} }

type replay struct {
	frames FrameReader
	called atomic.Bool
}

var errReplayed = errors.New("upstream: Replay responds to one request only")

// Generate implements [Upstream].
func (p *replay) Generate(ctx context.Context, _ *Request, w *Writer) error {
	if p.called.Swap(true) {
		return errReplayed
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return w.Frames(p.frames)
}

// FormatOf implements [FormatReporter].
func (p *replay) FormatOf(_ context.Context, r *Request) (content.Format, error) {
	if r.Wire == nil {
		return "", nil
	}
	return r.Wire.Format(), nil
}
