package generatecontent

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/seal"
)

// bypass is what the vendor takes for a signature that there is none of, as
// base64.
const bypass = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="

// turns converts turns. One that has nothing left is left out. The vendor wants
// the calls of a step in one turn, and their results in the one right behind
// it, so turns of one side are joined for that.
func (c *converter) turns(turns []content.Turn) []content.Turn {
	turns = seal.Rejoin(Format, turns)
	clearing := codec.ClearingOf(turns)
	c.current = currentTurn(turns, clearing)
	list := turns[:0:len(turns)] // the beginning of turns while nothing has changed
	own := false
	for i := range turns {
		if clearing.Cleared(i, &turns[i]) {
			if !own {
				own, list = true, append(make([]content.Turn, 0, len(turns)), list...)
			}
			continue
		}
		c.path.PushIndex(i)
		c.at = i
		c.row(turns, i)
		t, changed := c.turn(&turns[i], lastOf(list))
		joins := c.joins(lastOf(list), &t)
		changed = c.signed(&turns[i], &t, joins && hasCall(lastOf(list).Parts), i) || changed
		switch {
		case len(t.Parts) == 0:
			if !allTaken(turns[i].Parts) {
				c.lost(emptyTurn)
			}
			changed = true
		case joins && t.Extra != nil:
			c.lost(joinedMembers, "extra")
		}
		c.path.Pop()
		if (changed || joins) && !own {
			own, list = true, append(make([]content.Turn, 0, len(turns)), list...)
		}
		switch {
		case len(t.Parts) == 0:
		case joins:
			last := lastOf(list)
			last.Parts = slices.Concat(last.Parts, t.Parts)
		case !own:
			list = turns[:i+1]
		default:
			list = append(list, t)
		}
	}
	if len(turns) == 0 {
		return turns
	}
	return list
}

func lastOf(list []content.Turn) *content.Turn {
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// turn converts one turn, and reports whether it is another now.
func (c *converter) turn(from *content.Turn, last *content.Turn) (t content.Turn, changed bool) {
	t = *from
	c.foreign(t.Extra)
	if t.Role == content.System {
		t.Role, changed = content.User, true
	}
	if t.Role == content.Assistant && (last == nil || last.Role != content.Assistant) {
		c.calls, c.results = nil, 0
	}
	told := len(c.Losses.Losses)
	c.path.Push("parts")
	parts, other := c.parts(t.Parts, from.Role)
	c.path.Pop()
	t.Parts = parts
	switch {
	case from.Role == content.System && len(parts) > 0:
		c.lost(systemTurn)
	case from.Role == content.User && len(parts) == 0 && (last == nil || last.Role != content.User) &&
		slices.ContainsFunc(c.Losses.Losses[told:], dropped):
		c.lost(heldTurn) // the vendor wants turns to alternate, and one to begin with
		t.Parts = []content.Part{&content.Text{Text: held}}
	}
	if t.Role == content.Assistant {
		for _, p := range parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil {
				c.calls = append(c.calls, u)
			}
		}
	}
	return t, changed || other
}

// held stands in a turn of the user of which nothing is left.
const held = "[Here was something that you cannot be shown.]"

func dropped(l content.Loss) bool { return l.Severity == content.LossDropped }

// row looks whether there is a call in one of the turns that the assistant has
// in a row: clients keep each piece of a streamed answer as a turn of its own.
func (c *converter) row(turns []content.Turn, i int) {
	if i < c.rowEnd {
		return
	}
	c.calling = false
	for c.rowEnd = i; c.rowEnd < len(turns) && turns[c.rowEnd].Role == content.Assistant; c.rowEnd++ {
		c.calling = c.calling || hasCall(turns[c.rowEnd].Parts)
	}
	c.rowEnd = max(c.rowEnd, i+1)
}

// joins reports whether t has to be one turn with the one before it, and tells
// so.
func (c *converter) joins(last, t *content.Turn) bool {
	if last == nil || last.Role != t.Role || len(t.Parts) == 0 {
		return false
	}
	switch {
	case t.Role == content.User && hasResult(t.Parts):
		c.lost(joinedResults)
		return true
	case t.Role == content.Assistant && c.calling:
		c.lost(joinedCalls)
		return true
	}
	return false
}

// signed gives the first call of a step a signature if the target needs one and
// it has none, and reports whether it did. In earlier turns the vendor does not
// look at it; it is there all the same, so that a conversation begins with the
// same bytes each time.
func (c *converter) signed(from, t *content.Turn, later bool, i int) bool {
	if !c.target.SignedCalls || later || t.Role != content.Assistant {
		return false
	}
	at := slices.IndexFunc(t.Parts, isCall)
	if at < 0 {
		return false
	}
	call := t.Parts[at].(*content.ToolUse)
	if call.Signature.Format == Format && call.Signature.Data != "" {
		return false
	}
	c.path.Push("parts")
	c.path.PushIndex(slices.IndexFunc(from.Parts, isCall))
	if i >= c.current {
		c.lost(lostThought, "signature")
	} else {
		c.lost(lostEarlier, "signature")
	}
	c.path.Pop()
	c.path.Pop()
	q := *call
	q.Signature = content.Signature{Format: Format, Data: bypass}
	t.Parts = slices.Clone(t.Parts)
	t.Parts[at] = &q
	return true
}

// currentTurn returns where the current turn of the conversation begins, as the
// vendor sees it: with the last words of the user that are not results.
func currentTurn(turns []content.Turn, clearing codec.Clearing) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == content.Assistant || clearing.Cleared(i, &turns[i]) {
			continue
		}
		for _, p := range turns[i].Parts {
			if _, result := p.(*content.ToolResult); !result {
				return i
			}
		}
	}
	return 0
}

func isCall(p content.Part) bool {
	u, ok := p.(*content.ToolUse)
	return ok && u != nil
}

func hasCall(parts []content.Part) bool { return slices.ContainsFunc(parts, isCall) }

func hasResult(parts []content.Part) bool {
	return slices.ContainsFunc(parts, func(p content.Part) bool {
		_, ok := p.(*content.ToolResult)
		return ok
	})
}
