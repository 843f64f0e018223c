package generatecontent

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/cleared"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
)

// bypass is what the vendor documents for a call whose signature is not known. It
// is sent literally: Vertex refuses it as base64.
const bypass = "skip_thought_signature_validator"

// turns converts turns. One that has nothing left is left out. What the assistant
// says in turns that follow one another is one turn. The vendor wants the results
// of a step in one turn, too, right behind that of the calls.
func (c *converter) turns(turns []content.Turn) []content.Turn {
	turns = envelope.AttachSignatures(Format, turns)
	gone := cleared.Find(turns)
	c.current = currentTurn(turns, gone)
	for c.answers = len(turns) - 1; c.answers >= 0 && turns[c.answers].Role != content.RoleAssistant; {
		c.answers--
	}
	list := turns[:0:len(turns)] // the beginning of turns while nothing has changed
	own := false
	var grown, called bool // the last of list: whether its parts are its own, and whether there is a call among them
	for i := range turns {
		if gone.Contains(i, &turns[i]) {
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
		changed = c.signed(&turns[i], &t, joins && called, i) || changed
		switch {
		case len(t.Parts) == 0:
			if !allTaken(turns[i].Parts) {
				c.lost(emptyTurn)
			}
			changed = true
		case joins && codec.Own(t.Extra, Format) != nil:
			c.lost(joinedMembers, "extra")
		}
		c.path.Pop()
		if (changed || joins) && !own {
			own, list = true, append(make([]content.Turn, 0, len(turns)), list...)
		}
		if len(t.Parts) == 0 {
			continue
		}
		called = joins && called || hasCall(t.Parts)
		switch {
		case joins:
			last := lastOf(list)
			if !grown {
				last.Parts = slices.Clip(last.Parts)
			}
			last.Parts = append(last.Parts, t.Parts...)
		case !own:
			list = turns[:i+1]
		default:
			list = append(list, t)
		}
		grown = joins
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
	if t.Role == content.RoleSystem {
		t.Role, changed = content.RoleUser, true
	}
	if t.Role == content.RoleAssistant && (last == nil || last.Role != content.RoleAssistant) {
		c.calls, c.byID, c.results = nil, nil, 0
	}
	c.empty = t.Role == content.RoleUser && isSilent(t.Parts)
	told := len(c.Losses.Losses)
	c.path.Push("parts")
	parts, other := c.parts(t.Parts, from.Role)
	c.path.Pop()
	t.Parts = parts
	switch {
	case from.Role == content.RoleSystem && len(parts) > 0:
		c.lost(systemTurn)
	case from.Role == content.RoleUser && len(parts) == 0 && (last == nil || last.Role != content.RoleUser) &&
		slices.ContainsFunc(c.Losses.Losses[told:], dropped) && c.at < c.answers:
		c.lost(heldTurn) // the vendor wants turns to alternate, and one to begin with
		t.Parts = []content.Part{&content.Text{Text: held}}
	}
	if t.Role == content.RoleAssistant {
		for _, p := range parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil {
				c.calls, c.byID = append(c.calls, u), nil
			}
		}
	}
	return t, changed || other
}

// held stands in an earlier turn of the user of which nothing is left. No other
// words stand in the place of what the model is asked.
const held = "[Here was something that you cannot be shown.]"

func dropped(l content.Loss) bool { return l.Severity == content.LossDropped }

// row looks whether there is a call in one of the turns that the assistant has
// in a row.
func (c *converter) row(turns []content.Turn, i int) {
	if i < c.rowEnd {
		return
	}
	c.calling = false
	for c.rowEnd = i; c.rowEnd < len(turns) && turns[c.rowEnd].Role == content.RoleAssistant; c.rowEnd++ {
		c.calling = c.calling || hasCall(turns[c.rowEnd].Parts)
	}
	c.rowEnd = max(c.rowEnd, i+1)
}

// joins reports whether t is one turn with the one before it: clients keep each
// piece of a streamed answer as a turn of its own. It tells so where the place of
// calls or results depends on it. Members of this format's keep a turn apart that
// may stand alone.
func (c *converter) joins(last, t *content.Turn) bool {
	if last == nil || last.Role != t.Role || len(t.Parts) == 0 {
		return false
	}
	switch {
	case t.Role == content.RoleUser && hasResult(t.Parts):
		c.lost(joinedResults)
		return true
	case t.Role == content.RoleAssistant && c.calling:
		c.lost(joinedCalls)
		return true
	}
	return t.Role == content.RoleAssistant && codec.Own(t.Extra, Format) == nil
}

// signed gives the first call of a step a signature if the target needs one and
// it has none, and reports whether it did. In earlier turns the vendor does not
// look at it; it is there all the same, so that a conversation begins with the
// same bytes each time.
func (c *converter) signed(from, t *content.Turn, later bool, i int) bool {
	if !c.target.SignedCalls || later || t.Role != content.RoleAssistant {
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
func currentTurn(turns []content.Turn, gone cleared.Turns) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == content.RoleAssistant || gone.Contains(i, &turns[i]) {
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
