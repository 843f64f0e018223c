package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// tools reads the list of tools.
func (p *parser) tools(r *Request, v jsonwire.Value) {
	if !p.list(r, v, "tools") {
		return
	}
	n := v.Len()
	if !p.quota.Tools(n) {
		return
	}
	p.expect(n)
	p.form.tools = len(p.form.free)
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
		p.fault(content.CodeType, "", textObject)
		return
	}
	kind := v.Get("type")
	switch {
	case !kind.Exists(), kind.Is("custom"):
	case kind.Kind() == jsonwire.Null:
	case kind.Kind() != jsonwire.String:
		p.fault(content.CodeType, "type", textString)
		return
	case kind.Is(""):
		p.fault(content.CodeValue, "type", textNotEmpty)
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
			p.note(t, name, x.Raw())
		case "name":
			t.Name = p.text(x, name)
		case "description":
			t.Description = p.optText(t, x, name)
		case "input_schema":
			t.Input.JSON = p.schema(x, name)
		case "strict":
			t.Strict = p.flag(t, x, name)
		case "cache_control":
			t.Cache = p.cache(t, x)
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
		t.Extra = p.extra(t, v, &toolNames)
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

func (p *parser) toolChoice(r *Request, v jsonwire.Value) *ToolChoice {
	c, more := &ToolChoice{}, 0
	if !p.union(r, v, "tool_choice", &c.Type) {
		return nil
	}
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "name":
			c.Name = p.optText(c, x, name)
		case "disable_parallel_tool_use":
			c.DisableParallelToolUse = p.flag(c, x, name)
		default:
			more++
		}
	}
	if c.Type == "tool" && c.Name == "" {
		p.need(v, "name")
	}
	if more > 0 {
		c.Extra = p.extra(c, v, &choiceNames)
	}
	p.leave()
	return c
}

func (p *parser) thinking(r *Request, v jsonwire.Value) *Thinking {
	t, more := &Thinking{}, 0
	if !p.union(r, v, "thinking", &t.Type) {
		return nil
	}
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "budget_tokens":
			t.BudgetTokens = p.optInteger(t, x, name, new(int64))
		case "display":
			t.Display = p.choice(t, x, name, "'summarized' or 'omitted'")
		default:
			more++
		}
	}
	if more > 0 {
		t.Extra = p.extra(t, v, &thinkingNames)
	}
	p.leave()
	return t
}

// union begins the reading of an optional member that is a tagged object: it
// reads its tag and puts both into the path. If it reports false there is
// nothing to read; else leave ends the reading.
func (p *parser) union(r *Request, v jsonwire.Value, name string, tag *string) bool {
	if !p.object(r, v, name) {
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

func (p *parser) metadata(r *Request, v jsonwire.Value) *Metadata {
	if !p.object(r, v, "metadata") {
		return nil
	}
	p.path.Push("metadata")
	m, more := &Metadata{}, 0
	for name, x := range v.Members() {
		if name == "user_id" {
			m.UserID = p.optText(m, x, name)
		} else {
			more++
		}
	}
	if more > 0 {
		m.Extra = p.extra(m, v, &metadataNames)
	}
	p.path.Pop()
	if *m == (Metadata{}) && p.form.body != "" { // it says nothing
		p.note(r, "metadata", v.Raw())
		return nil
	}
	return m
}

func (p *parser) outputConfig(r *Request, v jsonwire.Value) *OutputConfig {
	if !p.object(r, v, "output_config") {
		return nil
	}
	p.path.Push("output_config")
	c, more := &OutputConfig{}, 0
	for name, x := range v.Members() {
		switch name {
		case "effort":
			c.Effort = p.choice(c, x, name, efforts)
		case "format":
			c.Format = p.outputFormat(c, x, name)
		default:
			more++
		}
	}
	if more > 0 {
		c.Extra = p.extra(c, v, &outputConfigNames)
	}
	p.path.Pop()
	if *c == (OutputConfig{}) && p.form.body != "" { // it says nothing
		p.note(r, "output_config", v.Raw())
		return nil
	}
	return c
}

const efforts = "'low', 'medium', 'high', 'xhigh' or 'max'"

func (p *parser) outputFormat(node any, v jsonwire.Value, member string) *OutputFormat {
	if !p.object(node, v, member) {
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
		f.Extra = p.extra(f, v, &outputFormatNames)
	}
	p.path.Pop()
	return f
}
