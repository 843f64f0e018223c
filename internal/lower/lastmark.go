package lower

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
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

// markCaches sets cache marks in a request without any, if the target asks for it: at the last
// function, the end of the system text, and the ends of the last two turns of the user. The later
// requests of the conversation begin with all of that, and read what this one writes at the last
// mark by the mark before it. A turn that was added behind the conversation is not marked, because
// it is not in later requests.
func (l *lowering) markCaches() {
	least := l.t.Marks.Least
	if least == 0 || hasMark(l.n) {
		return
	}
	size, mark := int64(0), lastMark{cache: new(content.Cache)}
	isEnough := func(next *upstream.Request) bool {
		if size < least {
			size += upstream.EstimateTokens(next)
		}
		return size >= least
	}
	if isEnough(&upstream.Request{Tools: l.to.Tools}) {
		for i := range slices.Backward(l.to.Tools) {
			if t := &l.to.Tools[i]; t.Kind == "" && !t.Deferred {
				l.to.Tools = slices.Clone(l.to.Tools)
				l.to.Tools[i].Cache = mark.cache
				break
			}
		}
	}
	if isEnough(&upstream.Request{System: l.to.System}) {
		if parts := l.withMark(l.to.System, mark); parts != nil {
			l.to.System = parts
		}
	}
	turns, first := l.to.Turns, 0 // of those with enough before their end
	for first < len(turns) && !isEnough(&upstream.Request{Turns: turns[first : first+1]}) {
		first++
	}
	n := len(l.n.Turns)
	for i, left := len(turns)-1, 2; i >= first && left > 0; i-- {
		t := &turns[i]
		if t.Role != content.RoleUser || i == len(turns)-1 && n > 0 && l.n.Turns[n-1].Role == content.RoleAssistant {
			continue
		}
		if parts := l.withMark(t.Parts, mark); parts != nil {
			t.Parts = parts
			left--
		}
	}
}

// hasMark reports whether a request has a cache mark.
func hasMark(n *upstream.Request) bool {
	return isMarked(n.System) || slices.ContainsFunc(n.Tools, func(t content.Tool) bool { return t.Cache != nil }) || // one pass
		slices.ContainsFunc(n.Turns, func(t content.Turn) bool { return isMarked(t.Parts) }) // one pass
}

func isMarked(parts []content.Part) bool {
	return slices.ContainsFunc(parts, func(p content.Part) bool { // one pass
		f := partfield.Of(p)
		return f.Cache != nil && *f.Cache != nil || f.Parts != nil && isMarked(*f.Parts)
	})
}

// withMark returns parts with a mark at the last one, or nil if that cannot have one. Of a tool
// result it is at its last part where the target has it there.
func (l *lowering) withMark(parts []content.Part, m lastMark) []content.Part {
	last := len(parts) - 1
	if last < 0 {
		return nil
	}
	p := parts[last]
	if r, ok := p.(*content.ToolResult); ok && !l.t.Results.Marks {
		return nil
	} else if ok && l.t.Results.MarkLast {
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
