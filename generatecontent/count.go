package generatecontent

import (
	"context"
	"net/http"

	"github.com/polywire/polywire/internal/front"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// count makes calls of the bodies of countTokens.
func (d *dialect) count(t *target) func(string, *http.Request, string) (*front.Call, error) {
	return func(_ string, r *http.Request, body string) (*front.Call, error) {
		req, err := d.request(t, body, true)
		if err != nil {
			return nil, err
		}
		call := &front.Call{Mode: "count", Request: req.passOn(), Path: req.path}
		call.Within, _ = patience(r) // head has judged it
		call.Ask = func(ctx context.Context, up upstream.Upstream) (*jsonwire.Writer, error) {
			n, err := upstream.CountTokens(ctx, up, call.Request)
			if err != nil {
				return nil, err
			}
			return countDocument(n)
		}
		return call, nil
	}
}

func countDocument(n upstream.TokenCount) (*jsonwire.Writer, error) {
	w := new(jsonwire.Writer)
	w.BeginObject()
	w.Name("totalTokens")
	w.Int(n.Tokens)
	if n.Cached != 0 {
		w.Name("cachedContentTokenCount")
		w.Int(n.Cached)
	}
	if n.Extra != nil && n.Extra.Format == Format {
		err := w.MembersExcept(n.Extra.JSON, func(name string) bool {
			return name == "totalTokens" || name == "cachedContentTokenCount"
		})
		if err != nil {
			return nil, err
		}
	}
	w.EndObject()
	return w, nil
}
