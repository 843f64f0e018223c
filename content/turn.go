package content

// A Role says who speaks in a [Turn].
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system" // in the middle of a conversation; most system text is not a turn
)

// A Turn is one message of a conversation. What the assistant says in turns that
// follow one another is one answer, its texts one text with nothing in between:
// clients keep each piece of a streamed answer as a turn of its own. Adapters say
// it so to every vendor. What the user says in such turns stays as many texts.
type Turn struct {
	Role  Role
	Parts []Part
	Extra *Extra
}

// A Tool is something that the model may call.
type Tool struct {
	// Name is what the model calls the tool by. Some built-in tools have none.
	Name        string
	Description string

	// Input describes the arguments, Output the result where a format can say
	// that. The zero Schema means that nothing was said.
	Input, Output Schema

	// Strict asks that the arguments satisfy Input to the letter.
	Strict bool

	// Kind is empty for a tool that the caller runs. A tool that the vendor
	// runs or defines has the vendor's word for it here, such as
	// "web_search_20250305", its Format, and in Raw the whole definition as
	// it was sent.
	Kind   string
	Format Format
	Raw    string

	Cache *Cache
	Extra *Extra
}

// A Schema is a description of JSON data.
type Schema struct {
	// JSON is the schema as it was sent; empty if there is none.
	JSON string

	// OpenAPI says that it is written in the closed dialect of content
	// generation's Schema message instead of JSON Schema.
	OpenAPI bool
}

// A ChoiceMode says how free the model is in calling tools.
type ChoiceMode string

const (
	ChoiceAuto      ChoiceMode = "auto"      // as the model likes
	ChoiceAny       ChoiceMode = "any"       // at least one call
	ChoiceNone      ChoiceMode = "none"      // no call
	ChoiceValidated ChoiceMode = "validated" // as the model likes, but arguments satisfy their schema
)

// ToolChoice constrains which tools are called. The zero value leaves it to
// the vendor's default.
type ToolChoice struct {
	Mode ChoiceMode

	// Names, with ChoiceAny or ChoiceValidated, are the only tools that may be
	// called; empty means all of them.
	Names []string

	// NoParallel asks for at most one call in a turn.
	NoParallel bool

	Extra *Extra
}

// A CitationKind says what a [Citation] points at.
type CitationKind string

const (
	CiteChars        CitationKind = "chars"         // characters of a plain text document
	CitePages        CitationKind = "pages"         // pages of a PDF
	CiteParts        CitationKind = "parts"         // parts of a document given as parts
	CiteSearchResult CitationKind = "search_result" // parts of a SearchResult
	CiteWeb          CitationKind = "web"           // a web page
)

// A Citation says where a text comes from.
type Citation struct {
	Kind CitationKind

	// Text is the passage that is cited, Title what it stands in.
	Text, Title string

	// Index counts from 0 among the documents (or the search results) of the
	// request. Start and End bound the passage in the kind's own units; End is
	// exclusive; pages count from 1, all else from 0.
	Index, Start, End int64

	// URL is the page or the search result's source.
	URL string

	// FileID is the document's, where it was a [*File].
	FileID string

	Extra *Extra
}
