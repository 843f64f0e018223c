package fake

import (
	"bytes"
	"context"
	"net/http"
	"time"
)

// A Step is what happens next while an answer is sent: one frame of bytes, or a fault.
type Step struct {
	Bytes []byte
	Fault Fault
}

// Frame is the step that sends b as one event.
func Frame(b string) Step { return Step{Bytes: []byte(b)} }

// Play sends an answer: contentType and status 200 unless a fault says otherwise, then
// the steps. It returns how it went, in the words of [Request.End]. It panics with
// [http.ErrAbortHandler] where a fault cuts the connection, after end was told.
func Play(w http.ResponseWriter, r *http.Request, contentType string, steps []Step, end func(string)) {
	p := player{w: w, ctx: r.Context(), out: http.NewResponseController(w)}
	w.Header().Set("Content-Type", contentType)
	for _, s := range steps {
		how := ""
		if s.Fault != nil {
			how = p.fault(s.Fault)
		} else {
			how = p.frame(s.Bytes)
		}
		if how == "" {
			continue
		}
		end(how)
		if how == Aborted {
			panic(http.ErrAbortHandler)
		}
		return
	}
	end(Whole)
}

// What [Request.End] says.
const (
	Whole   = "whole"   // the answer was sent to its end
	Ended   = "ended"   // a fault ended the body early, in good order
	Aborted = "aborted" // a fault cut the connection
	Gone    = "gone"    // the client went away
)

type player struct {
	w         http.ResponseWriter
	out       *http.ResponseController
	ctx       context.Context
	next      Fault
	chop      int
	malformed bool
	huge      int
}

// fault does what f asks for and returns how the answer ended, "" if it goes on.
func (p *player) fault(f Fault) string {
	switch f := f.(type) {
	case Reply:
		p.reply(f)
		return Ended
	case Header:
		p.w.Header().Set(f.Name, f.Value)
	case ContentType:
		p.w.Header().Set("Content-Type", string(f))
	case Cut:
		return Aborted
	case End:
		return Ended
	case Silence:
		return p.silence(f)
	case Chop:
		p.chop = int(f)
	case Malformed:
		p.malformed = true
	case Huge:
		p.huge = int(f)
	case CutEvent:
		p.next = f
	}
	return ""
}

// reply sends an answer as it stands.
func (p *player) reply(f Reply) {
	h := p.w.Header()
	h.Del("Content-Type")
	if f.ContentType != "" {
		h.Set("Content-Type", f.ContentType)
	}
	for k, v := range f.Header {
		h.Set(k, v)
	}
	p.w.WriteHeader(f.Code)
	_, _ = p.w.Write([]byte(f.Body))
}

// frame sends b, spoiled as the faults before it say.
func (p *player) frame(b []byte) string {
	b = p.spoil(b)
	if p.next != nil {
		_ = p.write(b[:len(b)/2])
		return Aborted
	}
	if p.write(b) != nil || p.ctx.Err() != nil {
		return Gone
	}
	return ""
}

func (p *player) spoil(b []byte) []byte {
	if p.malformed {
		p.malformed = false
		b = bytes.Replace(b, []byte(`":`), []byte(`"`), 1)
	}
	if p.huge > 0 {
		b = bytes.Replace(b, []byte("{"), append([]byte("{"), bytes.Repeat([]byte(" "), p.huge)...), 1)
		p.huge = 0
	}
	return b
}

func (p *player) write(b []byte) error {
	n := p.chop
	if n <= 0 {
		n = max(len(b), 1)
	}
	for len(b) > 0 {
		part := b[:min(n, len(b))]
		b = b[len(part):]
		if _, err := p.w.Write(part); err != nil {
			return err
		}
		if err := p.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// silence waits, as long as f says or until the client has gone.
func (p *player) silence(f Silence) string {
	var over <-chan time.Time
	if f > 0 {
		t := time.NewTimer(time.Duration(f))
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
		return ""
	case <-p.ctx.Done():
		return Gone
	}
}

// WholeSteps are the steps of an answer that is one document: the faults of the turn,
// then the document. A cut falls into its middle.
func WholeSteps(turn []Piece, document string) []Step {
	var steps []Step
	for _, p := range turn {
		f, ok := p.(Fault)
		if _, cut := p.(Cut); cut {
			f = CutEvent{}
		}
		if _, status := p.(Status); ok && !status {
			steps = append(steps, Step{Fault: f})
		}
	}
	return append(steps, Frame(document))
}

// StatusOf returns the error that a turn answers with instead of content: one at its
// beginning, or anywhere in it if the answer is not streamed.
func StatusOf(turn []Piece, stream bool) (Status, bool) {
	for _, p := range turn {
		if s, ok := p.(Status); ok {
			return s, true
		}
		if _, header := p.(Header); stream && !header {
			break
		}
	}
	return Status{}, false
}
