package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/backend"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// responsesRules are the vendor's for names and ids.
var responsesRules = &legal.Rules{
	Name: legal.Rule{Most: 64, Others: "_-"},
	ID:   legal.Rule{Most: 64, Others: "_-.:/|+=@#"},
}

// A resPlan is a request on its way: what is sent, and what is lost by that.
// Nothing is fetched or written until its body is asked for.
type resPlan struct {
	from     *upstream.Request // with legal names and ids
	names    *legal.Names
	to       chatTarget
	counting bool
	strange  bool // the vendor cannot read the thoughts that come back
	losses   []content.Loss
	fault    error

	doc    *jsonwire.Writer
	sent   field
	noted  []string // places of files that the model is only told of
	load   bool     // files are missing in the document
	others bool     // some of them are not images
}

// plan says a request in the format, and finds what it loses.
func (c *Responses) plan(n *upstream.Request, counting bool) *resPlan {
	model := c.model(n.Model)
	p := &resPlan{counting: counting, to: chatTarget{
		model: model, vendor: c.vendor, family: resFamily(model), dialect: c.dialect, refused: c.memory.get(model),
	}}
	rules := compatibleRules
	if c.vendor {
		rules = responsesRules
	}
	var log loss.Log
	p.from, p.names = legal.Make(n, rules, &log)
	p.losses = append(log.Losses, p.encode(p.from, false)...)
	return p
}

// resFamily is familyOf with what models take over responses only.
func resFamily(model string) family {
	f := familyOf(model)
	switch name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]); {
	case strings.HasPrefix(name, "gpt-6.1-sol"):
		f.efforts = upTo("low", "max")
	case strings.HasPrefix(name, "gpt-5-pro"):
		f.efforts, f.byDefault = []string{"high"}, "high"
	}
	return f
}

// encode writes n, and returns what is lost by that.
func (p *resPlan) encode(n *upstream.Request, loaded bool) []content.Loss {
	e := resEncoder{counting: p.counting, strange: p.strange}
	e.encoder = encoder{w: new(jsonwire.Writer), n: n, to: &p.to, own: ResponsesFormat, loaded: loaded, noted: p.noted}
	e.w.Grow(sizeOf(n))
	e.encode()
	p.doc, p.fault, p.sent = e.w, cmp.Or(e.faults.Err(), backend.Answers(n)), e.sent
	if !loaded {
		p.load, p.others, p.noted = e.load, e.others, e.noted
	}
	return loss.Once(e.log.Losses)
}

// again writes the request anew, with what has been learned, and returns what
// is lost by that besides.
func (p *resPlan) again() []content.Loss {
	more := slices.DeleteFunc(p.encode(p.from, false), func(l content.Loss) bool { return slices.Contains(p.losses, l) })
	p.losses = append(p.losses, more...)
	return more
}

// body returns the document. Files that it names are loaded.
func (p *resPlan) body(ctx context.Context) (backend.Body, error) {
	if p.fault != nil {
		return nil, p.fault
	}
	if p.load {
		n, err := p.from.Inline(ctx, p.to.vendor || p.to.links() && !p.others)
		if err != nil {
			return nil, err
		}
		p.encode(n, true)
		if p.fault != nil {
			return nil, p.fault
		}
	}
	return document{p.doc}, nil
}

func (p *resPlan) restore(events []upstream.Event) bool { return p.names.Restore(events) }

// resFields are the names by which servers refuse.
var resFields = []refusedName{
	{"temperature", fieldTemperature},
	{"top_p", fieldTopP},
	{"effort", fieldEffort},
	{"summary", fieldSummary},
	{"parallel_tool_calls", fieldParallel},
	{"safety_identifier", fieldUser},
	{"developer", fieldDeveloper},
	{"include", fieldReasoning},
	{"include[0]", fieldReasoning},
	{"tool_choice", fieldChoice},
	{"output_schema", fieldResultShape},
	{"json_object", fieldJSONObject},
}

// learn takes in why the request was refused, and reports whether there is
// something to be said otherwise. keep says that the model always refuses it.
func (p *resPlan) learn(err error) (again, keep bool) {
	var f *vendorError
	if !errors.As(err, &f) {
		return false, false
	}
	text := strings.ToLower(f.message)
	if unreadable(f, text) {
		again, p.strange = !p.strange, true
		return again, false
	}
	if f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity || f.tooLong() || f.filtered() || !f.refuses(text) {
		return false, false
	}
	if strings.Contains(text, "encrypted content is not supported") {
		text += " include" // it does not say in which member
	}
	for _, x := range resFields {
		if p.sent&x.field != 0 && !p.to.refused.has(x.field) && about(f, x.name, text) {
			p.to.refused.fields |= x.field
			return true, true
		}
	}
	return false, false
}

// unreadable reports whether the vendor has no use for the thoughts that came
// back: they are altered, another organisation's, or not those that belong to
// what stands beside them.
func unreadable(f *vendorError, text string) bool {
	switch {
	case f.code == "invalid_encrypted_content":
		return f.status == http.StatusBadRequest || f.status == http.StatusUnprocessableEntity
	case f.status != http.StatusBadRequest && f.status != http.StatusNotFound:
		return false
	}
	return strings.Contains(text, "reasoning") && strings.Contains(text, "without its required") ||
		strings.Contains(text, "items are not persisted when store is set to false")
}
