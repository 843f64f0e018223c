package echo

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

const (
	pieceBytes = 32 // of a word that is longer, such as a line without spaces
	inputBytes = 16 // of arguments
	tokenBytes = 4
)

// A speaker writes an answer in pieces and counts them.
type speaker struct {
	ctx    context.Context
	req    *upstream.Request
	w      *upstream.Writer
	script *script

	begin   func() error // says what is known beforehand; nil once it is done
	pieces  int
	room    int64 // bytes until MaxTokens
	output  int64 // bytes so far
	thought int64
	images  int64
	stop    upstream.Stop
	over    bool // stop says why
	spoke   bool // the last step was a text
}

// speak carries out a script.
func speak(ctx context.Context, r *upstream.Request, w *upstream.Writer, sc *script, prompt int64) error {
	s := &speaker{ctx: ctx, req: r, w: w, script: sc, room: math.MaxInt64}
	if r.MaxTokens != nil && *r.MaxTokens < math.MaxInt64/tokenBytes {
		s.room = max(*r.MaxTokens, 0) * tokenBytes
	}
	s.begin = func() error {
		return w.Start(upstream.Start{Model: r.Model, Usage: &content.Usage{Input: prompt, Estimated: true}})
	}
	for i := range sc.steps {
		if err := s.step(&sc.steps[i]); err != nil {
			return err
		}
		if s.over {
			break
		}
	}
	if err := s.due(math.MaxInt); err != nil {
		return err
	}
	if err := w.Usage(s.usage(prompt)); err != nil {
		return err
	}
	if s.stop.Reason == "" && sc.stop != "" {
		s.stop.Reason = sc.stop
		if sc.stop == content.StopSequence && len(r.StopSequences) > 0 {
			s.stop.Sequence = r.StopSequences[0]
		}
	}
	if s.stop.Reason == "" {
		return nil // the Writer knows whether there were calls
	}
	return w.Stop(s.stop)
}

func (s *speaker) step(t *step) error {
	spoke := s.spoke
	s.spoke = t.kind == stepText
	switch t.kind {
	case stepThink:
		return s.think(t.text)
	case stepCall, stepWeave:
		return s.calls(t.calls, t.kind == stepWeave)
	case stepImage:
		return s.picture(t)
	}
	if spoke {
		if err := s.say("\n", pieceBytes, &s.output, s.w.Text); err != nil {
			return err
		}
	}
	times, rest, sequence := untilSequence(t, s.req.StopSequences)
	for range times {
		if err := s.say(t.text, pieceBytes, &s.output, s.w.Text); err != nil || s.over {
			return err
		}
	}
	if err := s.say(rest, pieceBytes, &s.output, s.w.Text); err != nil || s.over {
		return err
	}
	if sequence != "" {
		s.over, s.stop = true, upstream.Stop{Reason: content.StopSequence, Sequence: sequence}
	}
	return nil
}

// untilSequence returns what of a text comes before the first stop sequence:
// so many times the whole of it, and then a rest.
func untilSequence(t *step, sequences []string) (times int, rest, sequence string) {
	longest := 0
	for _, q := range sequences {
		longest = max(longest, len(q))
	}
	if longest == 0 || t.text == "" {
		return t.times, "", ""
	}
	// In a repetition the first occurrence begins in the first copy: from a
	// later one, the same would be found a copy earlier.
	window := t.text
	if t.times > 1 {
		window = strings.Repeat(t.text, min(t.times, 2+longest/len(t.text)))
	}
	at := -1
	for _, q := range sequences {
		if i := strings.Index(window, q); q != "" && i >= 0 && (at < 0 || i < at) {
			at, sequence = i, q
		}
	}
	if at < 0 {
		return t.times, "", ""
	}
	return 0, t.text[:at], sequence
}

func (s *speaker) think(text string) error {
	if s.req.Thinking.Display == "omitted" {
		// Signature alone might sign what stands before.
		if err := s.ready(); err != nil {
			return err
		}
		return s.w.Part(&content.Thinking{Signature: sign(s.req, "")})
	}
	if text == "" {
		return nil
	}
	before := s.thought
	if err := s.say(text, pieceBytes, &s.thought, s.w.Thinking); err != nil {
		return err
	}
	// What was cut short is signed as it is, so that it can come back.
	if text = text[:s.thought-before]; text == "" {
		return nil
	}
	return s.w.Signature(sign(s.req, text))
}

// sign makes the signature of a thought.
func sign(r *upstream.Request, text string) content.Signature {
	f := Format
	if r.Wire != nil {
		f = r.Wire.Format
	}
	sum := sha256.Sum256([]byte("echo:" + text))
	return content.Signature{Format: f, Data: base64.StdEncoding.EncodeToString(sum[:])}
}

func (s *speaker) calls(calls []call, weave bool) error {
	if !weave {
		for _, c := range calls {
			if err := s.weave([]call{c}); err != nil || s.over {
				return err
			}
		}
		return nil
	}
	return s.weave(calls)
}

// weave writes calls side by side, one piece of each in turn.
func (s *speaker) weave(calls []call) error {
	type running struct {
		to   *upstream.ToolCallWriter
		rest string
	}
	open := make([]running, 0, len(calls))
	for _, c := range calls {
		if err := s.ready(); err != nil {
			return err
		}
		if s.room <= 0 {
			s.full()
			break
		}
		open = append(open, running{s.w.ToolCall("", c.name), c.input})
	}
	for left := len(open); left > 0 && !s.over; {
		left = 0
		for i := range open {
			c := &open[i]
			n := cut(c.rest, inputBytes)
			if err := s.say(c.rest[:n], inputBytes, &s.output, c.to.Input); err != nil {
				return err
			}
			if c.rest = c.rest[n:]; c.rest != "" {
				left++
			}
		}
	}
	for i := range open {
		if err := open[i].to.Close(); err != nil {
			return err
		}
	}
	return nil
}

// say writes text in pieces through put, as far as there is room.
func (s *speaker) say(text string, size int, count *int64, put func(string) error) error {
	for text != "" && !s.over {
		if err := s.ready(); err != nil {
			return err
		}
		n := cut(text, size)
		if int64(n) > s.room {
			s.full()
			for n = int(s.room); n > 0 && !utf8.RuneStart(text[n]); n-- {
			}
		}
		if err := put(text[:n]); err != nil {
			return err
		}
		s.pieces++
		s.room -= int64(n)
		*count += int64(n)
		text = text[n:]
	}
	return nil
}

func (s *speaker) full() {
	s.over, s.stop = true, upstream.Stop{Reason: content.StopMaxTokens}
}

// cut returns the length of the first piece of text: a word and the space
// behind it, or size bytes of a long one, but never part of a character.
func cut(text string, size int) int {
	n := 0
	for n < len(text) {
		_, w := utf8.DecodeRuneInString(text[n:])
		if n > 0 && n+w > size {
			return n
		}
		n += w
		if c := text[n-1]; (c == ' ' || c == '\n') && size == pieceBytes {
			return n
		}
	}
	return n
}

// ready waits until the next piece is due, and says what comes before the
// first one.
func (s *speaker) ready() error {
	if err := s.due(s.pieces); err != nil {
		return err
	}
	if s.pieces > 0 && s.script.pause > 0 {
		return sleep(s.ctx, s.script.pause)
	}
	return nil
}

// due lets everything happen that was to happen after n pieces.
func (s *speaker) due(n int) error {
	for i := range s.script.triggers {
		t := &s.script.triggers[i]
		if t.after > n || (t.err == nil && t.stall == 0) {
			continue
		}
		if t.after > 0 {
			if err := s.start(); err != nil {
				return err
			}
		}
		if t.err != nil {
			return t.err
		}
		d := t.stall
		t.stall = 0 // once
		if err := sleep(s.ctx, d); err != nil {
			return err
		}
	}
	return s.start()
}

func (s *speaker) start() error {
	if s.begin == nil {
		return nil
	}
	begin := s.begin
	s.begin = nil
	return begin()
}

// sleep waits, but no longer than anybody listens.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func tokens(bytes int64) int64 { return (bytes + tokenBytes - 1) / tokenBytes }
