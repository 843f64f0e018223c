package upstream

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/reqctx"
)

// RequestKey returns a key of what u would send for r: 64 hexadecimal digits, equal in all processes.
// Requests with equal keys may share a response, so it is the key of a response cache. It sends and
// fetches nothing.
//
// The key is a digest of
//
//   - the identity of the client that ctx has: see [WithClient]. Tenants share no responses;
//   - what u would send: the format, the model, the document of [EncodeRequest] without the key of a
//     prompt cache, and Request.Header;
//   - EncodedRequest.Losses. The documents of two requests may be equal because one
//     has lost something. A cache reports the losses again, with [Writer.Loss], which applies
//     RejectLoss.
//
// Request.Stream does not change it. A link that the server fetches counts as its address, whatever
// is there.
//
// The key is "" if the document has placeholders, because u would load files that are not known
// before. The error is that of EncodeRequest; it wraps [ErrUnsupported] if u, such as a
// model of the host, does not have this operation.
func RequestKey(ctx context.Context, u Upstream, r *Request) (string, error) {
	r = r.WithModel(r.Model)
	r.Stream = false
	e, err := EncodeRequest(ctx, u, r)
	if err != nil || len(e.Placeholders) > 0 {
		return "", err
	}
	var document jsonwire.Writer
	document.BeginObject()
	if err := document.MembersExcept(e.Document, func(name string) bool { return name == e.CacheKey || name == "stream" }); err != nil {
		return "", fmt.Errorf("upstream: an encoded request is not a JSON object: %w", err)
	}
	document.EndObject()
	d := newKeyDigest()
	d.whole("client", reqctx.Client(ctx))
	d.whole("format", string(e.Format))
	d.whole("model", e.Model)
	d.whole("document", document.Text())
	for _, h := range r.Header {
		d.whole("header", h.Name)
		d.whole("value", h.Value)
	}
	for i := range e.Losses {
		d.whole("loss", e.Losses[i].String())
		for path := range e.Losses[i].Places() {
			d.whole("path", path)
		}
	}
	return hex.EncodeToString(d.hash.Sum(nil)), nil
}
