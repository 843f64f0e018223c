package messages

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

const (
	defaultPageSize = 20
	maxPageSize     = 1000
)

// A page is the query of a request for models.
type page struct {
	limit         int
	after, before string
	lifecycle     []string
}

// models returns the operation that lists models.
func (d *dialect) models(_ string, r *http.Request, _ string) (*handler.Operation, error) {
	p, err := parsePage(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return handler.ListModels(textNoModels, p.document), nil
}

// model returns a function that returns the operation for one model.
func (d *dialect) model(id string) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(string, *http.Request, string) (*handler.Operation, error) {
		if len(id) > codec.MaxModelName {
			return nil, invalid(textModelName(id))
		}
		return handler.ListModels(textNoModels, func(list []upstream.Model) (*jsonwire.Writer, error) {
			for _, m := range newestFirst(list) {
				if m.ID == id {
					w := new(jsonwire.Writer)
					return w, writeModel(w, &m)
				}
			}
			return nil, &handler.Failure{Code: upstream.CodeNotFound, Reason: reasonNoModel, Text: "model: " + handler.OneLine(id, 256)}
		}), nil
	}
}

const (
	textNoModels  = "models: the upstream does not list its models"
	reasonNoModel = "unknown model: the upstream does not list it"
)

// newestFirst sorts a copy of list. Models of the same age keep their order.
func newestFirst(list []upstream.Model) []upstream.Model {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b upstream.Model) int { return b.Created.Compare(a.Created) })
	return list
}

// parsePage parses the query. It ignores unknown parameters.
func parsePage(q url.Values) (*page, error) {
	p := &page{limit: defaultPageSize, after: q.Get("after_id"), before: q.Get("before_id")}
	var violations violation.List
	if s := q.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		switch {
		case err != nil:
			violations.Add(content.CodeType, "limit", "Input should be a valid integer, unable to parse string as an integer")
		case n < 1:
			violations.Add(content.CodeRange, "limit", "Input should be greater than or equal to 1")
		case n > maxPageSize:
			violations.Add(content.CodeRange, "limit", "Input should be less than or equal to 1000")
		}
		p.limit = n
	}
	if p.after != "" && p.before != "" {
		violations.Add(content.CodeConflict, "", "after_id and before_id cannot both be given")
	}
	p.lifecycle = append(q["lifecycle[]"], q["lifecycle"]...)
	for i, s := range p.lifecycle {
		if !slices.Contains(lifecycles, s) { // bounded by lifecycles
			violations.Add(content.CodeValue, "lifecycle."+strconv.Itoa(i), "Input should be 'active', 'deprecated' or 'retired'")
		}
	}
	slices.Sort(p.lifecycle)
	p.lifecycle = slices.Compact(p.lifecycle)
	if len(p.lifecycle) == 0 {
		p.lifecycle = []string{"active", "deprecated"}
	}
	return p, violations.Err()
}

// lifecycles are the values of the parameter lifecycle.
var lifecycles = []string{"active", "deprecated", "retired"}

// selectModels returns the models of the page, and reports whether there are more
// in the direction of the page.
func (p *page) selectModels(list []upstream.Model) ([]upstream.Model, bool, error) {
	// bounded by lifecycles
	list = slices.DeleteFunc(list, func(m upstream.Model) bool { return !slices.Contains(p.lifecycle, lifecycle(&m)) })
	at := func(id, parameter string) (int, error) {
		i := slices.IndexFunc(list, func(m upstream.Model) bool { return m.ID == id }) // one pass
		if i < 0 {
			return 0, &content.Violation{Code: content.CodeValue, Path: parameter, Text: "unknown model " + strconv.Quote(handler.OneLine(id, 256))}
		}
		return i, nil
	}
	switch {
	case p.before != "":
		i, err := at(p.before, "before_id")
		if err != nil {
			return nil, false, err
		}
		from := max(0, i-p.limit)
		return list[from:i], from > 0, nil
	case p.after != "":
		i, err := at(p.after, "after_id")
		if err != nil {
			return nil, false, err
		}
		list = list[i+1:]
	}
	n := min(p.limit, len(list))
	return list[:n], n < len(list), nil
}

func (p *page) document(list []upstream.Model) (*jsonwire.Writer, error) {
	list, more, err := p.selectModels(newestFirst(list))
	if err != nil {
		return nil, err
	}
	w := new(jsonwire.Writer)
	w.BeginObject()
	w.Array("data")
	for i := range list {
		if err := writeModel(w, &list[i]); err != nil {
			return nil, err
		}
	}
	w.EndArray()
	w.Name("has_more") // without it, clients request pages without end
	w.Bool(more)
	ends := [2]string{}
	if len(list) > 0 {
		ends = [2]string{list[0].ID, list[len(list)-1].ID}
	}
	for i, name := range [2]string{"first_id", "last_id"} {
		w.Name(name)
		if len(list) == 0 {
			w.Null()
		} else {
			w.String(ends[i])
		}
	}
	w.EndObject()
	return w, nil
}

// writeModel writes a model. Members that the upstream does not know are null if the vendor
// writes them for every model, and absent otherwise.
func writeModel(w *jsonwire.Writer, m *upstream.Model) error {
	name := cmp.Or(m.Name, m.ID)
	created := m.Created
	if created.IsZero() {
		created = time.Unix(0, 0) // clients require a date
	}
	extra := modelExtra(m)
	w.BeginObject()
	for _, s := range [][2]string{
		{"type", "model"}, {"id", m.ID}, {"display_name", name}, {"created_at", created.UTC().Format(time.RFC3339)},
	} {
		w.Member(s[0], s[1])
	}
	writeTokens(w, "max_input_tokens", m.MaxInput)
	writeTokens(w, "max_tokens", m.MaxOutput)
	if _, ok := extra.Get("capabilities"); !ok {
		w.Name("capabilities")
		w.Null()
	}
	if extra != nil {
		if err := w.MembersExcept(extra.JSON, modelType.Holds); err != nil {
			return err
		}
	}
	w.EndObject()
	return nil
}

func writeTokens(w *jsonwire.Writer, name string, n int64) {
	w.Name(name)
	if n == 0 {
		w.Null()
	} else {
		w.Int(n)
	}
}

// lifecycle returns the lifecycle in the Extra of m, by default "active".
func lifecycle(m *upstream.Model) string {
	json, _ := modelExtra(m).Get("lifecycle")
	switch s := gjson.Parse(json).Str; s {
	case "deprecated", "retired":
		return s
	}
	return "active"
}

// modelExtra returns the Extra of m, or nil if it is of another format.
func modelExtra(m *upstream.Model) *content.Extra {
	if m.Extra == nil || m.Extra.Format != Format {
		return nil
	}
	return m.Extra
}

// DecodeCount decodes a response of count_tokens. The error is an [*upstream.Error] with
// [upstream.CodeBadGateway].
func DecodeCount(body []byte) (upstream.TokenCount, error) {
	d := newDecoder(content.Limits{})
	defer d.doc.Close()
	if err := d.parse(string(body)); err != nil {
		return upstream.TokenCount{}, codec.BadGateway(err)
	}
	root := d.doc.Root()
	n, ok := root.Get("input_tokens").Int()
	if !ok || n < 0 {
		return upstream.TokenCount{}, codec.BadGateway(errors.New("messages: the response has no valid input_tokens"))
	}
	return upstream.TokenCount{Tokens: n, Extra: d.rest(root, countType)}, nil
}

// DecodeModels decodes a page of the model list. It returns the models and the after_id of
// the next page, which is empty on the last page. The error is an [*upstream.Error] with
// [upstream.CodeBadGateway].
func DecodeModels(body []byte) (list []upstream.Model, next string, err error) {
	d := newDecoder(content.Limits{})
	defer d.doc.Close()
	if err := d.parse(string(body)); err != nil {
		return nil, "", codec.BadGateway(err)
	}
	root := d.doc.Root()
	data := root.Get("data")
	if data.Kind() != jsonwire.Array {
		return nil, "", codec.BadGateway(errors.New("messages: the response has no list of models in data"))
	}
	list = make([]upstream.Model, data.Len())
	for i, v := range data.Elems() {
		m := &list[i]
		if members(v, modelType, m); m.ID == "" {
			return nil, "", codec.BadGateway(fmt.Errorf("messages: data.%d has no id", i))
		}
		// All capabilities stay in Extra, because there is a field for thinking only.
		m.Thinking, _ = v.Get("capabilities").Get("thinking").Get("supported").Bool()
		m.Extra = d.rest(v, modelType)
	}
	if more, _ := root.Get("has_more").Bool(); more {
		next = root.Get("last_id").Str()
	}
	return list, next, nil
}
