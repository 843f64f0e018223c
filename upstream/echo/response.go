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
	maxTextPiece  = 32 // bytes of a word without spaces
	maxInputPiece = 16 // bytes of arguments
	tokenBytes    = 4
)

// A responder writes a response in pieces and counts them.
type responder struct {
	ctx         context.Context
	req         *upstream.Request
	w           *upstream.Writer
	script      *script
	description string

	prompt   int64 // tokens
	started  bool
	pieces   int
	room     int64 // bytes until MaxTokens
	output   int64 // bytes of texts and arguments
	thinking int64 // bytes
	images   int64
	stop     upstream.Stop // set as soon as the response ends early
}

// respond writes the response of a script.
func respond(ctx context.Context, r *upstream.Request, w *upstream.Writer, s *script, description string) error {
	p := &responder{ctx: ctx, req: r, w: w, script: s, description: description,
		prompt: upstream.EstimateTokens(r), room: math.MaxInt64}
	if r.MaxTokens != nil && *r.MaxTokens < math.MaxInt64/tokenBytes {
		p.room = max(*r.MaxTokens, 0) * tokenBytes
	}
	for i := 0; i < len(s.steps) && p.stop.Reason == ""; i++ {
		if i > 0 && s.steps[i].isText() && s.steps[i-1].isText() {
			if err := p.write("\n", maxTextPiece, &p.output, w.Text); err != nil {
				return err
			}
		}
		if err := p.step(&s.steps[i]); err != nil {
			return err
		}
	}
	if err := p.trigger(math.MaxInt); err != nil {
		return err
	}
	if err := w.Usage(p.usage()); err != nil {
		return err
	}
	if p.stop.Reason == "" {
		p.stop.Reason = s.stop
		if s.stop == content.StopSequence && len(r.StopSequences) > 0 {
			p.stop.Sequence = r.StopSequences[0]
		}
	}
	if p.stop.Reason == "" {
		return nil // the Writer chooses between StopEnd and StopToolUse
	}
	return w.Stop(p.stop)
}

func (p *responder) step(t *step) error {
	switch t.kind {
	case stepThink:
		return p.think(t.text)
	case stepCall:
		return p.call(t.calls)
	case stepImage:
		return p.image(t.ratio)
	case stepDescribe:
		return p.text(p.description, 1)
	}
	return p.text(t.text, t.times)
}

// text writes a text several times, up to the first stop sequence.
func (p *responder) text(text string, times int) error {
	i, sequence := findSequence(text, times, p.req.StopSequences)
	if i >= 0 {
		text, times = text[:i], 1
	}
	for range times {
		if err := p.write(text, maxTextPiece, &p.output, p.w.Text); err != nil || p.stop.Reason != "" {
			return err
		}
	}
	if i >= 0 {
		p.stop = upstream.Stop{Reason: content.StopSequence, Sequence: sequence}
	}
	return nil
}

// findSequence returns the first stop sequence in the repetitions of text, and
// its index, or -1.
func findSequence(text string, times int, sequences []string) (index int, sequence string) {
	longest := 0
	for _, s := range sequences {
		longest = max(longest, len(s))
	}
	if longest == 0 || text == "" {
		return -1, ""
	}
	if times > 1 { // the first occurrence begins in the first copy
		text = strings.Repeat(text, min(times, 2+longest/len(text)))
	}
	index = -1
	for _, s := range sequences {
		if i := strings.Index(text, s); s != "" && i >= 0 && (index < 0 || i < index) {
			index, sequence = i, s
		}
	}
	return index, sequence
}

func (p *responder) think(text string) error {
	if p.req.Thinking.Display == "omitted" {
		if err := p.ready(); err != nil {
			return err
		}
		return p.w.Part(&content.Thinking{Signature: sign(p.req, "")})
	}
	before := p.thinking
	if err := p.write(text, maxTextPiece, &p.thinking, p.w.Thinking); err != nil {
		return err
	}
	text = text[:p.thinking-before]
	if text == "" {
		return nil
	}
	return p.w.Signature(sign(p.req, text))
}

// sign returns a signature for text. It has the format of the client's document.
func sign(r *upstream.Request, text string) content.Signature {
	f := format
	if r.Wire != nil {
		f = r.Wire.Format
	}
	sum := sha256.Sum256([]byte("echo:" + text))
	return content.Signature{Format: f, Data: base64.StdEncoding.EncodeToString(sum[:])}
}

// call writes tool calls side by side: one piece of the arguments of each in
// turn.
func (p *responder) call(calls []call) error {
	writers := make([]*upstream.ToolCallWriter, 0, len(calls))
	inputs := make([]string, 0, len(calls)) // to be written
	for _, c := range calls {
		if err := p.ready(); err != nil {
			return err
		}
		if p.room <= 0 {
			p.stop.Reason = content.StopMaxTokens
			break
		}
		writers, inputs = append(writers, p.w.ToolCall("", c.name)), append(inputs, c.input)
	}
	for more := true; more && p.stop.Reason == ""; {
		more = false
		for i, input := range inputs {
			n := cut(input, maxInputPiece)
			if err := p.write(input[:n], maxInputPiece, &p.output, writers[i].Input); err != nil {
				return err
			}
			inputs[i] = input[n:]
			more = more || inputs[i] != ""
		}
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

// write writes text in pieces of at most size bytes until there is no room. It
// adds the bytes that it has written to count.
func (p *responder) write(text string, size int, count *int64, put func(string) error) error {
	for text != "" && p.stop.Reason == "" {
		if err := p.ready(); err != nil {
			return err
		}
		n := cut(text, size)
		if int64(n) > p.room {
			p.stop.Reason = content.StopMaxTokens
			n = cut(text[:n], int(p.room))
		}
		if err := put(text[:n]); err != nil {
			return err
		}
		p.pieces++
		p.room -= int64(n)
		*count += int64(n)
		text = text[n:]
	}
	return nil
}

// cut returns the length of the first piece of text: at most size bytes, and
// no part of a character. A piece of maxTextPiece bytes ends after a space.
func cut(text string, size int) int {
	n := min(size, len(text))
	if i := strings.IndexAny(text[:n], " \n"); i >= 0 && size == maxTextPiece {
		return i + 1
	}
	for n > max(0, size-utf8.UTFMax) && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// ready waits until the next piece is due.
func (p *responder) ready() error {
	if err := p.trigger(p.pieces); err != nil {
		return err
	}
	if p.pieces > 0 && p.script.pause > 0 {
		return sleep(p.ctx, p.script.pause)
	}
	return nil
}

// trigger executes the triggers of the first n pieces, and starts the response.
func (p *responder) trigger(n int) error {
	for t := &p.script.triggers; len(*t) > 0 && (*t)[0].after <= n; *t = (*t)[1:] {
		if (*t)[0].after > 0 {
			if err := p.start(); err != nil {
				return err
			}
		}
		if err := (*t)[0].err; err != nil {
			return err
		}
		if err := sleep(p.ctx, (*t)[0].stall); err != nil {
			return err
		}
	}
	return p.start()
}

func (p *responder) start() error {
	if p.started {
		return nil
	}
	p.started = true
	return p.w.Start(upstream.Start{Model: p.req.Model, Usage: &content.Usage{Input: p.prompt, Estimated: true}})
}

// sleep waits for d or until ctx ends.
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

// usage returns the token counts of the response.
func (p *responder) usage() content.Usage {
	tokens := func(bytes int64) int64 { return (bytes + tokenBytes - 1) / tokenBytes }
	text, images := tokens(p.output), p.images*imageTokens
	u := content.Usage{Input: p.prompt, Output: text + images, Thinking: tokens(p.thinking), Estimated: true}
	if images > 0 && text > 0 {
		u.Modalities = append(u.Modalities, content.ModalityCount{Kind: "output", Modality: "text", Tokens: text})
	}
	if images > 0 {
		u.Modalities = append(u.Modalities, content.ModalityCount{Kind: "output", Modality: "image", Tokens: images})
	}
	return u
}
