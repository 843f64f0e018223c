package recorded

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A prompt is the part of a document that vendors cache, in pieces: first the tools
// and the system text, then the turns, each as its role and its parts.
type prompt struct {
	fixed     string
	key       string // of the cache
	turns     []string
	responses int // number of turns of the assistant
	last      int // index in turns of the first piece behind these
}

// promptOf reads the prompt of a document. It omits cache marks, and a text has one
// form, whether it is a string or in a list.
func promptOf(format content.Format, body string) prompt {
	v := withoutMarks(parseJSON(body))
	p := prompt{fixed: encodeJSON(at(v, "tools")), key: stringAt(v, "prompt_cache_key")}
	switch format {
	case formatMessages:
		p.fixed += strings.Join(pieces(at(v, "system")), "")
		p.addTurns(listAt(v, "messages"), "content")
	case formatGenerate:
		p.fixed += encodeJSON(at(v, "systemInstruction"))
		p.addTurns(listAt(v, "contents"), "parts")
	case formatChat:
		p.addTurns(listAt(v, "messages"), "content")
	default:
		p.fixed += stringAt(v, "instructions")
		p.addTurns(listAt(v, "input"), "content")
	}
	return p
}

// withoutMarks returns a value without its cache marks.
func withoutMarks(v any) any {
	switch v := v.(type) {
	case object:
		delete(v, "cache_control")
		delete(v, "prompt_cache_breakpoint")
		for name, x := range v {
			v[name] = withoutMarks(x)
		}
	case []any:
		for i, x := range v {
			v[i] = withoutMarks(x)
		}
	}
	return v
}

// addTurns adds the pieces of turns: for each what is beside its parts, and then its
// parts.
func (p *prompt) addTurns(turns []any, parts string) {
	for _, t := range turns {
		t, _ := t.(object)
		list := pieces(t[parts])
		delete(t, parts)
		p.turns = append(p.turns, encodeJSON(t))
		p.turns = append(p.turns, list...)
		switch role, kind := stringAt(t, "role"), stringAt(t, "type"); {
		case role == "assistant", role == "model", role == "" && !strings.HasSuffix(kind, "_output"):
			p.responses, p.last = p.responses+1, len(p.turns)
		}
	}
}

// pieces returns the parts of a turn.
func pieces(v any) (list []string) {
	switch v := v.(type) {
	case nil:
	case string:
		list = append(list, textPiece+v)
	case []any:
		for _, p := range v {
			if text, ok := at(p, "text").(string); ok && onlyText(p) {
				list = append(list, textPiece+text)
			} else {
				list = append(list, encodeJSON(p))
			}
		}
	default:
		list = append(list, encodeJSON(v))
	}
	return list
}

// textPiece begins the piece of a text.
const textPiece = "text: "

func onlyText(p any) bool {
	for name := range p.(object) {
		if name != "text" && name != "type" {
			return false
		}
	}
	return true
}

// begins checks that a prompt is the beginning of a later one. A text at its end may
// be longer in the later one. If nothing was sent of the response between them, its last
// message became a part of the later one's, and may have another form.
func (p prompt) begins(later prompt) error {
	if p.fixed != later.fixed {
		return fmt.Errorf("tools and system text\n%s\nbecame\n%s", p.fixed, later.fixed)
	}
	if p.key != later.key {
		return fmt.Errorf("the key %q became %q", p.key, later.key)
	}
	turns := p.turns
	if later.responses == p.responses {
		turns = turns[:p.last]
	}
	for i, s := range turns {
		switch {
		case i >= len(later.turns):
			return fmt.Errorf("not sent any more, from piece %d:\n%s", i, excerpt(p.turns[i:]))
		case s == later.turns[i]:
		case i == len(p.turns)-1 && strings.HasPrefix(s, textPiece) && strings.HasPrefix(later.turns[i], s):
		default:
			return fmt.Errorf("from piece %d\n%s\nbecame\n%s", i, excerpt(p.turns[i:]), excerpt(later.turns[i:]))
		}
	}
	return nil
}

// excerpt returns the first pieces of a list.
func excerpt(list []string) string {
	var b strings.Builder
	for _, s := range list[:min(2, len(list))] {
		b.WriteString(clip(s, 400) + "\n")
	}
	return b.String()
}

// beginnings returns the requests that came before n in its conversation: n without
// what follows a user turn that the model responded to. The last is n. A beginning with
// a tool call that has no result is left out.
func beginnings(n *upstream.Request) (list []*upstream.Request) {
	open := make(map[string]bool)
	for i, t := range n.Turns {
		for _, p := range t.Parts {
			switch p := p.(type) {
			case *content.ToolUse:
				open[p.ID] = true
			case *content.ToolResult:
				delete(open, p.ID)
			}
		}
		last := i == len(n.Turns)-1
		if t.Role == content.RoleUser && len(open) == 0 && (last || n.Turns[i+1].Role == content.RoleAssistant) {
			c := *n
			c.Turns = n.Turns[:i+1]
			list = append(list, &c)
		}
	}
	return list
}

// promptSent returns the prompt that a destination gets. It returns nil if the request
// fails, and if the adapter has to declare tools that the request does not declare.
func promptSent(d destination, n *upstream.Request) (*prompt, error) {
	if d.format == formatMessages && hasUndeclaredTool(n) {
		return nil, nil // Messages demands declarations; they cannot come before the tool calls
	}
	up, sent, err := d.encoder()
	if err != nil {
		return nil, err
	}
	e, err := encodeFor(up, sent, n.WithModel(d.model))
	if err != nil || e.err != nil {
		return nil, err
	}
	p := promptOf(d.format, e.body)
	return &p, nil
}

// hasUndeclaredTool reports whether a conversation has a call of a tool that the
// request does not declare.
func hasUndeclaredTool(n *upstream.Request) bool {
	for _, t := range n.Turns {
		for _, p := range t.Parts {
			if u, ok := p.(*content.ToolUse); ok && !slices.ContainsFunc(n.Tools, func(t content.Tool) bool { return t.Name == u.Name }) {
				return true
			}
		}
	}
	return false
}

// samePrefixes is check 10.
func samePrefixes(d destination, conversation []*upstream.Request) error {
	var before *prompt
	for _, n := range conversation {
		now, err := promptSent(d, n)
		if err != nil {
			return err
		}
		if now == nil {
			continue
		}
		if before != nil {
			if err := before.begins(*now); err != nil {
				return fmt.Errorf("up to turn %d: %w", len(n.Turns), err)
			}
		}
		before = now
	}
	return nil
}

// clearsTurns reports whether a request says that turns apply only for a time.
func clearsTurns(document string) bool { return strings.Contains(document, `"clear_at"`) }

func TestPrefixes(t *testing.T) {
	eachRecord(t, translated, func(t *testing.T, r *record) {
		n := asSent(r)
		if n == nil || clearsTurns(r.Request) {
			return
		}
		n.Resolver = new(host)
		list := beginnings(n)
		if len(list) < 2 {
			return
		}
		for _, d := range destinations {
			check(t, r, "10 stable prefix, "+d.name, func() error {
				if err := samePrefixes(d, list); err != nil {
					return err
				}
				return nil
			})
		}
	})
}

// TestConversations does check 10 with pairs of recorded requests of which the second
// continues the first.
func TestConversations(t *testing.T) {
	recordings := corpus(t)
	pairs := 0
	for _, format := range []content.Format{formatMessages, formatGenerate} {
		last := make(map[string]*record) // by file
		for _, r := range recordings[format] {
			file := r.Repo + " " + r.Path
			if !translated(r) || clearsTurns(r.Request) {
				continue
			}
			before := last[file]
			last[file] = r
			if before == nil || !continues(before, r) {
				continue
			}
			list := []*upstream.Request{asSent(before), asSent(r)}
			if list[0] == nil || list[1] == nil {
				continue
			}
			pairs++
			for _, d := range destinations {
				for _, n := range list {
					n.Resolver = new(host)
				}
				if err := samePrefixes(d, list); err != nil {
					t.Errorf("%s and %s, %s: %v", before.ID, r.ID, d.name, err)
				}
			}
		}
	}
	if pairs == 0 {
		t.Error("no recorded request continues another one")
	}
	t.Logf("%d pairs", pairs)
}

// continues reports whether a request has the turns of an earlier one, then more, and
// the same tools, system text and settings.
func continues(before, r *record) bool {
	name := "messages"
	if r.format == formatGenerate {
		name = "contents"
	}
	a, _ := withoutMarks(parseJSON(before.Request)).(object)
	b, _ := withoutMarks(parseJSON(r.Request)).(object)
	x, y := listAt(a, name), listAt(b, name)
	delete(a, name)
	delete(b, name)
	return len(x) < len(y) && encodeJSON(x) == encodeJSON(y[:len(x)]) && encodeJSON(a) == encodeJSON(b)
}
