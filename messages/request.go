package messages

import (
	"github.com/polywire/polywire/content"
)

// Format names the Messages wire format in [content.Extra], signatures and
// frames.
const Format content.Format = "messages"

// Request is the body of POST /v1/messages. The vendor's reference defines its
// fields and their order. [ParseRequest] parses a document into a Request; a host
// can also construct one.
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
	TopP          *float64
	TopK          *int64
	Tools         []content.Tool
	ToolChoice    *ToolChoice
	Thinking      *Thinking
	OutputConfig  *OutputConfig
	ServiceTier   string
	InferenceGeo  string
	Speed         string
	CacheControl  *content.Cache
	Container     string // JSON text: a string or an object, or empty
	Diagnostics   string // JSON text of an object, or empty

	// Beta members, as JSON text, or empty.
	MCPServers          string
	ContextManagement   string
	Compaction          string
	OutputFormat        *OutputFormat // older name of OutputConfig.Format
	Thread              string
	Fallbacks           string
	FallbackCreditToken string
	BillingPolicy       string

	Extra *content.Extra

	origin *origin // nil for a request that was not parsed
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
