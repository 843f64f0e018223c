package absent

import (
	"strconv"
	"strings"
)

// A Claude describes a Claude model by its name. The zero Claude is that of unknown names.
type Claude struct {
	Line    string // "opus", "sonnet", "haiku", "fable" or "mythos"
	Version int    // 45 is 4.5
}

// ParseClaude parses a model name. Text before "claude-" and after the version is ignored.
func ParseClaude(name string) Claude {
	_, rest, ok := strings.Cut(strings.ToLower(name), "claude-")
	if !ok {
		return Claude{}
	}
	var m Claude
	var digits []int
	for _, step := range strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' }) {
		switch {
		case step == "opus", step == "sonnet", step == "haiku", step == "fable", step == "mythos":
			m.Line = step
		case len(step) == 1 && '0' <= step[0] && step[0] <= '9':
			if len(digits) < 2 {
				digits = append(digits, int(step[0]-'0'))
			}
		case m.Line != "" && len(digits) > 0:
			return m.withVersion(digits) // a date or a suffix
		}
	}
	return m.withVersion(digits)
}

func (m Claude) withVersion(digits []int) Claude {
	if m.Line == "" || len(digits) == 0 {
		return Claude{}
	}
	m.Version = digits[0] * 10
	if len(digits) > 1 {
		m.Version += digits[1]
	}
	return m
}

// AlwaysThinks reports whether thinking is always on.
func (m Claude) AlwaysThinks() bool { return m.Line == "fable" || m.Line == "mythos" }

// KeepsThinking reports whether a model reads the thinking of earlier turns that a request returns,
// by its name. Others read only that of the turn that their tool calls belong to. The source is the
// vendors' documentation: Claude Opus since 4.5, Claude Sonnet since 4.6 and GPT since 5.6.
func KeepsThinking(model string) bool {
	m := ParseClaude(model)
	if m.Line == "opus" && m.Version == 45 || m.Version >= 46 || m.AlwaysThinks() {
		return true
	}
	_, version, _ := strings.Cut(strings.ToLower(model), "gpt-")
	version, _, _ = strings.Cut(version, "-")
	n, err := strconv.ParseFloat(version, 64)
	return err == nil && n >= 5.6
}
