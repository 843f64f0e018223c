package upstream

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/reqctx"
)

// A Mux is an Upstream that selects another Upstream for each request by the name of
// the model. If no pattern matches the name, it returns an [*Error] with CodeNotFound.
// [CountTokens], [Preflight], [EncodeRequest] and [FormatOf] use the Upstream that it selects, and it
// lists models.
//
// To select among several upstreams for one name by losses, use [First]; to use the next
// one after an error, use [Failover].
//
// The zero Mux has no patterns. Add patterns before the Mux is used; afterwards it is
// safe for concurrent use.
type Mux struct {
	routes []*route // in the order of Handle
	exact  map[string]*route
	prefix []*route // longest pattern first
	groups int      // number of different upstreams
}

// A route is a pattern and its Upstream.
type route struct {
	pattern  string // without the star
	wildcard bool   // the pattern ends in a star
	up       Upstream
	group    int // equal for routes to the same Upstream

	renames        bool   // target is set
	target         string // name of the model for the Upstream, without the star
	targetWildcard bool   // the target ends in a star
}

// Handle registers up for models that match pattern. A pattern is the full name of a
// model, "name", or a prefix followed by a star, "prefix*". A full name takes
// precedence over prefixes, and a longer prefix over a shorter one. "*" matches every
// model.
//
// Handle panics if up is nil, or if pattern is empty, is already registered or has a
// star before its end.
func (m *Mux) Handle(pattern string, up Upstream) { m.add(newRoute(pattern, up)) }

// HandleAs registers up for models that have another name in up. Requests whose model
// matches pattern are sent to up with model as the name. A star at the end of model is
// replaced by the text that the star of pattern matches:
//
//	m.HandleAs("fast", up, "model-3-mini")
//	m.HandleAs("vendor/*", up, "*")
//
// The first line defines an alias, the second removes a prefix. Requests keep their
// Wire: see [Request.WithModel]. Responses contain the name that up reports.
//
// HandleAs panics in the same cases as Handle, and if model is empty or has a star that
// pattern does not have.
func (m *Mux) HandleAs(pattern string, up Upstream, model string) {
	r := newRoute(pattern, up)
	r.renames = true
	r.target, r.targetWildcard = strings.CutSuffix(model, "*")
	if model == "" || strings.Contains(r.target, "*") || r.targetWildcard && !r.wildcard {
		panic(fmt.Sprintf("upstream: Mux: invalid model %q for pattern %q", model, pattern))
	}
	m.add(r)
}

func newRoute(pattern string, up Upstream) *route {
	r := &route{up: up}
	r.pattern, r.wildcard = strings.CutSuffix(pattern, "*")
	switch {
	case up == nil:
		panic(fmt.Sprintf("upstream: Mux: nil Upstream for pattern %q", pattern))
	case pattern == "" || strings.Contains(r.pattern, "*"):
		panic(fmt.Sprintf("upstream: Mux: invalid pattern %q", pattern))
	}
	return r
}

func (m *Mux) add(r *route) {
	same := func(o *route) bool { return o.pattern == r.pattern && o.wildcard == r.wildcard }
	if slices.ContainsFunc(m.routes, same) { // bounded by the host
		pattern := r.pattern
		if r.wildcard {
			pattern += "*"
		}
		panic(fmt.Sprintf("upstream: Mux: pattern %q is already registered", pattern))
	}
	// Routes to one Upstream share its list of models. Functions cannot be compared, so
	// each counts as a different Upstream.
	r.group = m.groups
	if comparable := reflect.ValueOf(r.up).Comparable(); comparable {
		for _, o := range m.routes {
			if reflect.ValueOf(o.up).Comparable() && o.up == r.up {
				r.group = o.group
			}
		}
	}
	if r.group == m.groups {
		m.groups++
	}
	m.routes = append(m.routes, r)
	if !r.wildcard {
		if m.exact == nil {
			m.exact = map[string]*route{}
		}
		m.exact[r.pattern] = r
		return
	}
	i, _ := slices.BinarySearchFunc(m.prefix, len(r.pattern), func(o *route, n int) int { return n - len(o.pattern) })
	m.prefix = slices.Insert(m.prefix, i, r)
}

// match returns the route for a model, or nil.
func (m *Mux) match(model string) *route {
	if r := m.exact[model]; r != nil {
		return r
	}
	for _, r := range m.prefix {
		if strings.HasPrefix(model, r.pattern) {
			return r
		}
	}
	return nil
}

// route returns the Upstream for r.Model: see [router].
func (m *Mux) route(_ context.Context, r *Request) (Upstream, *Request, error) {
	to := m.match(r.Model)
	if to == nil {
		return nil, nil, &Error{Code: CodeNotFound, Text: "model: " + r.Model}
	}
	if to.renames {
		name := to.target
		if to.targetWildcard {
			name += r.Model[len(to.pattern):]
		}
		r = r.WithModel(name)
	}
	return to.up, r, nil
}

// Generate generates the response with the Upstream for r.Model.
func (m *Mux) Generate(ctx context.Context, r *Request, w *Writer) error {
	return router(m.route).Generate(ctx, r, w)
}

// Models returns all models that a request can name, each once, under that name. These
// are the patterns without a star, and the models in the lists of the upstreams that
// match a pattern. Models skips upstreams that cannot list their models.
//
// An Upstream fails if it returns an error, or if there are several and it takes longer
// than 10 s. Its models are then missing, except those that are patterns. The handlers
// of this module log the error at LevelWarn and report a loss at the path "models".
//
// If the list would be empty, Models returns the errors of the upstreams that failed,
// or an error that wraps [ErrUnsupported].
func (m *Mux) Models(ctx context.Context) ([]Model, error) {
	lists := make([][]Model, m.groups)
	asked := make([]bool, m.groups)
	seen := map[string]bool{}
	var out []Model
	var failures listErrors
	listed := false
	for _, r := range m.routes {
		if !asked[r.group] {
			asked[r.group] = true
			list, err := m.list(ctx, r.up)
			if err != nil && !errors.Is(err, ErrUnsupported) {
				failures = append(failures, err)
			}
			if err == nil {
				lists[r.group], listed = list, true
			}
		}
		for _, model := range m.visibleModels(r, lists[r.group]) {
			if !seen[model.ID] {
				seen[model.ID] = true
				out = append(out, model)
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case listed || len(out) > 0:
		failures.report(ctx)
		return out, nil
	}
	return nil, failures.err()
}

// maxListTime limits how long one of several upstreams may take to list its models.
const maxListTime = 10 * time.Second

var errListTimeout = &Error{Code: CodeTimeout, Err: fmt.Errorf("the models were not listed within %v", maxListTime)}

// list returns the models of one Upstream.
func (m *Mux) list(ctx context.Context, up Upstream) ([]Model, error) {
	if m.groups > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, maxListTime, errListTimeout)
		defer cancel()
	}
	return Models(ctx, up)
}

// listErrors are the errors of upstreams whose models are missing from a list.
type listErrors []error

// report reports the errors to the handler that serves ctx, if any.
func (h listErrors) report(ctx context.Context) {
	reportLoss := reqctx.From(ctx).ReportLoss
	if reportLoss == nil {
		return
	}
	for _, err := range h {
		reportLoss(content.Loss{Path: "models", Severity: content.LossDropped, Reason: "the list does not contain the models of an upstream that failed"}, err)
	}
}

// err returns the errors as one, for a list that is empty.
func (h listErrors) err() error {
	switch len(h) {
	case 0:
		return fmt.Errorf("listing models: %w", ErrUnsupported)
	case 1:
		return h[0]
	}
	return errors.Join(h...)
}

// visibleModels returns the models in list that r can select, under the names for
// requests.
func (m *Mux) visibleModels(r *route, list []Model) []Model {
	to, star := r.pattern, r.wildcard
	if r.renames {
		to, star = r.target, r.targetWildcard
	}
	if !r.wildcard {
		// The model exists even if no list contains it.
		model := Model{}
		if i := slices.IndexFunc(list, func(m Model) bool { return m.ID == to }); i >= 0 { // bounded by the host
			model = list[i]
		}
		model.ID = r.pattern
		return []Model{model}
	}
	var out []Model
	for _, model := range list {
		rest, ok := strings.CutPrefix(model.ID, to)
		if !ok || !star {
			continue
		}
		model.ID = r.pattern + rest
		if m.match(model.ID) == r { // no other pattern takes precedence
			out = append(out, model)
		}
	}
	return out
}
