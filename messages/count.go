package messages

import (
	"context"
	"net/http"

	"github.com/polywire/polywire/internal/front"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// count makes a call of a body of count_tokens.
func (d *dialect) count(_ string, r *http.Request, body string) (*front.Call, error) {
	req, rules, err := d.request(r, body, true)
	if err != nil {
		return nil, err
	}
	call := &front.Call{Mode: "count", Request: req.passOn(rules.header())}
	call.Ask = func(ctx context.Context, up upstream.Upstream) (*jsonwire.Writer, error) {
		n, err := upstream.CountTokens(ctx, up, call.Request)
		if err != nil {
			return nil, err
		}
		return countDocument(n)
	}
	return call, nil
}

func countDocument(n upstream.TokenCount) (*jsonwire.Writer, error) {
	w := new(jsonwire.Writer)
	w.BeginObject()
	w.Name("input_tokens")
	w.Int(n.Tokens)
	if n.Extra != nil && n.Extra.Format == Format {
		err := w.MembersExcept(n.Extra.JSON, func(name string) bool { return name == "input_tokens" })
		if err != nil {
			return nil, err
		}
	}
	w.EndObject()
	return w, nil
}
