package content

import "github.com/tidwall/gjson"

// A Part is a piece of a turn or of a response: a [*Text], [*Image], [*Document],
// [*Media], [*Thinking], [*ToolUse], [*ToolResult], [*SearchResult], [*ServerToolUse],
// [*ServerToolResult] or [*Unknown]. Later versions may add kinds, so a type switch
// over a Part needs a default case.
//
// A nil Part, and a nil pointer in a Part, is an error that encoders and validators
// report. See [IsNil].
type Part interface{ part() }

// Text is plain text.
type Text struct {
	Text string

	// Citations are the sources of the text. In a request they belong to earlier
	// responses.
	Citations []Citation

	// Refusal reports that the text is the model's refusal to respond, for formats that mark
	// one. It is a text of the model like any other where they do not.
	Refusal bool

	// Signature is set by vendors that sign the parts of a response.
	Signature Signature

	Cache *Cache
	Extra *Extra
}

// Image is a still image.
type Image struct {
	Source    Source
	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// Document is a file to read: a PDF, plain text, or a list of parts.
type Document struct {
	Source Source

	// Title and Context describe the document to the model. They are not cited.
	Title, Context string

	// Citations asks the model to cite the document.
	Citations bool

	// Signature is set if a model created the document.
	Signature Signature

	Cache *Cache
	Extra *Extra
}

// Media is audio or video. The media type of its source specifies which.
type Media struct {
	Source    Source
	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// Thinking is the reasoning of a model before its response. Messages calls it a
// thinking or redacted_thinking block, generateContent a part with thought set, Responses an
// item of type reasoning. Compatible servers of Chat Completions have reasoning_content.
type Thinking struct {
	// Text is the visible thinking. It may be empty.
	Text string

	// Signature lets the vendor recognize its thinking when the client returns it. It
	// must be returned unchanged.
	Signature Signature

	// Redacted is thinking that only its vendor can read. If it is set, Text is empty.
	// Redacted.Format is the format of that vendor.
	Redacted Signature

	Extra *Extra
}

// ToolUse is a call of a tool that the client runs.
type ToolUse struct {
	ID   string // matches the ID of its [ToolResult]; empty if the format has no ids
	Name string

	// Namespace is that of the called [Tool].
	Namespace string

	// Freeform reports that the called tool is one: see [Tool]. Then Text is the input, as the
	// model wrote it, and Input is empty.
	Freeform bool
	Text     string

	// Input holds the arguments, a JSON object as text, as the model wrote it. Empty
	// means "{}". In a response it may be other text, if the model wrote something else
	// or was cut off; clients then receive a malformed tool call, which they must not
	// run.
	Input string

	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// ToolResult is the result of a tool call.
type ToolResult struct {
	ID   string // ID of the [ToolUse]
	Name string // name of the tool; empty if the format has none

	// Parts is what the tool returned. It may be empty.
	Parts []Part

	// Object is the result as a JSON object, for formats that carry one. It is set only
	// if it contains more than Parts; Parts then holds its text.
	Object string

	// Error reports that the tool failed. Parts describes the failure.
	Error bool

	Cache *Cache
	Extra *Extra
}

// SearchResult is a result of the client's own search, for the model to read and cite.
type SearchResult struct {
	Source string // where it was found, such as a URL
	Title  string
	Parts  []Part // texts only

	// Citations asks the model to cite the result.
	Citations bool

	Cache *Cache
	Extra *Extra
}

// ServerToolUse is a call of a tool that the vendor runs, such as web search or code
// execution. Handlers of other formats give searches and runs of code the form that their
// clients know, also those of a host that runs the tool in the vendor's place and writes
// the parts of Messages.
type ServerToolUse struct {
	// Format is the wire format of the vendor. Kind is the type name in that format,
	// such as "server_tool_use".
	Format Format
	Kind   string

	ID    string
	Name  string
	Input string // see [ToolUse]

	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// ServerToolResult is the result of a tool that the vendor ran.
type ServerToolResult struct {
	// Format is the wire format of the vendor. Kind is the type name in that format,
	// such as "web_search_tool_result".
	Format Format
	Kind   string

	ID      string // ID of the [ServerToolUse]
	Content string // JSON text, as the vendor wrote it

	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// Unknown is a part that has no type in this package: a kind that is newer than this
// version, or one that only one vendor has.
type Unknown struct {
	Format Format
	Kind   string // type name in that format
	Raw    string // the whole part as JSON text, as received
}

func (*Text) part()             {}
func (*Image) part()            {}
func (*Document) part()         {}
func (*Media) part()            {}
func (*Thinking) part()         {}
func (*ToolUse) part()          {}
func (*ToolResult) part()       {}
func (*SearchResult) part()     {}
func (*ServerToolUse) part()    {}
func (*ServerToolResult) part() {}
func (*Unknown) part()          {}

// A Signature is an opaque value that a vendor attaches to the output of its model. The
// zero value means that there is no signature.
type Signature struct {
	Format Format // wire format of the vendor
	Data   string // as the vendor wrote it
}

// Cache marks the end of a prefix of the request that the vendor should cache. Messages
// calls it cache_control, Chat Completions and Responses prompt_cache_breakpoint.
type Cache struct {
	// TTL is how long the prefix stays cached, in the form of the vendor, such as "5m"
	// or "1h". Empty means the vendor's default.
	TTL   string
	Extra *Extra
}

// A Format is the name of a wire format. The package of each format has a constant for
// it.
type Format string

// Extra holds members of a JSON object that have no field in the Go type.
type Extra struct {
	Format Format // wire format of the members; empty means the format in which they are written
	JSON   string // a JSON object of these members, in their original order
}

// Get returns the JSON text of the member with the given name. A name has no special
// characters: "a.b" is one name. A nil Extra has no members. JSON must be valid, which it
// is in everything that this module has parsed.
func (x *Extra) Get(name string) (json string, ok bool) {
	if x == nil {
		return "", false
	}
	gjson.Parse(x.JSON).ForEach(func(key, value gjson.Result) bool {
		if key.Str == name {
			json, ok = value.Raw, true
		}
		return !ok
	})
	return json, ok
}

// IsNil reports whether p is nil or contains a nil pointer.
func IsNil(p Part) bool {
	switch p := p.(type) {
	case nil:
		return true
	case *Text:
		return p == nil
	case *Image:
		return p == nil
	case *Document:
		return p == nil
	case *Media:
		return p == nil
	case *Thinking:
		return p == nil
	case *ToolUse:
		return p == nil
	case *ToolResult:
		return p == nil
	case *SearchResult:
		return p == nil
	case *ServerToolUse:
		return p == nil
	case *ServerToolResult:
		return p == nil
	case *Unknown:
		return p == nil
	}
	return false
}
