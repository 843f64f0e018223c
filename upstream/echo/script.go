package echo

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// A script is the response that the instructions in a request specify.
type script struct {
	steps    []step
	triggers []trigger // sorted by after
	pause    time.Duration
	stop     content.StopReason
}

// A step writes a part of the response.
type step struct {
	kind  stepKind
	text  string
	times int
	calls []call // written at the same time
	ratio ratio
}

type stepKind uint8

const (
	stepText stepKind = iota
	stepDescribe
	stepThink
	stepCall
	stepImage
)

func (t *step) isText() bool { return t.kind == stepText || t.kind == stepDescribe }

type call struct{ name, input string }

// A trigger waits, or ends the response with an error, after a number of pieces.
type trigger struct {
	after int
	stall time.Duration
	err   error
}

const (
	prefix       = "echo: "
	instructions = "call, cut, describe, fail, image, pause, refuse, repeat, say, stall, stop, think, weave"
	maxWait      = 24 * time.Hour
	maxRepeat    = 1_000_000
)

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

// parseScript parses the instructions in the texts of the user's last turn.
func parseScript(r *upstream.Request) (*script, error) {
	s := &script{}
	n := lastUser(r)
	if n < 0 {
		return s, nil
	}
	var violations violation.List
	for i, p := range r.Turns[n].Parts {
		t, ok := p.(*content.Text)
		if !ok || t == nil || !strings.Contains(t.Text, prefix) {
			continue
		}
		for line := range strings.Lines(t.Text) {
			line, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), prefix)
			if !ok {
				continue
			}
			if err := s.parseLine(r, line); err != nil {
				violations.Add(content.CodeValue, at("turns", n)+at(".parts", i), "echo: "+err.Error())
			}
		}
	}
	slices.SortStableFunc(s.triggers, func(a, b trigger) int { return cmp.Compare(a.after, b.after) })
	return s, violations.Err()
}

// lastUser returns the index of the user's last turn, or -1.
func lastUser(r *upstream.Request) int {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		if r.Turns[i].Role == content.RoleUser {
			return i
		}
	}
	return -1
}

func (s *script) parseLine(r *upstream.Request, line string) (err error) {
	verb, rest, _ := strings.Cut(line, " ")
	trimmed := strings.TrimSpace(rest)
	switch verb {
	case "say":
		s.add(step{text: rest, times: 1})
	case "think":
		s.add(step{kind: stepThink, text: rest})
	case "describe":
		s.add(step{kind: stepDescribe, times: 1})
	case "repeat":
		count, text, _ := strings.Cut(rest, " ")
		times, err := strconv.Atoi(count)
		if err != nil || times < 1 || times > maxRepeat || text == "" {
			return fmt.Errorf("repeat needs a number from 1 to %d and a text, such as \"repeat 3 hello\"", maxRepeat)
		}
		s.add(step{text: text, times: times})
	case "call", "weave":
		calls, err := parseCalls(r, trimmed)
		if err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
		if verb == "weave" {
			s.add(step{kind: stepCall, calls: calls})
			break
		}
		for _, c := range calls {
			s.add(step{kind: stepCall, calls: []call{c}})
		}
	case "image":
		ratio, err := parseRatio(trimmed)
		if err != nil {
			return fmt.Errorf("image: %w", err)
		}
		s.add(step{kind: stepImage, ratio: ratio})
	case "refuse":
		s.add(step{text: cmp.Or(rest, "This request is refused."), times: 1})
		s.stop = content.StopRefusal
	case "stop":
		s.stop = content.StopReason(trimmed)
		if !slices.Contains(stopReasons, s.stop) {
			return errors.New("stop needs a reason: " + list(stopReasons))
		}
	case "pause":
		if s.pause, err = parseWait(trimmed); err != nil {
			return fmt.Errorf("pause %w", err)
		}
	case "fail", "cut", "stall":
		return s.parseTrigger(verb, strings.Fields(rest))
	default:
		return fmt.Errorf("%q is not an instruction; the instructions are %s", clip(verb, 32), instructions)
	}
	return nil
}

func (s *script) add(t step) { s.steps = append(s.steps, t) }

// list returns names separated by commas.
func list[T ~string](names []T) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(n))
	}
	return b.String()
}

// parseTrigger parses the instructions fail, cut and stall.
func (s *script) parseTrigger(verb string, args []string) (err error) {
	arg, options := "", args
	if verb != "cut" && len(args) > 0 {
		arg, options = args[0], args[1:]
	}
	var t trigger
	var failure upstream.Error
	switch verb {
	case "cut":
		failure = upstream.Error{Code: upstream.CodeUnavailable, Text: "the connection to the model broke", Err: io.ErrUnexpectedEOF}
		t.err = &failure
	case "fail":
		failure = upstream.Error{Code: upstream.Code(arg), Text: "echo failed as instructed: " + arg}
		t.err = &failure
		if !slices.Contains(codes, failure.Code) {
			return errors.New("fail needs a code: " + list(codes))
		}
	case "stall":
		if t.stall, err = parseWait(arg); err != nil {
			return fmt.Errorf("stall %w", err)
		}
	}
	for len(options) > 0 {
		name, value := options[0], ""
		if options = options[1:]; len(options) > 0 {
			value, options = options[0], options[1:]
		}
		switch {
		case name == "after":
			if t.after, err = strconv.Atoi(value); err != nil || t.after < 0 {
				return fmt.Errorf("%s: after needs a number of pieces, such as 2", verb)
			}
		case name == "retry" && verb == "fail":
			if failure.RetryAfter, err = parseWait(value); err != nil {
				return fmt.Errorf("fail: retry %w", err)
			}
		default:
			return fmt.Errorf("%s has no option %q", verb, clip(name, 32))
		}
	}
	s.triggers = append(s.triggers, t)
	return nil
}

func parseWait(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxWait {
		return 0, errors.New("needs a duration from 0 to 24h, such as 100ms")
	}
	return d, nil
}

// parseCalls parses a list of tool names, each with or without arguments.
func parseCalls(r *upstream.Request, rest string) (calls []call, err error) {
	for rest != "" {
		end := strings.IndexAny(rest, ",{")
		if end < 0 {
			end = len(rest)
		}
		c := call{name: strings.TrimSpace(rest[:end])}
		rest = rest[end:]
		if strings.HasPrefix(rest, "{") {
			end := objectEnd(rest)
			c.input, rest = rest[:end], strings.TrimSpace(rest[end:])
			if !jsonwire.ValidObject(c.input) {
				return nil, errors.New("arguments must be a JSON object")
			}
		}
		if rest != "" && rest[0] != ',' {
			return nil, errors.New("tools must be separated by commas")
		}
		rest = strings.TrimSpace(strings.TrimPrefix(rest, ","))
		tool := slices.IndexFunc(r.Tools, func(t content.Tool) bool { return t.Name == c.name && c.name != "" })
		if tool < 0 {
			return nil, fmt.Errorf("the request has no tool %q", clip(c.name, 64))
		}
		if c.input == "" {
			c.input = arguments(&r.Tools[tool])
		}
		calls = append(calls, c)
	}
	switch {
	case len(calls) == 0:
		return nil, errors.New("the instruction needs the name of a tool")
	case r.Choice.Mode == content.ChoiceNone:
		return nil, errors.New("the tool choice of the request does not allow tool calls")
	case r.Choice.NoParallel && len(calls) > 1:
		return nil, errors.New("the tool choice of the request allows only one tool call")
	}
	return calls, nil
}

// objectEnd returns the length of the JSON object that s begins with.
func objectEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == '{' && !quoted:
			depth++
		case c == '}' && !quoted:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
