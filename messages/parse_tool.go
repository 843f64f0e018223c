package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// tools reads the list of tools.
func (p *parser) tools(r *Request, v jsonwire.Value) {
	if !p.list(v, "tools") {
		return
	}
	n := v.Len()
	if !p.quota.Tools(n) {
		return
	}
	p.expect(n)
	r.Tools = make([]content.Tool, n)
	p.path.Push("tools")
	for i, x := range v.Elems() {
		p.path.PushIndex(i)
		p.tool(&r.Tools[i], x)
		p.path.Pop()
	}
	p.path.Pop()
}

// tool reads a tool of the caller's, or keeps one of the vendor's.
func (p *parser) tool(t *content.Tool, v jsonwire.Value) {
	if v.Kind() != jsonwire.Object {
		p.violation(content.CodeType, "", textObject)
		return
	}
	kind := v.Get("type")
	switch {
	case !kind.Exists(), kind.Is("custom"):
	case kind.Kind() == jsonwire.Null:
	case kind.Kind() != jsonwire.String:
		p.violation(content.CodeType, "type", textString)
		return
	case kind.Is(""):
		p.violation(content.CodeValue, "type", textNotEmpty)
		return
	default:
		p.serverTool(t, v, kind.Str())
		return
	}
	p.path.Push("custom")
	p.customTool(t, v)
	p.path.Pop()
}

func (p *parser) customTool(t *content.Tool, v jsonwire.Value) {
	more := 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "name":
			t.Name = p.text(x, name)
		case "description":
			t.Description = p.optText(x, name)
		case "input_schema":
			t.Input.JSON = p.schema(x, name)
		case "strict":
			t.Strict = p.flag(x, name)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Name == "" {
		p.need(v, "name")
	}
	if t.Input.JSON == "" {
		p.need(v, "input_schema")
	}
	if more > 0 {
		t.Extra = p.extra(v, &toolNames)
	}
}

// serverTool keeps a tool that the vendor runs or defines.
func (p *parser) serverTool(t *content.Tool, v jsonwire.Value, kind string) {
	t.Kind, t.Format, t.Raw = kind, Format, v.Raw()
	p.path.Push(codec.Clip(kind))
	if name := v.Get("name"); name.Exists() {
		t.Name = p.text(name, "name")
	}
	p.lookAlikes(v, &serverToolNames)
	p.path.Pop()
}

func (p *parser) toolChoice(v jsonwire.Value) *ToolChoice {
	c, more := &ToolChoice{}, 0
	if !p.union(v, "tool_choice", &c.Type) {
		return nil
	}
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "name":
			c.Name = p.optText(x, name)
		case "disable_parallel_tool_use":
			c.DisableParallelToolUse = p.flag(x, name)
		default:
			more++
		}
	}
	if c.Type == "tool" && c.Name == "" {
		p.need(v, "name")
	}
	if more > 0 {
		c.Extra = p.extra(v, &choiceNames)
	}
	p.leave()
	return c
}

func (p *parser) thinking(v jsonwire.Value) *Thinking {
	t, more := &Thinking{}, 0
	if !p.union(v, "thinking", &t.Type) {
		return nil
	}
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "budget_tokens":
			t.BudgetTokens = p.optInteger(x, name, new(int64))
		case "display":
			t.Display = p.choice(x, name, "'summarized' or 'omitted'")
		default:
			more++
		}
	}
	if more > 0 {
		t.Extra = p.extra(v, &thinkingNames)
	}
	p.leave()
	return t
}

// union begins the reading of an optional member that is a tagged object: it
// reads its tag and puts both into the path. If it reports false there is
// nothing to read; else leave ends the reading.
func (p *parser) union(v jsonwire.Value, name string, tag *string) bool {
	if !p.object(v, name) {
		return false
	}
	p.path.Push(name)
	*tag, _ = p.tag(v)
	p.path.Push(codec.Clip(*tag))
	return true
}

func (p *parser) leave() {
	p.path.Pop()
	p.path.Pop()
}

func (p *parser) metadata(v jsonwire.Value) *Metadata {
	if !p.object(v, "metadata") {
		return nil
	}
	p.path.Push("metadata")
	m, more := &Metadata{}, 0
	for name, x := range v.Members() {
		if name == "user_id" {
			m.UserID = p.optText(x, name)
		} else {
			more++
		}
	}
	if more > 0 {
		m.Extra = p.extra(v, &metadataNames)
	}
	p.path.Pop()
	if *m == (Metadata{}) {
		return nil
	}
	return m
}

func (p *parser) outputConfig(v jsonwire.Value) *OutputConfig {
	if !p.object(v, "output_config") {
		return nil
	}
	p.path.Push("output_config")
	c, more := &OutputConfig{}, 0
	for name, x := range v.Members() {
		switch name {
		case "effort":
			c.Effort = p.choice(x, name, efforts)
		case "format":
			c.Format = p.outputFormat(x, name)
		default:
			more++
		}
	}
	if more > 0 {
		c.Extra = p.extra(v, &outputConfigNames)
	}
	p.path.Pop()
	if *c == (OutputConfig{}) {
		return nil
	}
	return c
}

const efforts = "'low', 'medium', 'high', 'xhigh' or 'max'"

func (p *parser) outputFormat(v jsonwire.Value, member string) *OutputFormat {
	if !p.object(v, member) {
		return nil
	}
	p.path.Push(member)
	f, more := &OutputFormat{}, 0
	f.Type, _ = p.tag(v)
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "schema":
			f.Schema = p.schema(x, name)
		default:
			more++
		}
	}
	if f.Schema == "" {
		p.need(v, "schema")
	}
	if more > 0 {
		f.Extra = p.extra(v, &outputFormatNames)
	}
	p.path.Pop()
	return f
}
