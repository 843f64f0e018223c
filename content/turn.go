package content

// A Role is the author of a [Turn].
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system" // inside a conversation; most system text is not in a turn
)

// A Turn is one message of a conversation.
//
// Some clients keep each piece of a streamed response as a turn. Adapters therefore
// join consecutive turns of the assistant into one, and their texts into one text
// without a separator. They keep the texts of consecutive turns of the user separate.
type Turn struct {
	Role  Role
	Parts []Part
	Extra *Extra
}

// A Tool is a function that the model may call.
type Tool struct {
	// Name is the name that the model uses. It is empty for some tools of vendors.
	Name        string
	Description string

	// Input describes the arguments, and Output the result if the format supports that.
	// The zero Schema means that there is no schema.
	Input, Output Schema

	// Freeform reports that the input of the tool is one text, without a schema, instead of a
	// JSON object. Grammar is what the text must satisfy; nil means any text. They mirror the
	// custom tools of OpenAI's formats. For servers without them the tool becomes a function
	// with one string "input", and calls of it are changed back.
	Freeform bool
	Grammar  *Grammar

	// Namespace is the name of the group that the tool is in, or empty. Tools of different
	// namespaces may have the same Name. For servers without namespaces it becomes a prefix of
	// the name, and is removed from the calls.
	Namespace string

	// Deferred reports that the model does not see the tool until the conversation loads it: by
	// the vendor's search for tools, or by a reference to it. It mirrors defer_loading of Messages
	// and Responses. Servers that cannot load tools get those to which the conversation refers,
	// by a reference, a call or the tool choice, after the other tools; or all, if only a search
	// at the vendor could load them.
	Deferred bool

	// Strict is whether arguments must satisfy Input exactly. Nil means that the request does
	// not specify it.
	Strict *bool

	// Kind is empty for a tool that the client runs. For a tool that a vendor runs or
	// defines it is the vendor's name of the tool type, such as "web_search_20250305".
	// Format is then the wire format of the vendor, and Raw the whole definition as
	// JSON text.
	Kind   string
	Format Format
	Raw    string

	Cache *Cache
	Extra *Extra
}

// A Grammar describes texts.
type Grammar struct {
	Syntax     string // of Definition: "lark" or "regex"
	Definition string
}

// A Schema describes JSON values.
type Schema struct {
	// JSON is the text of the schema, unchanged. It is empty if there is none.
	JSON string

	// OpenAPI reports that the schema is written in the dialect of the Schema object of
	// generateContent instead of JSON Schema.
	OpenAPI bool
}

// A ChoiceMode specifies whether the model may or must call tools.
type ChoiceMode string

const (
	ChoiceAuto      ChoiceMode = "auto"      // the model decides
	ChoiceAny       ChoiceMode = "any"       // at least one tool call
	ChoiceNone      ChoiceMode = "none"      // no tool calls
	ChoiceValidated ChoiceMode = "validated" // the model decides; arguments must satisfy their schema
)

// ToolChoice restricts the tool calls of a response. The zero value means the vendor's
// default.
type ToolChoice struct {
	Mode ChoiceMode

	// Names lists the tools that may be called, with ChoiceAny or ChoiceValidated.
	// Empty means all tools.
	Names []string

	// NoParallel limits a response to one tool call.
	NoParallel bool

	Extra *Extra
}

// A CitationKind is the kind of source that a [Citation] refers to. It determines the
// units of Start and End.
type CitationKind string

const (
	CiteChars        CitationKind = "chars"         // characters of a plain text document
	CitePages        CitationKind = "pages"         // pages of a PDF
	CiteParts        CitationKind = "parts"         // parts of a document given as [Parts]
	CiteSearchResult CitationKind = "search_result" // parts of a [SearchResult]
	CiteWeb          CitationKind = "web"           // a web page
)

// A Citation is a source of a text.
type Citation struct {
	Kind CitationKind

	// Text is the cited passage, and Title the title of its source.
	Text, Title string

	// Index is the position of the source among the documents, or the search results,
	// of the request, from 0. Start and End are the bounds of the passage in the units
	// of Kind. End is exclusive. Pages count from 1, other units from 0. With CiteWeb they are
	// characters of the text that has the citation, and both are 0 if unknown.
	Index, Start, End int64

	// URL is the address of the web page, or the Source of the search result.
	URL string

	// FileID is the ID of the document if its source is a [*File].
	FileID string

	Extra *Extra
}
