package openai

import (
	"errors"
	"io"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// endOfAnswer is what the last event of an answer is read with.
var endOfAnswer = io.EOF

// decodeResponses reads an answer that is no stream.
func decodeResponses(text string, lim content.Limits) (*upstream.Frame, error) {
	var d resDecoder
	d.init(lim)
	defer d.doc.Close()
	if err := d.parse(text); err != nil {
		return nil, err
	}
	root := d.doc.Root()
	switch {
	case root.Kind() != jsonwire.Object:
		if root.Kind() == jsonwire.Array && root.Len() > 0 {
			return nil, resFailure(root)
		}
		return nil, codec.BadGateway(errors.New("openai: the answer is no response"))
	case root.Get("error").Kind() > jsonwire.Null && !root.Get("status").Exists(), root.Get("object").Is("error"):
		return nil, resFailure(root)
	case root.Get("output").Kind() != jsonwire.Array && !root.Get("status").Exists():
		return nil, codec.BadGateway(errors.New("openai: the answer is no response"))
	}
	if err := d.terminal("completed", root); err != endOfAnswer {
		return nil, err
	}
	return &upstream.Frame{Format: ResponsesFormat, Data: d.doc.Source(), Whole: true, Events: d.events}, nil
}
