package lower

import (
	"cmp"

	"github.com/polywire/polywire/content"
)

// A free-form tool whose target has none becomes a function with one string, which has the
// name [codec.FreeformInput]. [Restorer] is the way back of its calls.
const freeformSchema = `{"type":"object","properties":{"input":{"type":"string","description":"The whole input of the tool, as plain text."}},"required":["input"]}`

// grammarNames are the names of syntaxes in descriptions.
var grammarNames = map[string]string{"lark": "Lark grammar", "regex": "regular expression"}

// freeform replaces a free-form tool by a function, in place.
func (l *lowering) freeform(t *content.Tool, at Path) {
	l.lose(ToolFreeform, at)
	if g := t.Grammar; g != nil {
		l.lose(ToolGrammar, at.Member("grammar"))
		name := cmp.Or(grammarNames[g.Syntax], "grammar")
		if t.Description != "" {
			t.Description += "\n\n"
		}
		t.Description += "The input must match this " + name + ":\n\n" + g.Definition
	}
	t.Freeform, t.Grammar = false, nil
	t.Input, t.Output, t.Strict = content.Schema{JSON: freeformSchema}, content.Schema{}, nil
	if l.to.Names == nil {
		l.to.Names = new(Names)
	}
	if l.to.Names.freeform == nil {
		l.to.Names.freeform = make(map[toolID]bool)
	}
	l.to.Names.freeform[toolID{t.Namespace, t.Name}] = true
}
