package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// A fields writes the fields of a value that are not zero as members, whose names are the paths
// of the fields, or sets them to such members. The same methods do both, so that no field is
// written and not read.
type fields struct {
	put func(path, json string) // nil to read
	in  map[string]jsonwire.Value
	err error // of reading

	// request reports that the value is a request. Then only what all formats have is written,
	// JSON is written as it is, and the bytes of files as their digest.
	request bool
}

// digestSize is the length from which the bytes of a file in a request are written as a digest.
const digestSize = 256

func at(path string, i int) string { return path + "." + strconv.Itoa(i) }

// has reports whether there is a member to read.
func (f *fields) has(path string) bool { return f.in[path].Exists() }

func (f *fields) text(path string, p *string) {
	switch v := f.in[path]; {
	case f.put != nil && *p != "" && utf8.ValidString(*p):
		f.put(path, string(jsonwire.AppendString(nil, *p)))
	case f.put != nil && *p != "": // a piece of a text that ends inside a character
		f.put(path+".base64", `"`+base64.StdEncoding.EncodeToString([]byte(*p))+`"`)
	case f.put != nil:
	case f.has(path + ".base64"):
		b, err := base64.StdEncoding.DecodeString(f.in[path+".base64"].Str())
		*p = string(b)
		f.read(path+".base64", "base64", err == nil)
	default:
		*p = v.Str()
		f.read(path, "a string", v.Kind() == jsonwire.String)
	}
}

// json is text for JSON text.
func (f *fields) json(path string, p *string) {
	if f.request && jsonwire.ValidObject(*p) {
		f.put(path, string(jsonwire.AppendCompact(nil, *p)))
		return
	}
	f.text(path, p)
}

// address is text for an address, whose query, which may be a signature, is removed.
func (f *fields) address(path string, p *string) {
	s := *p
	if f.put != nil {
		s = redact.Line(s)
	}
	f.text(path, &s)
	if f.put == nil {
		*p = s
	}
}

func (f *fields) number(path string, p *int64) {
	if f.put == nil {
		var ok bool
		*p, ok = f.in[path].Int()
		f.read(path, "an integer", ok)
	} else if *p != 0 {
		f.put(path, strconv.FormatInt(*p, 10))
	}
}

func (f *fields) flag(path string, p *bool) {
	if f.put == nil {
		var ok bool
		*p, ok = f.in[path].Bool()
		f.read(path, "true or false", ok)
	} else if *p {
		f.put(path, "true")
	}
}

// read notes whether a member, if there is one, has the wanted kind.
func (f *fields) read(path, want string, ok bool) {
	if !ok && f.has(path) {
		f.fail(path, want)
	}
}

func (f *fields) fail(path, want string) {
	f.err = cmp.Or(f.err, fmt.Errorf("%s: want %s", path, want))
}

// list writes or reads the elements of a list. one does so for an element, and begins with the
// member path, which is never omitted.
func list[T any](f *fields, path string, p *[]T, one func(path string, p *T)) {
	for i := 0; f.put != nil && i < len(*p) || f.put == nil && f.has(at(path, i)); i++ {
		if f.put == nil {
			*p = append(*p, *new(T))
		}
		one(at(path, i), &(*p)[i])
	}
}

// set returns the value behind a pointer, which it sets first to read.
func set[T any](f *fields, p **T) *T {
	if f.put == nil {
		*p = new(T)
	}
	return *p
}

func (f *fields) extra(path string, p **content.Extra) {
	if !f.request && (*p != nil || f.has(path)) {
		x := set(f, p)
		f.text(path+".format", (*string)(&x.Format))
		f.text(path, &x.JSON)
	}
}

func (f *fields) signature(path string, s *content.Signature) {
	if s != nil && !f.request {
		f.text(path+".format", (*string)(&s.Format))
		f.text(path, &s.Data)
	}
}

// kind writes or reads the name of a kind, which is never omitted.
func (f *fields) kind(path string, name *string) {
	if f.put != nil {
		f.put(path, string(jsonwire.AppendString(nil, *name)))
		return
	}
	f.text(path, name)
}

// find writes the name of a kind, or returns the kind whose name it reads.
func find[T any](f *fields, path string, kinds []partfield.Names[T], i partfield.Kind) (k partfield.Names[T], ok bool) {
	if f.put != nil && int(i) < len(kinds) {
		k = kinds[i]
	}
	f.kind(path, &k.Kind)
	for _, known := range kinds {
		if known.Kind == k.Kind && k.Kind != "" {
			return known, true
		}
	}
	f.fail(path, "a kind that this version knows")
	return k, false
}

func (f *fields) parts(path string, p *[]content.Part) { list(f, path, p, f.part) }

func (f *fields) part(path string, p *content.Part) {
	k, ok := find(f, path, partfield.PartNames[:], partfield.Of(*p).Kind)
	if !ok {
		return
	}
	if f.put == nil {
		*p, _ = partfield.Copy(k.Zero)
	}
	v := partfield.Of(*p)
	if v.On != nil {
		f.flag(path+"."+k.On, v.On)
		v = partfield.Of(*p) // which field of a tool call has its arguments depends on it
	}
	for i, s := range v.Strings {
		name := path + "." + k.Strings[i]
		switch {
		case s.At == nil:
		case f.request && (s.Role == partfield.ID || v.Kind == partfield.ToolResult && s.Role == partfield.Label):
		case s.Role == partfield.JSON, s.Role == partfield.Argument && k.Kind != "tool_use", s.Role == partfield.Argument && !*v.On:
			f.json(name, s.At)
		default:
			f.text(name, s.At)
		}
	}
	if v.Citations != nil && !f.request {
		list(f, path+".citations", v.Citations, f.citation)
	}
	if v.Source != nil {
		f.source(path+".source", v.Source)
	}
	if v.Parts != nil {
		f.parts(path+".parts", v.Parts)
	}
	f.signature(path+".signature", v.Signature)
	f.signature(path+".redacted", v.Redacted)
	if v.Extra != nil {
		f.extra(path+".extra", v.Extra)
	}
}

func (f *fields) source(path string, p *content.Source) {
	k, ok := find(f, path, partfield.SourceNames[:], partfield.OfSource(*p).Kind)
	if !ok {
		return
	}
	if f.put == nil {
		*p, _ = partfield.CopySource(k.Zero)
	}
	v := partfield.OfSource(*p)
	if v.MediaType != nil {
		f.text(path+".media_type", v.MediaType)
	}
	switch name := path + "." + k.Strings[0]; {
	case v.Kind == partfield.URL || v.Kind == partfield.File:
		f.address(name, v.Data)
	case v.Kind == partfield.Base64 && f.request && len(*v.Data) >= digestSize:
		sum := sha256.Sum256([]byte(*v.Data))
		f.put(path+".sha256", fmt.Sprintf(`"%s, %d characters"`, hex.EncodeToString(sum[:]), len(*v.Data)))
	case v.Data != nil:
		f.text(name, v.Data)
	}
	if v.Parts != nil {
		f.parts(path+".parts", v.Parts)
	}
	f.extra(path+".extra", v.Extra)
}

func (f *fields) citation(path string, c *content.Citation) {
	f.kind(path, (*string)(&c.Kind))
	f.text(path+".text", &c.Text)
	f.text(path+".title", &c.Title)
	f.number(path+".index", &c.Index)
	f.number(path+".start", &c.Start)
	f.number(path+".end", &c.End)
	f.address(path+".url", &c.URL)
	f.text(path+".file_id", &c.FileID)
	f.extra(path+".extra", &c.Extra)
}

// end writes or reads how Generate ended: with an error, or with nil if the error has no code.
func (f *fields) end(e *upstream.Error) {
	name, seconds := "complete", int64(e.RetryAfter/time.Second)
	if e.Code != "" {
		name = "failed"
	}
	f.kind("end", &name)
	f.text("code", (*string)(&e.Code))
	f.text("text", &e.Text)
	f.number("retry_after", &seconds)
	e.RetryAfter = time.Duration(seconds) * time.Second
}

// event writes or reads an event. It omits the Frame and what identifies an exchange or an
// account: Start.UpstreamID and Start.Header.
func (f *fields) event(e *upstream.Event) {
	name := eventName(e.Kind)
	f.kind("event", &name)
	for e.Kind = upstream.EventStart; e.Kind < upstream.EventExtra && eventName(e.Kind) != name; e.Kind++ {
	}
	if eventName(e.Kind) != name {
		f.fail("event", "a kind that this version knows")
		return
	}
	block, candidate := int64(e.Block), int64(e.Candidate)
	f.number("block", &block)
	f.number("candidate", &candidate)
	e.Block, e.Candidate = int(block), int(candidate)
	switch e.Kind {
	case upstream.EventStart:
		f.start(set(f, &e.Start))
	case upstream.EventOpen:
		f.part("part", &e.Part)
	case upstream.EventText, upstream.EventInput:
		f.text("text", &e.Text)
	case upstream.EventCitation:
		f.citation("citation", set(f, &e.Citation))
	case upstream.EventSignature:
		f.signature("signature", set(f, &e.Signature))
	case upstream.EventBlockExtra, upstream.EventExtra:
		f.text("name", &e.Text)
	case upstream.EventUsage:
		f.usage(set(f, &e.Usage))
	case upstream.EventStop:
		f.stop(set(f, &e.Stop))
	case upstream.EventLoss:
		f.loss(set(f, &e.Loss))
	}
	f.extra("extra", &e.Extra)
}

// eventName returns the name of a kind, such as "blockextra".
func eventName(k upstream.EventKind) string {
	return strings.ToLower(strings.TrimPrefix(k.String(), "Event"))
}

func (f *fields) start(s *upstream.Start) {
	f.text("id", &s.ID)
	f.text("model", &s.Model)
	f.flag("model_as_requested", &s.ModelAsRequested)
	f.text("upstream", &s.Upstream)
	f.extra("members", &s.Extra)
}

func (f *fields) usage(u *content.Usage) {
	f.number("input", &u.Input)
	f.number("cache_read", &u.CacheRead)
	f.number("cache_write", &u.CacheWrite)
	f.number("cache_write_1h", &u.CacheWrite1h)
	f.number("tool_prompt", &u.ToolPrompt)
	f.number("output", &u.Output)
	f.number("thinking", &u.Thinking)
	f.flag("estimated", &u.Estimated)
	list(f, "modalities", &u.Modalities, func(path string, m *content.ModalityCount) {
		f.kind(path, &m.Kind)
		f.text(path+".modality", &m.Modality)
		f.number(path+".tokens", &m.Tokens)
	})
	f.extra("members", &u.Extra)
}

func (f *fields) stop(s *upstream.Stop) {
	f.text("reason", (*string)(&s.Reason))
	f.text("sequence", &s.Sequence)
	f.text("format", (*string)(&s.Format))
	f.text("raw_reason", &s.RawReason)
	f.text("details", &s.Details)
	f.text("message", &s.Message)
	f.extra("members", &s.Extra)
}

func (f *fields) loss(l *content.Loss) {
	severity, more := int64(l.Severity), int64(l.More)
	f.text("path", &l.Path)
	f.number("severity", &severity)
	f.text("reason", &l.Reason)
	list(f, "also", &l.Also, f.text)
	f.number("more", &more)
	if f.put == nil {
		l.Severity, l.More = content.Severity(severity), int(more)
	}
}
