package upstreamtest

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A reference is the answer to one of the Options' requests. Many checks look
// at it, and it is asked for once.
type reference struct {
	name   string
	req    *upstream.Request
	result *result
	answer *answer
	err    error // why it cannot be used; the check "answer" tells it
}

// references asks for all answers that were not asked for.
func (c *checker) references() []*reference {
	if c.refs != nil {
		return c.refs
	}
	add := func(name string, r *upstream.Request) {
		if r != nil {
			c.refs = append(c.refs, c.refer(name, r))
		}
	}
	add("Text", withStream(c.o.Text, true))
	if !c.o.Brief {
		add("Text, not streamed", withStream(c.o.Text, false))
		add("Long", withStream(c.o.Long, true))
	}
	if c.o.Call != nil {
		add("Call", withStream(c.o.Call, true))
	}
	if c.o.Think != nil {
		add("Think", withStream(c.o.Think, true))
	}
	return c.refs
}

func (c *checker) refer(name string, r *upstream.Request) *reference {
	res := c.call(c.ctx, r, nil, 0)
	ref := &reference{name: name, req: r, result: res, answer: res.read()}
	ref.err = res.fault
	if ref.err == nil {
		ref.err = res.run
	}
	return ref
}

// reference returns the usable answer of the given name, or nil.
func (c *checker) reference(name string) *reference {
	for _, r := range c.references() {
		if r.name == name && r.err == nil {
			return r
		}
	}
	return nil
}

// each calls f for every usable answer and joins what it finds.
func (c *checker) each(f func(a *answer) []error) error {
	var all []error
	usable := false
	for _, r := range c.references() {
		if r.err != nil {
			continue
		}
		usable = true
		for _, err := range f(r.answer) {
			all = append(all, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	if !usable {
		return errUnanswered
	}
	return errors.Join(all...)
}

var errUnanswered = skip("nothing was answered")

func (c *checker) answer() error {
	var all []error
	for _, r := range c.references() {
		err := r.err
		if err == nil && r.answer.said() == "" && r.name != "Call" && r.name != "Think" {
			err = errors.New("the answer has no text")
		}
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	return errors.Join(all...)
}

func (c *checker) sequence() error {
	return c.each(func(a *answer) []error { return a.faults })
}

var stopReasons = []content.StopReason{
	content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopSequence, content.StopContext,
	content.StopPause, content.StopRefusal, content.StopSafety, content.StopRecitation,
	content.StopMalformedCall, content.StopCompaction, content.StopOther,
}

func (c *checker) stop() error {
	return c.each(func(a *answer) (all []error) {
		calls := map[int]bool{0: false} // by candidate; the first is always there
		for _, b := range a.blocks {
			_, call := b.part.(*content.ToolUse)
			calls[b.candidate] = calls[b.candidate] || call
		}
		for n, called := range calls {
			if err := stopFault(a.req, a.stops[n], called); err != nil {
				all = append(all, fmt.Errorf("candidate %d: %w", n, err))
			}
		}
		return all
	})
}

func stopFault(r *upstream.Request, s *upstream.Stop, called bool) error {
	switch {
	case s == nil:
		return errors.New("there is no Stop")
	case !slices.Contains(stopReasons, s.Reason):
		return fmt.Errorf("the stop reason %q is none of content's; StopOther and the Stop's Word tell a vendor's own", s.Reason)
	case called && s.Reason == content.StopEnd:
		return errors.New("the answer holds a call and stops with StopEnd: clients do not run it; StopToolUse tells them to")
	case !called && s.Reason == content.StopToolUse:
		return errors.New("the answer stops with StopToolUse and holds no call: clients wait for nothing")
	case s.Sequence != "" && !slices.Contains(r.StopSequences, s.Sequence):
		return fmt.Errorf("the stop sequence %q is none of the request's", s.Sequence)
	}
	return nil
}

func (c *checker) text() error {
	return c.each(func(a *answer) (all []error) {
		for i, b := range a.blocks {
			if !utf8.ValidString(b.text.String()) {
				all = append(all, fmt.Errorf("block %d, a %T, is not UTF-8 when its pieces are put together", i, b.part))
			}
		}
		return all
	})
}

func (c *checker) usage() error {
	return c.each(func(a *answer) (all []error) {
		var last content.Usage
		for i, u := range a.usages {
			for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.ToolPrompt, u.Output, u.Thinking} {
				if n < 0 {
					all = append(all, fmt.Errorf("Usage %d has a negative count: %+v", i, u))
					break
				}
			}
			if u.Answer() < last.Answer() {
				all = append(all, fmt.Errorf("Usage %d has %d tokens of the answer after %d; counts are totals so far", i, u.Answer(), last.Answer()))
			}
			if u.Prompt() == 0 && last.Prompt() > 0 {
				all = append(all, fmt.Errorf("Usage %d lacks the prompt's tokens that the one before had; each replaces the last as a whole", i))
			}
			last = u
		}
		return all
	})
}

func (c *checker) calls() error {
	if c.o.Call == nil {
		return skip("it needs Options.Call")
	}
	ref := c.reference("Call")
	if ref == nil {
		return errUnanswered
	}
	all := callFaults(ref.answer)
	if !slices.ContainsFunc(ref.answer.blocks, isCall) {
		all = append(all, errors.New("Options.Call was answered without a call"))
	}
	return errors.Join(all...)
}

func isCall(b *block) bool {
	_, ok := b.part.(*content.ToolUse)
	return ok
}

func callFaults(a *answer) (all []error) {
	used := map[string]bool{}
	for i := range a.req.Turns {
		for _, p := range a.req.Turns[i].Parts {
			if t, ok := p.(*content.ToolUse); ok && t != nil {
				used[t.ID] = true
			}
		}
	}
	for i, b := range a.blocks {
		t, ok := b.part.(*content.ToolUse)
		if !ok {
			continue
		}
		fail := func(format string, args ...any) {
			all = append(all, fmt.Errorf("block %d, a call of %q: %s", i, t.Name, fmt.Sprintf(format, args...)))
		}
		switch {
		case t.ID == "":
			fail("has no id")
		case used[t.ID]:
			fail("the id %q was in use before", t.ID)
		}
		used[t.ID] = true
		if !slices.ContainsFunc(a.req.Tools, func(tool content.Tool) bool { return tool.Name == t.Name }) {
			fail("is no tool of the request")
		}
		if in := b.input(); in != "" && whole(a.stops[b.candidate]) && !jsonwire.ValidObject(in) {
			fail("the arguments are no JSON object: %s", clip(in))
		}
	}
	return all
}

// whole reports whether an answer that stops so was not cut short.
func whole(s *upstream.Stop) bool {
	if s == nil {
		return true
	}
	switch s.Reason {
	case content.StopEnd, content.StopToolUse, content.StopSequence:
		return true
	}
	return false
}

func (c *checker) thinking() error {
	if c.o.Think == nil {
		return skip("it needs Options.Think")
	}
	ref := c.reference("Think")
	if ref == nil {
		return errUnanswered
	}
	var all []error
	thought := false
	for i, b := range ref.answer.blocks {
		for _, s := range b.signed {
			if s.Data == "" {
				all = append(all, fmt.Errorf("block %d has an empty signature", i))
			}
		}
		t, ok := b.part.(*content.Thinking)
		if !ok {
			continue
		}
		thought = true
		switch signed := len(b.signed) > 0 || t.Signature.Data != ""; {
		case t.Redacted.Data != "" && b.text.Len() > 0:
			all = append(all, fmt.Errorf("block %d is a redacted thought with a text", i))
		case t.Redacted.Data == "" && b.text.Len() == 0 && !signed && t.Extra == nil:
			all = append(all, fmt.Errorf("block %d is a thought without text and signature", i))
		}
	}
	if !thought {
		all = append(all, errors.New("Options.Think was answered without a thought"))
	}
	return errors.Join(all...)
}

func (c *checker) stream() error {
	if !c.o.Deterministic {
		return skip("it needs Options.Deterministic")
	}
	streamed, plain := c.reference("Text"), c.reference("Text, not streamed")
	if streamed == nil || plain == nil {
		return errUnanswered
	}
	if d := unlike(streamed.answer.meaning(), plain.answer.meaning()); d != "" {
		return fmt.Errorf("the answer with Stream differs from that without: %s", d)
	}
	return nil
}
