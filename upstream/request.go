package upstream

import (
	"context"
	"errors"
	"slices"

	"github.com/polywire/polywire/content"
)

// A Request is what a client asks, in no vendor's words.
//
// It is read-only by custom: whoever wants another request makes a
// [Request.Clone] and changes that, or asks for another model with
// [Request.WithModel]. A request that is changed all the same is honoured:
// [WireOf] notices.
//
// Turns and parts stand one to one for those of the document that the request
// was parsed from, so that "turns.3.parts.1" names the same thing to everyone.
type Request struct {
	Model string

	System []content.Part // usually texts
	Turns  []content.Turn

	Tools  []content.Tool
	Choice content.ToolChoice

	// MaxTokens bounds the answer, thinking included. Nil leaves it to the
	// upstream, as in every other pointer here. Zero asks for no answer: clients
	// of Messages fill caches so, over servers that speak it. For any other way the
	// adapters of this module refuse it, and less than zero, with a
	// [*content.Violation] at "max_tokens": no limit of their own stands for it.
	MaxTokens        *int64
	Temperature      *float64
	TopP             *float64
	TopK             *int64
	Seed             *int64
	PresencePenalty  *float64
	FrequencyPenalty *float64
	StopSequences    []string
	Candidates       int // how many answers; 0 means one

	Thinking Thinking
	Output   Output

	UserID      string // the client's own name for its user
	ServiceTier string // in the format's own words

	// Stream says that the client wants the answer piece by piece. An upstream
	// need not look at it: it may write piece by piece always.
	Stream bool

	// Resolver finds files for [Request.Load]. Handlers set it.
	Resolver content.Resolver

	// ForwardLinks says that an upstream may leave links to a vendor that takes
	// them. If it is false, what a link leads to must be sent with the request:
	// [Request.Load] has it. Handlers set it; a vendor that takes no links needs
	// Load in any case.
	ForwardLinks bool

	// RejectLoss is the mildest loss that must not happen: [Writer.Loss] fails for
	// it. Zero refuses none.
	RejectLoss content.Severity

	// Header holds headers of the client's format that belong to what the request
	// says, such as the version and the betas of its members, and those that
	// [HandlerOptions.ForwardHeaders] names; nil if there are none. An upstream of the same format sends them along even if the request
	// has been changed; others ignore them. Fronts set it. There is never a
	// credential in it.
	Header []Field

	// Wire is the document that the request was parsed from. Read it with
	// [WireOf] only.
	Wire *Wire

	Extra *content.Extra
}

// A ThinkingMode says whether a model thinks before it answers.
type ThinkingMode string

const (
	ThinkingOff          ThinkingMode = "off"
	ThinkingAuto         ThinkingMode = "auto"          // as much as the model sees fit
	ThinkingBudget       ThinkingMode = "budget"        // up to Budget tokens
	ThinkingBetweenTools ThinkingMode = "between_tools" // only between calls
)

// Thinking says how a model should think. The zero value leaves it to the
// model.
type Thinking struct {
	Mode   ThinkingMode
	Budget *int64 // tokens, with ThinkingBudget

	// Effort is how hard to try: "minimal", "low", "medium", "high", "xhigh"
	// or "max". It may stand without a Mode.
	Effort string

	// Display says what the client wants to see of it: "full", "summarized",
	// "omitted" or, in a format's own words, something else.
	Display string

	Extra *content.Extra
}

// Output says what form the answer should have. The zero value is plain text.
type Output struct {
	Modalities  []string // "text", "image", "audio"; empty means text
	MediaType   string   // of texts, such as application/json
	Schema      content.Schema
	AspectRatio string // of images, such as "16:9"
	ImageSize   string // of images, such as "2K"
	Extra       *content.Extra
}

// Enabled reports whether the request asks for thinking.
func (t Thinking) Enabled() bool {
	switch t.Mode {
	case ThinkingAuto, ThinkingBudget, ThinkingBetweenTools:
		return true
	}
	return false
}

// Last returns the parts of the last turn, or nil if there is none.
func (r *Request) Last() []content.Part {
	if len(r.Turns) == 0 {
		return nil
	}
	return r.Turns[len(r.Turns)-1].Parts
}

// Clone returns a copy that may be changed at will, down to every part. It
// shares nothing with r but strings, the Resolver, and what is immutable. The
// copy has no Wire.
func (r *Request) Clone() *Request {
	c := *r
	c.Wire = nil
	c.System = cloneParts(r.System)
	c.Turns = slices.Clone(r.Turns)
	for i := range c.Turns {
		t := &c.Turns[i]
		t.Parts, t.Extra = cloneParts(t.Parts), ptr(t.Extra)
	}
	c.Tools = slices.Clone(r.Tools)
	for i := range c.Tools {
		t := &c.Tools[i]
		t.Cache, t.Extra = cloneCache(t.Cache), ptr(t.Extra)
	}
	c.Choice.Names, c.Choice.Extra = slices.Clone(r.Choice.Names), ptr(r.Choice.Extra)
	c.MaxTokens, c.Temperature, c.TopP, c.TopK = ptr(r.MaxTokens), ptr(r.Temperature), ptr(r.TopP), ptr(r.TopK)
	c.Seed, c.PresencePenalty, c.FrequencyPenalty = ptr(r.Seed), ptr(r.PresencePenalty), ptr(r.FrequencyPenalty)
	c.StopSequences = slices.Clone(r.StopSequences)
	c.Thinking.Budget, c.Thinking.Extra = ptr(r.Thinking.Budget), ptr(r.Thinking.Extra)
	c.Output.Modalities, c.Output.Extra = slices.Clone(r.Output.Modalities), ptr(r.Output.Extra)
	c.Header, c.Extra = slices.Clone(r.Header), ptr(r.Extra)
	return &c
}

// WithModel returns a shallow copy of r that asks for another model. Unlike a
// Clone it keeps the Wire.
func (r *Request) WithModel(name string) *Request {
	c := *r
	c.Model = name
	if r.Wire != nil && r.Wire.of == r {
		w := *r.Wire
		w.of = &c
		c.Wire = &w
	}
	return &c
}

// Load returns the bytes of a source: decoded, or from the request's Resolver.
// Every call does the work again but for what the Resolver remembers; the
// handlers' remember everything while the request lives, and have the files of
// the request at hand when the upstream is called (but for links that may be
// passed on).
//
// A source that cannot be had is a [*content.Violation] without a path: the caller
// knows where the source stands. [content.AtPath] adds it. A file that nobody
// here knows about is [content.ErrUnresolved]: a vendor may know it.
func (r *Request) Load(ctx context.Context, s content.Source) (content.Blob, error) {
	known := false
	switch s := s.(type) {
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
			return content.Blob{}, errLink
		}
	case *content.File:
		if known = s != nil; known && r.Resolver == nil {
			return content.Blob{}, content.ErrUnresolved
		}
	}
	if !known {
		return content.Blob{}, errBytes
	}
	if err := context.Cause(ctx); err != nil {
		return content.Blob{}, err
	}
	b, err := r.Resolver.Resolve(ctx, s)
	if _, link := s.(*content.URL); link && errors.Is(err, content.ErrUnresolved) {
		err = errLink
	}
	return b, err
}

var (
	errLink  error = &content.Violation{Code: content.CodeUnsupported, Text: "links are not fetched here; send the file as base64"}
	errBytes error = &content.Violation{Code: content.CodeUnsupported, Text: "this kind of source holds no bytes"}
)

func ptr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
