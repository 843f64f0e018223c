package upstreamtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// additions add to a request what a simple Upstream may not read, and return its path.
var additions = []struct {
	what string
	add  func(r *upstream.Request) (path string)
}{
	{"a part of an unknown kind", func(r *upstream.Request) string {
		i := lastUser(r)
		t := &r.Turns[i]
		t.Parts = append(t.Parts, &content.Unknown{Format: foreignFormat, Kind: "hologram", Raw: `{"type":"hologram"}`})
		return fmt.Sprintf("turns.%d.parts.%d", i, len(t.Parts)-1)
	}},
	{"a system text", func(r *upstream.Request) string {
		r.System = append(r.System, &content.Text{Text: "The word of the day is hologram."})
		return fmt.Sprintf("system.%d", len(r.System)-1)
	}},
	{"an earlier turn", func(r *upstream.Request) string {
		r.Turns = slices.Insert(r.Turns, 0,
			content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "The word of the day is hologram."}}},
			content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.Text{Text: "Thank you."}}})
		return "turns.0"
	}},
	{"a tool", func(r *upstream.Request) string {
		r.Tools = append(r.Tools, content.Tool{Name: "hologram", Description: "Shows a hologram.", Input: content.Schema{JSON: `{"type":"object"}`}})
		return fmt.Sprintf("tools.%d", len(r.Tools)-1)
	}},
}

// checkUnsupported adds to Text what the Upstream may not read. Whether it reads what it could, such
// as a system text, can be seen only if its responses are deterministic.
func (c *checker) checkUnsupported() error {
	var all []error
	for i, a := range additions {
		if i == 0 || c.options.Deterministic && !c.options.Brief {
			req := withStream(c.options.Text, true)
			path := a.add(req)
			all = append(all, c.checkRead(req, a.what, path))
		}
	}
	return errors.Join(all...)
}

// checkRead checks that what was added to Text at path changes the response or is reported.
func (c *checker) checkRead(req *upstream.Request, what, path string) error {
	r := c.call(c.ctx, req, nil, 0)
	if r.abortErr != nil {
		return r.abortErr
	}
	if r.generateErr != nil {
		if err := checkError(r.generateErr); err != nil {
			return fmt.Errorf("error for %s: %w", what, err)
		}
		if !hasPath(r.generateErr, path) {
			return fmt.Errorf("the error for %s at %s does not have this path: %v", what, path, r.generateErr)
		}
		return nil
	}
	resp := r.response()
	if slices.ContainsFunc(resp.losses, func(l content.Loss) bool {
		for p := range l.Places() {
			if isUnder(p, path) {
				return true
			}
		}
		return false
	}) {
		return nil
	}
	if !c.options.Deterministic {
		return skip("Options.Deterministic is false, so whether the part was sent cannot be seen")
	}
	if ref := c.reference("Text"); ref != nil && firstDifference(ref.response.summary(), resp.summary()) != "" {
		return nil // what was added has changed the response
	}
	return fmt.Errorf("%s at %s was dropped silently; use upstream.Reads, call Writer.Loss or return a *content.Violation", what, path)
}

// hasPath reports whether an error is about the node at path.
func hasPath(err error, path string) bool {
	violations, _ := content.Violations(err)
	if slices.ContainsFunc(violations, func(f *content.Violation) bool { return isUnder(f.Path, path) }) {
		return true
	}
	var failure *upstream.Error
	return errors.As(err, &failure) && strings.Contains(failure.Text, path)
}

// isUnder reports whether path is top or a path below it.
func isUnder(path, top string) bool {
	return path == top || strings.HasPrefix(path, top+".")
}

// lossyRequest returns Options.Lossy or its default.
func (c *checker) lossyRequest() *upstream.Request {
	r := cmp.Or(c.options.Lossy, richRequest(c.options.Model)).Clone()
	r.RejectLoss = 0
	return r
}

func (c *checker) checkLosses() error {
	req := c.lossyRequest()
	r := c.call(c.ctx, req, nil, 0)
	resp := r.response()
	early := resp.losses[:resp.early]
	switch {
	case r.abortErr != nil:
		return r.abortErr
	case r.runErr != nil && c.options.Lossy == nil:
		return skip("Options.Lossy is nil, and the default request failed")
	case r.runErr != nil:
		return fmt.Errorf("Options.Lossy: %w", r.runErr)
	}
	all := lossProblems(resp)
	if len(early) == 0 {
		if c.options.Lossy != nil && len(all) == 0 {
			all = append(all, errors.New("Options.Lossy: no loss was reported"))
		}
		return errors.Join(all...)
	}
	if err := c.checkRejectLoss(req, early); err != nil {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// lossProblems checks the losses of a response.
func lossProblems(resp *response) (all []error) {
	for i, l := range resp.losses {
		fail := func(what string) {
			all = append(all, fmt.Errorf("the loss at %q (%s, %q) %s", l.Path, l.Severity, l.Reason, what))
		}
		switch {
		case l.Severity < content.LossHint || l.Severity > content.LossDropped:
			fail("has no severity")
		case l.Reason == "":
			fail("has no reason")
		case i < resp.early && l.Path == "":
			fail("has no path")
		case i >= resp.early && isRequestPath(l.Path):
			fail("is a loss of the request, but was reported after the response had started, too late for RejectLoss")
		}
		if err := checkErrorText(l.Reason); err != nil {
			all = append(all, fmt.Errorf("the loss at %q: %w", l.Path, err))
		}
	}
	return all
}

// isRequestPath reports whether a path is that of a node of a request.
func isRequestPath(path string) bool {
	top, _, more := strings.Cut(path, ".")
	return more && slices.Contains([]string{"system", "turns", "tools"}, top)
}

// checkRejectLoss sends a request with losses twice: with a RejectLoss that rejects
// all of them, and with the lowest one that allows all of them.
func (c *checker) checkRejectLoss(req *upstream.Request, early []content.Loss) error {
	strict := req.Clone()
	strict.RejectLoss = content.LossHint
	r := c.call(c.ctx, strict, nil, 0)
	violations, _ := content.Violations(r.generateErr)
	switch {
	case r.abortErr != nil:
		return r.abortErr
	case r.generateErr == nil:
		return errors.New("Generate returned nil although RejectLoss rejects the losses of the request")
	case len(r.events) > len(r.response().losses):
		return errors.New("the response started although RejectLoss rejects the losses of the request; call Writer.Loss with all losses first")
	case len(violations) == 0:
		return fmt.Errorf("RejectLoss rejects the losses of the request, but Generate returned %q; return the error of Writer.Loss", r.generateErr)
	case len(violations) < min(len(early), content.MaxViolations):
		return fmt.Errorf("the error has %d of the %d losses of the request; call Writer.Loss once with all of them", len(violations), len(early))
	}
	highest := slices.MaxFunc(early, func(a, b content.Loss) int { return cmp.Compare(a.Severity, b.Severity) }).Severity
	if highest == content.LossDropped {
		return nil
	}
	mild := req.Clone()
	mild.RejectLoss = highest + 1
	if r := c.call(c.ctx, mild, nil, 0); r.runErr != nil {
		return fmt.Errorf("all losses are below %s, but a request with this RejectLoss failed: %w", mild.RejectLoss, r.runErr)
	}
	return nil
}

func (c *checker) checkPreflight() error {
	var known bool
	var all []error
	for _, req := range []*upstream.Request{withStream(c.options.Text, true), c.lossyRequest()} {
		reported, err := c.preflight(req, c.options.Timeout)
		if errors.Is(err, errors.ErrUnsupported) {
			return skip("the Upstream has no Preflight method")
		}
		known = true
		r := c.call(c.ctx, req, nil, 0)
		switch {
		case r.abortErr != nil:
			all = append(all, r.abortErr)
		case err != nil && r.runErr == nil:
			all = append(all, fmt.Errorf("Preflight returned an error for a request that Generate accepts: %w", err))
		case err == nil && r.runErr == nil:
			resp := r.response()
			if e, err := c.encode(req); err == nil {
				if d := firstDifference(lossKeys(reported), lossKeys(e.Losses)); d != "" {
					all = append(all, fmt.Errorf("Preflight and EncodeRequest report different losses: %s", d))
				}
			}
			if d := firstDifference(lossKeys(reported), lossKeys(resp.losses[:resp.early])); d != "" {
				all = append(all, fmt.Errorf("Preflight and Generate report different losses: %s", d))
			}
		}
	}
	if known && c.options.Silent != nil {
		if _, err := c.preflight(c.options.Silent, c.options.Grace); errors.Is(err, errNoReturn) {
			all = append(all, fmt.Errorf("Preflight of Options.Silent seems to send the request: %w", err))
		}
	}
	return errors.Join(all...)
}

func (c *checker) preflight(req *upstream.Request, limit time.Duration) ([]content.Loss, error) {
	return within(c.ctx, limit, func(ctx context.Context) ([]content.Loss, error) {
		return upstream.Preflight(ctx, c.u, req.Clone())
	})
}

func (c *checker) encode(req *upstream.Request) (upstream.EncodedRequest, error) {
	return within(c.ctx, c.options.Timeout, func(ctx context.Context) (upstream.EncodedRequest, error) {
		return upstream.EncodeRequest(ctx, c.u, req.Clone())
	})
}

// lossKeys returns the paths and severities of losses, sorted.
func lossKeys(losses []content.Loss) (list []string) {
	for _, l := range losses {
		for path := range l.Places() {
			list = append(list, path+" "+l.Severity.String())
		}
	}
	slices.Sort(list)
	return list
}
