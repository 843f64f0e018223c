package upstreamtest

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/upstream"
)

func (c *checker) count() error {
	short, err := c.tokens(c.o.Text, c.o.Timeout)
	if err != nil {
		return fmt.Errorf("CountTokens of Text: %w", err)
	}
	long, err := c.tokens(longer(c.o.Text), c.o.Timeout)
	if err != nil {
		return fmt.Errorf("CountTokens of Text and more: %w", err)
	}
	var all []error
	for _, n := range []upstream.TokenCount{short, long} {
		switch {
		case n.Tokens <= 0:
			all = append(all, fmt.Errorf("CountTokens counts %d tokens in a text", n.Tokens))
		case n.Cached < 0 || n.Cached > n.Tokens:
			all = append(all, fmt.Errorf("CountTokens counts %d cached tokens of %d", n.Cached, n.Tokens))
		}
	}
	if len(all) == 0 && long.Tokens <= short.Tokens {
		all = append(all, fmt.Errorf("CountTokens counts %d tokens, and %d with 360 words more", short.Tokens, long.Tokens))
	}
	if c.o.Silent != nil {
		if _, err := c.tokens(c.o.Silent, c.o.Grace); errors.Is(err, errNoReturn) {
			all = append(all, fmt.Errorf("CountTokens of Options.Silent, as if it generated: %w", err))
		}
	}
	return errors.Join(all...)
}

func (c *checker) tokens(req *upstream.Request, limit time.Duration) (upstream.TokenCount, error) {
	return within(c.ctx, limit, func(ctx context.Context) (upstream.TokenCount, error) {
		return upstream.CountTokens(ctx, c.u, req.Clone())
	})
}

func (c *checker) models() error {
	list, err := within(c.ctx, c.o.Timeout, func(ctx context.Context) ([]upstream.Model, error) {
		return upstream.Models(ctx, c.u)
	})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return skip("the Upstream does not list its models")
	case err != nil:
		return fmt.Errorf("Models: %w", err)
	}
	var all []error
	seen := map[string]bool{}
	for i, m := range list {
		switch {
		case m.ID == "" || !utf8.ValidString(m.ID):
			all = append(all, fmt.Errorf("model %d has the id %q", i, m.ID))
		case seen[m.ID]:
			all = append(all, fmt.Errorf("model %d has the id %q of another", i, m.ID))
		case m.MaxInput < 0 || m.MaxOutput < 0:
			all = append(all, fmt.Errorf("model %q has a negative limit: %d, %d", m.ID, m.MaxInput, m.MaxOutput))
		}
		seen[m.ID] = true
	}
	return errors.Join(all...)
}
