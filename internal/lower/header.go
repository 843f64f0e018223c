package lower

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
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
