package lower

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

var (
	// HeaderNotSent reports a client header that the handler would forward to the
	// vendor of its own format.
	HeaderNotSent = &loss.Rule{Feature: loss.Headers, Severity: content.LossHint,
		Reason: "the header is only for the vendor of the client's format; it is not sent"}

	// RequiredHeaderNotSent reports a client header on which the body depends.
	RequiredHeaderNotSent = &loss.Rule{Feature: loss.Headers, Severity: content.LossDropped,
		Reason: "the body depends on this client header, which is not sent; the server may reject or ignore the member"}
)

// HeaderPath returns the neutral path of a header.
func HeaderPath(name string) Path { return At("headers." + strings.ToLower(name)) }

// Headers returns the losses of the headers of a request of another format, which are not
// sent. It omits the version and the betas: losses of the features that they select are
// reported where these features are used.
func Headers(n *upstream.Request) (losses []Loss) {
	for _, f := range n.Header {
		if !foreign.IsVersionHeader(f.Name) {
			losses = append(losses, Loss{Rule: HeaderNotSent, Path: HeaderPath(f.Name)})
		}
	}
	return losses
}
