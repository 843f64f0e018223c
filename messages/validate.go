package messages

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// The versions in the header anthropic-version whose rules differ.
const (
	version2023 = "2023-06-01"
	version2026 = "2026-10-21"
)

// Betas that change what is valid.
const (
	betaFiles       = "files-api-2025-04-14"
	betaInterleaved = "interleaved-thinking-2025-05-14"
)

// ValidateOptions holds what a validator would know from HTTP headers and from the
// options of a handler. The zero value and nil mean the defaults.
type ValidateOptions struct {
	// Version is the header anthropic-version; empty means 2023-06-01. Only the
	// rules of 2026-10-21 differ: it does not have temperature, top_p and top_k,
	// documents directly in assistant messages, or citations in texts of the user.
	// Validate does not check that the version exists.
	Version string

	// Betas are the values of the header anthropic-beta. Validate uses two:
	// files-api-2025-04-14 allows file sources, which 2026-10-21 always allows (see
	// AllowFiles). interleaved-thinking-2025-05-14 lets budget_tokens exceed
	// max_tokens.
	Betas []string

	// AllowFiles allows file sources without their beta.
	AllowFiles bool

	// Strict applies the vendor's own contract to the letter. It refuses
	// members, block types, tool types and citation types that the format does
	// not define, and values that it does not define for settings such as
	// service_tier, speed, effort and ttl. It also refuses tool call ids that do not
	// match the vendor's patterns, thinking without a signature, unknown names in
	// calls of the vendor's own tools, documents whose title is too long, and, in
	// the body of count_tokens, members that only messages has.
	//
	// By default all of these are accepted, because clients send what is newer
	// than this package and return what upstreams other than the vendor produced.
	Strict bool

	// Count applies the rules of count_tokens, which does not need max_tokens.
	Count bool

	// MediaTypes are types of documents in base64 that the upstream can read,
	// besides PDF and, without Strict, text/plain.
	MediaTypes []string

	// Limits bounds files and images. The defaults are 100 files of 32 MiB each
	// (decoded) and images of 8000 by 8000 pixels; ImagePixels has no default.
	// [DecodeRequest] also applies the limits of parsing.
	Limits content.Limits
}

// Validate reports everything that is wrong with the request: nil, or an error
// whose violations [content.Violations] lists. Those that parsing found come first,
// followed by those of the vendor's rules in the order in which the vendor evaluates
// them: tools, system, messages, then the other settings. Paths and texts are the
// vendor's where they are known. Violations that follow from one that parsing found
// are left out. Violations that the vendor reports for a whole list, such as empty
// texts, are reported once.
//
// opts may be nil. Validate does not change the request, may be called by several
// goroutines, and does no I/O. Its time is linear in the size of the request. It
// decodes base64 data only for the headers of images.
//
// Validate does not check what depends on the model, such as its name, nor
// signatures, nor, without Strict, schemas beyond their "type". Members of a beta do
// not need the beta header, except file sources.
//
// In a request that was made by hand, nil parts and sources are violations, and so
// is free JSON (inputs of tool calls, schemas, raw members) that is not valid JSON.
// In one that was parsed, free JSON is not checked again.
func (r *Request) Validate(opts *ValidateOptions) error {
	if opts == nil {
		opts = &defaultOptions
	}
	var v validator
	v.r, v.opts, v.made = r, opts, r.origin == nil
	v.lim = fileLimits(opts.Limits)
	v.limits()
	v.tools()
	v.system()
	v.messages()
	v.marksInAll()
	v.settings()
	v.raws()
	return r.withoutRepeats(&v.violations)
}

// defaultOptions replaces nil options. It is never changed.
var defaultOptions ValidateOptions

// A validator walks over one request in the order in which the vendor
// evaluates it: tools, system, messages, then what depends on them.
type validator struct {
	r          *Request
	opts       *ValidateOptions
	lim        content.Limits // with the defaults
	made       bool           // by hand, so free JSON was not checked
	path       codec.Path
	violations content.ViolationList

	once  [onceCount]bool
	marks int  // cache marks so far
	short bool // one of them was for 5 minutes

	sound      int // how many of origin.base64 have been passed
	files      int
	cited      bool         // a document or search result asks for citations
	firstFound content.Part // the first search result
	hasCalls   bool         // a message has a tool_use or tool_result
	added      bool         // a system message defines a tool

	doc    *jsonwire.Doc         // for JSON text, one after another; by need
	unread map[content.Part]bool // those of origin.unread; by need
}

// Violations that the vendor reports once for the whole request, without a place.
const (
	onceEmptyText = iota
	onceBlankText
	onceToolNames
	onceFiles
	onceCount
)

// violation adds a violation at the path followed by names.
func (v *validator) violation(code content.Code, text string, names ...string) {
	if v.violations.Len() >= content.MaxViolations {
		v.violations.Add(code, "", "") // is only counted
		return
	}
	v.violations.Add(code, v.path.At(names...), text)
}

// whole adds a violation at a path of the top level.
func (v *validator) whole(code content.Code, path, text string) { v.violations.Add(code, path, text) }

// wholeOnce is whole for a violation that is reported once.
func (v *validator) wholeOnce(which int, code content.Code, path, text string) {
	if !v.once[which] {
		v.once[which] = true
		v.whole(code, path, text)
	}
}

// isUnread reports whether parsing found a violation in a field of p that is empty
// now, or may have found one when it had so many that it only counted them.
func (v *validator) isUnread(p content.Part) bool {
	o := v.r.origin
	if o == nil || len(o.violations) == 0 {
		return false
	}
	if v.unread == nil {
		v.unread = make(map[content.Part]bool, len(o.unread))
		for _, p := range o.unread {
			v.unread[p] = true
		}
	}
	return o.more > 0 || v.unread[p]
}

// need reports a required string that is empty. In a document it is present, or
// the parser has reported it.
func (v *validator) need(s string, names ...string) bool {
	if s != "" {
		return true
	}
	if v.made {
		v.violation(content.CodeMissing, textRequired, names...)
	} else {
		v.violation(content.CodeRange, textNotEmpty, names...)
	}
	return false
}

// atMost reports a string that has more than n characters.
func (v *validator) atMost(s string, n int, names ...string) {
	if len(s) > n && utf8.RuneCountInString(s) > n {
		v.violation(content.CodeRange, textAtMost(n, "character"), names...)
	}
}

// oneOf reports a string that is not one of the known values, which only Strict
// refuses. An empty string means that the member is absent.
func (v *validator) oneOf(s string, known []string, names ...string) {
	if v.opts.Strict && s != "" && !slices.Contains(known, s) {
		v.violation(content.CodeValue, textOneOf(known), names...)
	}
}

// beta reports whether the client named a beta.
func (v *validator) beta(name string) bool { return slices.Contains(v.opts.Betas, name) }

// is2026 reports whether the rules of version 2026-10-21 apply.
func (v *validator) is2026() bool { return v.opts.Version == version2026 }

// limits checks the members that each request needs.
func (v *validator) limits() {
	r := v.r
	v.need(r.Model, "model")
	if n := len(r.Model); n > codec.MaxModelName {
		v.whole(content.CodeLimit, "model", "String should have at most "+strconv.Itoa(codec.MaxModelName)+" bytes, not "+strconv.Itoa(n))
	}
	switch {
	case r.MaxTokens == nil:
		if !v.opts.Count {
			v.whole(content.CodeMissing, "max_tokens", textRequired)
		}
	case *r.MaxTokens < 0:
		v.whole(content.CodeRange, "max_tokens", textAtLeast(0))
	case *r.MaxTokens == 0:
		v.prewarm()
	}
	switch n := len(r.Messages); {
	case r.Messages == nil && v.made:
		v.whole(content.CodeMissing, "messages", textRequired)
	case n == 0 && !v.continues():
		v.whole(content.CodeRange, "messages", "at least one message is required")
	case n > maxMessages:
		v.whole(content.CodeLimit, "messages", textItems(maxMessages, n))
	}
}

// prewarm checks a request that only fills caches.
func (v *validator) prewarm() {
	r := v.r
	with := func(bad bool, what string) {
		if bad {
			v.whole(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with "+what)
		}
	}
	with(r.Stream, "`stream`")
	with(r.Thinking != nil && r.Thinking.Type == "enabled", "`thinking.enabled`")
	with(r.format() != nil, "`output_config.format`")
	with(r.forced(), "a `tool_choice` that forces tool use")
}

// format returns the output format of output_config or of output_format.
func (r *Request) format() *OutputFormat {
	if r.OutputConfig != nil && r.OutputConfig.Format != nil {
		return r.OutputConfig.Format
	}
	return r.OutputFormat
}

// forced reports whether the tool choice forces a tool call.
func (r *Request) forced() bool {
	return r.ToolChoice != nil && (r.ToolChoice.Type == "any" || r.ToolChoice.Type == "tool")
}
