package anthropic

import "strings"

// A family is what a model's name tells of what the model takes. The zero
// family is that of names that are not known.
type family struct {
	line    string // "opus", "sonnet", "haiku", "fable" or "mythos"
	version int    // 45 is 4.5
}

// familyOf reads a model's name, whatever stands in front of "claude-" and
// behind the version.
func familyOf(model string) family {
	_, rest, ok := strings.Cut(strings.ToLower(model), "claude-")
	if !ok {
		return family{}
	}
	var f family
	var digits []int
	for _, step := range strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' }) {
		switch {
		case step == "opus", step == "sonnet", step == "haiku", step == "fable", step == "mythos":
			f.line = step
		case len(step) == 1 && '0' <= step[0] && step[0] <= '9':
			if len(digits) < 2 {
				digits = append(digits, int(step[0]-'0'))
			}
		case f.line != "" && len(digits) > 0:
			return f.of(digits) // a date, or a name of the host's
		}
	}
	return f.of(digits)
}

func (f family) of(digits []int) family {
	if f.line == "" || len(digits) == 0 {
		return family{}
	}
	f.version = digits[0] * 10
	if len(digits) > 1 {
		f.version += digits[1]
	}
	return f
}

func (f family) known() bool { return f.version > 0 }

func (f family) is(line string, version int) bool { return f.line == line && f.version == version }

// mythical reports whether f is of the lines whose thinking is always on.
func (f family) mythical() bool { return f.line == "fable" || f.line == "mythos" }

// budgets reports whether thinking can have a budget.
func (f family) budgets() bool { return !f.known() || f.version >= 37 && f.version <= 46 }

// adapts reports whether a model can think as much as it sees fit.
func (f family) adapts() bool { return !f.known() || f.version >= 46 }

// ponders reports whether a model thinks without being told to.
func (f family) ponders() bool { return f.mythical() || f.version >= 50 }

// rests reports whether thinking can be switched off.
func (f family) rests() bool {
	return !f.known() || !f.mythical() && !f.is("opus", 55) && !f.is("sonnet", 55)
}

// between reports whether a model can think between calls only.
func (f family) between() bool { return !f.known() || f.is("sonnet", 55) }

// thinks reports whether a model can think at all.
func (f family) thinks() bool { return !f.known() || f.version >= 37 }

// efforts reports whether a model takes an effort.
func (f family) efforts() bool { return !f.known() || f.version >= 46 || f.is("opus", 45) }

// samples reports whether a model takes sampling parameters.
func (f family) samples() bool { return f.version <= 46 }

// oneSampler reports whether a model takes temperature or top_p, not both.
func (f family) oneSampler() bool { return f.version >= 45 }

// continues reports whether a model goes on with an answer that was begun.
func (f family) continues() bool { return f.version < 46 }

// opens reports whether a conversation may begin with the assistant.
func (f family) opens() bool { return !f.known() || f.version >= 45 }

// forced reports whether a model can be made to call a tool.
func (f family) forced() bool {
	return !f.is("opus", 55) && !f.is("sonnet", 55) && (!f.mythical() || f.version < 51)
}

// systemTurns reports whether a model surely takes system turns amid a
// conversation.
func (f family) systemTurns() bool {
	return f.mythical() || f.is("opus", 48) || f.is("opus", 50) || f.is("opus", 55)
}

// most returns how many tokens a response of a model can have, 0 if that is not
// known.
func (c *Client) most(model string) int64 {
	if n, ok := c.limits.Of(model); ok {
		return n
	}
	return familyOf(model).most()
}

// most returns how many tokens a response can have, 0 if that is not known.
func (f family) most() int64 {
	switch {
	case f.version == 0:
		return 0
	case f.version < 35:
		return 4096
	case f.version < 37:
		return 8192
	case f.line == "opus" && f.version < 45:
		return 32000
	case f.version < 46:
		return 64000
	}
	return 128000
}
