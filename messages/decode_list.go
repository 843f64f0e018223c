package messages

import (
	"errors"
	"fmt"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// DecodeCount reads the answer of count_tokens. The error is an
// [*upstream.Error] with [upstream.CodeBadGateway].
func DecodeCount(body []byte) (upstream.TokenCount, error) {
	d := newDecoder(content.Limits{})
	defer d.doc.Close()
	if err := d.parse(string(body)); err != nil {
		return upstream.TokenCount{}, codec.BadGateway(err)
	}
	root := d.doc.Root()
	n, ok := root.Get("input_tokens").Int()
	if !ok || n < 0 {
		return upstream.TokenCount{}, codec.BadGateway(errors.New("messages: the answer has no count of tokens"))
	}
	return upstream.TokenCount{Tokens: n, Extra: d.rest(root, &countNames)}, nil
}

// DecodeModels reads a page of the model list. If there is more, last is the
// id that the next page comes after; it is empty if there is none to be had.
// The error is an [*upstream.Error] with [upstream.CodeBadGateway].
func DecodeModels(body []byte) (list []upstream.Model, more bool, last string, err error) {
	d := newDecoder(content.Limits{})
	defer d.doc.Close()
	if err := d.parse(string(body)); err != nil {
		return nil, false, "", codec.BadGateway(err)
	}
	root := d.doc.Root()
	data := root.Get("data")
	if data.Kind() != jsonwire.Array {
		return nil, false, "", codec.BadGateway(errors.New("messages: the answer is no list of models"))
	}
	list = make([]upstream.Model, 0, data.Len())
	for i, v := range data.Elems() {
		m := d.model(v)
		if m.ID == "" {
			return nil, false, "", codec.BadGateway(fmt.Errorf("messages: model %d of the list has no id", i))
		}
		list = append(list, m)
	}
	more, _ = root.Get("has_more").Bool()
	if more {
		last = root.Get("last_id").Str()
		more = last != ""
	}
	return list, more, last, nil
}

var (
	countNames = codec.Names{Typed: []string{"input_tokens"}, Kept: []string{"context_management"}}
	modelNames = codec.Names{
		Typed: []string{"id", "type", "display_name", "created_at", "max_input_tokens", "max_tokens"},
		Kept:  []string{"capabilities", "line", "lifecycle", "deprecated_at", "retires_at", "allowed_fallback_models"},
	}
)

// model reads one model. Its abilities stay in Extra too, since Thinking is
// only one of them.
func (d *decoder) model(v jsonwire.Value) upstream.Model {
	m := upstream.Model{
		ID:    v.Get("id").Str(),
		Name:  v.Get("display_name").Str(),
		Extra: d.rest(v, &modelNames),
	}
	if t, err := time.Parse(time.RFC3339, v.Get("created_at").Str()); err == nil {
		m.Created = t
	}
	count(&m.MaxInput, v.Get("max_input_tokens"))
	count(&m.MaxOutput, v.Get("max_tokens"))
	m.Thinking, _ = v.Get("capabilities").Get("thinking").Get("supported").Bool()
	return m
}
