package codec

import (
	"strconv"
	"strings"
)

// A Style is a notation for paths.
type Style uint8

const (
	Dotted    Style = iota // messages.2.content.0.source
	Bracketed              // contents[2].parts[0].inline_data
)

// A Path is the position of a parser or validator in a document. It makes a string
// only on request. The zero Path is the whole document, in the dotted style.
type Path struct {
	Style Style
	n     int
	first [8]Step // an array, so that a parser on the stack stays there
	more  []Step  // the steps after first
}

// A Step is one step of a [Path]: a member, an element if Name is empty, or a
// member of a map if Index is negative.
type Step struct {
	Name  string
	Index int
}

// Push enters a member.
func (p *Path) Push(name string) { p.add(Step{Name: name}) }

// PushKey enters a member of a map, whose name the client chose. The bracketed style
// puts it in brackets.
func (p *Path) PushKey(name string) { p.add(Step{Name: name, Index: -1}) }

// PushIndex enters an element.
func (p *Path) PushIndex(i int) { p.add(Step{Index: i}) }

// Pop removes the last step.
func (p *Path) Pop() { p.n-- }

// Depth returns the number of steps.
func (p *Path) Depth() int { return p.n }

// Truncate removes the steps beyond depth.
func (p *Path) Truncate(depth int) { p.n = depth }

func (p *Path) add(s Step) {
	if p.n < len(p.first) {
		p.first[p.n] = s
	} else {
		p.more = append(p.more[:p.n-len(p.first)], s)
	}
	p.n++
}

func (p *Path) step(i int) Step {
	if i < len(p.first) {
		return p.first[i]
	}
	return p.more[i-len(p.first)]
}

// At returns the path, followed by names.
func (p *Path) At(names ...string) string { return string(p.Append(nil, names...)) }

// Append appends the path, followed by names, to b.
func (p *Path) Append(b []byte, names ...string) []byte {
	for i := range p.n {
		b = p.appendStep(b, p.step(i))
	}
	for _, n := range names {
		b = p.appendStep(b, Step{Name: n})
	}
	return b
}

func (p *Path) appendStep(b []byte, s Step) []byte {
	if s.Name == "" && s.Index >= 0 && p.Style == Bracketed {
		b = strconv.AppendInt(append(b, '['), int64(s.Index), 10)
		return append(b, ']')
	}
	if s.Index < 0 && p.Style == Bracketed {
		return append(append(append(b, '['), Clip(s.Name)...), ']')
	}
	if len(b) > 0 {
		b = append(b, '.')
	}
	if s.Name == "" {
		return strconv.AppendInt(b, int64(s.Index), 10)
	}
	return append(b, s.Name...)
}

// StepIndex parses the index at the beginning of the steps of a neutral path.
func StepIndex(steps []string) (int, bool) {
	if len(steps) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(steps[0])
	return n, err == nil && n >= 0
}

// AppendSteps appends steps of a neutral path to a path of the style [Bracketed].
func AppendSteps(b *strings.Builder, steps []string) {
	b.WriteString(JoinSteps(b.String(), steps)[b.Len():])
}

// JoinSteps is AppendSteps for a path that is a text.
func JoinSteps(path string, steps []string) string {
	for i, s := range steps {
		switch _, isIndex := StepIndex(steps[i:]); {
		case isIndex:
			path += "[" + s + "]"
		case path == "" || s == "":
			path += s
		default:
			path += "." + s
		}
	}
	return path
}
