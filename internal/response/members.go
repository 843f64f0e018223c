package response

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Members are members of one or more Extras, in order. If a name occurs again, its
// value replaces the earlier one in place. Adding an Extra takes time in proportion
// to the members present; the other methods scan all members.
type Members []Member

// A Member is a name and its value as JSON text.
type Member struct{ Name, JSON string }

// Add adds the members of x if x has the format f, and reports whether it has
// another format. If x is not a valid object, nothing is added.
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
	if doc.Root().Len() < maxLinearMembers {
		for name, v := range doc.Root().Members() {
			m.Set(name, v.Raw())
		}
		return false
	}
	at := make(map[string]int, len(*m)) // index of each member that was present
	for i, x := range *m {
		at[x.Name] = i
	}
	for name, v := range doc.Root().Members() { // names are distinct
		if i, ok := at[name]; ok {
			(*m)[i].JSON = v.Raw()
		} else {
			*m = append(*m, Member{name, v.Raw()})
		}
	}
	return false
}

// Up to maxLinearMembers, names are compared one by one.
const maxLinearMembers = 16

// Set adds or replaces a member.
func (m *Members) Set(name, json string) {
	for i := range *m {
		if (*m)[i].Name == name {
			(*m)[i].JSON = json
			return
		}
	}
	*m = append(*m, Member{name, json})
}

// Get returns the value of a member, or "".
func (m Members) Get(name string) string {
	for i := range m {
		if m[i].Name == name {
			return m[i].JSON
		}
	}
	return ""
}

// Take removes a member and returns its value, or "" if it is absent or null.
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

// Extra returns all members as an Extra of format f, or nil if there are no members.
func (m Members) Extra(f content.Format) *content.Extra {
	if len(m) == 0 {
		return nil
	}
	var w jsonwire.Writer
	w.BeginObject()
	for _, x := range m {
		w.RawMember(x.Name, x.JSON)
	}
	w.EndObject()
	return &content.Extra{Format: f, JSON: w.Text()}
}
