package generatecontent

import (
	"net/http"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// count makes calls of the bodies of countTokens.
func (d *dialect) count(t *target) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(_ string, r *http.Request, body string) (*handler.Operation, error) {
		req, err := d.request(t, body, true)
		if err != nil {
			return nil, err
		}
		call := &handler.Operation{WirePath: req.path, Files: d.elsewhere(req), Memory: req.origin.cost}
		call.Request, call.Losses = req.withDocument(handler.ForwardedHeaders(r, d.forward))
		call.Timeout, _ = patience(r) // head has judged it
		call.CountTokens(Format, isCount, writeCount)
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
