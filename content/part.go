package content

// A Part is one piece of a turn or of an answer: a [*Text], [*Image],
// [*Document], [*Media], [*Thinking], [*ToolUse], [*ToolResult],
// [*SearchResult], [*ServerToolUse], [*ServerToolResult] or [*Unknown]. Later
// versions may add kinds, so a switch over a Part needs a default case.
//
// A nil Part, or a nil pointer in one, is a mistake that encoders and
// validators report as an error.
type Part interface{ part() }

// Text is plain text.
type Text struct {
	Text string

	// Citations say where the text comes from. On the way in they stand on
	// what an assistant said earlier.
	Citations []Citation

	// Signature is set by vendors that sign answers part by part.
	Signature Signature

	Cache *Cache
	Extra *Extra
}

// Image is a still picture.
type Image struct {
	Source    Source
	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// Document is a file to be read: a PDF, plain text, or a list of parts.
type Document struct {
	Source Source

	// Title and Context describe the document to the model; neither is cited.
	Title, Context string

	// Citations asks that the answer cites this document.
	Citations bool

	// Signature is set where a model made the document.
	Signature Signature

	Cache *Cache
	Extra *Extra
}

// Media is sound or moving pictures; its source's media type tells which.
type Media struct {
	Source    Source
	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// Thinking is what a model thought before it answered.
type Thinking struct {
	// Text is what may be shown. It may be empty although there was a thought.
	Text string

	// Signature lets the vendor that made the thought recognise it when it
	// comes back. It must come back unchanged.
	Signature Signature

	// Redacted holds the thought in a form that only its vendor can read.
	// A redacted thought has no Text. Its Format tells whose it is.
	Redacted Signature

	Extra *Extra
}

// ToolUse is a call of one of the caller's tools.
type ToolUse struct {
	ID   string // pairs the call with its [ToolResult]; empty where the format has none
	Name string

	// Input holds the arguments as JSON text: an object, as the model wrote
	// it. Empty means no arguments, the same as "{}". What a model wrote of
	// another kind, or broke off, stays what it is in an answer, and is no call
	// to be run: clients are told of a malformed one.
	Input string

	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// ToolResult is what the caller's tool gave back.
type ToolResult struct {
	ID   string // of the call
	Name string // of the tool, where the format says it

	// Parts is what the tool returned; it may be empty.
	Parts []Part

	// Object is the result as a JSON object, for formats that carry one and
	// where it says more than Parts does; Parts then holds its text.
	Object string

	// Error says that the tool failed; Parts tell how.
	Error bool

	Cache *Cache
	Extra *Extra
}

// SearchResult is something found by the caller's own search, given to the
// model to be read and cited.
type SearchResult struct {
	Source string // where it was found, such as a URL
	Title  string
	Parts  []Part // texts

	// Citations asks that the answer cites this result.
	Citations bool

	Cache *Cache
	Extra *Extra
}

// ServerToolUse is a call of a tool that the vendor runs itself, such as web
// search or code execution.
type ServerToolUse struct {
	// Format and Kind say in which vendor's words the call is told.
	// Kind is the wire's type name, such as "server_tool_use".
	Format Format
	Kind   string

	ID    string
	Name  string
	Input string // as in [ToolUse]

	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// ServerToolResult is what a vendor's own tool gave back.
type ServerToolResult struct {
	// Format and Kind say whose it is and what: Kind is the wire's type name,
	// such as "web_search_tool_result".
	Format Format
	Kind   string

	ID      string // of the call
	Content string // JSON text, as the vendor wrote it

	Signature Signature
	Cache     *Cache
	Extra     *Extra
}

// Unknown is a part that has no kind here: one that this version does not
// know, or one that only a single vendor has. Raw holds all of it.
type Unknown struct {
	Format Format
	Kind   string // the wire's type name
	Raw    string // JSON text, as it was sent
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

// A Signature is a vendor's mark on something that its model made, opaque to
// everyone else. The zero value means that there is none.
type Signature struct {
	Format Format // whose it is
	Data   string // as the vendor wrote it
}

// Cache marks the end of a prefix that the vendor should keep for later
// requests.
type Cache struct {
	// TTL is how long to keep it, in the format's own words, such as "5m" or
	// "1h"; empty for the vendor's default.
	TTL   string
	Extra *Extra
}

// A Format names a wire format. Each wire package has a constant for its own.
type Format string

// Extra holds the members of a node that have no field here.
type Extra struct {
	Format Format // whose members they are; empty means whichever format they are written in
	JSON   string // a JSON object with just these members, in the order they came
}

// IsNil reports whether p is nil or a nil pointer.
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
