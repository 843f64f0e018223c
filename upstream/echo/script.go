package echo

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// A script is the response to a request.
type script struct {
	steps    []step
	triggers []trigger // sorted by after
	pause    time.Duration
	stop     upstream.Stop
	color    color.NRGBA // of images
}

// A step writes a part of the response.
type step struct {
	kind  stepKind
	text  string
	times int    // 0 means once
	calls []call // written at the same time
	size  image.Point
}

type stepKind uint8

const (
	stepText stepKind = iota
	stepThink
	stepCall
	stepImage
)

type call struct{ name, input string }

// A trigger waits, or ends the response with an error, after a number of pieces.
type trigger struct {
	after int
	stall time.Duration
	err   *upstream.Error
}

const (
	prefix       = "echo: "
	instructions = "call, cut, describe, fail, image, pause, refuse, repeat, say, stall, stop, think, weave"
	codes        = "invalid, unauthenticated, billing, permission, not_found, method, conflict, too_large, " +
		"rate_limit, quota, internal, unavailable, timeout, overloaded, unsupported, bad_gateway"
	stopReasons = "end, tool_use, max_tokens, stop_sequence, context_window, pause, refusal, safety, recitation, " +
		"malformed_call, compaction, other"
	maxWait   = 24 * time.Hour
	maxRepeat = 1_000_000
)

// contains reports whether name is in a list.
func contains(list, name string) bool { return slices.Contains(strings.Split(list, ", "), name) } // bounded by instructions

// newScript parses the instructions in the texts of the user's last turn, and adds the
// steps that the request asks for without instructions.
func newScript(d *description) (*script, error) {
	sum := sha256.Sum256([]byte(d.text))
	s := &script{color: color.NRGBA{sum[0], sum[1], sum[2], 255}}
	var violations violation.List
	for i, p := range d.last {
		t, ok := p.(*content.Text)
		if !ok || !strings.Contains(t.Text, prefix) {
			continue
		}
		for line := range strings.Lines(t.Text) {
			if line, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), prefix); ok {
				if err := s.parseLine(d, line); err != nil {
					violations.Add(content.CodeValue, at(d.lastPath, i), "echo: "+err.Error())
				}
			}
		}
	}
	if err := violations.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.triggers, func(a, b trigger) int { return cmp.Compare(a.after, b.after) })
	return s, s.complete(d)
}

func (s *script) parseLine(d *description, line string) (err error) {
	verb, rest, _ := strings.Cut(line, " ")
	trimmed := strings.TrimSpace(rest)
	switch verb {
	case "say":
		s.add(step{text: rest})
	case "think":
		s.add(step{kind: stepThink, text: rest})
	case "describe":
		s.add(step{text: d.text})
	case "repeat":
		count, text, _ := strings.Cut(rest, " ")
		times, err := strconv.Atoi(count)
		if err != nil || times < 1 || times > maxRepeat || text == "" {
			return fmt.Errorf("repeat needs a number from 1 to %d and a text, such as \"repeat 3 hello\"", maxRepeat)
		}
		s.add(step{text: text, times: times})
	case "call", "weave":
		calls, err := parseCalls(d.req, trimmed)
		if err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
		size := 1 // of a step
		if verb == "weave" {
			size = len(calls)
		}
		for together := range slices.Chunk(calls, size) {
			s.add(step{kind: stepCall, calls: together})
		}
	case "image":
		size, err := imageSize(trimmed)
		if err != nil {
			return fmt.Errorf("image: %w", err)
		}
		s.add(step{kind: stepImage, size: size})
	case "refuse":
		s.add(step{text: cmp.Or(rest, "This request is refused.")})
		s.stop = upstream.Stop{Reason: content.StopRefusal}
	case "stop":
		if !contains(stopReasons, trimmed) {
			return errors.New("stop needs a reason: " + stopReasons)
		}
		s.stop = upstream.Stop{Reason: content.StopReason(trimmed)}
		if s.stop.Reason == content.StopSequence && len(d.req.StopSequences) > 0 {
			s.stop.Sequence = d.req.StopSequences[0]
		}
	case "pause":
		s.pause, err = parseWait(verb, trimmed)
	case "fail", "cut", "stall":
		err = s.parseTrigger(verb, strings.Fields(rest))
	default:
		err = fmt.Errorf("%q is not an instruction; the instructions are %s", clip(verb, 32), instructions)
	}
	return err
}

func (s *script) add(t step) { s.steps = append(s.steps, t) }

func (s *script) has(kinds ...stepKind) bool {
	return slices.ContainsFunc(s.steps, func(t step) bool { return slices.Contains(kinds, t.kind) }) // one pass
}

// parseTrigger parses the instructions fail, cut and stall.
func (s *script) parseTrigger(verb string, args []string) (err error) {
	arg := ""
	if verb != "cut" && len(args) > 0 {
		arg, args = args[0], args[1:]
	}
	var t trigger
	switch {
	case verb == "cut":
		t.err = &upstream.Error{Code: upstream.CodeUnavailable, Text: "the connection to the model broke", Err: io.ErrUnexpectedEOF}
	case verb == "stall":
		t.stall, err = parseWait(verb, arg)
	case contains(codes, arg):
		t.err = &upstream.Error{Code: upstream.Code(arg), Text: "echo failed as instructed: " + arg}
	default:
		err = errors.New("fail needs a code: " + codes)
	}
	for option := range slices.Chunk(args, 2) {
		name, value := option[0], option[len(option)-1] // without a value, the name
		switch {
		case err != nil:
			return err
		case name == "after":
			if t.after, err = strconv.Atoi(value); err != nil || t.after < 0 {
				return fmt.Errorf("%s: after needs a number of pieces, such as 2", verb)
			}
		case name == "retry" && verb == "fail":
			t.err.RetryAfter, err = parseWait("fail: retry", value)
		default:
			return fmt.Errorf("%s has no option %q", verb, clip(name, 32))
		}
	}
	s.triggers = append(s.triggers, t)
	return err
}

func parseWait(verb, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxWait {
		return 0, errors.New(verb + " needs a duration from 0 to 24h, such as 100ms")
	}
	return d, nil
}

// parseCalls parses a list of tool names, each with or without arguments.
func parseCalls(r *upstream.Request, rest string) (calls []call, err error) {
	tools := make(map[string]*content.Tool, len(r.Tools))
	for i := range r.Tools {
		if t := &r.Tools[i]; t.Name != "" && tools[t.Name] == nil {
			tools[t.Name] = t
		}
	}
	for rest = strings.TrimSuffix(rest, ",") + ","; rest != ""; rest = strings.TrimSpace(rest[1:]) {
		end := strings.IndexAny(rest, ",{")
		name := strings.TrimSpace(rest[:end])
		rest = rest[end:]
		input := ""
		if rest[0] == '{' {
			gjson.ForEachLine(rest, func(v gjson.Result) bool { input = v.Raw; return false }) // the first value
			if !jsonwire.ValidObject(input) {
				return nil, errors.New("arguments must be a JSON object")
			}
			rest = strings.TrimSpace(rest[len(input):])
		}
		if rest[0] != ',' {
			return nil, errors.New("tools must be separated by commas")
		}
		tool := tools[name]
		if tool == nil {
			return nil, fmt.Errorf("the request has no tool %q", clip(name, 64))
		}
		calls = append(calls, call{name, cmp.Or(input, arguments(tool))})
	}
	switch {
	case r.Choice.Mode == content.ChoiceNone:
		return nil, errors.New("the tool choice of the request does not allow tool calls")
	case r.Choice.NoParallel && len(calls) > 1:
		return nil, errors.New("the tool choice of the request allows only one tool call")
	}
	return calls, nil
}
