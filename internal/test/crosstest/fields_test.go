package crosstest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// TestPartFields checks that every adapter sends or reports each field of each kind of part: with
// another value of the field, the document or the losses differ, unless the part is dropped.
func TestPartFields(t *testing.T) {
	for name, up := range adapters() {
		// sent also reports whether the whole part is dropped or refused.
		sent := func(p content.Part, role content.Role) (got string, dropped bool) {
			r := &upstream.Request{Model: "m", Turns: conversation(p, role)}
			path := "turns.0.parts.1"
			for i, t := range r.Turns {
				if k := slices.Index(t.Parts, p); k >= 0 {
					path = fmt.Sprintf("turns.%d.parts.%d", i, k)
				}
			}
			doc, err := upstream.EncodeRequest(t.Context(), up, r)
			losses, failed := upstream.Preflight(t.Context(), up, r)
			for i := range losses {
				dropped = dropped || slices.Contains(slices.Collect(losses[i].Places()), path)
			}
			return fmt.Sprintln(string(doc.Document), losses), dropped || err != nil || failed != nil
		}
		for _, kind := range partfield.PartNames {
			for _, role := range []content.Role{content.RoleUser, content.RoleAssistant} {
				if kind.Kind == "" || kind.Kind == "tool_use" && role == content.RoleUser {
					continue
				}
				base, dropped := sent(example(kind.Zero), role)
				if dropped {
					continue
				}
				for i := range fieldsOf(example(kind.Zero)) {
					p := example(kind.Zero)
					field := fieldsOf(p)[i]
					field.set()
					if got, _ := sent(p, role); got == base {
						t.Errorf("%s: %s of a %T of the %s is neither sent nor reported:\n%s", name, field.name, p, role, got)
					}
				}
			}
		}
	}
}

// conversation returns turns with p.
func conversation(p content.Part, role content.Role) []content.Turn {
	text := func(role content.Role, parts ...content.Part) content.Turn {
		return content.Turn{Role: role, Parts: append([]content.Part{&content.Text{Text: "a"}}, parts...)}
	}
	if role == content.RoleUser {
		if _, ok := p.(*content.ToolResult); ok {
			return []content.Turn{text(content.RoleUser), text(content.RoleAssistant, &content.ToolUse{ID: "call_1", Name: "f"}), {Role: role, Parts: []content.Part{p}}}
		}
		return []content.Turn{text(role, p)}
	}
	turns := []content.Turn{text(content.RoleUser), text(role, p)}
	if u, ok := p.(*content.ToolUse); ok {
		return append(turns, content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: u.ID, Parts: []content.Part{&content.Text{Text: "b"}}}}})
	}
	return append(turns, text(content.RoleUser))
}

// example returns a valid part of the kind of zero.
func example(zero content.Part) content.Part {
	p, f := partfield.Copy(zero)
	for i, s := range f.Strings {
		switch {
		case s.At == nil || i > 0 && s.Role == partfield.JSON:
		case s.Role == partfield.JSON, s.Role == partfield.Argument:
			*s.At = `{"a":1}`
		case s.Role == partfield.ID:
			*s.At = "call_1"
		case s.Role == partfield.Label, i > 0 && f.Kind != partfield.ToolUse:
		default:
			*s.At = "f"
		}
	}
	if f.Source != nil {
		*f.Source = &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}
		if f.Kind == partfield.Document {
			*f.Source = &content.PlainText{Text: "plain"}
		}
	}
	if f.Parts != nil {
		*f.Parts = []content.Part{&content.Text{Text: `{"zebra":1}`}} // as text
	}
	return p
}

// A settable is a field of a part: its name, and what gives it another value.
type settable struct {
	name string
	set  func()
}

func fieldsOf(p content.Part) (list []settable) {
	f := partfield.Of(p)
	names := partfield.PartNames[f.Kind]
	for i, s := range f.Strings {
		switch {
		case s.At == nil, s.Role == partfield.Label, s.Role == partfield.ID, names.Strings[i] == "other", // of a free-form call
			s.Role == partfield.JSON && f.Parts != nil: // it repeats the parts
		case s.Role == partfield.JSON, s.Role == partfield.Argument:
			list = append(list, settable{names.Strings[i], func() { *s.At = `{"zebra":1}` }})
		default:
			list = append(list, settable{names.Strings[i], func() { *s.At = "zebra" }})
		}
	}
	add := func(has bool, name string, set func()) {
		if has {
			list = append(list, settable{name, set})
		}
	}
	state := content.Signature{Format: "other", Data: "zebra"}
	add(f.On != nil, names.On, func() { *f.On = true })
	add(f.Citations != nil, "citations", func() { *f.Citations = []content.Citation{{Kind: content.CiteWeb, URL: "https://zebra.example"}} })
	add(f.Signature != nil, "signature", func() { *f.Signature = state })
	add(f.Redacted != nil, "redacted", func() { *f.Redacted = state })
	add(f.Cache != nil, "cache", func() { *f.Cache = &content.Cache{} })
	add(f.Extra != nil, "extra", func() { *f.Extra = &content.Extra{Format: "other", JSON: `{"zebra":1}`} })
	return list
}
