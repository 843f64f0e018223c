package main

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/polywire/polywire/examples/internal/format"
	"github.com/polywire/polywire/upstream"
)

// response translates a recorded response.
func (t *task) response(ctx context.Context) error {
	in, out := t.in, t.out
	var copied bytes.Buffer
	if t.from == t.to { // check it, then write it unchanged
		in, out = io.TeeReader(t.in, &copied), io.Discard
	}
	translate := t.whole
	if t.stream {
		translate = t.streamed
	}
	if err := translate(ctx, format.ByName(t.to).AnyRequest(t.model), in, out); err != nil {
		return err
	}
	_, err := copied.WriteTo(t.out)
	return err
}

// whole translates the whole response to req. If it is an error, the output is the error
// for the client.
func (t *task) whole(_ context.Context, req *upstream.Request, in io.Reader, out io.Writer) error {
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	to := format.ByName(t.to).Client
	resp, err := format.ByName(t.from).DecodeResponse(body, nil)
	if err != nil {
		_, _, document := to.EncodeError(req, err)
		_, failed := out.Write(append(document, '\n'))
		return cmp.Or(failed, err)
	}
	document, losses := to.EncodeResponse(req, resp)
	t.printLosses(append(resp.Losses, losses...), to.Path) // of decoding and encoding
	_, err = out.Write(append(document, '\n'))
	return err
}

// streamed translates the streamed response to req as it arrives.
func (t *task) streamed(ctx context.Context, req *upstream.Request, in io.Reader, out io.Writer) error {
	to := format.ByName(t.to).Client
	recording := upstream.Replay(format.ByName(t.from).NewStreamReader(in))
	w := to.NewStreamWriter(out, req)
	err := w.End(upstream.Run(ctx, recording, req, w))
	t.printLosses(w.Losses(), to.Path)
	return err
}
