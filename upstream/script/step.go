package script

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A Step writes a part of the response to r with the methods of w, waits, or fails. It has the
// rules of Generate in [upstream.Upstream], and ends when it returns. It may be called by several
// goroutines at once.
type Step func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error

// Say writes a text, word by word.
func Say(text string) Step {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return write(text, w.Text)
	}
}

// Think writes thinking, word by word, and signs it, so that the client returns it. The signature
// has the format of the client's document, or else the format "script".
func Think(text string) Step {
	return func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		if err := write(text, w.Thinking); err != nil {
			return err
		}
		s := content.Signature{Format: "script"}
		if r.Wire != nil {
			s.Format = r.Wire.Format()
		}
		sum := sha256.Sum256([]byte("script:" + text))
		s.Data = base64.StdEncoding.EncodeToString(sum[:])
		return w.Signature(s)
	}
}

// Call calls a tool. input is a JSON object, written in pieces; empty means {}. For a free-form
// tool of the request it is any text.
func Call(name, input string) Step {
	return func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		call := &content.ToolUse{Name: name}
		for i := range r.Tools {
			if t := &r.Tools[i]; t.Name == name && t.Kind == "" {
				call.Namespace, call.Freeform = t.Namespace, t.Freeform
				break
			}
		}
		c := w.BeginToolCall(call)
		const size = 16 // bytes of a piece, which may end inside a character
		for rest := input; rest != ""; {
			n := min(size, len(rest))
			if err := c.Input(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return c.Close()
	}
}

// Part writes a part of any kind, such as an image. The part is read-only from then on.
func Part(p content.Part) Step {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Part(p) }
}

// Stop sets the reason why the response ends, such as [content.StopMaxTokens]. The default is
// StopToolUse for a response with a tool call, and StopEnd otherwise.
func Stop(reason content.StopReason) Step {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Stop(upstream.Stop{Reason: reason})
	}
}

// Fail ends the response with err, usually an [*upstream.Error]: with its HTTP status if nothing
// was written before, or else with the error event of the client's format.
func Fail(err error) Step {
	return func(context.Context, *upstream.Request, *upstream.Writer) error { return err }
}

// Cut ends the response as if the connection to the model broke, with [upstream.CodeUnavailable].
func Cut() Step {
	return Fail(&upstream.Error{Code: upstream.CodeUnavailable, Text: "the connection to the model broke", Err: io.ErrUnexpectedEOF})
}

// Wait writes nothing for a time. It ends early with an error if the client leaves or a timeout
// of the handler expires.
func Wait(d time.Duration) Step {
	return func(ctx context.Context, _ *upstream.Request, _ *upstream.Writer) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Expect calls check with the request. If check returns an error, the request fails with status
// 400 and this error, and so does [Model.Verify].
func Expect(check func(r *upstream.Request) error) Step {
	return func(_ context.Context, r *upstream.Request, _ *upstream.Writer) error {
		if err := check(r); err != nil {
			return &upstream.Error{Code: upstream.CodeInvalid, Text: "script: " + err.Error(), Err: &unexpected{err}}
		}
		return nil
	}
}

// write writes a text in pieces that end after spaces.
func write(text string, put func(string) error) error {
	for word := range strings.SplitAfterSeq(text, " ") {
		if err := put(word); err != nil {
			return err
		}
	}
	return nil
}
