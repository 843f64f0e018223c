package upstream

import (
	"context"
	"errors"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/partfield"
)

// A Request is a request to a model in neutral form.
//
// A Request is read-only from when it is passed to an Upstream or to a function such as
// [Run]. Before that, its owner may set Model, Stream, Session, Resolver, ForwardLinks and RejectLoss,
// also of a request that was decoded from a document: the Wire remains valid. To make other
// changes, change a [Request.Clone], or use [Request.WithModel]. If a Request with a Wire is
// changed anyway, adapters detect it (see [WireOf]) and send the changed request.
//
// Turns and parts correspond one to one to those of the parsed document, so a path such
// as "turns.3.parts.1" means the same place in both.
type Request struct {
	Model string

	System []content.Part // usually texts
	Turns  []content.Turn

	Tools  []content.Tool
	Choice content.ToolChoice

	// MaxTokens limits the tokens of the response, thinking included. Nil means the
	// default of the upstream, as in the other pointer fields. 0 requests no output;
	// clients of Messages use it to fill caches. An adapter whose format does not
	// support 0 returns a [*content.Violation] at "max_tokens", as all adapters do for
	// negative values.
	MaxTokens        *int64
	Temperature      *float64
	TopP             *float64
	TopK             *int64
	Seed             *int64
	PresencePenalty  *float64
	FrequencyPenalty *float64
	StopSequences    []string
	Candidates       int // number of candidates in the response; 0 means 1

	Thinking Thinking
	Output   Output

	// Defaults is what the client means by settings that the request does not have. Formats set
	// it. The zero value means the defaults of the upstream.
	Defaults Defaults

	UserID      string // identifies the client's user
	ServiceTier string // as the format specifies it

	// Session names the conversation or the run of an agent that the request belongs to, for
	// [SessionKey]. Handlers set it from a header of the client, if the request has one of:
	// x-claude-code-session-id, session-id, session_id, x-session-affinity, x-session-id and
	// x-opencode-session. It is then 1 to 256 bytes of visible ASCII. Clients choose it, so it
	// proves nothing. No adapter sends it. Empty means unknown.
	Session string

	// Stream reports whether the client asked for a streamed response. Upstreams may
	// ignore it and always write in pieces.
	Stream bool

	// Resolver loads files for [Request.Load]. Handlers set it. If it is nil, the error of Load
	// is a violation for a link, and [content.ErrUnresolved] for a file id.
	Resolver content.Resolver

	// ForwardLinks allows an upstream to send links to a vendor that fetches them. If
	// it is false, the upstream must send the contents of the file, which
	// [Request.Load] returns. Handlers set it.
	ForwardLinks bool

	// RejectLoss is the least severe loss that is not allowed: [Writer.Loss] returns an
	// error for it. 0 allows all losses.
	RejectLoss content.Severity

	// Header holds headers of the client that belong to its request: the version and
	// betas of the format, and those listed in HandlerOptions.ForwardHeaders. It
	// contains no credentials. Upstreams of the same format send them, even for a
	// changed request; others ignore them. Handlers set it. Nil means none.
	Header []HeaderField

	// Wire is the document from which the request was parsed, for adapters of its format,
	// which send its text if the request is unchanged. Set it to nil to have the request
	// encoded anew. Only the documents of this module's formats are sent.
	Wire Document

	Extra *content.Extra
}

// A Document is the text from which a [Request] was parsed. It is read-only.
type Document interface {
	// Format returns the wire format of the text.
	Format() content.Format

	// String returns the text. It is empty if the request was changed in a way that the text
	// does not have, such as by [Request.Inline].
	String() string
}

// A ThinkingMode specifies whether a model thinks before it responds.
type ThinkingMode string

const (
	ThinkingOff          ThinkingMode = "off"
	ThinkingAuto         ThinkingMode = "auto"          // the model decides how much
	ThinkingBudget       ThinkingMode = "budget"        // at most Thinking.Budget tokens
	ThinkingBetweenTools ThinkingMode = "between_tools" // only between tool calls
)

// Thinking configures the thinking of a model. The zero value means the default of the
// model.
type Thinking struct {
	Mode   ThinkingMode
	Budget *int64 // tokens; with ThinkingBudget

	// Effort is "minimal", "low", "medium", "high", "xhigh" or "max". It may be set
	// without a Mode.
	Effort string

	// Display specifies what the client receives of the thinking: "full", "summarized",
	// "omitted", "auto" for what the server shows, or a value of one format.
	Display string

	Extra *content.Extra
}

// Defaults is what a vendor does without a setting, and so what its clients mean by a request
// that does not have it. Adapters of other formats follow it as far as their models can.
type Defaults struct {
	Format content.Format // of the vendor

	// Thinking is the mode without a mode, an effort and a display. Empty means the default of
	// the model, whatever it is.
	Thinking ThinkingMode

	Display string // of thinking that is on, without a display

	// LooseOutput reports that a response may differ from Output.Schema unless Output.Strict is
	// set.
	LooseOutput bool
}

// Output specifies the form of the response. The zero value means plain text.
type Output struct {
	Modalities []string // "text", "image", "audio"; empty means text only
	MediaType  string   // of text, such as application/json
	Schema     content.Schema

	// Name and Description name the Schema for the model. Strict is whether the response must
	// satisfy it exactly; nil means the default of the server. They mirror members of OpenAI's
	// formats.
	Name, Description string
	Strict            *bool

	Verbosity string // of text: "low", "medium" or "high"; empty means the default of the model

	AspectRatio string // of images, such as "16:9"
	ImageSize   string // of images, such as "2K"
	Extra       *content.Extra
}

// Enabled reports whether the Mode turns thinking on.
func (t Thinking) Enabled() bool {
	switch t.Mode {
	case ThinkingAuto, ThinkingBudget, ThinkingBetweenTools:
		return true
	}
	return false
}

// LastParts returns the parts of the last turn, or nil if there are no turns.
func (r *Request) LastParts() []content.Part {
	if len(r.Turns) == 0 {
		return nil
	}
	return r.Turns[len(r.Turns)-1].Parts
}

// Clone returns a deep copy of r that the caller may change. It shares only strings and
// the Resolver with r. The copy has no Wire.
func (r *Request) Clone() *Request {
	c := *r
	c.Wire = nil
	c.System = cloneParts(r.System)
	c.Turns = slices.Clone(r.Turns)
	for i := range c.Turns {
		t := &c.Turns[i]
		t.Parts, t.Extra = cloneParts(t.Parts), clonePtr(t.Extra)
	}
	c.Tools = slices.Clone(r.Tools)
	for i := range c.Tools {
		t := &c.Tools[i]
		t.Cache, t.Grammar, t.Strict, t.Extra = cloneCache(t.Cache), clonePtr(t.Grammar), clonePtr(t.Strict), clonePtr(t.Extra)
	}
	c.Choice.Names, c.Choice.Extra = slices.Clone(r.Choice.Names), clonePtr(r.Choice.Extra)
	c.MaxTokens, c.Temperature, c.TopP, c.TopK = clonePtr(r.MaxTokens), clonePtr(r.Temperature), clonePtr(r.TopP), clonePtr(r.TopK)
	c.Seed, c.PresencePenalty, c.FrequencyPenalty = clonePtr(r.Seed), clonePtr(r.PresencePenalty), clonePtr(r.FrequencyPenalty)
	c.StopSequences = slices.Clone(r.StopSequences)
	c.Thinking.Budget, c.Thinking.Extra = clonePtr(r.Thinking.Budget), clonePtr(r.Thinking.Extra)
	c.Output.Strict = clonePtr(r.Output.Strict)
	c.Output.Modalities, c.Output.Extra = slices.Clone(r.Output.Modalities), clonePtr(r.Output.Extra)
	c.Header, c.Extra = slices.Clone(r.Header), clonePtr(r.Extra)
	return &c
}

// Path converts a neutral path, such as that of a [content.Loss] of r or its response or of
// a [content.Violation], to the path in the document of the client: "turns.3.parts.1" becomes
// "messages.3.content.1" in Messages. Without a Wire, as in a Clone, the path is unchanged.
//
// The results of WithModel, of Inline and shallow copies convert paths as r does, by position. A copy in which turns, parts or tools are inserted, removed or
// moved has other positions than the client's document: set its Wire to nil, as in a Clone.
func (r *Request) Path(neutral string) string {
	if d := document.Of(r.Wire); neutral != "" && d != nil && d.Parsed != nil {
		return d.Parsed.Path(neutral)
	}
	return neutral
}

// WireOf returns the document from which r was parsed if it is of the format f and r still
// represents it. An adapter of the format sends it instead of encoding r, with another value of the
// members "model" and "stream" if needed, and with r.Header. WireOf returns false if r is a copy other
// than one of [Request.WithModel], or if a field or part of r has changed. It
// ignores changes of Model, Stream, Session, Resolver, ForwardLinks and RejectLoss, which the document
// does not contain or the adapter replaces. It also ignores the replacement of a part by an equal
// one, and of a nil list by an empty one.
//
// It also returns false for a document of Messages with the member anthropic_version or
// anthropic_beta, as those on the paths of Vertex AI have.
//
// WireOf does not allocate.
func WireOf(r *Request, f content.Format) (text string, ok bool) {
	if d := document.Of(r.Wire); d.Represents(r) && d.In == f && !d.Partial {
		return d.Body, true
	}
	return "", false
}

// WithModel returns a shallow copy of r with another model name. Unlike a Clone it
// keeps the Wire.
func (r *Request) WithModel(name string) *Request {
	c := *r
	c.Model = name
	if d := document.Of(r.Wire); d != nil && d.Request == r {
		w := *d
		w.Request = &c
		c.Wire = &w
	}
	return &c
}

// Load returns the file of a source. Base64 data is decoded; links and file ids are
// loaded by r.Resolver. The Resolver that handlers set caches files for the duration of
// the request, and it has loaded all files of the request before the upstream is
// called, except links if ForwardLinks is set.
//
// If the file is not available, the error is a [*content.Violation] without a path;
// [content.AtPath] adds one. For a file id that the Resolver does not know, the error
// is [content.ErrUnresolved]; the id may be that of a file at a vendor. The caller must
// not change Blob.Data.
func (r *Request) Load(ctx context.Context, s content.Source) (content.Blob, error) {
	known := false
	switch s := s.(type) { // other kinds have no bytes
	case *content.Base64:
		if s != nil {
			data, err := s.Bytes()
			return content.Blob{MediaType: s.MediaType, Data: data}, err
		}
	case *content.PlainText:
		if s != nil {
			return content.Blob{MediaType: s.Type(), Data: []byte(s.Text)}, nil
		}
	case *content.URL:
		if known = s != nil; known && r.Resolver == nil {
			return content.Blob{}, errNoLinks
		}
	case *content.File:
		if known = s != nil; known && r.Resolver == nil {
			return content.Blob{}, content.ErrUnresolved
		}
	}
	if !known {
		return content.Blob{}, errNoBytes
	}
	if err := context.Cause(ctx); err != nil {
		return content.Blob{}, err
	}
	b, err := r.Resolver.Resolve(ctx, s)
	if _, link := s.(*content.URL); link && errors.Is(err, content.ErrUnresolved) {
		err = errNoLinks
	}
	return b, err
}

var (
	errNoLinks error = &content.Violation{Code: content.CodeUnsupported, Text: "this server does not fetch links; send the file as base64"}
	errNoBytes error = &content.Violation{Code: content.CodeUnsupported, Text: "the source contains no file; send base64, text, a link or a file id"}
)

func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func cloneParts(ps []content.Part) []content.Part {
	ps = slices.Clone(ps)
	for i, p := range ps {
		ps[i] = clonePart(p)
	}
	return ps
}

// clonePart returns a deep copy of p. Nil parts stay nil.
func clonePart(p content.Part) content.Part {
	p, f := partfield.Copy(p)
	if f.Citations != nil {
		list := slices.Clone(*f.Citations)
		for i := range list {
			list[i].Extra = clonePtr(list[i].Extra)
		}
		*f.Citations = list
	}
	if f.Source != nil {
		*f.Source = cloneSource(*f.Source)
	}
	if f.Parts != nil {
		*f.Parts = cloneParts(*f.Parts)
	}
	if f.Cache != nil {
		*f.Cache = cloneCache(*f.Cache)
	}
	if f.Extra != nil {
		*f.Extra = clonePtr(*f.Extra)
	}
	return p
}

func cloneSource(s content.Source) content.Source {
	s, f := partfield.CopySource(s)
	if f.Parts != nil {
		*f.Parts = cloneParts(*f.Parts)
	}
	if f.Extra != nil {
		*f.Extra = clonePtr(*f.Extra)
	}
	return s
}

func cloneCache(c *content.Cache) *content.Cache {
	if c == nil {
		return nil
	}
	return &content.Cache{TTL: c.TTL, Extra: clonePtr(c.Extra)}
}
