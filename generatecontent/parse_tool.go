package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// tools reads all tool objects into one list, and remembers where each tool
// stood.
func (p *parser) tools(r *Request, v jsonwire.Value) {
	if size(v) == 0 {
		p.noteEmpty(r, v, "tools")
		return
	}
	n := countTools(v)
	if !p.quota.Tools(max(n, size(v))) {
		return
	}
	p.expect(n)
	if n > 0 {
		r.Tools = make([]content.Tool, 0, n)
		p.form.tools = make([]place, 0, n)
	}
	p.each(v, requestFields, fTools, func(k int, x jsonwire.Value) {
		if p.isObject(x, toolFields) {
			p.tool(r, x, k)
		}
	})
}

// countTools returns how many tools there are in all objects, or more.
func countTools(v jsonwire.Value) (n int) {
	add := func(x jsonwire.Value) {
		for name, y := range x.Members() {
			if toolFields.find(name) == fDeclarations {
				n += size(y)
			} else {
				n++
			}
		}
	}
	add(v)
	for _, x := range v.Elems() {
		add(x)
	}
	return n
}

// tool reads the k-th tool object.
func (p *parser) tool(r *Request, v jsonwire.Value, k int) {
	o := opened{m: toolFields}
	for name, x := range v.Members() {
		i := p.field(&o, name)
		switch {
		case i == fDeclarations:
			if size(x) > 0 {
				p.each(x, toolFields, i, func(n int, y jsonwire.Value) {
					r.Tools = append(r.Tools, content.Tool{})
					p.form.tools = append(p.form.tools, place{k, n})
					p.declaration(&r.Tools[len(r.Tools)-1], y)
				})
			}
		case x.Kind() == jsonwire.Null:
		case name == "": // a tool without a kind would be a function
			p.fault(content.CodeUnknown, p.unknownName(name, "Cannot find field."))
		default:
			t := content.Tool{Kind: name, Format: Format, Raw: x.Raw()}
			if i >= 0 {
				t.Kind, t.Raw = toolFields.camel[i], p.kept(x, toolFields, i, name)
			}
			r.Tools = append(r.Tools, t)
			p.form.tools = append(p.form.tools, place{k, builtIn})
		}
	}
}

// declaration reads a function declaration.
func (p *parser) declaration(t *content.Tool, v jsonwire.Value) {
	m := declFields
	if !p.isObject(v, m) {
		return
	}
	o, more := opened{m: m}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fDeclName:
			t.Name = p.text(t, x, m, i, name)
		case fDeclText:
			t.Description = p.text(t, x, m, i, name)
		case fDeclParams, fDeclParamsJSON:
			p.schema(&t.Input, x, i, name)
		case fDeclResponse, fDeclResponseJSON:
			p.schema(&t.Output, x, i, name)
		default:
			more = true
		}
	}
	if more {
		t.Extra = p.extra(v, m, declTyped)
	}
}

// schema reads a schema in either dialect, of which a function has one.
func (p *parser) schema(s *content.Schema, x jsonwire.Value, i int, name string) {
	text, openAPI := "", declFields.fields[i].kind == kMessage
	if x.Kind() != jsonwire.Null && p.quota.Schema(x.Size()) {
		text = p.kept(x, declFields, i, name)
	}
	switch {
	case text == "":
	case s.JSON != "":
		old := i ^ 1 // the two dialects of a schema are neighbours in the table
		p.fault(content.CodeConflict, declFields.snake[min(i, old)]+" and "+declFields.snake[max(i, old)]+
			" must not both be set")
	default:
		s.JSON, s.OpenAPI = text, openAPI
	}
}

// toolConfig reads how tools may be used.
func (p *parser) toolConfig(r *Request, v jsonwire.Value, name string) *ToolConfig {
	if !p.enter(v, requestFields, fToolConfig, name) {
		return nil
	}
	defer p.path.Pop()
	c, m, o, more := &ToolConfig{}, toolConfigFields, opened{m: toolConfigFields}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fCalling:
			c.FunctionCalling = p.calling(c, x, name)
		case fRetrieval:
			c.RetrievalConfig = p.kept(x, m, i, name)
		case fServerSide:
			c.IncludeServerSideToolInvocations = p.flag(c, x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		c.Extra = p.extra(v, m, toolConfigTyped)
	}
	return c
}

// calling reads which functions to call.
func (p *parser) calling(c *ToolConfig, v jsonwire.Value, name string) *FunctionCalling {
	if !p.enter(v, toolConfigFields, fCalling, name) {
		return nil
	}
	defer p.path.Pop()
	f, m, o, more := &FunctionCalling{}, callingFields, opened{m: callingFields}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fMode:
			f.Mode = p.choice(f, x, m, i, name)
		case fAllowed:
			f.AllowedFunctionNames = p.strings(f, x, m, i)
		default:
			more = true
		}
	}
	if more {
		f.Extra = p.extra(v, m, callingTyped)
	}
	return f
}

// safety reads the filters.
func (p *parser) safety(r *Request, v jsonwire.Value) {
	n := size(v)
	if n == 0 {
		p.noteEmpty(r, v, "safetySettings")
		return
	}
	if !p.quota.Parts(n) {
		return
	}
	r.SafetySettings = make([]SafetySetting, n)
	p.each(v, requestFields, fSafety, func(k int, x jsonwire.Value) {
		s, m, o, more := &r.SafetySettings[k], safetyFields, opened{m: safetyFields}, false
		if !p.isObject(x, m) {
			return
		}
		for name, y := range x.Members() {
			switch i := p.field(&o, name); i {
			case fCategory:
				s.Category = p.choice(s, y, m, i, name)
			case fThreshold:
				s.Threshold = p.choice(s, y, m, i, name)
			default:
				more = true
			}
		}
		if more {
			s.Extra = p.extra(x, m, safetyTyped)
		}
	})
}
