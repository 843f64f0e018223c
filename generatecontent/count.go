package generatecontent

import (
	"net/http"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// count makes calls of the bodies of countTokens.
func (d *dialect) count(t *target) func(string, *http.Request, string) (*handler.Call, error) {
	return func(_ string, r *http.Request, body string) (*handler.Call, error) {
		req, err := d.request(t, body, true)
		if err != nil {
			return nil, err
		}
		call := &handler.Call{Path: req.path, Files: d.elsewhere(req), Cost: req.Form.cost}
		call.Request, call.Losses = req.passOn(handler.Forwarded(r, d.forward))
		call.Within, _ = patience(r) // head has judged it
		call.Count(Format, isCount, writeCount)
		return call, nil
	}
}

// isCount reports whether writeCount writes a member.
func isCount(name string) bool { return name == "totalTokens" || name == "cachedContentTokenCount" }

func writeCount(w *jsonwire.Writer, n upstream.TokenCount) {
	w.Name("totalTokens")
	w.Int(n.Tokens)
	if n.Cached != 0 {
		w.Name("cachedContentTokenCount")
		w.Int(n.Cached)
	}
}
