package lower

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
)

// A lastMark is the member cache_control of a Messages request. It asks for a cache mark at
// the end of the conversation, which moves on as the conversation grows.
type lastMark struct {
	cache *content.Cache
	rule  *loss.Rule // reports that there is no such mark
	at    Path
}

// newLastMark returns the mark that a member of a request asks for, or one without a cache.
func newLastMark(x *content.Extra, name string, r *loss.Rule, at Path) lastMark {
	json, _ := x.Get(name)
	return lastMark{cache: cacheOf(json, x.Format), rule: r, at: at}
}

// cacheOf returns the cache mark that a member of a request has as its value. It returns nil if
// that is not an object.
func cacheOf(json string, f content.Format) *content.Cache {
	v := gjson.Parse(json)
	if !v.IsObject() {
		return nil
	}
	c := &content.Cache{TTL: v.Get("ttl").Str}
	var w jsonwire.Writer
	w.BeginObject()
	_ = w.MembersExcept(json, func(name string) bool { return name == "type" || name == "ttl" }) // was parsed before
	w.EndObject()
	if w.Text() != "{}" {
		c.Extra = &content.Extra{Format: f, JSON: w.Text()}
	}
	return c
}

// markLast sets the mark at the last part of the last user turn, unless that has one.
func (l *lowering) markLast(m lastMark) {
	if m.rule == nil {
		return
	}
	turn := len(l.to.Turns) - 1
	for turn >= 0 && l.to.Turns[turn].Role != content.RoleUser {
		turn--
	}
	if m.cache == nil || turn < 0 || !l.t.Marks.User {
		l.lose(m.rule, m.at)
		return
	}
	t := &l.to.Turns[turn]
	if parts := l.withMark(t.Parts, m); parts != nil {
		t.Parts = parts
		return
	}
	l.lose(m.rule, m.at)
}

// withMark returns parts with a mark at the last one, or nil if that cannot have one. In a
// tool result it is at its last part.
func (l *lowering) withMark(parts []content.Part, m lastMark) []content.Part {
	last := len(parts) - 1
	if last < 0 {
		return nil
	}
	p := parts[last]
	if r, ok := p.(*content.ToolResult); ok {
		if !l.t.Results.Marks || !l.t.Results.MarkLast {
			return nil
		}
		own := *r
		if own.Parts = l.withMark(r.Parts, m); own.Parts == nil {
			return nil
		}
		return append(slices.Clip(parts[:last]), &own)
	}
	switch f := partfield.Of(p).Cache; {
	case f == nil, isFile(p) && l.t.Marks.TextsOnly:
		return nil
	case *f != nil:
		return parts
	}
	p, f := partfield.Copy(p)
	*f.Cache = l.lifetime(m.cache, m.at)
	return append(slices.Clip(parts[:last]), p)
}
