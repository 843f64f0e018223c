package upstreamtest_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func (f *fake) start(w *upstream.Writer) error {
	s := upstream.Start{ID: "a-1", Model: "fake", Usage: &content.Usage{Input: 5}}
	switch f.flaw {
	case "usage in the start event":
		return w.Send([]upstream.Event{{Kind: upstream.EventStart, Start: &s}})
	case "secret in a header":
		s.Header = []upstream.HeaderField{{Name: "x-key", Value: "key=s3cret"}}
	case "frame that is not JSON":
		err := w.Frame(&upstream.Frame{Format: "f", Data: "{", Events: []upstream.Event{{Kind: upstream.EventStart, Start: &upstream.Start{}}}})
		if err != nil {
			return err
		}
		return w.Usage(*s.Usage)
	}
	return w.Start(s)
}

func (f *fake) say(_ context.Context, r *upstream.Request, w *upstream.Writer, rest string) error {
	switch f.flaw {
	case "writes nothing":
		return nil
	case "shorter plain response":
		if !r.Stream {
			rest = rest[:len(rest)-1]
		}
	case "mixes responses":
		f.mu.Lock()
		f.text = rest
		f.mu.Unlock()
		if err := w.Text("You said: "); err != nil {
			return err
		}
		f.mu.Lock()
		rest = f.text
		f.mu.Unlock()
		return w.Text(rest)
	case "panics":
		panic("panic of the fake")
	}
	if err := w.Text("You said: "); err != nil {
		return err
	}
	return w.Text(rest)
}

const numbers = 40

func (f *fake) count(ctx context.Context, w *upstream.Writer) error {
	if f.flaw == "unbounded buffer" {
		return f.readAhead(w)
	}
	if f.flaw == "writes after the response" {
		go func() {
			time.Sleep(20 * time.Millisecond)
			_ = w.Text("late")
		}()
	}
	for i := range numbers {
		if i > 0 && ctx.Err() != nil {
			if f.flaw == "writes after the context ended" {
				go func() {
					time.Sleep(20 * time.Millisecond)
					_ = w.Text("late")
				}()
			}
			return fmt.Errorf("left: %w", ctx.Err())
		}
		if err := w.Text(fmt.Sprintf("%d é\n", i)); err != nil {
			return err
		}
		if i == numbers/2 && f.flaw == "error after half of the response" {
			return &upstream.Error{Code: upstream.CodeUnavailable}
		}
	}
	if f.flaw == "incomplete character" {
		return w.Text("\xc3")
	}
	// The Writer joins the bytes of a character.
	if err := w.Text("\xc3"); err != nil {
		return err
	}
	return w.Text("\xa9")
}

// readAhead fetches the whole response before it is written.
func (f *fake) readAhead(w *upstream.Writer) error {
	queue, done := make(chan []byte, 1000), make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			queue <- bytes.Repeat([]byte{'a' + byte(i%26)}, 64<<10)
		}
		close(queue)
	}()
	defer func() { <-done }()
	for piece := range queue {
		if err := w.Text(string(piece[:10])); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) call(w *upstream.Writer) error {
	if err := w.Text("Let me look. "); err != nil {
		return err
	}
	id, name, input := "toolu_1", "look", []string{`{"at":`, `"it"}`}
	switch f.flaw {
	case "unknown tool":
		name = "feel"
	case "incomplete arguments":
		input = input[:1]
	case "arguments in a list":
		input = []string{`[1]`}
	case "empty id":
		return f.sendCall(w, "")
	case "duplicate id":
		if err := f.sendCall(w, id); err != nil {
			return err
		}
		return f.sendCall(w, id)
	case "no call":
		return nil
	}
	for range 2 {
		c := w.ToolCall(id, name)
		for _, piece := range input {
			if err := c.Input(piece); err != nil {
				return err
			}
		}
		if err := c.Close(); err != nil {
			return err
		}
		id = "" // the Writer makes one
	}
	return nil
}

// sendCall writes a call as an adapter does, with the block numbers of a vendor.
func (f *fake) sendCall(w *upstream.Writer, id string) error {
	return w.Send([]upstream.Event{
		{Kind: upstream.EventOpen, Block: 3, Part: &content.ToolUse{ID: id, Name: "look", Input: "{}"}},
		{Kind: upstream.EventClose, Block: 3},
	})
}

func (f *fake) think(w *upstream.Writer) error {
	put, s := w.Thinking, content.Signature{Format: "fake", Data: "c2lnbg=="}
	switch f.flaw {
	case "thinking as text":
		return w.Text("Hm. Done.")
	case "empty signature":
		s.Data = ""
	case "empty thinking block":
		if err := w.Part(&content.Thinking{}); err != nil {
			return err
		}
	}
	for _, piece := range []string{"Hm. ", "Hm!"} {
		if err := put(piece); err != nil {
			return err
		}
	}
	if err := w.Signature(s); err != nil {
		return err
	}
	return w.Text("Done.")
}

func (f *fake) finish(r *upstream.Request, w *upstream.Writer, verb string) error {
	u := content.Usage{Input: 5, Output: 9}
	switch f.flaw {
	case "decreasing count":
		if err := w.Usage(content.Usage{Input: 5, Output: 11}); err != nil {
			return err
		}
	case "no prompt tokens at the end":
		u.Input = 0
	case "negative count":
		u.CacheRead = -1
	case "late loss":
		if r.RejectLoss == 0 {
			if err := w.Loss([]content.Loss{{Path: "turns.0.parts.0", Severity: content.LossHint, Reason: "too late"}}); err != nil {
				return err
			}
		}
	}
	if err := w.Usage(u); err != nil {
		return err
	}
	switch {
	case f.flaw == "always stops for tool use":
		return w.Stop(upstream.Stop{Reason: content.StopToolUse})
	case f.flaw == "stops with end after a call" && verb == "call":
		return w.Stop(upstream.Stop{Reason: content.StopEnd})
	case f.flaw == "unknown stop reason":
		return w.Stop(upstream.Stop{Reason: "bored"})
	case f.flaw == "second candidate without a stop":
		return w.Send([]upstream.Event{
			{Kind: upstream.EventOpen, Block: 5, Candidate: 1, Part: &content.Text{Text: "or so"}},
			{Kind: upstream.EventClose, Block: 5, Candidate: 1},
			{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}},
		})
	}
	return nil
}
