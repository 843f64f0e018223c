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

// A reference is the response to a request of Options. It is requested once and
// used by many checks.
type reference struct {
	name     string
	request  *upstream.Request
	result   *result
	response *response
	err      error // reported by the check "response"
}

// references returns all references.
func (c *checker) references() []*reference {
	if c.allReferences != nil {
		return c.allReferences
	}
	add := func(name string, r *upstream.Request) {
		if r != nil {
			c.allReferences = append(c.allReferences, c.newReference(name, r))
		}
	}
	add("Text", withStream(c.options.Text, true))
	if !c.options.Brief {
		add("Text, not streamed", withStream(c.options.Text, false))
		add("Long", withStream(c.options.Long, true))
	}
	if c.options.Call != nil {
		add("Call", withStream(c.options.Call, true))
	}
	if c.options.Think != nil {
		add("Think", withStream(c.options.Think, true))
	}
	return c.allReferences
}

func (c *checker) newReference(name string, req *upstream.Request) *reference {
	r := c.call(c.ctx, req, nil, 0)
	err := r.abortErr
	if err == nil {
		err = r.runErr
	}
	return &reference{name: name, request: req, result: r, response: r.response(), err: err}
}

// reference returns the reference with a name, or nil if it has an error.
func (c *checker) reference(name string) *reference {
	for _, r := range c.references() {
		if r.name == name && r.err == nil {
			return r
		}
	}
	return nil
}

// each calls f for every reference without an error, and joins the errors of f.
func (c *checker) each(f func(resp *response) []error) error {
	var all []error
	usable := false
	for _, r := range c.references() {
		if r.err != nil {
			continue
		}
		usable = true
		for _, err := range f(r.response) {
			all = append(all, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	if !usable {
		return errNoResponse
	}
	return errors.Join(all...)
}

var errNoResponse = skip("there is no complete response")

func (c *checker) checkResponse() error {
	var all []error
	for _, r := range c.references() {
		err := r.err
		if err == nil && r.response.text() == "" && r.name != "Call" && r.name != "Think" {
			err = errors.New("the response has no text")
		}
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	return errors.Join(all...)
}

func (c *checker) checkSequence() error {
	return c.each(func(resp *response) []error { return resp.problems })
}

var stopReasons = []content.StopReason{
	content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopSequence, content.StopContext,
	content.StopPause, content.StopRefusal, content.StopSafety, content.StopRecitation,
	content.StopMalformedCall, content.StopCompaction, content.StopOther,
}

func (c *checker) checkStop() error {
	return c.each(func(resp *response) (all []error) {
		calls := map[int]bool{0: false} // by candidate; there is always a first one
		for _, b := range resp.blocks {
			_, call := b.part.(*content.ToolUse)
			calls[b.candidate] = calls[b.candidate] || call
		}
		for n, called := range calls {
			if err := checkStopReason(resp.request, resp.stops[n], called); err != nil {
				all = append(all, fmt.Errorf("candidate %d: %w", n, err))
			}
		}
		return all
	})
}

func checkStopReason(r *upstream.Request, s *upstream.Stop, called bool) error {
	switch {
	case s == nil:
		return errors.New("the response has no Stop")
	case !slices.Contains(stopReasons, s.Reason):
		return fmt.Errorf("the stop reason %q is not one of package content; use StopOther and RawReason for those of a vendor", s.Reason)
	case called && s.Reason == content.StopEnd:
		return errors.New("the response has a tool call but stops with StopEnd, so that clients ignore the call; use StopToolUse")
	case !called && s.Reason == content.StopToolUse:
		return errors.New("the response stops with StopToolUse but has no tool call, so that clients have nothing to run")
	case s.Sequence != "" && !slices.Contains(r.StopSequences, s.Sequence):
		return fmt.Errorf("the stop sequence %q is not one of the request", s.Sequence)
	}
	return nil
}

func (c *checker) checkText() error {
	return c.each(func(resp *response) (all []error) {
		for i, b := range resp.blocks {
			if !utf8.ValidString(b.text.String()) {
				all = append(all, fmt.Errorf("block %d, a %T, is not valid UTF-8 when its pieces are joined", i, b.part))
			}
		}
		return all
	})
}

func (c *checker) checkUsage() error {
	return c.each(func(resp *response) (all []error) {
		var last content.Usage
		for i, u := range resp.usages {
			for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.ToolPrompt, u.Output, u.Thinking} {
				if n < 0 {
					all = append(all, fmt.Errorf("Usage %d has a negative count: %+v", i, u))
					break
				}
			}
			if u.Completion() < last.Completion() {
				all = append(all, fmt.Errorf("Usage %d has %d tokens of the response, less than %d before; counts must be totals", i, u.Completion(), last.Completion()))
			}
			if u.Prompt() == 0 && last.Prompt() > 0 {
				all = append(all, fmt.Errorf("Usage %d has no tokens of the prompt, but the one before had; each Usage must be complete", i))
			}
			last = u
		}
		return all
	})
}

func (c *checker) checkCalls() error {
	if c.options.Call == nil {
		return skip("Options.Call is nil")
	}
	ref := c.reference("Call")
	if ref == nil {
		return errNoResponse
	}
	all := callProblems(ref.response)
	if !slices.ContainsFunc(ref.response.blocks, isCall) {
		all = append(all, errors.New("the response to Options.Call has no tool call"))
	}
	return errors.Join(all...)
}

func isCall(b *block) bool {
	_, ok := b.part.(*content.ToolUse)
	return ok
}

func callProblems(resp *response) (all []error) {
	used := map[string]bool{}
	for i := range resp.request.Turns {
		for _, p := range resp.request.Turns[i].Parts {
			if t, ok := p.(*content.ToolUse); ok && t != nil {
				used[t.ID] = true
			}
		}
	}
	for i, b := range resp.blocks {
		t, ok := b.part.(*content.ToolUse)
		if !ok {
			continue
		}
		fail := func(format string, args ...any) {
			all = append(all, fmt.Errorf("block %d, a call of tool %q: %s", i, t.Name, fmt.Sprintf(format, args...)))
		}
		switch {
		case t.ID == "":
			fail("the id is empty")
		case used[t.ID]:
			fail("the id %q is not unique in the conversation", t.ID)
		}
		used[t.ID] = true
		if !slices.ContainsFunc(resp.request.Tools, func(tool content.Tool) bool {
			return tool.Name == t.Name && tool.Namespace == t.Namespace && tool.Freeform == t.Freeform
		}) {
			fail("the request has no such tool")
		}
		if in := b.input(); in != "" && !t.Freeform && isComplete(resp.stops[b.candidate]) && !jsonwire.ValidObject(in) {
			fail("the arguments are not a JSON object: %s", clip(in))
		}
	}
	return all
}

// isComplete reports whether a response with this Stop was not cut short.
func isComplete(s *upstream.Stop) bool {
	if s == nil {
		return true
	}
	switch s.Reason {
	case content.StopEnd, content.StopToolUse, content.StopSequence:
		return true
	}
	return false
}

func (c *checker) checkThinking() error {
	if c.options.Think == nil {
		return skip("Options.Think is nil")
	}
	ref := c.reference("Think")
	if ref == nil {
		return errNoResponse
	}
	var all []error
	thought := false
	for i, b := range ref.response.blocks {
		for _, s := range b.signatures {
			if s.Data == "" {
				all = append(all, fmt.Errorf("block %d has an empty signature", i))
			}
		}
		t, ok := b.part.(*content.Thinking)
		if !ok {
			continue
		}
		thought = true
		switch signed := len(b.signatures) > 0 || t.Signature.Data != ""; {
		case t.Redacted.Data != "" && b.text.Len() > 0:
			all = append(all, fmt.Errorf("block %d is redacted thinking with a text", i))
		case t.Redacted.Data == "" && b.text.Len() == 0 && !signed && t.Extra == nil:
			all = append(all, fmt.Errorf("block %d is thinking without text and signature", i))
		}
	}
	if !thought {
		all = append(all, errors.New("the response to Options.Think has no thinking"))
	}
	return errors.Join(all...)
}

func (c *checker) checkStream() error {
	if !c.options.Deterministic {
		return skip("Options.Deterministic is false")
	}
	streamed, plain := c.reference("Text"), c.reference("Text, not streamed")
	if streamed == nil || plain == nil {
		return errNoResponse
	}
	if d := firstDifference(streamed.response.summary(), plain.response.summary()); d != "" {
		return fmt.Errorf("the streamed response differs from the plain one: %s", d)
	}
	return nil
}
