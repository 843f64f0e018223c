package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// An event is an [upstream.Event] for people.
type event struct {
	Kind   string `json:"kind"`
	Block  int    `json:"block"`
	Text   string `json:"text"`
	Detail string `json:"detail"` // one line: what the event has besides Block and Text
}

// newEvents describes events.
func newEvents(found []upstream.Event) []event {
	list := make([]event, 0, len(found))
	for i := range found {
		e := &found[i]
		list = append(list, event{e.Kind.String(), e.Block, e.Text, oneLine(describe(e))})
	}
	return list
}

// maxDetail is the maximum length of a description in characters.
const maxDetail = 200

// oneLine returns s without line breaks and cut to maxDetail characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxDetail {
		return s
	}
	n := 0
	for i := range s {
		if n == maxDetail-1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// describe returns the details of an event.
func describe(e *upstream.Event) string {
	var d details
	if e.Candidate > 0 {
		d.number("candidate", int64(e.Candidate))
	}
	switch e.Kind {
	case upstream.EventStart:
		d.text("id", e.Start.ID)
		d.text("model", e.Start.Model)
	case upstream.EventOpen:
		d = append(d, describePart(e.Part))
	case upstream.EventCitation:
		d.text("title", e.Citation.Title)
		d.text("URL", e.Citation.URL)
		d.text("text", e.Citation.Text)
	case upstream.EventSignature:
		d.text("format", string(e.Signature.Format))
		d.number("bytes", int64(len(e.Signature.Data)))
	case upstream.EventUsage:
		d.usage(e.Usage)
	case upstream.EventStop:
		d.text("reason", string(e.Stop.Reason))
		d.text("sequence", e.Stop.Sequence)
		d.text("vendor's reason", e.Stop.RawReason)
	case upstream.EventLoss:
		d = append(d, e.Loss.String())
	}
	if e.Extra != nil {
		d = append(d, cutTo(e.Extra.JSON))
	}
	return strings.Join(d, ", ")
}

// details are the parts of a description.
type details []string

// text adds a text that is not empty.
func (d *details) text(name, s string) {
	if s != "" {
		*d = append(*d, name+" "+cutTo(s))
	}
}

// number adds a number that is not 0.
func (d *details) number(name string, n int64) {
	if n != 0 {
		*d = append(*d, name+" "+strconv.FormatInt(n, 10))
	}
}

// usage adds the counts of tokens.
func (d *details) usage(u *content.Usage) {
	d.number("input", u.Input)
	d.number("cache read", u.CacheRead)
	d.number("cache write", u.CacheWrite+u.CacheWrite1h)
	d.number("tool prompt", u.ToolPrompt)
	d.number("output", u.Output)
	d.number("thinking", u.Thinking)
}

// cutTo cuts a text that is longer than any description.
func cutTo(s string) string { return s[:min(len(s), utf8.UTFMax*maxDetail)] }

// describePart returns the kind of a part and what identifies it.
func describePart(p content.Part) string {
	d := details{strings.TrimPrefix(fmt.Sprintf("%T", p), "*content.")}
	switch p := p.(type) { // other kinds need no label
	case *content.ToolUse:
		d.text("name", p.Name)
		d.text("id", p.ID)
		d.text("input", p.Input)
	case *content.ServerToolUse:
		d.text("name", p.Name)
		d.text("id", p.ID)
		d.text("input", p.Input)
	case *content.ServerToolResult:
		d.text("kind", p.Kind)
		d.text("id", p.ID)
	case *content.Unknown:
		d.text("kind", p.Kind)
	}
	return strings.Join(slices.DeleteFunc(d, func(s string) bool { return s == "" }), ", ")
}
