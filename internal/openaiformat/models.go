package openaiformat

import (
	"errors"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// DecodeModels decodes a list of models. Servers agree on the id only. An error in its place has
// the given format.
func DecodeModels(format content.Format, text string) ([]upstream.Model, error) {
	doc, err := jsonwire.Parse(text, jsonwire.Limits{AllowInvalidUTF8: true})
	if err != nil {
		return nil, codec.BadGateway(err)
	}
	defer doc.Close()
	list := doc.Root()
	if list.Kind() == jsonwire.Object {
		if codec.IsSet(list.Get("error")) || list.Get("object").Is("error") {
			return nil, errorInList(format, list)
		}
		list = list.Get("data") // null if a server has no models
	}
	if !list.Exists() {
		return nil, codec.BadGateway(errors.New("openai: the response is not a list of models"))
	}
	var all []upstream.Model
	for _, v := range list.Elems() {
		m := upstream.Model{ID: strings.Clone(v.Get("id").Str())}
		if m.ID == "" {
			continue
		}
		if at := Count(v.Get("created")); at > 0 {
			m.Created = time.Unix(at, 0).UTC()
		}
		m.MaxInput = max(Count(v.Get("max_model_len")), Count(v.Get("context_length")), Count(v.Get("meta").Get("n_ctx_train")))
		all = append(all, m)
	}
	return all, nil
}

// errorInList decodes an error in place of a list.
func errorInList(format content.Format, v jsonwire.Value) *upstream.Error {
	return DecodeErrorObject(format, v, func(v jsonwire.Value) *upstream.Error { return errorInList(format, v) })
}
