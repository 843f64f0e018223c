// Package foreign describes what only one format has: members, blocks, tools and turns that
// the other formats report or replace, and the state that its vendors need back. Each format
// has a file with its data. The functions run over the data and do not depend on a format.
package foreign

import (
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
)

// formats returns the formats that have data, which are never changed.
var formats = sync.OnceValue(func() []*format { return []*format{messages(), generateContent(), openAI()} })

// A format is what only one format has, or formats that share most of it.
type format struct {
	names   []content.Format
	members [kinds]table     // without a neutral field, by the object that they are in
	blocks  map[string]block // by kind, if other formats do not drop them
	tools   []clientTool     // the first that matches is used
	headers []string         // that select versions; see IsVersionHeader
	session string           // the member of a request with the key of its conversation, or ""

	// searchesTools is SearchesTools for tools of the format; nil if it has none. references
	// return what names the tools that blocks of a kind load: names, or the tools themselves.
	searchesTools func(t *content.Tool) bool
	clientSearch  func(t *content.Tool) bool // whether the client runs it; nil if the format has no such tools
	references    map[string]func(raw string) gjson.Result

	// number is the number of the first name, which the other names follow: see Number.
	number byte

	response map[string]*loss.Rule // members of responses and their parts whose loss is more than a hint
	sources  *sourceList           // nil if responses do not list sources
	logprobs *logprobs             // nil if the format has none

	// signsCalls reports that the vendor signs tool calls, and needs no other signatures.
	// holdsText reports whether a signature of thinking holds the text, too; nil if none does.
	signsCalls bool
	holdsText  func(s content.Signature) bool

	// memberTools are the members of requests that stand for tools of the server: see MemberTools.
	// selectsTools is the kind of tools that only have settings for these, or "".
	memberTools  map[string]func(value gjson.Result, tools []content.Tool) []content.Tool
	selectsTools string

	// hosted reads a call or result of a server's tool into h: see HostedIn. It returns false if other
	// vendors do not have the tool.
	hosted func(h *Hosted, kind, name string, v gjson.Result) bool

	// copies begins the ids of blocks that a handler has made: see IsCopy. Empty if there are none.
	copies string

	// addMembers adds the other members of the definition of a clientTool to its function.
	addMembers func(f *content.Tool, definition string)

	// isTemporary reports whether a system turn with the members of x applies only until
	// the next user turn.
	isTemporary func(x *content.Extra) bool
}

// A block is a kind of [content.Unknown].
type block struct {
	// text returns the text of a block for other formats, or "". They get it after prefix,
	// and report rule.
	text   func(raw string) string
	prefix string
	rule   *loss.Rule

	isState func(raw string) bool // see IsState; nil if no block of this kind is
}

// A clientTool is a vendor-defined tool that the client runs, with the schema that the
// vendor has published for it. Its kinds begin with prefix; a date follows.
type clientTool struct{ prefix, description, schema string }

// The rules by which blocks, tools and their members are reported.
var (
	SummaryAsText    = loss.Degraded(loss.VendorPart, "the summary of the earlier conversation is sent as text")
	SearchAsFunction = loss.Hint(loss.VendorTool, "the search for tools that the client runs is sent as a function, and its calls return as those of the search")
	ReferenceAsText  = loss.Hint(loss.VendorPart, "the tool reference is sent as a text that the tool is loaded")
	ToolAsFunction   = loss.Degraded(loss.VendorTool, "the vendor-defined tool that the client runs is sent as a function with the vendor's schema")
	ToolRestrictions = loss.Dropped(loss.VendorTool, "the server's own tool cannot be restricted in this way; it is used without the restriction")
	ToolSettings     = loss.Degraded(loss.VendorTool, "the server's own tool does not have this setting; it was omitted")
)

// dataOf returns the data of a format, which is empty for one without data.
func dataOf(name content.Format) *format {
	for _, f := range formats() {
		for _, s := range f.names {
			if s == name {
				return f
			}
		}
	}
	return &unknownFormat
}

var unknownFormat format

// Text returns the text of a block that formats other than its own send instead of it, and
// the rule that reports this. The rule is nil if the block has no text form.
func Text(u *content.Unknown) (string, *loss.Rule) {
	b := dataOf(u.Format).blocks[u.Kind]
	if b.text == nil {
		return "", nil
	}
	s := b.text(u.Raw)
	if s == "" {
		return "", nil
	}
	return b.prefix + s, b.rule
}

// IsState reports whether a block carries state of the conversation that only its vendor
// can read. Without that state a model would respond to another conversation.
func IsState(u *content.Unknown) bool {
	b := dataOf(u.Format).blocks[u.Kind]
	return b.isState != nil && b.isState(u.Raw)
}

// IsCopy reports whether a handler has made a call or result of a server's tool from members of
// another format. It only shows them: no server needs it back.
func IsCopy(p content.Part) bool {
	v := partfield.VendorOf(p)
	prefix := dataOf(v.Format).copies
	return prefix != "" && strings.HasPrefix(v.ID, prefix)
}

// Function returns a vendor-defined tool that the client runs as a function of the same
// name, so that clients recognize its calls, and the rule that reports this. The rule is
// nil if t is not such a tool.
func Function(t *content.Tool) (content.Tool, *loss.Rule) {
	data := dataOf(t.Format)
	if data.clientSearch != nil && data.clientSearch(t) {
		raw := gjson.Parse(t.Raw)
		return content.Tool{Name: t.Kind, Description: raw.Get("description").Str, Input: content.Schema{JSON: raw.Get("parameters").Raw}}, SearchAsFunction
	}
	if t.Kind == "" || t.Name == "" {
		return content.Tool{}, nil
	}
	for i := range data.tools {
		if c := &data.tools[i]; strings.HasPrefix(t.Kind, c.prefix) {
			f := content.Tool{Name: t.Name, Description: c.description, Input: content.Schema{JSON: c.schema}}
			data.addMembers(&f, t.Raw)
			return f, ToolAsFunction
		}
	}
	return content.Tool{}, nil
}

// MemberTools returns the tools of a server that the member with a name stands for, of a request
// with tools. It returns nil if there are none, or if they cannot be represented.
func MemberTools(x *content.Extra, name string, tools []content.Tool) []content.Tool {
	of := dataOf(x.Format).memberTools[name]
	if of == nil {
		return nil
	}
	json, _ := x.Get(name)
	return of(gjson.Parse(json), tools)
}

// SelectsMemberTools reports whether a tool only has settings for those of MemberTools.
func SelectsMemberTools(t *content.Tool) bool {
	kind := dataOf(t.Format).selectsTools
	return kind != "" && t.Kind == kind
}

// isOver reports whether a turn is no longer in effect once a user turn follows it: a system
// turn that the model sees only until then. It must not be sent to another vendor's model,
// which would follow it. Omitting it is not a loss.
func isOver(t *content.Turn) bool {
	if t.Role != content.RoleSystem || t.Extra == nil {
		return false
	}
	is := dataOf(t.Extra.Format).isTemporary
	return is != nil && is(t.Extra)
}

// Number returns the number that stands for the name of a format in ids of tool calls. It
// never changes. Numbers are greater than 0.
func Number(name content.Format) (n byte, ok bool) {
	for _, f := range formats() {
		for i, s := range f.names {
			if s == name {
				return f.number + byte(i), true
			}
		}
	}
	return 0, false
}

// Numbered returns the format with a number.
func Numbered(n byte) (name content.Format, ok bool) {
	for _, f := range formats() {
		if n >= f.number && int(n-f.number) < len(f.names) {
			return f.names[n-f.number], true
		}
	}
	return "", false
}

// SameVendor reports whether two formats are one, or of one vendor who shares objects between
// them.
func SameVendor(a, b content.Format) bool {
	d := dataOf(a)
	return a == b || d != &unknownFormat && d == dataOf(b)
}

// SignsCalls reports whether the vendors of a format sign tool calls, and need no signatures
// of the thinking before them.
func SignsCalls(name content.Format) bool { return dataOf(name).signsCalls }

// HoldsText reports whether a signature of thinking holds the text of the thinking, too.
func HoldsText(s content.Signature) bool {
	holds := dataOf(s.Format).holdsText
	return holds != nil && holds(s)
}

// IsVersionHeader reports whether a header selects versions of a format. The losses of the
// features that it selects are reported where these are used.
func IsVersionHeader(name string) bool {
	for _, f := range formats() {
		for _, h := range f.headers {
			if strings.EqualFold(h, name) {
				return true
			}
		}
	}
	return false
}

// Expired are the turns of a conversation that are no longer in effect: see [isOver].
type Expired struct{ lastUser int }

// FindExpired returns the turns that are no longer in effect.
func FindExpired(turns []content.Turn) Expired {
	i := len(turns) - 1
	for i >= 0 && turns[i].Role != content.RoleUser {
		i--
	}
	return Expired{i}
}

// Contains reports whether turn i, which is t, is no longer in effect.
func (e Expired) Contains(i int, t *content.Turn) bool { return i <= e.lastUser && isOver(t) }

// unlimited is for JSON that has passed the limits of the host.
var unlimited = jsonwire.Limits{Depth: 1 << 30, Values: 1 << 30}
