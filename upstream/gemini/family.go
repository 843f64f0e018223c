package gemini

import (
	"strings"

	"github.com/polywire/polywire/internal/adapter"
)

// A family is what the name of a model tells of what it takes. Names that tell
// nothing are those of new models, or of other vendors' on servers that only
// resemble this one.
type family struct {
	major, minor int // 0.0 is unknown
	kind         kind
}

// A kind is one of the sizes that a generation comes in.
type kind uint8

const (
	other kind = iota
	pro
	flash
	flashLite
	image
)

// familyOf reads a name such as "gemini-2.5-flash-lite-preview", whatever
// stands before its last slash.
func familyOf(model string) family {
	name := model[strings.LastIndexByte(model, '/')+1:]
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		return family{}
	}
	var f family
	f.major, rest = digits(rest)
	if minor, ok := strings.CutPrefix(rest, "."); ok {
		f.minor, rest = digits(minor)
	}
	switch rest = strings.TrimPrefix(rest, "-"); {
	case strings.Contains(rest, "image"):
		f.kind = image
	case strings.HasPrefix(rest, "pro"):
		f.kind = pro
	case strings.HasPrefix(rest, "flash-lite"):
		f.kind = flashLite
	case strings.HasPrefix(rest, "flash"):
		f.kind = flash
	}
	return f
}

// digits reads a number of up to three digits, and returns what is behind it.
func digits(s string) (n int, rest string) {
	i := 0
	for i < len(s) && i < 3 && '0' <= s[i] && s[i] <= '9' {
		n = 10*n + int(s[i]-'0')
		i++
	}
	return n, s[i:]
}

// before reports whether the family is known, and older than a version.
func (f family) before(major, minor int) bool {
	return f.major > 0 && (f.major < major || f.major == major && f.minor < minor)
}

// since reports whether the family is known to be a version or newer.
func (f family) since(major int) bool { return f.major >= major }

// budgets returns the bounds of thinking of a model that takes budgets only,
// and whether it can do without.
func (f family) budgets() (low, high int64, off, known bool) {
	if f.major != 2 || f.minor != 5 {
		return 0, 0, false, false
	}
	switch f.kind {
	case pro:
		return 128, 32768, false, true
	case flash:
		return 1, 24576, true, true
	case flashLite:
		return 512, 24576, true, true
	}
	return 1, mostBudget, true, true
}

// mostBudget is the highest budget of all.
const mostBudget = 65535

// thinks reports whether a model may be told how to think.
func (f family) thinks() bool { return !f.before(2, 5) && (f.major != 2 || f.kind != image) }

// outputLimits are those of the vendor's models.
var outputLimits = adapter.OutputLimits{
	"gemini-1.5": 8192, "gemini-2.0": 8192,
	"gemini-2.5": 65536, "gemini-2.5-flash-image": 32768,
	"gemini-3": 65536, "gemini-3-pro-image": 32768,
}

// most returns how many tokens a response of a model can have, 0 if that is not
// known.
func (c *Client) most(model string) int64 {
	n, ok := c.limits.Of(model)
	if !ok {
		n, _ = outputLimits.Of(model)
	}
	return n
}
