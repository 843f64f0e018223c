package handler

import (
	"context"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Count makes c a call that has the tokens of its request counted. write writes
// the members that the format f has for a count; behind them come those that
// the upstream kept for it, but for the ones that taken reports.
func (c *Call) Count(f content.Format, taken func(name string) bool, write func(*jsonwire.Writer, upstream.TokenCount)) {
	c.Mode = "count"
	c.Ask = func(ctx context.Context, up upstream.Upstream) (*jsonwire.Writer, error) {
		n, err := upstream.CountTokens(ctx, up, c.Request)
		if err != nil {
			return nil, err
		}
		c.Found, c.Upstream, c.UpstreamID = n.Losses, n.Upstream, n.UpstreamID
		w := new(jsonwire.Writer)
		w.BeginObject()
		write(w, n)
		if n.Extra != nil && n.Extra.Format == f {
			if err := w.MembersExcept(n.Extra.JSON, taken); err != nil {
				return nil, err
			}
		}
		w.EndObject()
		return w, nil
	}
}
