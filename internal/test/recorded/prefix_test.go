package recorded

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

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

// samePrefixes is check 10. It leaves out requests that fail, and those for which the
// adapter has to declare tools that the request does not declare.
func samePrefixes(d destination, conversation []*upstream.Request) error {
	up, err := d.make(&http.Client{Transport: new(capture)})
	if err != nil {
		return err
	}
	up = anyThinking{up}
	conversation = inlined(conversation)
	var list []*upstream.Request
	for _, n := range conversation {
		if d.format == formatMessages && hasUndeclaredTool(n) {
			continue // Messages demands declarations; they cannot come before the tool calls
		}
		n = n.WithModel(d.model)
		if _, err := upstream.EncodeRequest(context.Background(), up, n); err == nil {
			list = append(list, n)
		}
	}
	for i, j := 0, 0; i < len(list); i = j {
		for j = i + 1; j < len(list) && (d.format == formatMessages || loadedTools(list[i]) == loadedTools(list[j])); j++ {
		}
		if err := upstreamtest.CheckPrefixes(context.Background(), up, list[i:j]...); err != nil || j == len(list) {
			return err
		}
		diff, err := upstream.CacheBreak(context.Background(), up, list[j-1], list[j])
		if err != nil {
			return err
		}
		if diff.Broken && !strings.HasPrefix(diff.WirePath, "tools.") {
			return fmt.Errorf("a tool is loaded: %v at %s", diff, diff.WirePath)
		}
	}
	return nil
}

// loadedTools returns the number of deferred tools that a conversation names. Each that is added
// follows the other tools of a vendor that cannot load tools, so the prompt changes there.
func loadedTools(n *upstream.Request) (loaded int) {
	for _, t := range n.Tools {
		named := func(p content.Part) bool {
			switch p := p.(type) { // other kinds name no tools
			case *content.ToolUse:
				return p.Name == t.Name
			case *content.ToolResult:
				return slices.ContainsFunc(p.Parts, func(p content.Part) bool {
					u, ok := p.(*content.Unknown)
					return ok && strings.Contains(u.Raw, `"`+t.Name+`"`)
				})
			case *content.ServerToolResult:
				return strings.Contains(p.Content, `"`+t.Name+`"`)
			case *content.Unknown:
				return strings.Contains(p.Raw, `"`+t.Name+`"`)
			}
			return false
		}
		if t.Deferred && slices.ContainsFunc(n.Turns, func(t content.Turn) bool { return slices.ContainsFunc(t.Parts, named) }) {
			loaded++
		}
	}
	return loaded
}

// inlined returns the requests with their files, or as they are if some are not available.
func inlined(conversation []*upstream.Request) []*upstream.Request {
	var list []*upstream.Request
	for _, n := range conversation {
		inline, err := n.Inline(context.Background(), nil)
		if err != nil {
			return conversation
		}
		list = append(list, inline)
	}
	return list
}

// An anyThinking ignores that the member thinking changes. Some models of Messages accept
// thinking only if the turn of the last tool calls begins with it, so adapters turn it off
// until the next turn of the user.
type anyThinking struct{ upstream.Upstream }

func (a anyThinking) EncodeRequest(ctx context.Context, r *upstream.Request) (upstream.EncodedRequest, error) {
	e, err := upstream.EncodeRequest(ctx, a.Upstream, r)
	e.Prompt = slices.DeleteFunc(slices.Clone(e.Prompt), func(member string) bool { return member == "thinking" })
	return e, err
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
		list := upstreamtest.Conversation(n)
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
