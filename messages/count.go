package messages

import (
	"net/http"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// count makes a call of a body of count_tokens.
func (d *dialect) count(_ string, r *http.Request, body string) (*handler.Operation, error) {
	_, call, _, err := d.request(r, body, true)
	if err != nil {
		return nil, err
	}
	call.CountTokens(Format, countNames.Has, func(w *jsonwire.Writer, n upstream.TokenCount) {
		w.Name("input_tokens")
		w.Int(n.Tokens)
	})
	return call, nil
}
