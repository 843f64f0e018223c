package codec

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Tier returns the tier of service that the members of a usage name, if it is
// one that all formats know: "standard" or "priority". Otherwise it is empty.
func Tier(x *content.Extra) string {
	if x == nil || !strings.Contains(x.JSON, `ier"`) { // to spare those that name none
		return ""
	}
	doc := Open(x, x.Format)
	if doc == nil {
		return ""
	}
	defer doc.Close()
	for name, v := range doc.Root().Members() {
		if isTier(name, v) {
			return v.Str()
		}
	}
	return ""
}

// isTier reports whether a member of a usage names such a tier, as one format or
// the other calls it.
func isTier(name string, v jsonwire.Value) bool {
	return (name == "service_tier" || name == "serviceTier") && (v.Is("standard") || v.Is("priority"))
}

// Counts reports whether the members of a usage that are of another format than
// f say anything that is lost. Nothing is lost of a count that is zero, of a word
// for what is the case where nothing is said, and of what [Tier] tells.
func Counts(x *content.Extra, f content.Format) bool {
	if x == nil || Own(x, f) != nil {
		return false
	}
	doc := Open(x, x.Format)
	if doc == nil {
		return true
	}
	defer doc.Close()
	for name, v := range doc.Root().Members() {
		if !isTier(name, v) && says(v, usual, 0) {
			return true
		}
	}
	return false
}

// usual reports whether a value in a usage is what it is if nothing is said.
func usual(v jsonwire.Value) bool {
	if v.Kind() == jsonwire.Number {
		n, ok := v.Float()
		return ok && n == 0
	}
	switch v.Str() {
	case "standard", "default", "global", "not_available", "ON_DEMAND":
		return true
	}
	return false
}

// mostNested bounds how deep a value is looked at.
const mostNested = 16

// says reports whether a value says anything that is not known: null, false and
// what is empty do not.
func says(v jsonwire.Value, known func(jsonwire.Value) bool, depth int) bool {
	if depth > mostNested {
		return true
	}
	switch v.Kind() {
	case jsonwire.None, jsonwire.Null, jsonwire.False:
		return false
	case jsonwire.Object:
		for _, x := range v.Members() {
			if says(x, known, depth+1) {
				return true
			}
		}
		return false
	case jsonwire.Array:
		for _, x := range v.Elems() {
			if says(x, known, depth+1) {
				return true
			}
		}
		return false
	}
	return !v.Is("") && !known(v)
}
