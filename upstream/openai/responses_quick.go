package openai

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// What the events begin with that nearly all of a stream is made of.
const (
	quickText    = `{"type":"response.output_text.delta"`
	quickInput   = `{"type":"response.function_call_arguments.delta"`
	quickThought = `{"type":"response.reasoning_summary_text.delta"`
)

// A quickDelta is what such an event says.
type quickDelta struct {
	output, part int64
	delta        string // a JSON string
}

// quick reads such an event if it is spelled as the vendor does, and adds what it
// means. It is what event would do, several times cheaper: only the text is left
// to be parsed. Anything that is not just so is left to event.
func (d *resDecoder) quick(data string) bool {
	k, rest := quickKind(data)
	if k == resOther {
		return false
	}
	q := quickDelta{output: -1, part: -1}
	if !q.read(rest) || q.output < 0 {
		return false
	}
	it := d.last(q.output, k)
	if it == nil || it.block < 0 || k != resCall && (it.part != q.part || it.raw || it.size == 0) {
		return false
	}
	// If this is one string, all of data is JSON, and says nothing else.
	if len(q.delta) <= 2 || d.doc.Parse(q.delta, jsonwire.Limits{}) != nil {
		return false
	}
	text := d.doc.Root().Str()
	d.doc.Close()
	it.size += len(text)
	it.sum = resDigest(it.sum, text)
	kind := upstream.EventText
	if k == resCall {
		kind = upstream.EventInput
	}
	if len(d.events) == 1 && (d.events[0].Kind == upstream.EventText || d.events[0].Kind == upstream.EventInput) {
		// The one before was such a delta too. An event is large, and most of it
		// is pointers: it is cheaper not to write them all.
		e := &d.events[0]
		e.Kind, e.Block, e.Text, e.Frame = kind, it.block, text, nil
		return true
	}
	clear(d.events)
	d.events = append(d.events[:0], upstream.Event{Kind: kind, Block: it.block, Text: text})
	return true
}

// quickKind returns what an event adds to, and what is behind its type.
func quickKind(data string) (resKind, string) {
	if rest, ok := strings.CutPrefix(data, quickText); ok {
		return resMessage, rest
	}
	if rest, ok := strings.CutPrefix(data, quickInput); ok {
		return resCall, rest
	}
	if rest, ok := strings.CutPrefix(data, quickThought); ok {
		return resReasoning, rest
	}
	return resOther, ""
}

// last returns the item that began last, if it is of a kind, at an index, and
// not over.
func (d *resDecoder) last(output int64, k resKind) *resItem {
	for i := len(d.items) - 1; i >= 0; i-- {
		if it := &d.items[i]; !it.over && it.kind == k && it.output == output {
			return it
		}
	}
	return nil
}

// The members that deltas have, by their bits.
const (
	quickOutput = 1 << iota
	quickPart
	quickDeltaBit
	quickItem
	quickSequence
	quickPadding
	quickLogprobs
)

// read reads the members behind the type, each at most once.
func (q *quickDelta) read(s string) bool {
	seen := 0
	for {
		if s == "}" {
			return seen&quickDeltaBit != 0
		}
		if len(s) < 2 || s[0] != ',' || s[1] != '"' {
			return false
		}
		name, rest, ok := strings.Cut(s[2:], `":`)
		if !ok {
			return false
		}
		bit := 0
		switch name {
		case "delta":
			bit = quickDeltaBit
			q.delta, s = quickString(rest)
		case "output_index":
			bit = quickOutput
			q.output, s = quickNumber(rest)
		case "content_index", "summary_index":
			bit = quickPart
			q.part, s = quickNumber(rest)
		case "sequence_number":
			bit = quickSequence
			_, s = quickNumber(rest)
		case "item_id", "obfuscation":
			bit = quickItem
			if name == "obfuscation" {
				bit = quickPadding
			}
			var value string
			if value, s = quickString(rest); !resPlain(value) {
				return false
			}
		case "logprobs":
			bit = quickLogprobs
			if s, ok = strings.CutPrefix(rest, "[]"); !ok {
				return false
			}
		}
		if bit == 0 || s == "" || seen&bit != 0 {
			return false
		}
		seen |= bit
	}
}

// quickNumber reads an index of a few digits, and returns what is behind it,
// nothing if it is none.
func quickNumber(s string) (n int64, rest string) {
	i := 0
	for i < len(s) && i < 9 && s[i]-'0' < 10 {
		n = 10*n + int64(s[i]-'0')
		i++
	}
	if i == 0 || i > 1 && s[0] == '0' {
		return -1, ""
	}
	return n, s[i:]
}

// quickString returns the JSON string that s begins with, unchecked, and what is
// behind it, nothing if there is none.
func quickString(s string) (value, rest string) {
	if s == "" || s[0] != '"' {
		return "", ""
	}
	for from := 1; ; {
		i := strings.IndexByte(s[from:], '"')
		if i < 0 {
			return "", ""
		}
		end := from + i
		slashes := 0
		for s[end-1-slashes] == '\\' {
			slashes++
		}
		if from = end + 1; slashes%2 == 0 {
			return s[:from], s[from:]
		}
	}
}

// resPlain reports whether a string holds only characters of ids.
func resPlain(s string) bool {
	for i := 1; i < len(s)-1; i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '\\' || c == '"' {
			return false
		}
	}
	return len(s) >= 2
}
