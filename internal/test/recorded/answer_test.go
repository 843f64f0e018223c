package recorded

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// An answer is the content of a response. The readers in
// answer_messages_test.go and its siblings use only encoding/json; answerOf
// converts what Polywire read.
type answer struct {
	text     string
	thinking string
	calls    []call
	images   []string // in base64
	order    []string // kinds of blocks, those that follow each other once
	usage    *usage   // nil if the response has none

	stop       string             // the stop reason of the format
	reason     content.StopReason // its neutral meaning, or "" if it has none
	candidates int
	refused    bool // the vendor marked the text as a refusal

	complete bool   // ended as its format demands
	several  bool   // the recording holds several responses
	failure  string // an error that the response contains
}

type call struct{ id, name, arguments string }

// usage counts tokens. Prompts include what was read from caches, and outputs
// include thinking.
type usage struct{ prompt, output, cached int64 }

// block records the kind of the next block.
func (a *answer) block(kind string) {
	if n := len(a.order); n == 0 || a.order[n-1] != kind {
		a.order = append(a.order, kind)
	}
}

func (a *answer) addText(s string) {
	if s != "" {
		a.text += s
		a.block("text")
	}
}

func (a *answer) addThinking(s string) {
	if s != "" {
		a.thinking += s
		a.block("thinking")
	}
}

func (a *answer) addCall(c call) {
	a.calls = append(a.calls, c)
	a.block("call")
}

// addImage adds a file, unless the recording shortened it.
func (a *answer) addImage(data string) {
	if _, err := base64.StdEncoding.DecodeString(data); err == nil {
		a.images = append(a.images, data)
		a.block("image")
	}
}

// whole reports whether Polywire must read all of the response: it is neither
// cut nor an error.
func (a *answer) whole() bool { return a.complete && a.failure == "" }

// readAnswer reads a response of a format.
func readAnswer(format content.Format, body string, events bool) (*answer, error) {
	if events {
		switch format {
		case formatMessages:
			return messagesStream(body)
		case formatGenerate:
			return generateStream(body)
		case formatChat:
			return chatStream(body)
		case formatResponses:
			return responsesStream(body)
		}
		return nil, fmt.Errorf("unknown format %q", format)
	}
	v, err := decodeJSON(body)
	if err != nil {
		return nil, err
	}
	switch format {
	case formatMessages:
		return messagesWhole(v), nil
	case formatGenerate:
		if list, ok := v.([]any); ok {
			return generateChunks(list), nil
		}
		return generateChunks([]any{v}), nil
	case formatChat:
		return chatWhole(v), nil
	case formatResponses:
		return responsesWhole(v), nil
	}
	return nil, fmt.Errorf("unknown format %q", format)
}

// answerOf returns what Polywire read from a response.
func answerOf(r *upstream.Response) *answer {
	a := &answer{candidates: 1 + len(r.MoreCandidates), reason: r.Stop.Reason, stop: r.Stop.RawReason}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case *content.Text:
			a.addText(p.Text)
		case *content.Thinking:
			a.addThinking(p.Text)
		case *content.ToolUse:
			input := p.Input
			if p.Freeform { // as clients without free-form tools read it
				input = encodeJSON(map[string]any{"input": p.Text})
			}
			a.addCall(call{p.ID, p.Name, canonicalText(input)})
		case *content.Image:
			a.addImage(sourceData(p.Source))
		case *content.Media:
			a.addImage(sourceData(p.Source))
		}
	}
	a.usage = &usage{prompt: r.Usage.Prompt(), output: r.Usage.Completion(), cached: r.Usage.CacheRead}
	return a
}

func sourceData(s content.Source) string {
	if b, ok := s.(*content.Base64); ok {
		return b.Data
	}
	return ""
}

// An aspect is a property that compare checks on request only.
type aspect int

const (
	withIDs        aspect = 1 << iota // ids of tool calls
	withOrder                         // order of the kinds of blocks
	withImages                        // files
	withCandidates                    // number of candidates
)

// compare describes how got differs from want. reason is the wanted stop
// reason; "" means any.
func compare(want, got *answer, reason content.StopReason, aspects aspect) error {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if want.text != got.text {
		add("text is %s", unequal(want.text, got.text))
	}
	if want.thinking != got.thinking {
		add("thinking is %s", unequal(want.thinking, got.thinking))
	}
	if len(want.calls) != len(got.calls) {
		add("%d tool calls %v, want %d %v", len(got.calls), got.calls, len(want.calls), want.calls)
	} else {
		for i, w := range want.calls {
			g := got.calls[i]
			if aspects&withIDs == 0 || w.id == "" {
				g.id = w.id
			}
			if w.arguments == "null" {
				w.arguments = "{}"
			}
			if g != w {
				add("tool call %d is %v, want %v", i, g, w)
			}
		}
	}
	if want.usage != nil {
		w, g := *want.usage, usage{}
		if got.usage != nil {
			g = *got.usage
		}
		if w != g {
			add("usage is %+v, want %+v", g, w)
		}
	}
	if reason != "" && reason != got.reason {
		add("stop reason is %q (%s), want %q (%s)", got.reason, got.stop, reason, want.stop)
	}
	if aspects&withOrder != 0 {
		if w, g := strings.Join(want.order, " "), strings.Join(got.order, " "); w != g {
			add("blocks are %q, want %q", g, w)
		}
	}
	if aspects&withImages != 0 {
		if w, g := strings.Join(want.images, ","), strings.Join(got.images, ","); w != g {
			add("%d images of %d bytes, want %d of %d", len(got.images), len(g), len(want.images), len(w))
		}
	}
	if aspects&withCandidates != 0 {
		if w, g := max(1, want.candidates), max(1, got.candidates); w != g {
			add("%d candidates, want %d", g, w)
		}
	}
	if list == nil {
		return nil
	}
	return errors.New(strings.Join(list, "; "))
}

// unequal shows where two texts begin to differ.
func unequal(want, got string) string {
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	from := max(0, n-20)
	return fmt.Sprintf("%q, want %q at byte %d (%d bytes, want %d)",
		clip(strings.ToValidUTF8(got[from:], ""), 100), clip(strings.ToValidUTF8(want[from:], ""), 100), from, len(got), len(want))
}

// describeError includes the cause, which clients do not receive.
func describeError(err error) error {
	var e *upstream.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %q (%v)", e.Code, cmp.Or(e.Text, "no text"), e.Err)
	}
	return err
}
