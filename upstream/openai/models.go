package openai

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Models asks the server for its models.
func (c *client) Models(ctx context.Context) (list []upstream.Model, err error) {
	_, err = c.server.Send(ctx, &adapter.Exchange{Path: "/models"}, func(text string) (err error) {
		list, err = decodeModels(text)
		return err
	})
	return list, err
}

// decodeModels reads a list of models. Servers agree on the id only.
func decodeModels(text string) ([]upstream.Model, error) {
	doc, err := jsonwire.Parse(text, jsonwire.Limits{Lenient: true})
	if err != nil {
		return nil, codec.BadGateway(err)
	}
	defer doc.Close()
	list := doc.Root()
	if list.Kind() == jsonwire.Object {
		if list.Get("error").Kind() > jsonwire.Null || list.Get("object").Is("error") {
			return nil, failure(list)
		}
		list = list.Get("data") // null for a server that has none
	}
	if !list.Exists() {
		return nil, codec.BadGateway(errors.New("openai: the answer is no list of models"))
	}
	var all []upstream.Model
	for _, v := range list.Elems() {
		m := upstream.Model{ID: strings.Clone(v.Get("id").Str())}
		if m.ID == "" {
			continue
		}
		if at := count(v.Get("created")); at > 0 {
			m.Created = time.Unix(at, 0).UTC()
		}
		m.MaxInput = max(count(v.Get("max_model_len")), count(v.Get("context_length")), count(v.Get("meta").Get("n_ctx_train")))
		all = append(all, m)
	}
	return all, nil
}
