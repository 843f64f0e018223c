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

// A Mux is an Upstream of Upstreams: it hands each request to one of them, by
// the name of the model that is asked for. What its patterns do not cover is
// refused with an [*Error] of CodeNotFound.
//
// It counts tokens, makes preflights and lists models as the Upstreams behind
// it do. Where several could answer for one name, [First] chooses by what each
// would lose of the request.
//
// The zero Mux covers nothing. Patterns are added before the Mux is used;
// from then on it is safe for concurrent use.
type Mux struct {
	routes []*route // in the order they were added
	exact  map[string]*route
	prefix []*route // the longest first
	groups int
}

// A route is a pattern and what stands behind it.
type route struct {
	pattern string // without the star
	star    bool
	up      Upstream
	group   int // the same for routes to one and the same Upstream

	renames bool
	to      string // what the request is to ask for, without the star
	toStar  bool
}

// Handle sends requests for the models that a pattern covers to up. A pattern
// is the whole name of a model, "name", or the beginning of names and a star,
// "prefix*". A whole name wins over beginnings, and a longer beginning over a
// shorter one; "*" covers everything that nothing else does.
//
// Handle panics if up is nil, and if the pattern is empty, was added before or
// has a star anywhere but at its end.
func (m *Mux) Handle(pattern string, up Upstream) { m.add(newRoute(pattern, up)) }

// HandleAs is Handle for models that up knows by other names: model is the one
// that it is asked for. A star at the end of model stands for what the star of
// the pattern stands for, so
//
//	m.HandleAs("fast", up, "model-3-mini")
//	m.HandleAs("vendor/*", up, "*")
//
// gives a model a name of the host's own, and takes a prefix away. Requests
// keep their Wire: see [Request.WithModel]. Answers name the model as the
// Upstream does.
//
// HandleAs panics as Handle does, and if model is empty, or has a star where
// the pattern has none.
func (m *Mux) HandleAs(pattern string, up Upstream, model string) {
	r := newRoute(pattern, up)
	r.renames = true
	r.to, r.toStar = strings.CutSuffix(model, "*")
	if model == "" || strings.Contains(r.to, "*") || r.toStar && !r.star {
		panic(fmt.Sprintf("upstream: Mux: bad model %q for pattern %q", model, pattern))
	}
	m.add(r)
}

func newRoute(pattern string, up Upstream) *route {
	r := &route{up: up}
	r.pattern, r.star = strings.CutSuffix(pattern, "*")
	switch {
	case up == nil:
		panic(fmt.Sprintf("upstream: Mux: nil Upstream for pattern %q", pattern))
	case pattern == "" || strings.Contains(r.pattern, "*"):
		panic(fmt.Sprintf("upstream: Mux: bad pattern %q", pattern))
	}
	return r
}

func (m *Mux) add(r *route) {
	same := func(o *route) bool { return o.pattern == r.pattern && o.star == r.star }
	if slices.ContainsFunc(m.routes, same) {
		panic(fmt.Sprintf("upstream: Mux: pattern %q twice", r.pattern))
	}
	// One list of models is enough for all routes to an Upstream. Functions
	// cannot be compared, and each counts as another.
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
	if !r.star {
		if m.exact == nil {
			m.exact = map[string]*route{}
		}
		m.exact[r.pattern] = r
		return
	}
	i, _ := slices.BinarySearchFunc(m.prefix, len(r.pattern), func(o *route, n int) int { return n - len(o.pattern) })
	m.prefix = slices.Insert(m.prefix, i, r)
}

// find returns the route for a model, or nil.
func (m *Mux) find(model string) *route {
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

// route returns whom to ask, and the request in words that it understands.
func (m *Mux) route(r *Request) (Upstream, *Request, error) {
	to := m.find(r.Model)
	if to == nil {
		return nil, nil, &Error{Code: CodeNotFound, Text: "model: " + r.Model}
	}
	if to.renames {
		name := to.to
		if to.toStar {
			name += r.Model[len(to.pattern):]
		}
		r = r.WithModel(name)
	}
	return to.up, r, nil
}

// Generate has the Upstream answer that the request's model belongs to.
func (m *Mux) Generate(ctx context.Context, r *Request, w *Writer) error {
	up, r, err := m.route(r)
	if err != nil {
		return err
	}
	return up.Generate(ctx, r, w)
}

// CountTokens has the Upstream count that the request's model belongs to.
func (m *Mux) CountTokens(ctx context.Context, r *Request) (TokenCount, error) {
	up, r, err := m.route(r)
	if err != nil {
		return TokenCount{}, err
	}
	return CountTokens(ctx, up, r)
}

// Preflight asks the Upstream that the request's model belongs to.
func (m *Mux) Preflight(ctx context.Context, r *Request) ([]content.Loss, error) {
	up, r, err := m.route(r)
	if err != nil {
		return nil, err
	}
	return Preflight(ctx, up, r)
}

// FormatOf asks the Upstream that the request's model belongs to.
func (m *Mux) FormatOf(ctx context.Context, r *Request) (content.Format, error) {
	up, r, err := m.route(r)
	if err != nil {
		return "", err
	}
	return FormatOf(ctx, up, r)
}

// Models lists every model that can be asked for by name, under the name to
// ask for, once: those that patterns name in full, and of the Upstreams' own
// lists all that a pattern leads to. Upstreams that cannot list their models
// are skipped.
//
// An Upstream that fails, or takes longer than 10 s where there are several, leaves
// a hole: the list has no models of it but those that patterns name in full. The
// handlers of this module log the error at LevelWarn and report a loss at the path
// "models". Models returns an error only if there is nothing to list: that of the
// Upstreams that failed, or one that wraps [ErrUnsupported].
func (m *Mux) Models(ctx context.Context) ([]Model, error) {
	lists := make([][]Model, m.groups)
	asked := make([]bool, m.groups)
	seen := map[string]bool{}
	var out []Model
	var holes holes
	listed := false
	for _, r := range m.routes {
		if !asked[r.group] {
			asked[r.group] = true
			list, err := m.list(ctx, r.up)
			if err != nil && !errors.Is(err, ErrUnsupported) {
				holes = append(holes, err)
			}
			if err == nil {
				lists[r.group], listed = list, true
			}
		}
		for _, model := range m.exposed(r, lists[r.group]) {
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
		holes.report(ctx)
		return out, nil
	}
	return nil, holes.err()
}

// listTime is how long one of several Upstreams may take to list its models.
const listTime = 10 * time.Second

var errListTime = &Error{Code: CodeTimeout, Err: fmt.Errorf("the models were not listed within %v", listTime)}

// list asks one of the Upstreams for its models.
func (m *Mux) list(ctx context.Context, up Upstream) ([]Model, error) {
	if m.groups > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, listTime, errListTime)
		defer cancel()
	}
	return Models(ctx, up)
}

// holes are the errors of Upstreams whose models a list does not have.
type holes []error

// report reports the holes of a list to the handler that serves ctx, if any.
func (h holes) report(ctx context.Context) {
	lost := reqctx.From(ctx).Lost
	if lost == nil {
		return
	}
	for _, err := range h {
		lost(content.Loss{Path: "models", Severity: content.LossDropped, Reason: "the models of an upstream that failed are not in the list"}, err)
	}
}

// err returns the error of a list that could not be made.
func (h holes) err() error {
	switch len(h) {
	case 0:
		return fmt.Errorf("listing models: %w", ErrUnsupported)
	case 1:
		return h[0]
	}
	return errors.Join(h...)
}

// exposed returns what of an Upstream's models can be reached by a route,
// under the names of this side.
func (m *Mux) exposed(r *route, list []Model) []Model {
	to, star := r.pattern, r.star
	if r.renames {
		to, star = r.to, r.toStar
	}
	if !r.star {
		// The name is known even where no list has it.
		model := Model{}
		if i := slices.IndexFunc(list, func(m Model) bool { return m.ID == to }); i >= 0 {
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
		if m.find(model.ID) == r { // and no other pattern has it
			out = append(out, model)
		}
	}
	return out
}
