package legal

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

var (
	// DroppedHeader is the loss of a header of the client that its handler would
	// forward, or that selects something at its vendor.
	DroppedHeader = &loss.Rule{Feature: loss.Headers, Severity: content.LossHint,
		Reason: "the client's header goes only to its own vendor, and is not sent"}

	// NeededHeader is the loss of one that the body depends on.
	NeededHeader = &loss.Rule{Feature: loss.Headers, Severity: content.LossDropped,
		Reason: "the body needs the client's header, which is not sent"}
)

// HeaderPath returns the neutral path of a header.
func HeaderPath(name string) string { return "headers." + strings.ToLower(name) }

// Headers reports the headers of a request of another format, which are not sent,
// but for the version and the betas: what those are about is reported by itself.
func Headers(n *upstream.Request, log *loss.Log) {
	for _, f := range n.Header {
		switch strings.ToLower(f.Name) {
		case "anthropic-version", "anthropic-beta":
		default:
			log.Add(DroppedHeader, HeaderPath(f.Name))
		}
	}
}
