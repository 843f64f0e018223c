package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// NewOracle returns the encoder of streams.
func NewOracle(events, signs bool) handler.Encoder {
	s := newStream(framing(events), "resp", "model")
	s.expectSigned = signs
	return s
}

// Whole returns the document of a whole response.
func Whole(r *upstream.Response, signs bool) (string, []content.Loss) {
	res, lost := convertResponse(r, signs)
	b, err := res.AppendJSON(nil)
	if err != nil {
		return err.Error(), lost
	}
	return string(b), lost
}
