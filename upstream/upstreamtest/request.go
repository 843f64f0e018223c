package upstreamtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func textRequest(model, text string) *upstream.Request {
	max := int64(2048)
	return &upstream.Request{
		Model:     model,
		MaxTokens: &max,
		Turns:     []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
	}
}

// tinyPNG is an image of one pixel.
const tinyPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// richRequest returns a conversation with features that many vendors lack.
func richRequest(model string) *upstream.Request {
	topK, seed, temperature, penalty, max := int64(40), int64(7), 0.5, 0.25, int64(2048)
	return &upstream.Request{
		Model:  model,
		System: []content.Part{&content.Text{Text: "Be brief.", Cache: &content.Cache{TTL: "5m"}}},
		Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "What is in the file?"}}},
			{Role: content.RoleAssistant, Parts: []content.Part{
				&content.Thinking{Text: "I had better look.", Signature: content.Signature{Format: foreignFormat, Data: "c2lnbmVk"}},
				&content.ToolUse{ID: "call_7", Name: "look", Input: `{"b":1,"a":[2]}`},
			}},
			{Role: content.RoleUser, Parts: []content.Part{
				&content.ToolResult{ID: "call_7", Name: "look", Parts: []content.Part{
					&content.Text{Text: "a dot"}, &content.Image{Source: &content.Base64{MediaType: "image/png", Data: tinyPNG}},
				}},
				&content.Text{Text: "Say in one sentence what it shows.", Cache: &content.Cache{TTL: "1h"}},
			}},
		},
		Tools: []content.Tool{{Name: "look", Description: "Looks at the file.",
			Input: content.Schema{JSON: `{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"array","items":{"type":"integer"}}}}`}}},
		MaxTokens: &max, Temperature: &temperature, TopK: &topK, Seed: &seed, PresencePenalty: &penalty,
		StopSequences: []string{"\n\nEND"},
		UserID:        "user-7",
		Extra:         &content.Extra{Format: foreignFormat, JSON: `{"flavour":"plain"}`},
	}
}

// foreignFormat is a format that no Upstream supports.
const foreignFormat content.Format = "upstreamtest"

// withStream returns a copy of r with another Stream.
func withStream(r *upstream.Request, stream bool) *upstream.Request {
	c := r.Clone()
	c.Stream = stream
	return c
}

// lastUser returns the index of the user's last turn. It adds one if there is none.
func lastUser(r *upstream.Request) int {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		if r.Turns[i].Role == content.RoleUser {
			return i
		}
	}
	r.Turns = append(r.Turns, content.Turn{Role: content.RoleUser})
	return len(r.Turns) - 1
}

// longerRequest returns a copy of r with 360 more words.
func longerRequest(r *upstream.Request) *upstream.Request {
	c := r.Clone()
	t := &c.Turns[lastUser(c)]
	t.Parts = append(t.Parts, &content.Text{Text: strings.Repeat("The quick brown fox jumps over the lazy dog. ", 40)})
	return c
}

func (c *checker) checkReadonly() error {
	var all []error
	for _, k := range []struct {
		name string
		req  *upstream.Request
	}{
		{"Text", c.options.Text},
		{"Call", c.options.Call},
		{"Lossy", c.options.Lossy},
		{"default request with many features", richRequest(c.options.Model)},
	} {
		if k.req == nil {
			continue
		}
		if err := c.checkUnchanged(k.req); err != nil {
			all = append(all, fmt.Errorf("%s: %w", k.name, err))
		}
	}
	return errors.Join(all...)
}

// checkUnchanged passes the same request to all methods of the Upstream, and to
// Generate twice at the same time.
func (c *checker) checkUnchanged(req *upstream.Request) error {
	r := withSpareCapacity(req)
	before := r.Clone()
	var wg sync.WaitGroup
	var violations [2]error
	for i := range violations {
		wg.Go(func() { violations[i] = c.call(c.ctx, r, nil, 0).abortErr })
	}
	wg.Wait()
	if err := errors.Join(violations[:]...); err != nil {
		return err
	}
	_, err := within(c.ctx, c.options.Timeout, func(ctx context.Context) (struct{}, error) {
		_, _ = upstream.CountTokens(ctx, c.u, r)
		_, _ = upstream.Preflight(ctx, c.u, r)
		return struct{}{}, nil
	})
	if err != nil {
		return err
	}
	if d := requestChange(before, r); d != "" {
		return fmt.Errorf("the request was changed: %s", d)
	}
	if d := appendedList(r); d != "" {
		return fmt.Errorf("the Upstream appended to a list of the request: %s; it must clone the request or the list first", d)
	}
	return nil
}

// checkMalformed sends requests that no client sends.
func (c *checker) checkMalformed() error {
	turn := func(role content.Role, parts ...content.Part) []content.Turn {
		return []content.Turn{{Role: role, Parts: parts}}
	}
	var all []error
	for _, k := range []struct {
		name string
		req  *upstream.Request
	}{
		{"request without turns", &upstream.Request{Model: c.options.Model}},
		{"turn without parts", &upstream.Request{Model: c.options.Model, Turns: turn(content.RoleUser)}},
		{"nil part", &upstream.Request{Model: c.options.Model, Turns: turn(content.RoleUser, nil)}},
		{"empty text", &upstream.Request{Model: c.options.Model, Turns: turn(content.RoleUser, &content.Text{})}},
		{"files without a source", &upstream.Request{Model: c.options.Model, Turns: turn(content.RoleUser, &content.Image{}, &content.Document{})}},
		{"tool result without a tool call", &upstream.Request{Model: c.options.Model, Turns: turn(content.RoleUser, &content.ToolResult{})}},
		{"only a turn of the assistant", &upstream.Request{Model: c.options.Model, Turns: turn(content.RoleAssistant, &content.Text{Text: "So"})}},
		{"unknown role", &upstream.Request{Model: c.options.Model, Turns: turn("stranger", &content.Text{Text: "\x00\xff"})}},
		{"tool without a name", &upstream.Request{Model: c.options.Model, Turns: turn(content.RoleUser, &content.Text{Text: "Hi"}),
			Tools: make([]content.Tool, 1), Choice: content.ToolChoice{Mode: content.ChoiceAny}}},
	} {
		if r := c.call(c.ctx, k.req, nil, 0); r.abortErr != nil {
			all = append(all, fmt.Errorf("%s: %w", k.name, r.abortErr))
		}
	}
	return errors.Join(all...)
}
