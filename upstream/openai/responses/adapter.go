package responses

import (
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/upstream"
)

// For adapters of this module.
//
// DecodeOptions are what the decoding of a response depends on besides the response.
type DecodeOptions struct {
	// Stops are the stop sequences at which the response ends: the format has no member for
	// them. See [lower.Request] Cut.
	Stops []string

	// Verbatim specifies that frames have the Data of the server, which clients of this format
	// can read as it is.
	Verbatim bool
}

// For adapters of this module.
//
// DecodeFrame is [DecodeResponse] with options, without the copy and without a limit of the body.
// It returns a complete frame.
func DecodeFrame(body string, lim content.Limits, o DecodeOptions) (*upstream.Frame, error) {
	f, err := decodeDocument(body, lim)
	if err != nil {
		return nil, err
	}
	if !o.Verbatim {
		f.Data = ""
	}
	newStopCutter(o.Stops).cutFrame(f)
	return f, nil
}

// For adapters of this module.
//
// NewStreamReaderWith is [NewStreamReader] with options.
func NewStreamReaderWith(src io.Reader, lim content.Limits, o DecodeOptions) *StreamReader {
	// Some servers omit the empty line after the last event.
	r := &StreamReader{source: sse.NewReader(io.MultiReader(src, strings.NewReader("\n\n")), sse.EventLimit(lim.Body))}
	r.init(lim)
	r.frame.Format, r.cut, r.altered = Format, newStopCutter(o.Stops), !o.Verbatim
	return r
}

// For adapters of this module.
//
// EncodeRequest writes the document of a request that was lowered for a server of this format,
// which shape describes. It writes what the request says, and reports nothing.
func EncodeRequest(w *jsonwire.Writer, r *lower.Request, shape *openaiformat.Shape) {
	c := requestEncoder{Encoder: openaiformat.Encoder{W: w, Req: r, Shape: shape, FlatToolRefs: true}}
	c.write()
}

// For adapters of this module.
//
// BaseTarget returns what every server of this format accepts. The caller may change it.
func BaseTarget() *lower.Target {
	t := openaiformat.BaseTarget(Format)
	t.Tools.StrictDefault = true
	t.Members.Fields, t.Members.State, t.Members.Merged = encodedMembers, encodedState, mergedMembers
	t.Limit.Min = minTokens
	t.Sampling.Stops.Cut, t.Sampling.Logprobs = true, askLogprobs
	t.Conversation.MoveFiles = true
	t.Files.Images, t.Files.Name = openaiformat.ImageTypes, fileName
	t.Results = lower.Results{AsTheyCame: true, Files: true, MarkLast: true}
	t.Own = lower.Own{Calls: true, Vendor: true, VendorAssistant: true}
	t.Thoughts = lower.Thoughts{
		Carried: true, Named: true,
		NotLast:  func(t *content.Thinking, _ bool) bool { return gjson.Get(itemOf(t), "type").Str == "reasoning" },
		ItemID:   func(t *content.Thinking) string { return gjson.Get(itemOf(t), "id").Str },
		ItemText: itemText,
	}
	return t
}

// For adapters of this module.
//
// RecallItems returns which items of the vendor a request may return to the server. refused reports
// that the server cannot read its earlier thinking.
func RecallItems(r *upstream.Request, refused bool) func(content.Part) *loss.Rule {
	c := itemRecall{tools: r.Tools, refused: refused}
	return c.rule
}

// For adapters of this module.
//
// HasFunctionChoice reports whether the tool choice of a tool's format is limited to functions.
func HasFunctionChoice(t *content.Tool) bool { return t.Format == "generatecontent" }
