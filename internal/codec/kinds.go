package codec

import (
	"fmt"

	"github.com/polywire/polywire/internal/jsonwire"
)

// Kinds is a set of kinds of JSON values.
type Kinds uint16

// Optional is for members that may be missing or null, Missing for those that may be
// missing.
const (
	Optional = Kinds(1<<jsonwire.None | 1<<jsonwire.Null)
	Missing  = Kinds(1 << jsonwire.None)
	Texts    = Kinds(1 << jsonwire.String)
	Numbers  = Kinds(1 << jsonwire.Number)
	Lists    = Kinds(1 << jsonwire.Array)
	Objects  = Kinds(1 << jsonwire.Object)
)

// Has reports whether k is in the set.
func (s Kinds) Has(k jsonwire.Kind) bool { return s&(1<<k) != 0 }

// IsSet reports whether v is neither missing nor null.
func IsSet(v jsonwire.Value) bool { return !Optional.Has(v.Kind()) }

// IsOn reports whether v is set and not false. A member such as "error" may be false or null.
func IsOn(v jsonwire.Value) bool { return IsSet(v) && v.Kind() != jsonwire.False }

// Expect returns an error if the kind of v is not in want. The error names the member,
// for example "messages: stop_reason".
func Expect(member string, v jsonwire.Value, want Kinds) error {
	if want.Has(v.Kind()) {
		return nil
	}
	if !v.Exists() {
		return fmt.Errorf("%s is missing", member)
	}
	return fmt.Errorf("%s is of the wrong type: %s", member, v.Kind())
}
