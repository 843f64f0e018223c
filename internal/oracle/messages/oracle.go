package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// NewOracle returns the encoder of streams.
func NewOracle(turns []content.Turn, hideThinking, returnsBlocks bool) handler.Encoder {
	s := newStream("req", "msg_1", "model", turns)
	s.placement = placement{hideThinking, returnsBlocks}
	return s
}

// Whole returns the document of a whole response.
func Whole(r *upstream.Response, turns []content.Turn, hideThinking, returnsBlocks bool) (string, []content.Loss) {
	res, lost := convertResponse(r, turns, placement{hideThinking, returnsBlocks})
	b, err := res.AppendJSON(nil)
	if err != nil {
		return err.Error(), lost
	}
	return string(b), lost
}
