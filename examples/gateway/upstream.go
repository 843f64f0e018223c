package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// keyVariable is the environment variable with the key of the upstream. There is no flag
// for it, because every user of the machine can read a command line.
const keyVariable = "UPSTREAM_API_KEY"

const upstreamNames = "echo, anthropic, gemini, openai or openai-responses"

// upstream returns the configured upstream.
func (c *config) upstream() (upstream.Upstream, error) {
	up, err := c.vendor()
	if err != nil {
		return nil, err
	}
	if c.model != "" {
		up = upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
			return r.WithModel(c.model), nil
		})
	}
	return up, nil
}

// vendor returns the upstream with the configured name.
func (c *config) vendor() (upstream.Upstream, error) {
	key := os.Getenv(keyVariable)
	dialect, err := c.dialect()
	if err != nil {
		return nil, err
	}
	var up upstream.Upstream
	switch c.name {
	case "echo":
		if c.base != "" {
			return nil, errors.New("-upstream-url: echo has no URL; set -upstream to a vendor")
		}
		return echo.New(), nil
	case "anthropic":
		up, err = anthropic.New(&anthropic.Options{BaseURL: c.base, Key: key})
	case "gemini":
		up, err = gemini.New(&gemini.Options{BaseURL: c.base, Key: key})
	case "openai":
		up, err = openai.New(&openai.Options{BaseURL: c.base, Key: key, Dialect: dialect})
	case "openai-responses":
		up, err = openai.NewResponses(&openai.Options{BaseURL: c.base, Key: key, Dialect: dialect})
	default:
		return nil, fmt.Errorf("-upstream: unknown name %q; want %s", c.name, upstreamNames)
	}
	if err != nil {
		return nil, fmt.Errorf("-upstream-url or %s: %w", keyVariable, err)
	}
	if c.base == "" && key == "" {
		return nil, fmt.Errorf("-upstream: %s needs a key; set the environment variable %s", c.name, keyVariable)
	}
	return up, nil
}

// dialect returns the Dialect for -reads and -unread.
func (c *config) dialect() (openai.Dialect, error) {
	var d openai.Dialect
	switch c.reads {
	case "text":
		d.TextOnly = true
	case "images":
	case "pdf":
		d.Files = true
	default:
		return d, fmt.Errorf("-reads: unknown kind %q; want text, images or pdf", c.reads)
	}
	switch c.unread {
	case "refuse":
	case "note":
		d.DescribeUnreadable = true
	default:
		return d, fmt.Errorf("-unread: unknown action %q; want refuse or note", c.unread)
	}
	if (d.TextOnly || d.Files || d.DescribeUnreadable) && c.name != "openai" && c.name != "openai-responses" {
		return d, fmt.Errorf("-reads and -unread: only for -upstream openai and openai-responses, not for %s", c.name)
	}
	return d, nil
}
