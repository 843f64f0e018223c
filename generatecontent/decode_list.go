package generatecontent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

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
	var m [countedTyped]jsonwire.Value
	d.members(root, countedFields, m[:])
	n, ok := wholeNumber(m[fCountedTotal], 64)
	if !ok || n < 0 {
		return upstream.TokenCount{}, codec.BadGateway(errors.New("generatecontent: the response has no valid totalTokens"))
	}
	c := upstream.TokenCount{Tokens: n, Extra: d.parser.extra(root, countedFields, countedTyped)}
	if cached, ok := wholeNumber(m[fCountedCached], 64); ok {
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
	var m [pageTyped]jsonwire.Value
	d.members(root, pageFields, m[:])
	page := m[fPageModels]
	if !page.Exists() {
		page = m[fPageTuned]
	}
	// The vendor omits empty lists.
	if page.Kind() != jsonwire.Array && (page.Exists() || !m[fPageNext].Exists() && root.Len() > 0) {
		return nil, "", codec.BadGateway(errors.New("generatecontent: the response is not a list of models"))
	}
	list = make([]upstream.Model, 0, page.Len())
	for i, v := range page.Elems() {
		one := d.model(v)
		if one.ID == "" {
			return nil, "", codec.BadGateway(fmt.Errorf("generatecontent: model %d of the list has no name", i))
		}
		list = append(list, one)
	}
	return list, m[fPageNext].Str(), nil
}

const (
	fCountedTotal = iota
	fCountedCached
	countedTyped
)

const (
	fPageModels = iota
	fPageTuned
	fPageNext
	pageTyped
)

const (
	fModelName = iota
	fModelTitle
	fModelText
	fModelInput
	fModelOutput
	fModelThinking
	modelTyped
)

var (
	countedFields = object("CountTokensResponse", int32s("totalTokens"), int32s("cachedContentTokenCount"),
		value("promptTokensDetails"), value("cacheTokensDetails"))
	pageFields  = object("ListModelsResponse", value("models"), value("tunedModels"), text("nextPageToken"))
	modelFields = object("Model", text("name"), text("displayName"), text("description"),
		int32s("inputTokenLimit"), int32s("outputTokenLimit"), flag("thinking"),
		text("baseModelId"), text("version"), value("supportedGenerationMethods"), number("temperature"),
		number("maxTemperature"), number("topP"), int32s("topK"))
)

// object parses a document. It returns an error unless the document is an object that is
// not an error envelope.
func (d *decoder) object(body string) error {
	d.parser.origin = &d.origin
	if err := d.doc.Parse(body, d.limits); err != nil {
		return codec.BadGateway(fmt.Errorf("generatecontent: the response is not valid JSON: %w", err))
	}
	root := d.doc.Root()
	switch {
	case root.Get("error").Kind() == jsonwire.Object:
		return d.failure(root)
	case root.Kind() != jsonwire.Object:
		return codec.BadGateway(errors.New("generatecontent: the response is not an object"))
	}
	return nil
}

// model decodes one model.
func (d *decoder) model(v jsonwire.Value) upstream.Model {
	var f [modelTyped]jsonwire.Value
	if d.members(v, modelFields, f[:]); v.Kind() != jsonwire.Object {
		return upstream.Model{}
	}
	m := upstream.Model{
		ID:          strings.TrimPrefix(f[fModelName].Str(), "models/"),
		Name:        f[fModelTitle].Str(),
		Description: f[fModelText].Str(),
		Extra:       d.parser.extra(v, modelFields, modelTyped),
	}
	m.Thinking, _ = f[fModelThinking].Bool()
	for _, limit := range [...]struct {
		field int
		to    *int64
	}{{fModelInput, &m.MaxInput}, {fModelOutput, &m.MaxOutput}} {
		if n, ok := wholeNumber(f[limit.field], 64); ok {
			*limit.to = max(n, 0)
		}
	}
	return m
}
