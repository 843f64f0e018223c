package handler

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Members are members of objects, from one or more Extras, in the order they
// came. Of several values of one name the last counts, in the first one's
// place. Adding an Extra takes time in proportion to what there is then; the
// other methods look at all members.
type Members []Member

// A Member is a name and its value as JSON text.
type Member struct{ Name, JSON string }

// Add adds the members of x, if they are of the format f. It reports whether
// they are another's. What is no object has no members.
func (m *Members) Add(x *content.Extra, f content.Format) (foreign bool) {
	if x == nil {
		return false
	}
	if x.Format != f {
		return true
	}
	doc, err := jsonwire.Parse(x.JSON, jsonwire.Limits{})
	if err != nil {
		return false
	}
	defer doc.Close()
	if doc.Root().Len() < fewMembers {
		for name, v := range doc.Root().Members() {
			m.Set(name, v.Raw())
		}
		return false
	}
	at := make(map[string]int, len(*m)) // of those that were there
	for i, x := range *m {
		at[x.Name] = i
	}
	for name, v := range doc.Root().Members() { // each once
		if i, ok := at[name]; ok {
			(*m)[i].JSON = v.Raw()
		} else {
			*m = append(*m, Member{name, v.Raw()})
		}
	}
	return false
}

// fewMembers are compared one after another.
const fewMembers = 16

// Set sets a member.
func (m *Members) Set(name, json string) {
	for i := range *m {
		if (*m)[i].Name == name {
			(*m)[i].JSON = json
			return
		}
	}
	*m = append(*m, Member{name, json})
}

// Get returns the value of a member; "" if there is none.
func (m Members) Get(name string) string {
	for i := range m {
		if m[i].Name == name {
			return m[i].JSON
		}
	}
	return ""
}

// Take returns the value of a member and removes it; "" if there is none, or
// if it is null.
func (m *Members) Take(name string) string {
	for i := range *m {
		if (*m)[i].Name == name {
			json := (*m)[i].JSON
			*m = append((*m)[:i], (*m)[i+1:]...)
			if json == "null" {
				return ""
			}
			return json
		}
	}
	return ""
}

// Extra returns all members as an Extra of the format f; nil if there is none.
func (m Members) Extra(f content.Format) *content.Extra {
	if len(m) == 0 {
		return nil
	}
	var w jsonwire.Writer
	w.BeginObject()
	for _, x := range m {
		w.Name(x.Name)
		w.Raw(x.JSON)
	}
	w.EndObject()
	return &content.Extra{Format: f, JSON: w.Text()}
}
