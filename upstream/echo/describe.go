package echo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// A description says what a request holds, line by line.
type description struct {
	ctx context.Context
	req *upstream.Request

	head    string
	lines   strings.Builder
	written int               // lines
	more    int               // lines that are left out
	results strings.Builder   // what tools answered, quoted
	called  map[string]string // names of tools by the ids of their calls
	files   int
	faults  content.ViolationList
	failed  error // what is no fault of the request
}

// maxFact is how many characters of one fact are written.
const maxFact = 1024

// maxLines is how many lines a description has.
const maxLines = 10_000

func (d *description) text() string {
	text := d.head + d.lines.String()
	if d.more > 0 {
		text += "… and " + count(d.more, "more line") + "\n"
	}
	return text
}

// thought is what echo thinks when nobody tells it what to think.
func (d *description) thought() string {
	return "I look at what arrived: " + count(len(d.req.Turns), "turn") + ", " +
		count(len(d.req.Tools), "tool") + ", " + count(d.files, "file") + "."
}

// at appends an index to the path of a list.
func at(path string, i int) string { return path + "." + strconv.Itoa(i) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// describe describes r. It fails if a file cannot be had or a part is nil.
func describe(ctx context.Context, r *upstream.Request) (*description, error) {
	d := &description{ctx: ctx, req: r}
	d.head = "echo of " + oneLine(cmp.Or(r.Model, "no model")) + ": " + count(len(r.Turns), "turn") + "\n"
	d.parts("system", r.System)
	quote := lastUser(r)
	for i := range r.Turns {
		t := &r.Turns[i]
		path := at("turns", i)
		d.line(path, string(t.Role), count(len(t.Parts), "part"), extra(t.Extra))
		d.parts(path+".parts", t.Parts)
		if i == quote {
			d.quote(t.Parts)
		}
	}
	d.tools()
	d.parameters()
	if d.failed != nil {
		return nil, d.failed
	}
	return d, d.faults.Err()
}

// line adds a line about the thing at path. Empty facts are left out.
func (d *description) line(path string, facts ...string) {
	if d.written == maxLines {
		d.more++
		return
	}
	d.written++
	d.lines.WriteString(path)
	sep := ": "
	for _, f := range facts {
		if f != "" {
			d.lines.WriteString(sep)
			d.lines.WriteString(oneLine(clip(f, maxFact)))
			sep = ", "
		}
	}
	d.lines.WriteByte('\n')
}

// oneLine keeps names with line breaks in them from looking like lines of ours.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

func (d *description) parts(path string, parts []content.Part) {
	for i, p := range parts {
		d.part(at(path, i), p)
	}
}

func (d *description) part(path string, p content.Part) {
	if content.IsNil(p) {
		d.faults.Add(content.CodeMissing, path, "a part must not be nil")
		return
	}
	if d.written == maxLines {
		switch p.(type) {
		case *content.Image, *content.Document, *content.Media: // files are looked at
		default:
			d.more++
			return
		}
	}
	switch p := p.(type) {
	case *content.Text:
		cited := ""
		if len(p.Citations) > 0 {
			cited = count(len(p.Citations), "citation")
		}
		d.line(path, d.say("text", p.Text), cited, signature("signature", p.Signature), cache(p.Cache), extra(p.Extra))
	case *content.Image:
		d.file(path, "image", p.Source, signature("signature", p.Signature), d.own(p), cache(p.Cache), extra(p.Extra))
	case *content.Document:
		d.file(path, "document", p.Source, d.named("title", p.Title), d.named("context", p.Context),
			flag(p.Citations, "to be cited"), signature("signature", p.Signature), cache(p.Cache), extra(p.Extra))
	case *content.Media:
		d.file(path, "media", p.Source, signature("signature", p.Signature), cache(p.Cache), extra(p.Extra))
	case *content.Thinking:
		own := flag(p.Signature.Data != "" && p.Signature.Data == sign(d.req, p.Text).Data, "signed by echo")
		d.line(path, d.say("thinking", p.Text), signature("signature", p.Signature), own,
			signature("redacted", p.Redacted), extra(p.Extra))
	case *content.ToolUse:
		d.line(path, "tool use "+p.Name, id(p.ID), d.say("input", p.Input),
			signature("signature", p.Signature), cache(p.Cache), extra(p.Extra))
	case *content.ToolResult:
		d.line(path, strings.TrimSpace("tool result "+p.Name), id(p.ID), flag(p.Error, "error"),
			count(len(p.Parts), "part"), d.named("object", p.Object), cache(p.Cache), extra(p.Extra))
		d.parts(path+".parts", p.Parts)
	case *content.SearchResult:
		d.line(path, "search result", d.named("source", p.Source), d.named("title", p.Title),
			flag(p.Citations, "to be cited"), count(len(p.Parts), "part"), cache(p.Cache), extra(p.Extra))
		d.parts(path+".parts", p.Parts)
	case *content.ServerToolUse:
		d.line(path, string(p.Format)+" "+p.Kind+" "+p.Name, id(p.ID), d.say("input", p.Input),
			signature("signature", p.Signature), cache(p.Cache), extra(p.Extra))
	case *content.ServerToolResult:
		d.line(path, string(p.Format)+" "+p.Kind, id(p.ID), d.say("content", p.Content),
			signature("signature", p.Signature), cache(p.Cache), extra(p.Extra))
	case *content.Unknown:
		d.line(path, "unknown", d.say(string(p.Format)+" "+p.Kind, p.Raw))
	default:
		d.line(path, "a part that echo does not know")
	}
}

// own tells an image of echo's that came back unharmed.
func (d *description) own(p *content.Image) string {
	b, ok := p.Source.(*content.Base64)
	return flag(ok && b != nil && p.Signature.Data != "" && p.Signature.Data == sign(d.req, b.Data).Data, "signed by echo")
}

// file describes a part that is made of a source.
func (d *description) file(path, kind string, s content.Source, facts ...string) {
	facts = append(d.source(path+".source", kind, s), facts...)
	d.line(path, facts...)
	if p, ok := s.(*content.Parts); ok && p != nil {
		d.parts(path+".source.parts", p.Parts)
	}
}

// source returns what there is to say about a source.
func (d *description) source(path, kind string, s content.Source) []string {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			return append([]string{kind, "base64"}, d.load(path, s, s.MediaType, extra(s.Extra))...)
		}
	case *content.URL:
		if s != nil {
			facts := []string{kind, "url", clip(strconv.Quote(redact.Line(s.URL)), 200)}
			if d.req.ForwardLinks {
				d.files++
				return append(facts, s.MediaType, extra(s.Extra))
			}
			return append(facts, d.load(path, s, s.MediaType, extra(s.Extra))...)
		}
	case *content.File:
		if s != nil {
			facts := []string{kind, "file", id(s.ID)}
			return append(facts, d.load(path, s, s.MediaType, extra(s.Extra))...)
		}
	case *content.PlainText:
		if s != nil {
			d.files++
			return []string{kind, s.Type(), d.say("plain text", s.Text), extra(s.Extra)}
		}
	case *content.Parts:
		if s != nil {
			return []string{kind, count(len(s.Parts), "part"), extra(s.Extra)}
		}
	}
	d.faults.Add(content.CodeMissing, path, "a source must not be nil")
	return []string{kind}
}

// load measures a file. said is the media type that the request has for it.
func (d *description) load(path string, s content.Source, said, more string) []string {
	d.files++
	if d.failed != nil || d.faults.Len() > 0 {
		return nil // the request fails, so nothing more need be fetched
	}
	b, err := d.req.Load(d.ctx, s)
	if errors.Is(err, content.ErrUnresolved) {
		return []string{said, more}
	}
	if err != nil {
		list, _ := content.Violations(content.AtPath(err, path))
		if len(list) == 0 {
			d.failed = err
		}
		for _, e := range list {
			d.faults.Add(e.Code, e.Path, e.Text)
		}
		return nil
	}
	sum := sha256.Sum256(b.Data)
	kind := cmp.Or(said, b.MediaType)
	if b.MediaType != "" && b.MediaType != kind {
		kind += " (found " + b.MediaType + ")"
	}
	return []string{kind, size(len(b.Data)), digest(sum), more}
}

// say describes a text.
func (d *description) say(kind, text string) string {
	if text == "" {
		return kind + ", empty"
	}
	return kind + ", " + size(len(text)) + ", " + digest(sum(text)) + ", " + strconv.Quote(clip(text, 40))
}

// sum returns the digest of a text without a copy of it.
func sum(text string) (out [sha256.Size]byte) {
	h := sha256.New()
	var piece [4 << 10]byte
	for text != "" {
		n := copy(piece[:], text)
		_, _ = h.Write(piece[:n])
		text = text[n:]
	}
	h.Sum(out[:0])
	return out
}

// named is say for what is only sometimes there.
func (d *description) named(kind, text string) string {
	if text == "" {
		return ""
	}
	return d.say(kind, text)
}

func size(n int) string { return count(n, "byte") }

func digest(sum [sha256.Size]byte) string { return "sha256 " + hex.EncodeToString(sum[:6]) }

func id(id string) string {
	if id == "" {
		return ""
	}
	return "id " + strconv.Quote(clip(id, 80))
}

func flag(b bool, fact string) string {
	if b {
		return fact
	}
	return ""
}

func signature(kind string, s content.Signature) string {
	if s == (content.Signature{}) {
		return ""
	}
	return kind + " " + string(s.Format) + " " + size(len(s.Data)) + " " + digest(sha256.Sum256([]byte(s.Data)))
}

func cache(c *content.Cache) string {
	if c == nil {
		return ""
	}
	return strings.TrimSpace("cache " + c.TTL + " " + extra(c.Extra))
}

// extra tells unmodelled members, the short ones whole.
func extra(x *content.Extra) string {
	if x == nil {
		return ""
	}
	return "extra " + strings.TrimSpace(string(x.Format)+" "+raw(x.JSON))
}

// raw tells JSON text, a short one whole and on one line.
func raw(json string) string {
	if len(json) <= 200 && jsonwire.Valid(json, jsonwire.Limits{}) == nil {
		return string(jsonwire.AppendCompact(nil, json))
	}
	return size(len(json)) + " " + digest(sha256.Sum256([]byte(json)))
}
