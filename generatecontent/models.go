package generatecontent

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

const (
	defaultPageSize = 50
	maxPageSize     = 1000
)

// A page selects a range of the list of models.
type page struct {
	size    int
	afterID string // the id of the last model of the previous page
}

// models returns a function that makes an operation of a request for the list of models.
func (d *dialect) models(t *target) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(_ string, r *http.Request, _ string) (*handler.Operation, error) {
		p, err := pageOf(r.URL.Query())
		if err != nil {
			return nil, err
		}
		c := handler.ListModels(textNoModels, func(list []upstream.Model) (*jsonwire.Writer, error) { return p.document(list, t.list) })
		c.Timeout, _ = clientTimeout(r) // checkHead has validated it
		return c, nil
	}
}

// model returns a function that makes an operation of a request for one model.
func (d *dialect) model(t *target) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(_ string, r *http.Request, _ string) (*handler.Operation, error) {
		if len(t.model) > codec.MaxModelName {
			return nil, &content.Violation{Code: content.CodeLimit, Path: "model", Text: textModelName}
		}
		c := handler.ListModels(textNoModels, func(list []upstream.Model) (*jsonwire.Writer, error) {
			for i := range list {
				if id := list[i].ID; id == t.model || id == t.name {
					w := new(jsonwire.Writer)
					writeModel(w, &list[i], t.name)
					return w, nil
				}
			}
			return nil, &handler.Failure{Code: upstream.CodeNotFound, Reason: "the upstream lists no model of this name"} // the route writes the message
		})
		c.Timeout, _ = clientTimeout(r) // checkHead has validated it
		return c, nil
	}
}

const textNoModels = "The models of this service cannot be listed."

// pageOf parses the query. It ignores unknown parameters.
func pageOf(q url.Values) (*page, error) {
	p := &page{size: defaultPageSize}
	get := func(camel, snake string) string {
		if s := q.Get(camel); s != "" {
			return s
		}
		return q.Get(snake)
	}
	if s := get("pageSize", "page_size"); s != "" {
		n, err := strconv.Atoi(s)
		switch {
		case err != nil:
			return nil, &content.Violation{Code: content.CodeType, Path: "page_size",
				Text: "Invalid value at 'page_size' (TYPE_INT32), " + strconv.Quote(handler.OneLine(s, 64))}
		case n < 0:
			return nil, &content.Violation{Code: content.CodeType, Path: "page_size", Text: "page_size must not be negative"}
		case n > 0: // 0 is the default; a larger size means the maximum
			p.size = min(n, maxPageSize)
		}
	}
	if s := get("pageToken", "page_token"); s != "" {
		id, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil || len(id) == 0 {
			return nil, errPageToken
		}
		p.afterID = string(id)
	}
	return p, nil
}

var errPageToken = &content.Violation{Code: content.CodeType, Path: "page_token",
	Text: "page_token is not a nextPageToken of this service, or the model it refers to no longer exists"}

// document writes the page of list as a document.
func (p *page) document(list []upstream.Model, collection string) (*jsonwire.Writer, error) {
	if p.afterID != "" {
		i := slices.IndexFunc(list, func(m upstream.Model) bool { return m.ID == p.afterID }) // one pass
		if i < 0 {
			return nil, errPageToken
		}
		list = list[i+1:]
	}
	n := min(p.size, len(list))
	w := new(jsonwire.Writer)
	w.BeginObject()
	w.Array("models")
	for i := range list[:n] {
		name := list[i].ID
		if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
			name = collection + "/" + name
		}
		writeModel(w, &list[i], name)
	}
	w.EndArray()
	if n < len(list) {
		w.Member("nextPageToken", base64.RawURLEncoding.EncodeToString([]byte(list[n-1].ID)))
	}
	w.EndObject()
	return w, nil
}

// writeModel writes a model. Like the vendor, it omits unknown members.
func writeModel(w *jsonwire.Writer, m *upstream.Model, name string) {
	title := cmp.Or(m.Name, m.ID)
	var more response.Members
	if m.Extra != nil {
		more.Add(m.Extra, Format)
	}
	w.BeginObject()
	text := func(name, s string) {
		if s != "" {
			w.Member(name, s)
			more.Take(name)
		}
	}
	number := func(name string, n int64) {
		if n > 0 {
			w.IntMember(name, n)
			more.Take(name)
		}
	}
	text("name", name)
	text("displayName", title)
	text("description", m.Description)
	number("inputTokenLimit", m.MaxInput)
	number("outputTokenLimit", m.MaxOutput)
	if more.Get("supportedGenerationMethods") == "" {
		w.RawMember("supportedGenerationMethods", `["generateContent","streamGenerateContent","countTokens"]`)
	}
	if m.Thinking && more.Get("thinking") == "" {
		w.BoolMember("thinking", true)
	}
	for _, x := range more {
		w.RawMember(x.Name, x.JSON)
	}
	w.EndObject()
}

// DecodeCount decodes the response of countTokens. The error is an [*upstream.Error]. It
// is the error of the body if that is an error envelope. Otherwise its code is
// [upstream.CodeBadGateway].
func DecodeCount(body []byte) (upstream.TokenCount, error) {
	d := newDecoder(content.Limits{})
	defer d.doc.Close()
	if err := d.object(string(body)); err != nil {
		return upstream.TokenCount{}, err
	}
	root := d.doc.Root()
	var m countedValues
	d.members(root, countedType, &m)
	n, ok := object.Int(m.total, object.AnyForm)
	if !ok || n < 0 {
		return upstream.TokenCount{}, codec.BadGateway(errors.New("generatecontent: the response has no valid totalTokens"))
	}
	c := upstream.TokenCount{Tokens: n, Extra: d.parser.Extra(root, countedType)}
	if cached, ok := object.Int(m.cached, object.AnyForm); ok {
		c.Cached = min(max(cached, 0), n)
	}
	return c, nil
}

// DecodeModels decodes a page of the list of models or of tuned models. It returns the
// models and the token of the next page, which is empty on the last page. The ID of a
// model is its name without "models/". Errors are those of [DecodeCount].
func DecodeModels(body []byte) (list []upstream.Model, next string, err error) {
	d := newDecoder(content.Limits{})
	defer d.doc.Close()
	if err := d.object(string(body)); err != nil {
		return nil, "", err
	}
	root := d.doc.Root()
	var m pageValues
	d.members(root, pageType, &m)
	page := m.models
	for _, other := range [...]jsonwire.Value{m.tuned, m.published} {
		if !page.Exists() {
			page = other
		}
	}
	// The vendor omits empty lists.
	if page.Kind() != jsonwire.Array && (page.Exists() || !m.next.Exists() && root.Len() > 0) {
		return nil, "", codec.BadGateway(errors.New("generatecontent: the response is not a list of models"))
	}
	list = make([]upstream.Model, page.Len())
	for i, v := range page.Elems() {
		one := &list[i]
		d.members(v, modelType, one)
		if one.ID = strings.TrimPrefix(strings.TrimPrefix(one.ID, "publishers/google/"), "models/"); one.ID == "" {
			return nil, "", codec.BadGateway(fmt.Errorf("generatecontent: model %d of the list has no name", i))
		}
		one.Extra = d.parser.Extra(v, modelType)
	}
	return list, m.next.Str(), nil
}

// object parses a document. It returns an error unless the document is an object that is
// not an error envelope.
func (d *decoder) object(body string) error {
	if err := d.parse(body); err != nil {
		return err
	}
	root := d.doc.Root()
	switch {
	case root.Get("error").Kind() == jsonwire.Object:
		return envelopeError(root)
	case root.Kind() != jsonwire.Object:
		return codec.BadGateway(errors.New("generatecontent: the response is not an object"))
	}
	return nil
}
