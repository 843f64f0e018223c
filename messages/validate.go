package messages

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// The values of the header anthropic-version that judge a request differently.
const (
	version2023 = "2023-06-01"
	version2026 = "2026-10-21"
)

// Betas that change what is valid.
const (
	betaFiles       = "files-api-2025-04-14"
	betaInterleaved = "interleaved-thinking-2025-05-14"
)

// ValidateOptions is what HTTP would have told a validator. The zero value, like nil,
// holds the defaults.
type ValidateOptions struct {
	// Version is the header anthropic-version; empty means 2023-06-01. Only
	// 2026-10-21 is judged differently: it has no temperature, top_p and top_k,
	// no documents directly in assistant messages, and no citations on texts of
	// the user. Whether a version exists is not judged here.
	Version string

	// Betas are the values of the header anthropic-beta. Only two matter:
	// files-api-2025-04-14, without which no version but 2026-10-21 has file
	// sources (see AllowFiles), and interleaved-thinking-2025-05-14, which lets
	// budget_tokens exceed max_tokens.
	Betas []string

	// AllowFiles lets file sources pass without their beta.
	AllowFiles bool

	// Strict judges by the letter of the vendor's own contract. It refuses
	// members, block types, tool types and citation types that the format does
	// not know; ids of calls that do not match the vendor's patterns; thinking
	// without a signature; names of the vendor's own tools in calls and titles
	// of documents that are out of bounds; and in the body of count_tokens the
	// members that only messages has.
	//
	// The default lets all of these pass, because clients send what is newer
	// than this package and echo what upstreams other than the vendor made up.
	Strict bool

	// Count judges the body of count_tokens: max_tokens is not needed.
	Count bool

	// MediaTypes are types of documents that are accepted in base64 besides PDF and,
	// but for Strict, text/plain: what the upstream can read.
	MediaTypes []string

	// Limits bounds files and images: 100 files of 32 MiB each (decoded), and
	// images of 8000 by 8000 pixels, unless told otherwise. ImagePixels is not
	// bounded by default. Depth and values are ParseRequest's.
	Limits content.Limits
}

// Validate reports everything that is wrong with the request, what parsing it
// has found included: nil, or an error whose faults [content.Violations] lists,
// in the order of the document for a parsed request. Paths and words are the
// vendor's where its own are known. Faults that would only repeat that
// something could not be read are left out, and where the vendor tells a fault
// of the whole list, as for empty texts, it is told once.
//
// rules may be nil. The request is not changed, and may be validated from
// several goroutines at once. Validate does no I/O. Its time is linear in the
// size of the request, and base64 data is not decoded but for image headers.
//
// Rules that depend on a model are the upstream's: no name of a model is judged
// here, nor are signatures, nor (but for Strict) schemas beyond their "type". Members of a beta
// need no beta header, but for file sources.
//
// In a request made by hand, nil parts and sources are faults, and so is free
// JSON (inputs of calls, schemas, raw members) that is not JSON. In one that was
// parsed, free JSON counts as checked.
func (r *Request) Validate(rules *ValidateOptions) error {
	if rules == nil {
		rules = &noRules
	}
	var v validator
	v.r, v.rules, v.made = r, rules, r.Form == nil
	v.lim = fileLimits(rules.Limits)
	v.limits()
	v.tools()
	v.system()
	v.messages()
	v.marksInAll()
	v.settings()
	v.raws()
	return r.faults(&v.faults)
}

// noRules is what nil stands for. It is never changed.
var noRules ValidateOptions

// A validator walks over one request in the order in which the vendor
// evaluates it: tools, system, messages, then what depends on them.
type validator struct {
	r      *Request
	rules  *ValidateOptions
	lim    content.Limits // with the defaults
	made   bool           // by hand: free JSON has not been checked
	path   codec.Path
	faults content.ViolationList

	once  [onceCount]bool
	plain map[*content.Text]bool // texts that were plain strings, by need

	marks int  // cache marks so far
	short bool // one of them was for 5 minutes

	sound      int // how many of Form.sound are behind
	files      int
	cited      bool         // a document or search result asks for citations
	firstFound content.Part // the first search result
	hasCalls   bool         // a message has a tool_use or tool_result
	added      bool         // a system message defines a tool

	doc *jsonwire.Doc // for JSON text, one after another; by need
}

// Faults that the vendor tells of the whole request, not of a place in it.
const (
	onceEmptyText = iota
	onceBlankText
	onceToolNames
	onceFiles
	onceCount
)

// fault notes a fault at the path, with more names behind it.
func (v *validator) fault(code content.Code, text string, names ...string) {
	if v.faults.Len() >= content.MaxViolations {
		v.faults.Add(code, "", "") // is only counted
		return
	}
	v.faults.Add(code, v.path.At(names...), text)
}

// whole notes a fault at a path of the top level.
func (v *validator) whole(code content.Code, path, text string) { v.faults.Add(code, path, text) }

// wholeOnce is whole for a fault that is told once.
func (v *validator) wholeOnce(which int, code content.Code, path, text string) {
	if !v.once[which] {
		v.once[which] = true
		v.whole(code, path, text)
	}
}

// told reports whether the parser has complained about the member name of what
// the path is at, or may have done so when it had so many faults that it only
// counted them.
func (v *validator) told(name string) bool {
	f := v.r.Form
	if f == nil || f.wrong == nil {
		return false
	}
	return f.wrong.more > 0 || v.r.complained(v.path.At(name))
}

// need reports an empty string that is required. In a document it was there,
// or the parser has told so.
func (v *validator) need(s string, names ...string) bool {
	if s != "" {
		return true
	}
	if v.made {
		v.fault(content.CodeMissing, textRequired, names...)
	} else {
		v.fault(content.CodeRange, textNotEmpty, names...)
	}
	return false
}

// atMost reports a string of more than n characters.
func (v *validator) atMost(s string, n int, names ...string) {
	if len(s) > n && utf8.RuneCountInString(s) > n {
		v.fault(content.CodeRange, textAtMost(n, "character"), names...)
	}
}

// oneOf reports a string that is none of the allowed ones; empty means absent.
func (v *validator) oneOf(s string, allowed []string, names ...string) {
	if s != "" && !slices.Contains(allowed, s) {
		v.fault(content.CodeValue, textOneOf(allowed), names...)
	}
}

// emptyString reports whether parts are an empty plain string.
func (v *validator) emptyString(parts []content.Part) bool {
	t := onlyText(parts)
	if t == nil || t.Text != "" {
		return false
	}
	if v.plain == nil {
		v.plain = v.r.Form.plainTexts()
	}
	return v.plain[t]
}

// beta reports whether the client named a beta.
func (v *validator) beta(name string) bool { return slices.Contains(v.rules.Betas, name) }

// is2026 reports whether the request is judged by the newer version.
func (v *validator) is2026() bool { return v.rules.Version == version2026 }

// limits checks what a whole request must have.
func (v *validator) limits() {
	r := v.r
	v.need(r.Model, "model")
	if n := len(r.Model); n > codec.MaxModelName {
		v.whole(content.CodeLimit, "model", "String should have at most "+strconv.Itoa(codec.MaxModelName)+" bytes, not "+strconv.Itoa(n))
	}
	switch {
	case r.MaxTokens == nil:
		if !v.rules.Count {
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

// format returns the form that the answer should have, however it was spelled.
func (r *Request) format() *OutputFormat {
	if r.OutputConfig != nil && r.OutputConfig.Format != nil {
		return r.OutputConfig.Format
	}
	return r.OutputFormat
}

// forced reports whether the tool choice makes the model call a tool.
func (r *Request) forced() bool {
	return r.ToolChoice != nil && (r.ToolChoice.Type == "any" || r.ToolChoice.Type == "tool")
}
