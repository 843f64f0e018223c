package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// counts are the sums of a usage object as the wire tells them. A later object
// overwrites what it names.
type counts struct {
	input, read int64
	output      int64 // with thinking
	thinking    int64
	write       int64 // all of it
	write5m     int64
	write1h     int64
	more        handler.Members
	size        int // bytes of more
	tooMany     bool
}

// What one stream may add to its usage over all its events.
const (
	maxUsageMembers = 64
	maxUsageBytes   = 64 << 10
)

// usage reads a usage object and adds the event that tells it.
func (d *decoder) usage(v jsonwire.Value) {
	c := &d.counts
	c.take(v)
	u := c.usage()
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: &u})
	if c.tooMany {
		d.lose(codec.ResponseManyCounts, "usage")
	}
}

// take reads a usage object. What is missing or null leaves its count alone.
func (c *counts) take(v jsonwire.Value) {
	flat, split := false, false
	crowded := v.Len() > 2*maxUsageMembers // more than can be looked up one by one
	if crowded {
		c.more, c.size, c.tooMany = nil, 0, true
	}
	for name, x := range v.Members() {
		switch name {
		case "input_tokens":
			count(&c.input, x)
		case "output_tokens":
			count(&c.output, x)
		case "cache_read_input_tokens":
			count(&c.read, x)
		case "cache_creation_input_tokens":
			flat = count(&c.write, x)
		case "cache_creation":
			a := count(&c.write5m, x.Get("ephemeral_5m_input_tokens"))
			b := count(&c.write1h, x.Get("ephemeral_1h_input_tokens"))
			split = a || b
			c.keepRest(name, x, &cacheCreationNames)
		case "output_tokens_details":
			count(&c.thinking, x.Get("thinking_tokens"))
			c.keepRest(name, x, &outputDetailsNames)
		default:
			if !crowded {
				c.keep(name, x.Kind(), x.Raw())
			}
		}
	}
	switch sum := c.write5m + c.write1h; {
	case split:
		c.write = max(c.write, sum) // what the sum has beyond its parts is for the default time
		if !flat {
			c.write = sum
		}
	case flat && sum > c.write: // the parts are those of an older object
		c.write1h = min(c.write1h, c.write)
	}
	c.write5m = max(c.write-c.write1h, 0)
}

var (
	cacheCreationNames = codec.Names{Typed: []string{"ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"}}
	outputDetailsNames = codec.Names{Typed: []string{"thinking_tokens"}}
)

// mostTokens bounds a count, so that sums of counts stay far from the largest
// number.
const mostTokens = 1 << 53

// count reads a number of tokens, if it is one.
func count(to *int64, v jsonwire.Value) bool {
	n, ok := v.Int()
	if ok {
		*to = min(max(n, 0), mostTokens)
	}
	return ok
}

// keep keeps a member that has no field.
func (c *counts) keep(name string, k jsonwire.Kind, raw string) {
	if k == jsonwire.Null {
		return
	}
	for _, m := range c.more {
		if m.Name == name {
			c.size -= len(m.JSON) + len(m.Name)
		}
	}
	if size := c.size + len(name) + len(raw); size <= maxUsageBytes && len(c.more) < maxUsageMembers {
		c.more.Set(name, raw)
		c.size = size
		return
	}
	c.more.Take(name) // an older value would be wrong
	c.tooMany = true
}

// keepRest keeps the members of one of the inner objects that are not known.
func (c *counts) keepRest(name string, v jsonwire.Value, n *codec.Names) {
	var r rest
	r.members(v, n)
	if x := r.extra(); x != nil {
		c.keep(name, jsonwire.Object, x.JSON)
	}
}

// usage says the counts in neutral words, none inside another. Sums stay what
// they were: thinking beyond the output, which cannot be, is cut.
func (c *counts) usage() content.Usage {
	u := content.Usage{
		Input:        c.input,
		CacheRead:    c.read,
		CacheWrite:   c.write5m,
		CacheWrite1h: c.write1h,
		Thinking:     min(c.thinking, c.output),
	}
	u.Output = c.output - u.Thinking
	u.Extra = c.more.Extra(Format)
	return u
}
