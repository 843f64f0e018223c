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
	results strings.Builder   // tool results of the user's last turn
	tools   map[string]string // names of tools by the ids of their calls
	err     error             // the first error
}

// describe describes r. It fails if a file cannot be loaded or a part is nil.
func describe(ctx context.Context, r *upstream.Request) (*description, error) {
	d := &description{ctx: ctx, req: r, written: -1} // the title does not count
	d.line("echo of "+cmp.Or(r.Model, "no model"), count(len(r.Turns), "turn"))
	d.parts("system", r.System)
	last := lastUser(r)
	for i := range r.Turns {
		t := &r.Turns[i]
		path := at("turns", i)
		d.line(path, string(t.Role), count(len(t.Parts), "part"), extra(t.Extra))
		d.parts(path+".parts", t.Parts)
		if i == last {
			d.quote(t.Parts)
		}
	}
	d.parameters()
	return d, d.err
}

func (d *description) text() string {
	text := d.lines.String()
	if d.omitted > 0 {
		text += "… and " + count(d.omitted, "more line") + "\n"
	}
	return text
}

// thinking is the default text of a thinking block.
func (d *description) thinking() string {
	return "I look at what arrived: " + count(len(d.req.Turns), "turn") + ", " +
		count(len(d.req.Tools), "tool") + ", " + count(d.files, "file") + "."
}

// line adds a line about the node at path, if there are facts.
func (d *description) line(path string, facts ...string) {
	if d.written == maxLines {
		d.omitted++
		return
	}
	if text := join(facts...); text != "" {
		d.lines.WriteString(oneLine(path+": "+text) + "\n")
		d.written++
	}
}

func (d *description) parts(path string, parts []content.Part) {
	for i, p := range parts {
		d.part(at(path, i), p)
	}
}

func (d *description) part(path string, p content.Part) {
	if content.IsNil(p) {
		d.fail(&content.Violation{Code: content.CodeMissing, Path: path, Text: "the part must not be nil"})
		return
	}
	if d.written == maxLines {
		d.omitted++
		return
	}
	switch p := p.(type) {
	case *content.Text:
		d.line(path, text("text", p.Text), flag(len(p.Citations) > 0, count(len(p.Citations), "citation")), common(p))
	case *content.Image:
		own := ""
		if b, ok := p.Source.(*content.Base64); ok && b != nil {
			own = d.signed(p.Signature, b.Data)
		}
		d.file(path, "image", p.Source, common(p), own)
	case *content.Document:
		d.file(path, "document", p.Source, optional("title", p.Title), optional("context", p.Context),
			flag(p.Citations, "to be cited"), common(p))
	case *content.Media:
		d.file(path, "media", p.Source, common(p))
	case *content.Thinking:
		d.line(path, text("thinking", p.Text), common(p), d.signed(p.Signature, p.Text),
			signature("redacted", p.Redacted))
	case *content.ToolUse:
		d.line(path, "tool use "+p.Name, quoted("id ", p.ID), text("input", p.Input), common(p))
	case *content.ToolResult:
		d.line(path, strings.TrimSpace("tool result "+p.Name), quoted("id ", p.ID), flag(p.Error, "error"),
			count(len(p.Parts), "part"), optional("object", p.Object), common(p))
		d.parts(path+".parts", p.Parts)
	case *content.SearchResult:
		d.line(path, "search result", optional("source", p.Source), optional("title", p.Title),
			flag(p.Citations, "to be cited"), count(len(p.Parts), "part"), common(p))
		d.parts(path+".parts", p.Parts)
	case *content.ServerToolUse:
		d.line(path, string(p.Format)+" "+p.Kind+" "+p.Name, quoted("id ", p.ID), text("input", p.Input), common(p))
	case *content.ServerToolResult:
		d.line(path, string(p.Format)+" "+p.Kind, quoted("id ", p.ID), text("content", p.Content), common(p))
	case *content.Unknown:
		d.line(path, "unknown", text(string(p.Format)+" "+p.Kind, p.Raw))
	default:
		d.line(path, fmt.Sprintf("%T", p))
	}
}

// signed reports as a fact that s is the signature that echo gives text.
func (d *description) signed(s content.Signature, text string) string {
	return flag(s.Data != "" && s.Data == sign(d.req, text).Data, "signed by echo")
}

func (d *description) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// file describes a part that has a source.
func (d *description) file(path, kind string, s content.Source, facts ...string) {
	d.line(path, append(d.source(path+".source", kind, s), facts...)...)
	if p, ok := s.(*content.Parts); ok && p != nil {
		d.parts(path+".source.parts", p.Parts)
	}
}

func (d *description) source(path, kind string, s content.Source) []string {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			return append([]string{kind, "base64"}, d.load(path, s, s.MediaType, s.Extra)...)
		}
	case *content.URL:
		if s != nil {
			return append([]string{kind, "url", quoted("", redact.Line(s.URL))}, d.load(path, s, s.MediaType, s.Extra)...)
		}
	case *content.File:
		if s != nil {
			return append([]string{kind, "file", quoted("id ", s.ID)}, d.load(path, s, s.MediaType, s.Extra)...)
		}
	case *content.PlainText:
		if s != nil {
			d.files++
			return []string{kind, s.Type(), text("plain text", s.Text), extra(s.Extra)}
		}
	case *content.Parts:
		if s != nil {
			return []string{kind, count(len(s.Parts), "part"), extra(s.Extra)}
		}
	}
	d.fail(&content.Violation{Code: content.CodeMissing, Path: path, Text: "the source must not be nil"})
	return nil
}

// load measures a file. It does not load links that may be forwarded, nor files
// after the first error.
func (d *description) load(path string, s content.Source, mediaType string, x *content.Extra) []string {
	d.files++
	if _, link := s.(*content.URL); d.err != nil || link && d.req.ForwardLinks {
		return []string{mediaType, extra(x)}
	}
	b, err := d.req.Load(d.ctx, s)
	if err != nil {
		if !errors.Is(err, content.ErrUnresolved) {
			d.fail(content.AtPath(err, path))
		}
		return []string{mediaType, extra(x)}
	}
	return []string{cmp.Or(mediaType, b.MediaType), count(len(b.Data), "byte"), digest(b.Data), extra(x)}
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
		outcome := " answered"
		if t.Error {
			outcome = " failed"
		}
		d.results.WriteString(cmp.Or(clip(d.toolName(t), maxName), "tool "+strconv.Itoa(i)) + outcome)
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

// toolName returns the name of the tool that a result is from, or "".
func (d *description) toolName(t *content.ToolResult) string {
	if d.tools == nil {
		d.tools = map[string]string{}
		for i := range d.req.Turns {
			for _, p := range d.req.Turns[i].Parts {
				if u, ok := p.(*content.ToolUse); ok && u != nil && u.ID != "" {
					d.tools[u.ID] = u.Name
				}
			}
		}
	}
	return cmp.Or(t.Name, d.tools[t.ID])
}

// parameters describes everything but the system text and the turns.
func (d *description) parameters() {
	r := d.req
	for i := range r.Tools {
		t := &r.Tools[i]
		d.line(at("tools", i), strings.TrimSpace("tool "+t.Name), optional(strings.TrimSpace(string(t.Format)+" "+t.Kind), t.Raw),
			optional("description", t.Description), schema("input", t.Input), schema("output", t.Output),
			flag(t.Strict, "strict"), cache(t.Cache), extra(t.Extra))
	}
	c, t, o := &r.Choice, &r.Thinking, &r.Output
	d.line("choice", string(c.Mode), quoted("only ", c.Names...), flag(c.NoParallel, "one at a time"), extra(c.Extra))
	d.line("max_tokens", number(r.MaxTokens))
	d.line("temperature", number(r.Temperature))
	d.line("top_p", number(r.TopP))
	d.line("top_k", number(r.TopK))
	d.line("seed", number(r.Seed))
	d.line("presence_penalty", number(r.PresencePenalty))
	d.line("frequency_penalty", number(r.FrequencyPenalty))
	d.line("stop_sequences", quoted("", r.StopSequences...))
	if r.Candidates != 0 {
		d.line("candidates", number(&r.Candidates))
	}
	budget := ""
	if t.Budget != nil {
		budget = "up to " + count(int(*t.Budget), "token")
	}
	d.line("thinking", string(t.Mode), budget, label("effort ", t.Effort), label("display ", t.Display), extra(t.Extra))
	d.line("output", quoted("modalities ", o.Modalities...), o.MediaType, schema("schema", o.Schema),
		label("aspect ratio ", o.AspectRatio), label("size ", o.ImageSize), extra(o.Extra))
	d.line("user_id", quoted("", r.UserID))
	d.line("service_tier", r.ServiceTier)
	d.line("extra", strings.TrimPrefix(extra(r.Extra), "extra "))
}

// at appends an index to the path of a list.
func at(path string, i int) string { return path + "." + strconv.Itoa(i) }

// The functions below return one fact, or "" where there is nothing to report.

func text(kind, text string) string {
	if text == "" {
		return kind + ", empty"
	}
	return kind + ", " + count(len(text), "byte") + ", " + digest(text) + ", " + strconv.Quote(clip(text, 40))
}

func optional(kind, s string) string {
	if s == "" {
		return ""
	}
	return text(kind, s)
}

func schema(kind string, s content.Schema) string {
	if s.OpenAPI {
		kind += " in OpenAPI"
	}
	return optional(kind, s.JSON)
}

func flag(b bool, fact string) string {
	if b {
		return fact
	}
	return ""
}

func label(name, value string) string { return flag(value != "", name+value) }

// quoted lists names, 20 at most.
func quoted(label string, names ...string) string {
	const maxNames = 20
	var list []string
	for _, name := range names[:min(len(names), maxNames)] {
		if name != "" || len(names) > 1 {
			list = append(list, strconv.Quote(clip(name, maxName)))
		}
	}
	if len(names) > maxNames {
		list = append(list, "and "+strconv.Itoa(len(names)-maxNames)+" more")
	}
	return flag(len(list) > 0, label+strings.Join(list, " "))
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
	if s == (content.Signature{}) {
		return ""
	}
	return kind + " " + string(s.Format) + " " + count(len(s.Data), "byte") + " " + digest(s.Data)
}

// common describes the fields that most parts have.
func common(p content.Part) string {
	return join(signature("signature", partfield.SignatureOf(p)), cache(partfield.CacheOf(p)), extra(partfield.ExtraOf(p)))
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

// digest returns the beginning of the SHA-256 of data. It makes no copy of all
// of data.
func digest[T string | []byte](data T) string {
	h := sha256.New()
	var piece [4 << 10]byte
	for len(data) > 0 {
		n := copy(piece[:], data)
		_, _ = h.Write(piece[:n])
		data = data[n:]
	}
	return "sha256 " + hex.EncodeToString(h.Sum(piece[:0])[:6])
}

// oneLine replaces line breaks in s.
func oneLine(s string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(s) }

// clip returns the beginning of s.
func clip(s string, bytes int) string {
	if len(s) > bytes {
		return strings.ToValidUTF8(s[:bytes], "") + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
