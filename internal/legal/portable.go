package legal

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Portable converts blocks and tools of other formats than own to neutral ones, if any
// model can use them: see [foreign.Text] and [foreign.Function]. It returns n if there
// are none, otherwise a copy. Each part stays one part, at its index.
func Portable(n *upstream.Request, own content.Format, log *loss.Log) *upstream.Request {
	to := n
	if tools, changed := portableTools(n.Tools, own, log); changed {
		c := *n
		c.Tools, to = tools, &c
	}
	turns := false
	for i := range n.Turns {
		parts, changed := portableParts(n.Turns[i].Parts, own, func() string { return "turns." + strconv.Itoa(i) + ".parts" }, log)
		if !changed {
			continue
		}
		if !turns {
			c := *to
			c.Turns, to, turns = slices.Clone(n.Turns), &c, true
		}
		to.Turns[i].Parts = parts
	}
	return to
}

// portableTools returns tools, or a changed copy.
func portableTools(tools []content.Tool, own content.Format, log *loss.Log) (list []content.Tool, changed bool) {
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
		log.Add(rule, "tools."+strconv.Itoa(i))
	}
	return list, changed
}

// portableParts returns parts, or a changed copy. at returns their path.
func portableParts(parts []content.Part, own content.Format, at func() string, log *loss.Log) (list []content.Part, changed bool) {
	list = parts
	for i, p := range parts {
		var q content.Part
		switch p := p.(type) {
		case *content.ToolResult:
			if p == nil {
				continue
			}
			inner, other := portableParts(p.Parts, own, func() string { return at() + "." + strconv.Itoa(i) + ".parts" }, log)
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
			log.Add(rule, at()+"."+strconv.Itoa(i))
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
