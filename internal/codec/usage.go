package codec

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Tier returns the service tier in the members of a usage if it is "standard" or
// "priority", which all formats have. Otherwise it returns "".
func Tier(x *content.Extra) string {
	if x == nil || !strings.Contains(x.JSON, `ier"`) { // most have none: do not parse them
		return ""
	}
	for _, v := range [...]gjson.Result{gjson.Get(x.JSON, "service_tier"), gjson.Get(x.JSON, "serviceTier")} {
		if isSharedTier(v.Str) {
			return v.Str
		}
	}
	return ""
}

// isTier reports whether a member of a usage is such a tier, by the name of either
// format.
func isTier(name string, v jsonwire.Value) bool {
	return (name == "service_tier" || name == "serviceTier") && isSharedTier(v.Str())
}

// isSharedTier reports whether all formats have a service tier.
func isSharedTier(tier string) bool { return tier == "standard" || tier == "priority" }

// HasCounts reports whether the members of a usage are of another format than f and
// have content that is lost. Zero counts, default values and the tier that [Tier]
// returns are not lost.
func HasCounts(x *content.Extra, f content.Format) bool {
	if x == nil || Own(x, f) != nil {
		return false
	}
	doc := Open(x, x.Format)
	if doc == nil {
		return true
	}
	defer doc.Close()
	for name, v := range doc.Root().Members() {
		if !isTier(name, v) && hasContent(v, isDefault, 0) {
			return true
		}
	}
	return false
}

// isDefault reports whether a value in a usage is a default.
func isDefault(v jsonwire.Value) bool {
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

// maxNested is the depth to which values are examined.
const maxNested = 16

// hasContent reports whether a value has any leaf that is not null, false, empty or
// known.
func hasContent(v jsonwire.Value, known func(jsonwire.Value) bool, depth int) bool {
	if depth > maxNested {
		return true
	}
	switch v.Kind() {
	case jsonwire.None, jsonwire.Null, jsonwire.False:
		return false
	case jsonwire.Object:
		for _, x := range v.Members() {
			if hasContent(x, known, depth+1) {
				return true
			}
		}
		return false
	case jsonwire.Array:
		for _, x := range v.Elems() {
			if hasContent(x, known, depth+1) {
				return true
			}
		}
		return false
	}
	return !v.Is("") && !known(v)
}
