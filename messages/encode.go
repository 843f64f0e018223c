package messages

import (
	"math"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// AppendJSON appends the request as a document. The document is canonical: members
// of the format's own objects have a fixed order, null and default values are left
// out, and content is always a list. Free JSON keeps its bytes. Parsing the document
// gives an equal request.
//
// The error holds a [*content.Violation] if the format cannot represent the request:
// a nil part, a part of another format, or free JSON that is not valid JSON.
// [Request.Body] does not copy large files.
func (r *Request) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	return codec.Append(dst, &w)
}

// write writes the request as a document.
func (r *Request) write(w *jsonwire.Writer) error {
	e := encoder{codec.Encoder{W: w}}
	w.Grow(r.size())
	w.BeginObject()
	e.Must("model", r.Model)
	e.OptInt("max_tokens", r.MaxTokens)
	e.rest(r)
	e.turns(r.Messages)
	e.extra(r.Extra, &requestNames)
	w.EndObject()
	return e.Violations.Err()
}

// An encoder writes a request.
type encoder struct {
	codec.Encoder
}

// rest writes the top level except model, max_tokens and messages.
func (e *encoder) rest(r *Request) {
	if len(r.System) > 0 {
		e.content("system", r.System, false)
	}
	e.Flag("stream", r.Stream)
	e.metadata(r)
	e.Strings("stop_sequences", r.StopSequences)
	e.optNumber("temperature", r.Temperature)
	e.optNumber("top_p", r.TopP)
	e.OptInt("top_k", r.TopK)
	e.tools(r)
	e.toolChoice(r)
	e.thinking(r)
	e.outputConfig(r)
	e.Text("service_tier", r.ServiceTier)
	e.Text("inference_geo", r.InferenceGeo)
	e.Text("speed", r.Speed)
	e.cache(r.CacheControl)
	e.OptRaw("container", r.Container)
	e.OptRaw("diagnostics", r.Diagnostics)
	e.OptRaw("mcp_servers", r.MCPServers)
	e.OptRaw("context_management", r.ContextManagement)
	e.OptRaw("compaction", r.Compaction)
	e.outputFormat("output_format", r.OutputFormat)
	e.OptRaw("thread", r.Thread)
	e.OptRaw("fallbacks", r.Fallbacks)
	e.OptRaw("fallback_credit_token", r.FallbackCreditToken)
	e.OptRaw("billing_policy", r.BillingPolicy)
}

func (e *encoder) turns(turns []content.Turn) {
	e.W.Name("messages")
	e.W.BeginArray()
	e.Path.Push("messages")
	for i := range turns {
		t := &turns[i]
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.Must("role", string(t.Role))
		e.content("content", t.Parts, true)
		e.extra(t.Extra, &messageNames)
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

// optNumber is OptNumber with the vendor's error text.
func (e *encoder) optNumber(name string, f *float64) {
	if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
		e.Violation(content.CodeRange, name, textFinite)
		return
	}
	e.OptNumber(name, f)
}

// free writes a member that is an object of free JSON; empty text becomes {}.
func (e *encoder) free(name, json string) {
	if json == "" {
		json = "{}"
	}
	if !jsonwire.IsObject(json) {
		e.Violation(content.CodeType, name, textFree)
		return
	}
	e.Raw(name, json)
}

// extra writes the members of this format that have no field, but none that
// has.
func (e *encoder) extra(x *content.Extra, n *codec.Names) {
	if x != nil && (x.Format == Format || x.Format == "") {
		e.Extra(x, x.Format, n.Has)
	}
}
