package echo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

const (
	maxLines   = 10_000  // of a description
	maxFact    = 1024    // bytes of a fact
	maxName    = 200     // bytes of a name or URL
	maxQuote   = 4096    // bytes quoted of a text in a tool result
	maxResults = 1 << 20 // bytes quoted of all tool results, about
)

// A description lists the content of a request, line by line.
type description struct {
	ctx context.Context
	req *upstream.Request

	lines   strings.Builder
	written int // lines
	omitted int // lines
	files   int
	tools   map[string]string // names of tools by the ids of their calls
	err     error             // the end of the description

	last     []content.Part // of the user's last turn
	lastPath string
	results  strings.Builder // tool results in last
	text     string          // the whole description
}

// describe describes r. It fails if a file cannot be loaded or a part is nil.
func describe(ctx context.Context, r *upstream.Request) (*description, error) {
	// The title does not count as a line.
	d := &description{ctx: ctx, req: r, written: -1, tools: map[string]string{}}
	d.line("echo of "+cmp.Or(r.Model, "no model"), count(len(r.Turns), "turn"))
	d.parts("system", r.System)
	for i := range r.Turns {
		t := &r.Turns[i]
		path := at("turns", i)
		d.line(path, string(t.Role), count(len(t.Parts), "part"), extra(t.Extra))
		d.parts(path+".parts", t.Parts)
		if t.Role == content.RoleUser {
			d.last, d.lastPath = t.Parts, path+".parts"
		}
	}
	d.parameters()
	if d.omitted > 0 {
		d.lines.WriteString("… and " + count(d.omitted, "more line") + "\n")
	}
	d.text = d.lines.String()
	d.quote(d.last)
	return d, d.err
}

// line adds a line about the node at path, if there are facts.
func (d *description) line(path string, facts ...string) {
	if d.written == maxLines {
		d.omitted++
		return
	}
	if text := join(facts...); text != "" {
		d.lines.WriteString(strings.NewReplacer("\r", " ", "\n", " ").Replace(path+": "+text) + "\n")
		d.written++
	}
}

func (d *description) parts(path string, parts []content.Part) {
	for i, p := range parts {
		d.part(at(path, i), p)
	}
}

func (d *description) part(path string, p content.Part) {
	if u, ok := p.(*content.ToolUse); ok && u != nil {
		d.tools[u.ID] = u.Name
	}
	switch {
	case d.err != nil:
		return
	case content.IsNil(p):
		d.err = &content.Violation{Code: content.CodeMissing, Path: path, Text: "the part must not be nil"}
		return
	case d.written == maxLines:
		d.omitted++
		return
	}
	f := partfield.Of(p)
	if f.Kind == partfield.Other {
		d.line(path, fmt.Sprintf("%T", p))
		return
	}
	names := &partfield.PartNames[f.Kind]
	kind, id, facts := strings.ReplaceAll(names.Kind, "_", " "), "", []string{}
	for i, s := range f.Strings {
		switch name := names.Strings[i]; {
		case s.At == nil:
		case name == "name":
			kind = strings.TrimSpace(kind + " " + *s.At)
		case s.Role == partfield.ID:
			id = quoted(name+" ", *s.At)
		case s.Role == partfield.Label:
			facts = append(facts, quoted(name+" ", *s.At))
		case s.Role == partfield.Written:
			facts = append(facts, measure(*s.At))
		default:
			facts = append(facts, optional(name, *s.At))
		}
	}
	facts = append(facts, flag(partfield.Value(f.On), names.On))
	if f.Citations != nil && len(*f.Citations) > 0 {
		facts = append(facts, count(len(*f.Citations), "citation"))
	}
	if f.Parts != nil {
		facts = append(facts, count(len(*f.Parts), "part"))
	}
	facts = append(facts, signature("signature", partfield.Value(f.Signature)), cache(partfield.Value(f.Cache)), extra(partfield.Value(f.Extra)), signature("redacted", partfield.Value(f.Redacted)))
	if f.Source != nil {
		d.file(path, kind, *f.Source, facts...)
		return
	}
	d.line(path, append([]string{kind, id}, facts...)...)
	if f.Parts != nil {
		d.parts(path+".parts", *f.Parts)
	}
}

// file describes a part that has a source.
func (d *description) file(path, kind string, s content.Source, facts ...string) {
	source := path + ".source"
	if partfield.OfSource(s).Kind == partfield.Nil {
		d.err = &content.Violation{Code: content.CodeMissing, Path: source, Text: "the source must not be nil"}
		return
	}
	var own string
	var parts []content.Part
	switch s := s.(type) {
	case *content.Base64:
		own = join("base64", d.load(source, s, s.MediaType), extra(s.Extra))
	case *content.URL:
		own = join("url", quoted("", redact.Line(s.URL)), d.load(source, s, s.MediaType), extra(s.Extra))
	case *content.File:
		own = join("file", quoted("id ", s.ID), d.load(source, s, s.MediaType), extra(s.Extra))
	case *content.PlainText:
		d.files++
		own = join(s.Type(), text("plain text", s.Text), extra(s.Extra))
	case *content.Parts:
		own, parts = join(count(len(s.Parts), "part"), extra(s.Extra)), s.Parts
	}
	d.line(path, append([]string{kind, own}, facts...)...)
	d.parts(source+".parts", parts)
}

// load measures a file. It does not load links that may be forwarded.
func (d *description) load(path string, s content.Source, mediaType string) string {
	d.files++
	if _, link := s.(*content.URL); link && d.req.ForwardLinks {
		return mediaType
	}
	b, err := d.req.Load(d.ctx, s)
	if errors.Is(err, content.ErrUnresolved) {
		return mediaType
	}
	d.err = content.AtPath(err, path)
	return join(cmp.Or(mediaType, b.MediaType), count(len(b.Data), "byte"), digest(b.Data))
}

// quote adds the results of the caller's tools.
func (d *description) quote(parts []content.Part) {
	for i, p := range parts {
		t, ok := p.(*content.ToolResult)
		if !ok || t == nil {
			continue
		}
		if d.results.Len() > maxResults {
			d.results.WriteString("…\n")
			return
		}
		outcome := cmp.Or(flag(t.Error, " failed"), " answered")
		d.results.WriteString(cmp.Or(clip(cmp.Or(t.Name, d.tools[t.ID]), maxName), "tool "+strconv.Itoa(i)) + outcome)
		quoted := false
		for _, p := range t.Parts {
			if text, ok := p.(*content.Text); ok && text != nil && d.results.Len() <= maxResults {
				d.results.WriteString(": " + clip(text.Text, maxQuote))
				quoted = true
			}
		}
		if !quoted && t.Object != "" {
			d.results.WriteString(": " + clip(t.Object, maxQuote))
		}
		d.results.WriteByte('\n')
	}
}

// parameters describes everything but the system text and the turns.
func (d *description) parameters() {
	r := d.req
	for i := range r.Tools {
		t := &r.Tools[i]
		grammar := ""
		if t.Grammar != nil {
			grammar = text(clip(t.Grammar.Syntax, maxName)+" grammar", t.Grammar.Definition)
		}
		d.line(at("tools", i), strings.TrimSpace("tool "+t.Name), quoted("namespace ", t.Namespace), flag(t.Freeform, "free-form"), flag(t.Deferred, "deferred"), grammar, optional(strings.TrimSpace(string(t.Format)+" "+t.Kind), t.Raw),
			optional("description", t.Description), schema("input", t.Input), schema("output", t.Output),
			either(t.Strict, "strict", "not strict"), cache(t.Cache), extra(t.Extra))
	}
	c, t, o := &r.Choice, &r.Thinking, &r.Output
	d.line("choice", string(c.Mode), list("only ", c.Names), flag(c.NoParallel, "one at a time"), extra(c.Extra))
	d.line("max_tokens", number(r.MaxTokens))
	d.line("temperature", number(r.Temperature))
	d.line("top_p", number(r.TopP))
	d.line("top_k", number(r.TopK))
	d.line("seed", number(r.Seed))
	d.line("presence_penalty", number(r.PresencePenalty))
	d.line("frequency_penalty", number(r.FrequencyPenalty))
	d.line("stop_sequences", list("", r.StopSequences))
	d.line("candidates", flag(r.Candidates != 0, number(&r.Candidates)))
	d.line("thinking", string(t.Mode), label("budget ", number(t.Budget)), label("effort ", t.Effort), label("display ", t.Display),
		extra(t.Extra))
	d.line("output", list("modalities ", o.Modalities), o.MediaType, schema("schema", o.Schema),
		quoted("named ", o.Name), optional("description", o.Description), either(o.Strict, "strict", "not strict"),
		label("verbosity ", o.Verbosity), label("aspect ratio ", o.AspectRatio), label("size ", o.ImageSize), extra(o.Extra))
	d.line("user_id", quoted("", r.UserID))
	d.line("service_tier", r.ServiceTier)
	d.line("extra", strings.TrimPrefix(extra(r.Extra), "extra "))
}

// at appends an index to the path of a list.
func at(path string, i int) string { return path + "." + strconv.Itoa(i) }

// The functions below return one fact, or "" where there is nothing to report.

func text(kind, text string) string {
	return kind + ", " + measure(text)
}

func measure(text string) string {
	return count(len(text), "byte") + ", " + digest(text) + ", " + strconv.Quote(clip(text, 40))
}

func optional(kind, s string) string { return flag(s != "", text(kind, s)) }

func schema(kind string, s content.Schema) string {
	return optional(kind+flag(s.OpenAPI, " in OpenAPI"), s.JSON)
}

func flag(b bool, fact string) string {
	if b {
		return fact
	}
	return ""
}

// either returns one of two facts about a setting, or none if it is not set.
func either(b *bool, on, off string) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return on
	}
	return off
}

func label(name, value string) string { return flag(value != "", name+value) }

func quoted(label, s string) string { return flag(s != "", label+strconv.Quote(clip(s, maxName))) }

// list quotes names until the fact is as long as facts can be.
func list(label string, names []string) string {
	fact := ""
	for i := 0; i < len(names) && len(fact) < maxFact; i++ {
		fact += " " + strconv.Quote(clip(names[i], maxName))
	}
	return flag(fact != "", label+strings.TrimPrefix(fact, " "))
}

func number[T int | int64 | float64](n *T) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func signature(kind string, s content.Signature) string {
	return flag(s != (content.Signature{}), kind+" "+string(s.Format)+" "+count(len(s.Data), "byte")+" "+digest(s.Data))
}

// join joins the beginnings of facts. It leaves out empty facts.
func join(facts ...string) string {
	facts = slices.DeleteFunc(facts, func(f string) bool { return f == "" })
	for i := range facts {
		facts[i] = clip(facts[i], maxFact)
	}
	return strings.Join(facts, ", ")
}

func cache(c *content.Cache) string {
	if c == nil {
		return ""
	}
	return strings.TrimSpace("cache " + c.TTL + " " + extra(c.Extra))
}

// extra describes members without a field.
func extra(x *content.Extra) string {
	if x == nil {
		return ""
	}
	return strings.TrimSpace("extra "+string(x.Format)) + " " + clip(x.JSON, maxName)
}

// digest returns the beginning of the SHA-256 of data.
func digest[T string | []byte](data T) string {
	sum := sha256.Sum256([]byte(data))
	return "sha256 " + hex.EncodeToString(sum[:6])
}

// clip returns the beginning of s.
func clip(s string, bytes int) string {
	if len(s) > bytes {
		return strings.ToValidUTF8(s[:bytes], "") + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
