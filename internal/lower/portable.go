package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Portable converts blocks and tools of other formats than own to neutral ones, if any
// model can use them: see [foreign.Text] and [foreign.Function]. It returns n if there
// are none, otherwise a copy. Each part stays one part, at its index. It is for encoders that
// do not use [Lower].
func Portable(n *upstream.Request, own content.Format) (*upstream.Request, []Loss) {
	to := n
	var losses []Loss
	if tools, changed := portableTools(n.Tools, own, &losses); changed {
		c := *n
		c.Tools, to = tools, &c
	}
	turns := false
	for i := range n.Turns {
		parts, changed := portableParts(n.Turns[i].Parts, own, In(Turns, i), &losses)
		if !changed {
			continue
		}
		if !turns {
			c := *to
			c.Turns, to, turns = slices.Clone(n.Turns), &c, true
		}
		to.Turns[i].Parts = parts
	}
	return to, losses
}

// portableTools returns tools, or a changed copy.
func portableTools(tools []content.Tool, own content.Format, losses *[]Loss) (list []content.Tool, changed bool) {
	list = tools
	for i := range tools {
		if tools[i].Format == own {
			continue
		}
		f, rule := foreign.Function(&tools[i])
		if rule == nil {
			continue
		}
		if !changed {
			list, changed = slices.Clone(tools), true
		}
		list[i] = f
		*losses = append(*losses, Loss{Rule: rule, Path: In(Tools, i)})
	}
	return list, changed
}

// portableParts returns parts of the object at a path, or a changed copy.
func portableParts(parts []content.Part, own content.Format, at Path, losses *[]Loss) (list []content.Part, changed bool) {
	list = parts
	for i, p := range parts {
		var q content.Part
		switch p := p.(type) {
		case *content.ToolResult:
			if p == nil {
				continue
			}
			inner, other := portableParts(p.Parts, own, at.In(Parts, i), losses)
			if !other {
				continue
			}
			r := *p
			r.Parts, q = inner, &r
		case *content.Unknown:
			if p == nil || p.Format == own {
				continue
			}
			text, rule := foreign.Text(p)
			if rule == nil {
				continue
			}
			q = &content.Text{Text: text}
			*losses = append(*losses, Loss{Rule: rule, Path: at.In(Parts, i)})
		default:
			continue
		}
		if !changed {
			list, changed = slices.Clone(parts), true
		}
		list[i] = q
	}
	return list, changed
}

// AddTo adds losses to log, for encoders that do not use [Lower].
func AddTo(log *loss.Log, losses []Loss) {
	for i := range losses {
		log.Add(losses[i].Rule, losses[i].Path.String())
	}
}
