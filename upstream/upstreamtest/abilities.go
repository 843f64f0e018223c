package upstreamtest

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/upstream"
)

func (c *checker) checkCount() error {
	short, err := c.countTokens(c.options.Text, c.options.Timeout)
	if err != nil {
		return fmt.Errorf("CountTokens of Options.Text: %w", err)
	}
	long, err := c.countTokens(longerRequest(c.options.Text), c.options.Timeout)
	if err != nil {
		return fmt.Errorf("CountTokens of Options.Text with 360 more words: %w", err)
	}
	var all []error
	for _, n := range []upstream.TokenCount{short, long} {
		switch {
		case n.Tokens <= 0:
			all = append(all, fmt.Errorf("CountTokens returned %d tokens for a request with text, want more than 0", n.Tokens))
		case n.Cached < 0 || n.Cached > n.Tokens:
			all = append(all, fmt.Errorf("CountTokens returned %d cached tokens of %d tokens", n.Cached, n.Tokens))
		}
	}
	if len(all) == 0 && long.Tokens <= short.Tokens {
		all = append(all, fmt.Errorf("CountTokens returned %d tokens, and %d for a request with 360 more words", short.Tokens, long.Tokens))
	}
	if c.options.Silent != nil {
		if _, err := c.countTokens(c.options.Silent, c.options.Grace); errors.Is(err, errNoReturn) {
			all = append(all, fmt.Errorf("CountTokens of Options.Silent seems to generate: %w", err))
		}
	}
	return errors.Join(all...)
}

func (c *checker) countTokens(req *upstream.Request, limit time.Duration) (upstream.TokenCount, error) {
	return within(c.ctx, limit, func(ctx context.Context) (upstream.TokenCount, error) {
		return upstream.CountTokens(ctx, c.u, req.Clone())
	})
}

func (c *checker) checkModels() error {
	list, err := within(c.ctx, c.options.Timeout, func(ctx context.Context) ([]upstream.Model, error) {
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
			all = append(all, fmt.Errorf("model %d has the invalid id %q", i, m.ID))
		case seen[m.ID]:
			all = append(all, fmt.Errorf("model %d has the id %q of another model", i, m.ID))
		case m.MaxInput < 0 || m.MaxOutput < 0:
			all = append(all, fmt.Errorf("model %q has a negative limit: %d, %d", m.ID, m.MaxInput, m.MaxOutput))
		}
		seen[m.ID] = true
	}
	return errors.Join(all...)
}
