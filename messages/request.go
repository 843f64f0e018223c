package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Format names the Messages wire format in [content.Extra], signatures and
// frames.
const Format content.Format = "messages"

// Request is the body of POST /v1/messages. The vendor's reference defines its fields
// and their order. [ParseRequest] parses a document into a Request; a program can also
// construct one.
//
// The Extra of a struct holds the members that have no field.
type Request struct {
	Model     string
	MaxTokens *int64 // nil: missing, which Validate reports

	// Messages are the turns; their Role may be System. The members that only
	// a system message has ("clear_at", "output_config") are in its Extra.
	Messages []content.Turn

	System        []content.Part // texts
	Stream        bool
	Metadata      *Metadata
	StopSequences []string
	Temperature   *float64
	TopP          *float64 // -1 means not set, as nil
	TopK          *int64   // -1 means not set, as nil
	Tools         []content.Tool
	ToolChoice    *ToolChoice
	Thinking      *Thinking
	OutputConfig  *OutputConfig
	ServiceTier   string
	InferenceGeo  string
	Speed         string
	CacheControl  *content.Cache
	OutputFormat  *OutputFormat // older name of OutputConfig.Format

	// Extra has all other members, such as "container", "mcp_servers" and
	// "context_management".
	Extra *content.Extra

	origin *origin // nil for a request that was not parsed

	// Of the result of lowering a parsed request.
	jsonParsed bool               // its JSON texts are valid
	literals   []jsonwire.Literal // strings that Body does not escape again
}

// Metadata is the request's metadata.
type Metadata struct {
	UserID string
	Extra  *content.Extra
}

// ToolChoice selects the tools that the model may or must call.
type ToolChoice struct {
	Type                   string // "auto", "any", "tool" or "none"
	Name                   string // with "tool"
	DisableParallelToolUse bool
	Extra                  *content.Extra
}

// Thinking configures the thinking of the model.
type Thinking struct {
	Type         string // "enabled", "adaptive", "disabled" or "between_tools"
	BudgetTokens *int64 // with "enabled"
	Display      string // "summarized", "omitted" or, in beta, "updates"; empty: the model's default
	Extra        *content.Extra
}

// OutputConfig configures the response.
type OutputConfig struct {
	Effort string // "low", "medium", "high", "xhigh" or "max"; empty: the default
	Format *OutputFormat
	Extra  *content.Extra // such as the beta member "task_budget"
}

// OutputFormat requests a response that satisfies a schema.
type OutputFormat struct {
	Type   string // "json_schema"
	Schema string // JSON text
	Extra  *content.Extra
}

// has reports whether the request has a member without a field that is not null.
func (r *Request) has(name string) bool {
	json, ok := r.Extra.Get(name)
	return ok && json != "null"
}

// An origin holds what parsing learned about a document. It is not changed after parsing and
// is safe for concurrent use.
type origin struct {
	codec.Origin

	cloud *cloudMembers // nil if the path is the vendor's own: see [vertexPath]
}

// isReplaced reports whether adapters replace a member, or move it into the URL or a header. Only
// clouds have the last two in the body.
func isReplaced(name string) bool {
	return name == "model" || name == "stream" || name == versionMember || name == betaMember
}

// isWhole reports whether a document for counting is one for a response.
func (o *origin) isWhole() bool { return o != nil && o.cloud != nil && o.cloud.whole }

// document returns the document for adapters of this format. hasThread reports whether the
// request has a thread.
func (o *origin) document(hasThread bool) *document.Document {
	w := o.Document(Format)
	if hasThread {
		w.OtherFormatErr = errThread
	}
	return w
}

// found returns what parsing found in the document, or nil if o is nil.
func (o *origin) found() *codec.Found {
	if o == nil {
		return nil
	}
	return &o.Found
}
