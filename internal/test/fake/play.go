package fake

import (
	"bytes"
	"context"
	"net/http"
	"time"
)

// A Step is a step of sending a response: one frame of bytes, or a disruption.
type Step struct {
	Bytes      []byte
	Disruption Disruption
}

// Frame returns a step that sends b as one event.
func Frame(b string) Step { return Step{Bytes: []byte(b)} }

// Play sends a response: contentType and status 200 unless a disruption changes
// them, then the steps. It calls end with a value of [Request.End]. If a
// disruption cuts the connection, it then panics with [http.ErrAbortHandler].
func Play(w http.ResponseWriter, r *http.Request, contentType string, steps []Step, end func(string)) {
	p := player{w: w, ctx: r.Context(), out: http.NewResponseController(w)}
	w.Header().Set("Content-Type", contentType)
	for _, s := range steps {
		how := ""
		if s.Disruption != nil {
			how = p.disrupt(s.Disruption)
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

// Values of [Request.End].
const (
	Whole   = "whole"   // the response was sent completely
	Ended   = "ended"   // a disruption ended the body early, in good order
	Aborted = "aborted" // a disruption cut the connection
	Gone    = "gone"    // the client disconnected
)

type player struct {
	w         http.ResponseWriter
	out       *http.ResponseController
	ctx       context.Context
	next      Disruption
	chop      int
	malformed bool
	huge      int
}

// disrupt applies f. It returns the value of [Request.End] if the response
// ends, else "".
func (p *player) disrupt(f Disruption) string {
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

// reply sends f unchanged.
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

// frame sends b, changed by the preceding disruptions.
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

// silence waits for f or until the client disconnects.
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

// WholeSteps returns the steps of a response that is one document: the
// disruptions of the turn, then the document. [Cut] cuts the document in the
// middle.
func WholeSteps(turn []Piece, document string) []Step {
	var steps []Step
	for _, p := range turn {
		f, ok := p.(Disruption)
		if _, cut := p.(Cut); cut {
			f = CutEvent{}
		}
		if _, status := p.(Status); ok && !status {
			steps = append(steps, Step{Disruption: f})
		}
	}
	return append(steps, Frame(document))
}

// StatusOf returns the error with which a turn responds instead of content: one
// at its beginning, or at any place if the response is not streamed.
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
