package fake

// A Piece is one thing that an answer holds or that happens while it is sent: content
// ([Text], [Thinking], [ToolCall], …), what the answer says of itself ([Stop], [Usage],
// [Member]), or a [Fault]. Pieces are sent in their order.
type Piece interface{ piece() }

// Text is plain text. Streams send it in several parts, see [Split].
type Text string

// Thinking is reasoning whose text is shown and which the fake signs. Empty, it is
// thinking that has only a signature.
type Thinking string

// Redacted is reasoning that is only opaque data, which the fake makes from this text.
type Redacted string

// A ToolCall is a call of a client tool. Args is a JSON object. A fake makes up an ID
// where it is empty.
type ToolCall struct{ ID, Name, Args string }

// Call returns a call with an ID of the fake's choice.
func Call(name, args string) ToolCall { return ToolCall{Name: name, Args: args} }

// Cited is text with citations, each in the vendor's own JSON.
type Cited struct {
	Text      string
	Citations []string
}

// Image is an image that the model made, in base64.
type Image struct{ MIME, Data string }

// Raw is one block, part or output item in the vendor's own JSON, sent whole.
type Raw string

// Together holds pieces whose stream events are interleaved where the vendor does that,
// and stand one after the other elsewhere.
type Together []Piece

// An Event is a stream event sent as it stands. Name may be empty. Whole replies leave
// it out.
type Event struct{ Name, Data string }

// Wire is bytes put between two stream events as they stand: a comment, blank lines, an
// event of bad JSON.
type Wire string

// Ping is the vendor's keep-alive: an event, a comment, or blank lines.
type Ping struct{}

// A Member is one more member of the answer, JSON as it stands. On names the object that
// gets it, "" for the outermost; each fake documents its names.
type Member struct{ On, Name, JSON string }

// Stop says why the answer ends, in the vendor's words. Without it a fake says what the
// vendor would after such content. Details is JSON or a sentence, as the vendor has it.
type Stop struct{ Reason, Sequence, Details string }

// Usage holds the counts of an answer as disjoint numbers: the whole prompt is
// Input + CacheRead + CacheWrite + ToolPrompt, the whole output is Output + Thinking.
// Each fake adds them up the way its vendor does. Without it: 10 in, 5 out.
type Usage struct{ Input, Output, CacheRead, CacheWrite, Thinking, ToolPrompt int }

// NoUsage leaves the counts out of the answer, as some servers do.
type NoUsage struct{}

// Blocked says that the prompt was refused, and why, where the vendor answers that with
// status 200. Elsewhere it is nothing.
type Blocked string

// Split sets how many bytes of text or arguments one stream event holds, from here on;
// text is cut between runes. Zero or less is everything in one event. The default is 12.
type Split int

// Model is the model name that the answer states; without it, the one asked for.
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

// Chunks cuts s into parts of about n bytes, between runes if runes is set, anywhere
// otherwise. n of zero or less and an empty s give one part.
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

// Default is the [Split] in force at the beginning of an answer.
const Default Split = 12
