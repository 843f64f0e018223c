package fake

// A Piece is one part of a response or an event while it is sent: content
// ([Text], [Thinking], [ToolCall], …), metadata ([Stop], [Usage], [Member]), or
// a [Disruption]. Pieces are sent in order.
type Piece interface{ piece() }

// Text is plain text. Streams send it in several events, see [Split].
type Text string

// Thinking is visible reasoning that the fake signs. If it is empty, the
// response has only a signature.
type Thinking string

// Redacted is reasoning of opaque data only, which the fake derives from this
// text.
type Redacted string

// A ToolCall is a call of a client tool. Args is a JSON object. A fake
// generates an ID if it is empty.
type ToolCall struct{ ID, Name, Args string }

// Call returns a tool call without an ID.
func Call(name, args string) ToolCall { return ToolCall{Name: name, Args: args} }

// Cited is text with citations in the vendor's JSON.
type Cited struct {
	Text      string
	Citations []string
}

// Image is an image of the model, in base64.
type Image struct{ MIME, Data string }

// Raw is one block, part or output item in the vendor's JSON, sent in one
// event.
type Raw string

// Together contains pieces whose stream events the vendor interleaves. Other
// vendors send them in sequence.
type Together []Piece

// An Event is a stream event that is sent unchanged. Name may be empty. Whole
// responses omit it.
type Event struct{ Name, Data string }

// Wire is bytes between two stream events, sent unchanged: a comment, blank
// lines, an event with invalid JSON.
type Wire string

// Ping is the vendor's keep-alive: an event, a comment, or blank lines.
type Ping struct{}

// A Member is an extra member of the response, in JSON. On names the object to
// which it is added, "" for the outermost; each fake documents its names.
type Member struct{ On, Name, JSON string }

// Stop is the stop reason in the vendor's terms. Without it, the fake uses the
// vendor's reason for the content. Details is JSON or a sentence, depending on
// the vendor.
type Stop struct{ Reason, Sequence, Details string }

// Usage is the token counts of a response as disjoint numbers: the prompt is
// Input + CacheRead + CacheWrite + ToolPrompt, the output is Output + Thinking.
// Each fake adds them up like its vendor. The default is 10 input and 5 output
// tokens.
type Usage struct{ Input, Output, CacheRead, CacheWrite, Thinking, ToolPrompt int }

// NoUsage omits the token counts, as some servers do.
type NoUsage struct{}

// Blocked is the reason why the prompt was blocked, for vendors that report it
// with status 200. Others ignore it.
type Blocked string

// Split sets the number of bytes of text or arguments in each later stream
// event; text is cut between runes. Zero or less means one event. The default
// is 12.
type Split int

// Model is the model name in the response; the default is the requested one.
type Model string

func (Text) piece()     {}
func (Thinking) piece() {}
func (Redacted) piece() {}
func (ToolCall) piece() {}
func (Cited) piece()    {}
func (Image) piece()    {}
func (Raw) piece()      {}
func (Together) piece() {}
func (Event) piece()    {}
func (Wire) piece()     {}
func (Ping) piece()     {}
func (Member) piece()   {}
func (Stop) piece()     {}
func (Usage) piece()    {}
func (NoUsage) piece()  {}
func (Blocked) piece()  {}
func (Split) piece()    {}
func (Model) piece()    {}

// Chunks splits s into parts of about n bytes, between runes if runes is set.
// If n is zero or less or s is empty, it returns one part.
func Chunks(s string, n int, runes bool) []string {
	if n <= 0 || len(s) <= n {
		return []string{s}
	}
	var out []string
	for len(s) > n {
		at := n
		for runes && at < len(s) && s[at]&0xC0 == 0x80 {
			at++
		}
		out = append(out, s[:at])
		s = s[at:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

// Default is the initial [Split].
const Default Split = 12
