package upstream

import (
	"context"

	"github.com/polywire/polywire/internal/reqctx"
)

// RequestID returns the id of the request that a handler serves in ctx. It
// returns the empty string if ctx does not come from a handler.
//
// The handler sends the same id in the response (Messages: header request-id and
// the request_id of errors; content generation: header x-request-id), writes it
// to its log as "request" and puts it into [Report] ID. It is 1 to 128 bytes of
// visible ASCII: see [HandlerOptions] RequestID. Every context that handlers pass on
// carries it: those of Authenticate, Upstreams, resolvers, OnLoss, OnDone and
// the Logger.
func RequestID(ctx context.Context) string { return reqctx.From(ctx).ID }
