package echo

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A script is what is to be done.
type script struct {
	steps    []step
	triggers []trigger
	pause    time.Duration
	stop     content.StopReason
}

// A step adds to the answer.
type step struct {
	kind  stepKind
	text  string // of an image, what it is about
	times int
	calls []call
	shape shape
}

type stepKind uint8

const (
	stepText stepKind = iota
	stepThink
	stepDescribe // becomes stepText once there is a description
	stepCall
	stepWeave
	stepImage
)

type call struct{ name, input string }

// A trigger happens once so many pieces were written.
type trigger struct {
	after int
	stall time.Duration
	err   error
}

// answers reports whether there is a step that stands for the answer.
func (s *script) answers() bool {
	return slices.ContainsFunc(s.steps, func(t step) bool { return t.kind != stepThink })
}

func (s *script) thinks() bool {
	return slices.ContainsFunc(s.steps, func(t step) bool { return t.kind == stepThink })
}

const (
	prefix  = "echo: "
	known   = "call, cut, describe, fail, image, pause, refuse, repeat, say, stall, stop, think, weave"
	maxWait = 24 * time.Hour
	// maxRepeat bounds how many pieces a single line can ask for.
	maxRepeat = 1_000_000
)

// parseScript reads the instructions in the texts of the user's last turn.
func parseScript(r *upstream.Request) (*script, error) {
	s := &script{}
	n := lastUser(r)
	if n < 0 {
		return s, nil
	}
	var faults content.ViolationList
	for i, p := range r.Turns[n].Parts {
		t, ok := p.(*content.Text)
		if !ok || t == nil || !strings.Contains(t.Text, prefix) {
			continue
		}
		for line := range strings.Lines(t.Text) {
			order, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), prefix)
			if !ok {
				continue
			}
			if text := s.line(r, order); text != "" {
				faults.Add(content.CodeValue, at("turns", n)+at(".parts", i), text)
			}
		}
	}
	slices.SortStableFunc(s.triggers, func(a, b trigger) int { return cmp.Compare(a.after, b.after) })
	return s, faults.Err()
}

// line reads one instruction. It returns what is wrong with it.
func (s *script) line(r *upstream.Request, order string) (fault string) {
	verb, rest, _ := strings.Cut(order, " ")
	switch verb {
	case "say":
		s.steps = append(s.steps, step{kind: stepText, text: rest, times: 1})
	case "think":
		s.steps = append(s.steps, step{kind: stepThink, text: rest, times: 1})
	case "describe":
		s.steps = append(s.steps, step{kind: stepDescribe, times: 1})
	case "repeat":
		count, text, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > maxRepeat || text == "" {
			return fmt.Sprintf("echo: repeat takes a number from 1 to %d and a text", maxRepeat)
		}
		s.steps = append(s.steps, step{kind: stepText, text: text, times: n})
	case "call":
		return s.callLine(r, stepCall, verb, rest)
	case "image":
		shape, ok := shapeOf(strings.TrimSpace(rest))
		if !ok {
			return "echo: image: " + wrongShape
		}
		s.steps = append(s.steps, step{kind: stepImage, shape: shape})
	case "weave":
		return s.callLine(r, stepWeave, verb, rest)
	case "refuse":
		if rest == "" {
			rest = "This request is refused."
		}
		s.steps = append(s.steps, step{kind: stepText, text: rest, times: 1})
		s.stop = content.StopRefusal
	case "stop":
		s.stop = content.StopReason(strings.TrimSpace(rest))
		if !slices.Contains(stopReasons, s.stop) {
			return "echo: stop takes one of " + join(stopReasons)
		}
	case "pause":
		d, err := time.ParseDuration(strings.TrimSpace(rest))
		if err != nil || d < 0 || d > maxWait {
			return "echo: pause takes a duration up to 24h, such as 100ms"
		}
		s.pause = d
	case "fail", "cut", "stall":
		return s.triggerLine(verb, strings.Fields(rest))
	default:
		return fmt.Sprintf("echo: %s is no instruction; known are %s", strconv.Quote(clip(verb, 32)), known)
	}
	return ""
}

var stopReasons = []content.StopReason{
	content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopSequence, content.StopContext,
	content.StopPause, content.StopRefusal, content.StopSafety, content.StopRecitation,
	content.StopMalformedCall, content.StopCompaction, content.StopOther,
}

var codes = []upstream.Code{
	upstream.CodeInvalid, upstream.CodeUnauthenticated, upstream.CodeBilling, upstream.CodePermission,
	upstream.CodeNotFound, upstream.CodeMethod, upstream.CodeConflict, upstream.CodeTooLarge,
	upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeInternal, upstream.CodeUnavailable,
	upstream.CodeTimeout, upstream.CodeOverloaded, upstream.CodeUnsupported, upstream.CodeBadGateway,
}

func join[S ~string](list []S) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(s))
	}
	return b.String()
}

// triggerLine reads fail, cut and stall.
func (s *script) triggerLine(verb string, words []string) (fault string) {
	var t trigger
	failure := &upstream.Error{}
	switch verb {
	case "cut":
		failure.Code, failure.Err = upstream.CodeUnavailable, io.ErrUnexpectedEOF
		failure.Text = "the connection to the model broke"
		t.err = failure
	case "fail":
		if len(words) == 0 || !slices.Contains(codes, upstream.Code(words[0])) {
			return "echo: fail takes one of " + join(codes)
		}
		failure.Code = upstream.Code(words[0])
		failure.Text = "echo was told to fail: " + words[0]
		t.err, words = failure, words[1:]
	case "stall":
		var ok bool
		if t.stall, ok = duration(words, 0); !ok {
			return "echo: stall takes a duration up to 24h, such as 30s"
		}
		words = words[1:]
	}
	for ; len(words) >= 2; words = words[2:] {
		switch words[0] {
		case "after":
			n, err := strconv.Atoi(words[1])
			if err != nil || n < 0 {
				return "echo: " + verb + " … after takes a number of pieces"
			}
			t.after = n
			continue
		case "retry":
			d, ok := duration(words, 1)
			if !ok || verb != "fail" {
				return "echo: fail … retry takes a duration up to 24h, such as 5s"
			}
			failure.RetryAfter = d
			continue
		}
		break
	}
	if len(words) > 0 {
		return fmt.Sprintf("echo: %s does not understand %s", verb, strconv.Quote(clip(words[0], 32)))
	}
	s.triggers = append(s.triggers, t)
	return ""
}

func duration(words []string, i int) (time.Duration, bool) {
	if i >= len(words) {
		return 0, false
	}
	d, err := time.ParseDuration(words[i])
	return d, err == nil && d > 0 && d <= maxWait
}

// callLine reads a list of tools, each with or without arguments.
func (s *script) callLine(r *upstream.Request, kind stepKind, verb, rest string) (fault string) {
	t := step{kind: kind}
	for rest = strings.TrimSpace(rest); rest != ""; {
		end := strings.IndexAny(rest, ",{")
		if end < 0 {
			end = len(rest)
		}
		c := call{name: strings.TrimSpace(rest[:end])}
		rest = rest[end:]
		if strings.HasPrefix(rest, "{") {
			n := objectEnd(rest)
			c.input = rest[:n]
			rest = strings.TrimSpace(rest[n:])
			if err := jsonwire.Valid(c.input, jsonwire.Limits{}); err != nil {
				return "echo: " + verb + ": arguments must be a JSON object"
			}
		}
		if !strings.HasPrefix(rest, ",") && rest != "" {
			return "echo: " + verb + " takes names of tools, each with or without a JSON object, parted by commas"
		}
		rest = strings.TrimSpace(strings.TrimPrefix(rest, ","))
		if fault := c.check(r, verb); fault != "" {
			return fault
		}
		t.calls = append(t.calls, c)
	}
	switch {
	case len(t.calls) == 0:
		return "echo: " + verb + " takes the names of the tools to call"
	case r.Choice.Mode == content.ChoiceNone:
		return "echo: " + verb + ": the tool choice forbids calls"
	case r.Choice.NoParallel && len(t.calls) > 1:
		return "echo: " + verb + ": the tool choice forbids several calls"
	}
	s.steps = append(s.steps, t)
	return ""
}

// check finds the tool that is to be called, and makes its arguments if the
// line has none.
func (c *call) check(r *upstream.Request, verb string) (fault string) {
	for i := range r.Tools {
		if r.Tools[i].Name != c.name || c.name == "" {
			continue
		}
		if c.input != "" {
			return ""
		}
		input, err := arguments(r, i)
		if err != nil {
			return "echo: " + verb + ": no arguments for " + c.name + ": " + err.Error()
		}
		c.input = input
		return ""
	}
	names := make([]string, 0, len(r.Tools))
	for i := range r.Tools {
		names = append(names, r.Tools[i].Name)
	}
	has := "it has no tools"
	if len(names) > 0 {
		has = "it has " + clip(join(names), 400)
	}
	return fmt.Sprintf("echo: %s: the request has no tool %s; %s", verb, strconv.Quote(clip(c.name, 64)), has)
}

// objectEnd returns the length of the JSON object that s begins with, or of s.
// What is in between is checked by others.
func objectEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
