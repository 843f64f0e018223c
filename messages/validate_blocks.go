package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

const (
	idPattern         = "^[a-zA-Z0-9_-]+$"
	serverIDPattern   = "^srvtoolu_[a-zA-Z0-9_]+$"
	textUserCitations = "citations are not permitted on text blocks of user messages in this version"
)

// place returns the path of the message that the path is in.
func (v *validator) place() string {
	outer := v.path
	outer.Truncate(2)
	return outer.At()
}

// kindOf returns the wire's name of a part, and where it may stand.
func (v *validator) kindOf(p content.Part) (kind string, where places) {
	switch p := p.(type) {
	case *content.Text:
		return "text", inUser | inAssistant | inSystem | inResult | inContent
	case *content.Image:
		return "image", inUser | inResult | inContent
	case *content.Document:
		if v.is2026() {
			return "document", inUser | inResult
		}
		return "document", inUser | inResult | inAssistant
	case *content.SearchResult:
		return "search_result", inUser | inResult
	case *content.Thinking:
		if p.Redacted != (content.Signature{}) {
			return "redacted_thinking", inAssistant
		}
		return "thinking", inAssistant
	case *content.ToolUse:
		return "tool_use", inAssistant
	case *content.ToolResult:
		return "tool_result", inUser
	case *content.ServerToolUse:
		return p.Kind, inAssistant
	case *content.ServerToolResult:
		return p.Kind, inAssistant
	case *content.Media:
		return "media", 0
	case *content.Unknown:
		if b := rawBlockOf(p.Kind); b != nil {
			return p.Kind, b.where
		}
		return p.Kind, inUser | inAssistant | inSystem | inResult | inContent
	}
	return "unknown", 0
}

// formatOf returns whose words a part is told in, empty for everyone's.
func formatOf(p content.Part) content.Format {
	switch p := p.(type) {
	case *content.ServerToolUse:
		return p.Format
	case *content.ServerToolResult:
		return p.Format
	case *content.Unknown:
		return p.Format
	}
	return ""
}

// part checks one block. The path is at it, without its tag.
func (v *validator) part(p content.Part, where places) {
	if content.IsNil(p) {
		v.violation(content.CodeMissing, textObject)
		return
	}
	kind, allowed := v.kindOf(p)
	if u, ok := p.(*content.Unknown); ok && kind == "" && (!v.made && u.Raw != "") {
		return // the parser could make nothing of it, and has told so
	}
	_, raw := p.(*content.Unknown)
	switch f := formatOf(p); {
	case kind == "" || allowed == 0 || f != "" && f != Format:
		v.badTag(content.CodeUnsupported, kind, where)
		return
	case allowed&where == 0:
		v.badTag(content.CodeOrder, kind, where)
		return
	case raw && v.opts.Strict && rawBlockOf(kind) == nil:
		v.badTag(content.CodeUnknown, kind, where)
		return
	}
	v.path.Push(kind)
	v.block(p, where)
	v.path.Pop()
}

// badTag reports a block that may not stand here.
func (v *validator) badTag(code content.Code, kind string, where places) {
	text := ""
	if v.violations.Len() < content.MaxViolations { // else it is not looked at
		text = quoteTag(kind, tagsIn(where))
	}
	v.violation(code, text)
}

// block checks a block that is where it may be.
func (v *validator) block(p content.Part, where places) {
	switch p := p.(type) {
	case *content.Text:
		v.text(p, where)
	case *content.Image:
		v.source(p.Source, true)
		v.extra(p.Extra, imageFields)
	case *content.Document:
		v.document(p)
	case *content.SearchResult:
		v.searchResult(p)
	case *content.Thinking:
		v.thought(p)
	case *content.ToolUse:
		v.hasCalls = true
		if v.need(p.ID, "id") && v.opts.Strict && !isName(p.ID, len(p.ID)) {
			v.violation(content.CodeValue, textPattern(idPattern), "id")
		}
		v.callName(p.Name)
		v.input(p.Input)
		v.extra(p.Extra, toolUseFields)
	case *content.ToolResult:
		v.toolResult(p)
	case *content.ServerToolUse:
		v.serverToolUse(p)
	case *content.ServerToolResult:
		v.serverToolResult(p)
	case *content.Unknown:
		v.rawBlock(p)
		return // and its mark
	}
	v.mark(cacheOf(p))
}

// cacheOf returns the cache mark of a part, or nil.
func cacheOf(p content.Part) *content.Cache {
	if content.IsNil(p) {
		return nil
	}
	switch p := p.(type) {
	case *content.Text:
		return p.Cache
	case *content.Image:
		return p.Cache
	case *content.Document:
		return p.Cache
	case *content.SearchResult:
		return p.Cache
	case *content.ToolUse:
		return p.Cache
	case *content.ToolResult:
		return p.Cache
	case *content.ServerToolUse:
		return p.Cache
	case *content.ServerToolResult:
		return p.Cache
	}
	return nil
}

func (v *validator) text(t *content.Text, where places) {
	if t.Text == "" {
		if (t.Cache != nil || !v.once[onceEmptyText]) && !v.isUnread(t) {
			v.wholeOnce(onceEmptyText, content.CodeRange, "messages", "text content blocks must be non-empty")
			v.emptyMark(t)
		}
	} else if where&(inResult|inContent) == 0 && where != inAssistant && isBlank(t.Text) { // the vendor writes blank texts itself
		v.wholeOnce(onceBlankText, content.CodeValue, "messages", "text content blocks must contain non-whitespace text")
	}
	if where == inUser && v.is2026() && len(t.Citations) > 0 {
		v.violation(content.CodeUnsupported, textUserCitations, "citations")
	}
	v.citations(t)
	v.extra(t.Extra, nil)
}

func (v *validator) searchResult(s *content.SearchResult) {
	v.path.Push("content")
	v.texts(s.Parts, false)
	v.path.Pop()
	v.citing(s, s.Citations)
	v.extra(s.Extra, nil)
}

// citing notes whether search results ask for citations: all of them or none.
func (v *validator) citing(p *content.SearchResult, on bool) {
	v.cited = v.cited || on
	first, ok := v.firstFound.(*content.SearchResult)
	if !ok {
		v.firstFound = p
	} else if first.Citations != on {
		v.violation(content.CodeConflict, "citations must be enabled for all search results or for none", "citations")
	}
}

func (v *validator) thought(t *content.Thinking) {
	switch {
	case t.Redacted != (content.Signature{}):
		v.need(t.Redacted.Data, "data")
		if t.Text != "" {
			v.violation(content.CodeUnknown, textExtra, "thinking")
		}
	case t.Signature == (content.Signature{}) && v.opts.Strict:
		v.violation(content.CodeMissing, textRequired, "signature")
	case t.Signature.Data == "" && v.opts.Strict && !v.isUnread(t):
		v.path.Pop()
		v.violation(content.CodeValue, "Invalid `signature` in `thinking` block")
		v.path.Push("thinking")
	}
	if t.Extra == nil {
		return
	}
	if text, found := memberText(t.Extra.JSON, cacheName); found && text != "null" && !v.opts.Strict {
		v.violation(content.CodeUnknown, textExtra, cacheName)
	}
	v.extra(t.Extra, nil)
}

// callName checks the name of a call.
func (v *validator) callName(name string) {
	if v.need(name, "name") {
		v.atMost(name, 200, "name")
	}
}

// input checks the arguments of a call; none are an empty object.
func (v *validator) input(json string) {
	if json != "" {
		v.object(json, "input")
	}
}

func (v *validator) toolResult(t *content.ToolResult) {
	v.hasCalls = true
	v.need(t.ID, "tool_use_id")
	if len(t.Parts) > 0 {
		v.path.Push("content")
		for i, p := range t.Parts {
			v.path.PushIndex(i)
			v.part(p, inResult)
			v.path.Pop()
		}
		v.path.Pop()
	}
	v.extra(t.Extra, toolResultFields)
}

var serverCalls = []string{"web_search", "web_fetch", "code_execution", "bash_code_execution",
	"text_editor_code_execution", regexTool, bm25Tool, "advisor"}

func (v *validator) serverToolUse(t *content.ServerToolUse) {
	id := v.need(t.ID, "id")
	v.callName(t.Name)
	v.input(t.Input)
	switch {
	case t.Kind == "mcp_tool_use":
		if _, found := extraMember(t.Extra, "server_name"); !found {
			v.violation(content.CodeMissing, textRequired, "server_name")
		}
		v.extra(t.Extra, mcpUseFields)
		return
	case t.Kind != "server_tool_use":
		v.strictKind(t.Kind)
	case v.opts.Strict:
		rest, ok := strings.CutPrefix(t.ID, "srvtoolu_")
		if id && !(ok && isName(rest, len(rest)) && !strings.Contains(rest, "-")) {
			v.violation(content.CodeValue, textPattern(serverIDPattern), "id")
		}
		v.oneOf(t.Name, serverCalls, "name")
	}
	v.extra(t.Extra, serverUseFields)
}

// strictKind refuses a kind of call or result that the format does not know.
func (v *validator) strictKind(kind string) {
	if !v.opts.Strict {
		return
	}
	v.path.Pop()
	v.badTag(content.CodeUnknown, kind, inAssistant)
	v.path.Push(kind)
}

func extraMember(e *content.Extra, name string) (text string, found bool) {
	if e == nil {
		return "", false
	}
	return memberText(e.JSON, name)
}

func (v *validator) serverToolResult(t *content.ServerToolResult) {
	v.need(t.ID, "tool_use_id")
	mcp := t.Kind == "mcp_tool_result"
	if !serverResult(t.Kind) {
		v.strictKind(t.Kind)
	}
	switch {
	case t.Content == "":
		if !mcp {
			v.violation(content.CodeMissing, textRequired, "content")
		}
	case !v.isJSON(t.Content, "content"): // it has told
	case mcp && strings.IndexByte(`"[`, t.Content[0]) < 0:
		v.violation(content.CodeType, textOrList.kinds.text(), "content")
	case !mcp && strings.IndexByte("{[", t.Content[0]) < 0:
		v.violation(content.CodeType, notText.kinds.text(), "content")
	}
	if mcp {
		v.extra(t.Extra, mcpResFields)
	} else {
		v.extra(t.Extra, serverResFields)
	}
}

// rawBlock checks a block that has no Go type.
func (v *validator) rawBlock(u *content.Unknown) {
	b := rawBlockOf(u.Kind)
	if b == nil && !v.made && !strings.Contains(u.Raw, cacheName) && strings.IndexByte(u.Raw, '\\') < 0 {
		return // there is nothing in it that is known
	}
	doc := v.open(u.Raw)
	if doc == nil {
		return
	}
	defer doc.Close()
	x := doc.Root()
	if x.Kind() != jsonwire.Object {
		v.violation(content.CodeType, textObject)
		return
	}
	if b != nil {
		v.judgeFields(x, b.fields, true)
		if u.Kind == toolAddition && x.Get("tool").Get("type").Is("tool_definition") {
			v.added = true
		}
	}
	if c := x.Get(cacheName); c.Kind() == jsonwire.Object {
		v.markRaw(c)
	}
}
