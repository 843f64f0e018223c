package upstreamtest

import (
	"context"
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// CheckPrefixes checks that what u sends for each request of a conversation begins with
// what it sends for the request before, so that a vendor's prompt cache can be used. It
// returns an error that names the first place at which a cache breaks: see
// [upstream.CacheBreak]. Nothing is sent.
//
//	err := upstreamtest.CheckPrefixes(ctx, u, upstreamtest.Conversation(last)...)
func CheckPrefixes(ctx context.Context, u upstream.Upstream, requests ...*upstream.Request) error {
	for i := 1; i < len(requests); i++ {
		d, err := upstream.CacheBreak(ctx, u, requests[i-1], requests[i])
		switch {
		case err != nil:
			return fmt.Errorf("request %d of %d: %w", i+1, len(requests), err)
		case d.Broken:
			return fmt.Errorf("request %d of %d: the prompt cache is %v; in the document sent, the place is %s", i+1, len(requests), d, d.WirePath)
		}
	}
	return nil
}

// Conversation returns the requests that came before last in its conversation, and last
// itself. Each ends with a turn of the user to which the model has responded. A beginning
// with a tool call that has no result is left out. The requests share the parts of last; all
// but the last are without its document.
func Conversation(last *upstream.Request) []*upstream.Request {
	var list []*upstream.Request
	open := make(map[string]bool)
	for i, t := range last.Turns {
		for _, p := range t.Parts {
			switch p := p.(type) {
			case *content.ToolUse:
				open[p.ID] = true
			case *content.ToolResult:
				delete(open, p.ID)
			}
		}
		if i == len(last.Turns)-1 {
			break
		}
		if t.Role == content.RoleUser && len(open) == 0 && last.Turns[i+1].Role == content.RoleAssistant {
			c := *last
			c.Wire, c.Turns = nil, last.Turns[:i+1]
			list = append(list, &c)
		}
	}
	return append(list, last)
}
