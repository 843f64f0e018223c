package anthropic

import (
	"fmt"
	"strconv"

	"github.com/polywire/polywire/internal/test/fake"
)

// An ask is a request whose shape is valid.
type ask struct {
	server  *Server
	doc     *fake.Node
	count   bool
	version string
	betas   func(string) bool
	model   model
	turns   []turn
}

// A turn is a run of consecutive messages of one role, messages.md §2.4.
type turn struct {
	role     string
	first    int // index of its first message
	messages []*fake.Node
	blocks   []block
}

// A block is a content block and its path.
type block struct {
	*fake.Node
	at   string // "messages.1.content.0"
	bare bool   // it was a bare string
}

func (b block) kind() string { return b.Text("type") }

func merge(messages []*fake.Node) []turn {
	var turns []turn
	for i, m := range messages {
		role := m.Text("role")
		if len(turns) == 0 || turns[len(turns)-1].role != role {
			turns = append(turns, turn{role: role, first: i})
		}
		t := &turns[len(turns)-1]
		t.messages = append(t.messages, m)
		t.blocks = append(t.blocks, blocksOf(m, i)...)
	}
	return turns
}

func blocksOf(m *fake.Node, i int) []block {
	c := m.Get("content")
	at := "messages." + strconv.Itoa(i) + ".content"
	if c != nil && c.Kind == fake.String {
		text := &fake.Node{Kind: fake.String, Str: "text"}
		n := &fake.Node{Kind: fake.Object, Keys: []string{"type", "text"}, Items: []*fake.Node{text, c}}
		return []block{{n, at, true}}
	}
	var out []block
	for k, n := range m.List("content") {
		out = append(out, block{n, at + "." + strconv.Itoa(k), false})
	}
	return out
}

// blocks calls f for each content block of the conversation until f returns a
// complaint.
func (a *ask) blocks(f func(t turn, b block) string) string {
	for _, t := range a.turns {
		for _, b := range t.blocks {
			if s := f(t, b); s != "" {
				return s
			}
		}
	}
	return ""
}

// allBlocks calls f for each block with its path, including nested blocks.
func (a *ask) allBlocks(f func(at string, n *fake.Node) string) string {
	return a.blocks(func(_ turn, b block) string { return walk(b.at, b.Node, f) })
}

func walk(at string, n *fake.Node, f func(string, *fake.Node) string) string {
	if s := f(at, n); s != "" {
		return s
	}
	inner, member := n.Get("content"), "content"
	if n.Text("type") == "document" {
		inner, member = n.Get("source").Get("content"), "source.content.content"
	}
	if inner == nil || inner.Kind != fake.Array {
		return ""
	}
	for i, c := range inner.Items {
		if c.Kind != fake.Object {
			continue
		}
		if s := walk(fmt.Sprintf("%s.%s.%s.%d", at, n.Text("type"), member, i), c, f); s != "" {
			return s
		}
	}
	return ""
}

func (a *ask) tools() []*fake.Node { return a.doc.List("tools") }

func (a *ask) effort() string { return a.doc.Get("output_config").Text("effort") }

// thinking returns the thinking mode, "" if there is none.
func (a *ask) thinking() string { return a.doc.Get("thinking").Text("type") }

func (a *ask) forced() bool {
	kind := a.doc.Get("tool_choice").Text("type")
	return kind == "any" || kind == "tool"
}

func (a *ask) latest() bool { return a.version == "2026-10-21" }

// A rule is a check beyond the shape of the body. check returns the vendor's
// error text.
type rule struct {
	name, ref string // ref is the section of messages.md, unless another document is named
	status    int
	check     func(*ask) string
}

func rules() []rule {
	var all []rule
	for _, part := range [][]rule{topRules, thinkingRules, turnRules, toolRules, blockRules, signatureRules} {
		all = append(all, part...)
	}
	return all
}
