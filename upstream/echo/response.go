package echo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"slices"
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
	ctx    context.Context
	req    *upstream.Request
	w      *upstream.Writer
	script *script

	pieces int
	room   int64         // bytes until MaxTokens
	stop   upstream.Stop // has a Reason as soon as the response ends early
	err    error         // the first error, after which nothing is written

	output, thinking, images int64 // bytes of room that each has used; output is texts and arguments
}

// respond writes the response of a script.
func respond(ctx context.Context, r *upstream.Request, w *upstream.Writer, s *script) error {
	p := &responder{ctx: ctx, req: r, w: w, script: s, room: math.MaxInt64}
	if r.MaxTokens != nil && *r.MaxTokens < math.MaxInt64/tokenBytes {
		p.room = max(*r.MaxTokens, 0) * tokenBytes
	}
	prompt := upstream.EstimateTokens(r)
	if p.trigger(0); p.err == nil {
		p.err = w.Start(upstream.Start{Model: r.Model, Usage: &content.Usage{Input: prompt, Estimated: true}})
	}
	for i := 0; i < len(s.steps) && p.open(); i++ {
		switch t := &s.steps[i]; t.kind {
		case stepText:
			if i > 0 && s.steps[i-1].kind == stepText {
				p.write("\n", maxTextPiece, &p.output, w.Text)
			}
			p.text(t.text, max(t.times, 1))
		case stepThink:
			p.think(t.text)
		case stepCall:
			p.call(t.calls)
		case stepImage:
			p.image(t.size)
		}
	}
	p.trigger(math.MaxInt)
	if p.err != nil {
		return p.err
	}
	stop := cmp.Or(p.stop, s.stop)
	if err := w.Usage(p.usage(prompt)); err != nil || stop.Reason == "" {
		return err // without a reason, the Writer chooses between StopEnd and StopToolUse
	}
	return w.Stop(stop)
}

// text writes a text several times, up to the first stop sequence.
func (p *responder) text(text string, times int) {
	i, sequence := findSequence(text, times, p.req.StopSequences)
	if i >= 0 {
		text, times = text[:i], 1
	}
	for range times {
		p.write(text, maxTextPiece, &p.output, p.w.Text)
	}
	if i >= 0 && p.stop.Reason == "" {
		p.stop = upstream.Stop{Reason: content.StopSequence, Sequence: sequence}
	}
}

// findSequence returns the first stop sequence in copies of text, and its index or -1.
func findSequence(text string, times int, sequences []string) (index int, sequence string) {
	index = -1
	for _, s := range sequences {
		if s == "" || text == "" {
			continue
		}
		// The first occurrence begins in the first copy.
		i := strings.Index(strings.Repeat(text, min(times, 2+len(s)/len(text))), s)
		if i >= 0 && (index < 0 || i < index) {
			index, sequence = i, s
		}
	}
	return index, sequence
}

func (p *responder) think(text string) {
	if p.req.Thinking.Display == "omitted" {
		if p.next(0) {
			p.err = p.w.Part(&content.Thinking{Signature: sign(p.req, "")})
		}
		return
	}
	before := p.thinking
	p.write(text, maxTextPiece, &p.thinking, p.w.Thinking)
	if text = text[:p.thinking-before]; text != "" && p.err == nil {
		p.err = p.w.Signature(sign(p.req, text))
	}
}

// sign returns a signature for text. It has the format of the client's document.
func sign(r *upstream.Request, text string) content.Signature {
	f := format
	if r.Wire != nil {
		f = r.Wire.Format()
	}
	sum := sha256.Sum256([]byte("echo:" + text))
	return content.Signature{Format: f, Data: base64.StdEncoding.EncodeToString(sum[:])}
}

// call writes tool calls side by side: one piece of the arguments of each in turn.
func (p *responder) call(calls []call) {
	var writers []*upstream.ToolCallWriter
	for _, c := range calls {
		if p.next(1) {
			writers = append(writers, p.w.BeginToolCall(toolUse(p.req, c.name)))
		}
	}
	for more := true; more; {
		more = false
		for i, w := range writers {
			calls[i].input = p.piece(calls[i].input, maxInputPiece, &p.output, w.Input)
			more = more || calls[i].input != ""
		}
	}
	for _, w := range writers {
		if p.err == nil {
			p.err = w.Close()
		}
	}
}

// toolUse returns a call without input of the tool with a name.
func toolUse(r *upstream.Request, name string) *content.ToolUse {
	u := &content.ToolUse{Name: name}
	i := slices.IndexFunc(r.Tools, func(t content.Tool) bool { return t.Kind == "" && t.Name == name }) // one pass
	if i >= 0 {
		u.Namespace, u.Freeform = r.Tools[i].Namespace, r.Tools[i].Freeform
	}
	return u
}

// write writes text in pieces until there is no room. It adds their bytes to count.
func (p *responder) write(text string, size int, count *int64, put func(string) error) {
	for text != "" {
		text = p.piece(text, size, count, put)
	}
}

// piece writes the first piece of text and returns the rest, or "" after the end.
func (p *responder) piece(text string, size int, count *int64, put func(string) error) string {
	if text == "" || !p.next(1) {
		return ""
	}
	n := cut(text, size)
	if int64(n) > p.room {
		p.stop.Reason = content.StopMaxTokens
		n = cut(text[:n], int(p.room))
	}
	p.wrote(int64(n), count, put(text[:n]))
	return text[n:]
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

// open reports whether the response has not ended early.
func (p *responder) open() bool { return p.err == nil && p.stop.Reason == "" }

// next waits until the next piece is due. It reports whether there is room for bytes.
func (p *responder) next(bytes int64) bool {
	if !p.open() {
		return false
	}
	p.trigger(p.pieces)
	if p.pieces > 0 {
		p.sleep(p.script.pause)
	}
	if p.room < bytes {
		p.stop.Reason = content.StopMaxTokens
	}
	return p.open()
}

// wrote counts a piece.
func (p *responder) wrote(bytes int64, count *int64, err error) {
	p.pieces++
	p.room -= bytes
	*count += bytes
	p.err = err
}

// trigger executes the triggers of the first n pieces.
func (p *responder) trigger(n int) {
	for p.err == nil && len(p.script.triggers) > 0 && p.script.triggers[0].after <= n {
		t := p.script.triggers[0]
		p.script.triggers = p.script.triggers[1:]
		if t.err != nil {
			p.err = t.err
		}
		p.sleep(t.stall)
	}
}

// sleep waits for d or until the context ends.
func (p *responder) sleep(d time.Duration) {
	if d == 0 || p.err != nil {
		return
	}
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
		p.err = context.Cause(p.ctx)
	}
}

// usage returns the token counts of the response.
func (p *responder) usage(prompt int64) content.Usage {
	tokens := func(bytes int64) int64 { return (bytes + tokenBytes - 1) / tokenBytes }
	text, images := tokens(p.output), tokens(p.images)
	u := content.Usage{Input: prompt, Output: text + images, Thinking: tokens(p.thinking), Estimated: true}
	if images > 0 && text > 0 {
		u.Modalities = append(u.Modalities, content.ModalityCount{Kind: "output", Modality: "text", Tokens: text})
	}
	if images > 0 {
		u.Modalities = append(u.Modalities, content.ModalityCount{Kind: "output", Modality: "image", Tokens: images})
	}
	return u
}
