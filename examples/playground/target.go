package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/upstream"
)

// Limits of a search for places in an output. What was found before is returned.
const (
	maxPlaces     = 200 // losses
	maxPlacesTime = 10 * time.Second
)

// A placesResult is the answer for /api/places.
type placesResult struct {
	Places []targetPlace `json:"places"`
}

// A targetPlace is the place of a loss in the document of a target.
type targetPlace struct {
	Neutral string `json:"neutral"`
	Output  []span `json:"output"`

	// Enclosing reports that Output is the place of an item that contains the one that was
	// dropped.
	Enclosing bool `json:"enclosing,omitempty"`
}

// findPlaces finds the places of losses in the document that translateRequest returns for the
// only target.
//
// It needs no table of a target: it changes an item of the request, encodes it again, and
// compares both documents.
func findPlaces(r *http.Request, t *task) (*placesResult, error) {
	req, err := t.decode()
	if err != nil {
		return nil, err
	}
	result, to := &placesResult{Places: []targetPlace{}}, t.Targets[0]
	up, err := to.format.NewUpstream(to.URL, "", nil)
	if err != nil {
		return result, nil // the output has the error
	}
	losses, err := upstream.Preflight(r.Context(), up, req)
	if err != nil || len(losses) == 0 {
		return result, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxPlacesTime)
	defer cancel()
	p, err := newProber(ctx, up, req)
	if err != nil {
		return result, nil
	}
	seen := map[string]bool{}
	for _, l := range losses {
		for path := range l.Places() {
			if seen[path] || len(seen) == maxPlaces || ctx.Err() != nil {
				continue
			}
			seen[path] = true
			if place, ok := p.find(path); ok {
				result.Places = append(result.Places, place)
			}
		}
	}
	return result, nil
}

// A prober finds items of a request in its encoded document.
type prober struct {
	ctx      context.Context
	up       upstream.Upstream
	req      *upstream.Request
	cacheKey string // a member that changes with every change
	compact  *tree
	shown    *source           // the document as the page shows it; its values have the numbers of those in compact
	known    map[string][]span // places by neutral path
}

// newProber encodes the request.
func newProber(ctx context.Context, up upstream.Upstream, req *upstream.Request) (*prober, error) {
	encoded, err := upstream.EncodeRequest(ctx, up, req)
	if err != nil {
		return nil, err
	}
	text, err := indent(encoded.Document)
	if err != nil {
		return nil, err
	}
	again, err := upstream.EncodeRequest(ctx, up, req.Clone())
	if err != nil {
		return nil, err
	}
	if again.Document != encoded.Document {
		return nil, fmt.Errorf("a copy of the request is encoded in another way") // it has the client's own document
	}
	return &prober{ctx, up, req, encoded.CacheKey, newTree(encoded.Document), newSource(text), map[string][]span{}}, nil
}

// find returns the place of an item, or else that of the innermost item around it that has
// one.
func (p *prober) find(path string) (targetPlace, bool) {
	for item := path; item != ""; item = enclosing(item) {
		if spans := p.spans(item); len(spans) > 0 {
			return targetPlace{path, spans, item != path}, true
		}
	}
	return targetPlace{}, false
}

// enclosing returns the path of the item around an item, or "" if it is not in another one.
func enclosing(path string) string {
	for {
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return ""
		}
		path = path[:i]
		switch path[strings.LastIndexByte(path, '.')+1:] {
		case "parts", "turns", "tools", "system", "extra", "properties", "source":
			continue // lists and objects without a place of their own
		}
		return path
	}
}

// spans returns the place of an item. It has no span if the document does not depend on the
// item.
func (p *prober) spans(path string) []span {
	if spans, ok := p.known[path]; ok {
		return spans
	}
	spans := p.probe(path)
	p.known[path] = spans
	return spans
}

// probe is spans for an item that is not known.
func (p *prober) probe(path string) []span {
	changed := p.req.Clone()
	effect := edit(changed, path)
	if effect == unchanged {
		return nil
	}
	encoded, err := upstream.EncodeRequest(p.ctx, p.up, changed)
	if err != nil {
		return nil
	}
	d := compare(p.compact, newTree(encoded.Document), p.cacheKey)
	var spans []span
	add := func(s span) {
		if !slices.Contains(spans, s) {
			spans = append(spans, s)
		}
	}
	switch {
	case effect == markedInside:
		for _, n := range p.elements(d) {
			add(p.shown.span(n))
		}
	case len(d.removed) > 0:
		for _, n := range d.removed {
			add(p.shown.span(p.narrow(n)))
		}
	default:
		for _, c := range d.changed {
			add(p.changeSpan(c))
		}
	}
	return spans
}

// narrow returns the innermost list or object that a removed member of the document consists
// of, such as the only tool in a list of tools. It returns n itself otherwise.
func (p *prober) narrow(n int32) int32 {
	if p.compact.nodes[n].parent != 0 {
		return n
	}
	for {
		kids := p.compact.children(n)
		if len(kids) != 1 || p.compact.nodes[kids[0]].len == 0 {
			return n
		}
		n = kids[0]
	}
}

// elements returns the innermost list element that contains a difference, or the elements
// of the innermost list that do. Without a list it returns the values that differ.
func (p *prober) elements(d difference) (list []int32) {
	t := p.compact
	nodes := slices.Clone(d.removed)
	for _, c := range d.changed {
		nodes = append(nodes, c.node)
	}
	if len(nodes) == 0 {
		return nil
	}
	at := nodes[0]
	for _, n := range nodes {
		for !t.contains(at, n) {
			at = t.nodes[at].parent
		}
	}
	several := t.kind(at) == '[' && !slices.Contains(nodes, at) // elements of the list at
	for at > 0 && !several && t.kind(t.nodes[at].parent) != '[' {
		at = t.nodes[at].parent
	}
	switch {
	case at <= 0:
		return nodes
	case !several:
		return []int32{at}
	}
	for _, kid := range t.children(at) {
		if slices.ContainsFunc(nodes, func(n int32) bool { return t.contains(kid, n) }) {
			list = append(list, kid)
		}
	}
	return list
}

// changeSpan returns the place of a change.
func (p *prober) changeSpan(c change) span {
	if c.to == 0 {
		return p.shown.span(c.node)
	}
	from := int(p.shown.tree().nodes[c.node].from)
	return p.shown.utf16.span(span{from + c.from, from + c.to})
}
