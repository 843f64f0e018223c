package gemini

import (
	"strings"

	"github.com/polywire/polywire/internal/adapter"
)

// A family describes a model by its name. Unknown names are treated as new models,
// or as those of other vendors with a compatible server.
type family struct {
	major, minor int // 0.0 if unknown
	kind         kind
}

// A kind is a size within a generation of models.
type kind uint8

const (
	other kind = iota
	pro
	flash
	flashLite
	image
)

// familyOf parses a name such as "gemini-2.5-flash-lite-preview". Text up to the
// last slash is ignored.
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

// digits parses a number of up to three digits and returns the rest of s.
func digits(s string) (n int, rest string) {
	i := 0
	for i < len(s) && i < 3 && '0' <= s[i] && s[i] <= '9' {
		n = 10*n + int(s[i]-'0')
		i++
	}
	return n, s[i:]
}

// isBefore reports whether the version is known and lower than major.minor.
func (f family) isBefore(major, minor int) bool {
	return f.major > 0 && (f.major < major || f.major == major && f.minor < minor)
}

// isSince reports whether the version is known and at least major.0.
func (f family) isSince(major int) bool { return f.major >= major }

// signsCalls reports whether a model is known to require a signature of the first tool call of
// each step. A name such as gemini-flash-latest is that of a new model.
func signsCalls(model string) bool {
	f := familyOf(model)
	name := model[strings.LastIndexByte(model, '/')+1:]
	return f.isSince(3) || f.major == 0 && strings.HasPrefix(name, "gemini-") && strings.HasSuffix(name, "-latest")
}

// budgets returns the range of thinking budgets of a model without levels. off
// reports whether thinking can be disabled, known whether the model has such a
// range.
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
	return 1, maxBudget, true, true
}

// maxBudget is the highest budget of any model.
const maxBudget = 65535

// hasThinking reports whether the model accepts a thinking configuration.
func (f family) hasThinking() bool { return !f.isBefore(2, 5) && (f.major != 2 || f.kind != image) }

// outputLimits are the maximum output tokens of the vendor's models.
var outputLimits = adapter.OutputLimits{
	"gemini-1.5": 8192, "gemini-2.0": 8192,
	"gemini-2.5": 65536, "gemini-2.5-flash-image": 32768,
	"gemini-3": 65536, "gemini-3-pro-image": 32768,
}

// maxOutput returns the maximum output tokens of a model, or 0 if unknown.
func (c *Client) maxOutput(model string) int64 {
	n, ok := c.outputLimits.Lookup(model)
	if !ok {
		n, _ = outputLimits.Lookup(model)
	}
	return n
}
