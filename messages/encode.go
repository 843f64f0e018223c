package messages

import (
	"math"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// AppendJSON appends the request as a document, and returns an error that
// holds a [*content.Violation] if the format cannot say what is in it: a nil part,
// a part of another format, or free JSON that is none. A request that was
// parsed and has not been changed gives the same JSON value again, with free
// JSON byte for byte; the members of the format's own objects come in a fixed
// order. [Request.Body] does without copying large files.
func (r *Request) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	return codec.Append(dst, &w)
}

// write writes the request as a document.
func (r *Request) write(w *jsonwire.Writer) error {
	e := encoder{Encoder: codec.Encoder{W: w, Notes: r.Form.spellings()}, plain: r.Form.plainTexts(), form: r.Form}
	w.Grow(r.size())
	w.BeginObject()
	e.Must("model", r.Model)
	e.OptInt(r, "max_tokens", r.MaxTokens)
	e.rest(r)
	e.turns(r.Messages)
	e.extra(r, r.Extra, &requestNames)
	w.EndObject()
	return e.Violations.Err()
}

// An encoder writes a request.
type encoder struct {
	codec.Encoder
	plain map[*content.Text]bool // texts that were plain strings
	form  *Form
	next  int // of form.free
}

// rest writes what stands at the top level besides model, max_tokens and
// messages.
func (e *encoder) rest(r *Request) {
	if len(r.System) > 0 {
		e.content("system", r.System, false)
	} else {
		e.AsNoted(r, "system")
	}
	e.Flag(r, "stream", r.Stream)
	e.metadata(r)
	e.Strings(r, "stop_sequences", r.StopSequences)
	e.optNumber(r, "temperature", r.Temperature)
	e.optNumber(r, "top_p", r.TopP)
	e.OptInt(r, "top_k", r.TopK)
	e.tools(r)
	e.toolChoice(r)
	e.thinking(r)
	e.outputConfig(r)
	e.Text(r, "service_tier", r.ServiceTier)
	e.Text(r, "inference_geo", r.InferenceGeo)
	e.Text(r, "speed", r.Speed)
	e.cache(r, r.CacheControl)
	e.OptRaw(r, "container", r.Container)
	e.OptRaw(r, "diagnostics", r.Diagnostics)
	e.OptRaw(r, "mcp_servers", r.MCPServers)
	e.OptRaw(r, "context_management", r.ContextManagement)
	e.OptRaw(r, "compaction", r.Compaction)
	e.outputFormat(r, "output_format", r.OutputFormat)
	e.OptRaw(r, "thread", r.Thread)
	e.OptRaw(r, "fallbacks", r.Fallbacks)
	e.OptRaw(r, "fallback_credit_token", r.FallbackCreditToken)
	e.OptRaw(r, "billing_policy", r.BillingPolicy)
}

func (e *encoder) turns(turns []content.Turn) {
	e.W.Name("messages")
	e.W.BeginArray()
	if e.form != nil {
		e.next = e.form.turns
	}
	e.Path.Push("messages")
	for i := range turns {
		t := &turns[i]
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.Must("role", string(t.Role))
		e.content("content", t.Parts, true)
		e.extra(t, t.Extra, &messageNames)
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

// optNumber is OptNumber in the vendor's words.
func (e *encoder) optNumber(r *Request, name string, f *float64) {
	if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
		e.Violation(content.CodeRange, name, textFinite)
		return
	}
	e.OptNumber(r, name, f)
}

// free writes free JSON, which is an object. If there is none, it is empty.
func (e *encoder) free(name, json string) {
	if json == "" {
		json = "{}"
	}
	if !jsonwire.IsObject(json) {
		e.Violation(content.CodeType, name, textFree)
		return
	}
	if e.unchanged(json) {
		e.W.Name(name)
		e.W.Raw(json)
		return
	}
	e.Raw(name, json)
}

// unchanged reports whether json is the next of the texts that were checked
// when the document was parsed, or one of those soon behind it. What nobody has
// changed shares its memory, so that it costs nothing to compare.
func (e *encoder) unchanged(json string) bool {
	if e.form == nil {
		return false
	}
	const ahead = 8
	for i := e.next; i < min(e.next+ahead, len(e.form.free)); i++ {
		if e.form.free[i] == json {
			e.next = i + 1
			return true
		}
	}
	return false
}

// extra writes the members of this format that have no field, but none that
// has.
func (e *encoder) extra(node any, x *content.Extra, n *codec.Names) {
	if x == nil || x.Format != Format && x.Format != "" {
		e.defaults(node, n)
		return
	}
	taken := uint64(0)
	e.Extra(x, x.Format, func(name string) bool {
		if i := slices.Index(n.Kept, name); i >= 0 {
			taken |= 1 << i
		}
		return n.Has(name)
	})
	e.defaultsBut(taken, node, n)
}

// defaults writes the defaults that a document wrote out for members that have
// no field.
func (e *encoder) defaults(node any, n *codec.Names) { e.defaultsBut(0, node, n) }

// defaultsBut is defaults without those of n.Kept that are taken.
func (e *encoder) defaultsBut(taken uint64, node any, n *codec.Names) {
	if len(e.Notes) == 0 {
		return
	}
	for i, name := range n.Kept {
		if taken>>i&1 == 0 {
			e.AsNoted(node, name)
		}
	}
}
