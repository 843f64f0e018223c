package messages

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// AppendJSON appends the request as a document, and returns an error that
// holds a [*content.Error] if the format cannot say what is in it: a nil part,
// a part of another format, or free JSON that is none. A request that was
// parsed and has not been changed gives the same JSON value again, with free
// JSON byte for byte; the members of the format's own objects come in a fixed
// order. [Request.Body] does without copying large files.
func (r *Request) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	a := appender{dst}
	_, err := w.WriteTo(&a)
	return a.b, err
}

// An appender collects what is written to it.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

func (a *appender) WriteString(s string) (int, error) {
	a.b = append(a.b, s...)
	return len(s), nil
}

// write writes the request as a document.
func (r *Request) write(w *jsonwire.Writer) error {
	e := encoder{w: w, notes: r.Form.spellings(), plain: r.Form.plainTexts(), form: r.Form}
	w.Grow(r.Form.size())
	w.BeginObject()
	e.must("model", r.Model)
	e.optInt(r, "max_tokens", r.MaxTokens)
	e.rest(r)
	e.turns(r.Messages)
	e.extra(r, r.Extra, &requestNames)
	w.EndObject()
	return e.faults.Err()
}

// An encoder writes a request. It goes on after a fault, so that all of them
// are told; what was written is then worth nothing.
type encoder struct {
	w      *jsonwire.Writer
	notes  map[noteKey]string
	plain  map[*content.Text]bool // texts that were plain strings
	form   *Form
	next   int // of form.free
	path   path
	faults content.Faults
}

// rest writes what stands at the top level besides model, max_tokens and
// messages.
func (e *encoder) rest(r *Request) {
	if len(r.System) > 0 {
		e.content("system", r.System, false)
	} else {
		e.asNoted(r, "system")
	}
	e.optFlag(r, "stream", r.Stream)
	e.metadata(r)
	e.strings(r, "stop_sequences", r.StopSequences)
	e.optNumber(r, "temperature", r.Temperature)
	e.optNumber(r, "top_p", r.TopP)
	e.optInt(r, "top_k", r.TopK)
	e.tools(r)
	e.toolChoice(r)
	e.thinking(r)
	e.outputConfig(r)
	e.optText(r, "service_tier", r.ServiceTier)
	e.optText(r, "inference_geo", r.InferenceGeo)
	e.optText(r, "speed", r.Speed)
	e.cache(r, r.CacheControl)
	e.optRaw(r, "container", r.Container)
	e.optRaw(r, "diagnostics", r.Diagnostics)
	e.optRaw(r, "mcp_servers", r.MCPServers)
	e.optRaw(r, "context_management", r.ContextManagement)
	e.optRaw(r, "compaction", r.Compaction)
	e.outputFormat(r, "output_format", r.OutputFormat)
	e.optRaw(r, "thread", r.Thread)
	e.optRaw(r, "fallbacks", r.Fallbacks)
	e.optRaw(r, "fallback_credit_token", r.FallbackCreditToken)
	e.optRaw(r, "billing_policy", r.BillingPolicy)
}

func (e *encoder) turns(turns []content.Turn) {
	e.w.Name("messages")
	e.w.BeginArray()
	if e.form != nil {
		e.next = e.form.turns
	}
	e.path.push("messages")
	for i := range turns {
		t := &turns[i]
		e.path.pushIndex(i)
		e.w.BeginObject()
		e.must("role", string(t.Role))
		e.content("content", t.Parts, true)
		e.extra(t, t.Extra, &messageNames)
		e.w.EndObject()
		e.path.pop()
	}
	e.path.pop()
	e.w.EndArray()
}

// fault notes what cannot be written.
func (e *encoder) fault(code content.Code, name, text string) {
	if name == "" {
		e.faults.Add(code, e.path.at(), text)
	} else {
		e.faults.Add(code, e.path.at(name), text)
	}
}

// asNoted writes a member that has its zero value as it was spelled: null, or
// the zero value written out. If it was not there, or has not been parsed,
// nothing is written.
func (e *encoder) asNoted(node any, name string) {
	switch raw := e.notes[noteKey{node, name}]; {
	case raw == absent, isNumber(raw):
	default:
		e.w.Name(name)
		e.w.Raw(raw)
	}
}

// must writes a string that is always there.
func (e *encoder) must(name, s string) {
	e.w.Name(name)
	e.w.String(s)
}

func (e *encoder) optText(node any, name, s string) {
	if s == "" {
		e.asNoted(node, name)
		return
	}
	e.must(name, s)
}

func (e *encoder) optFlag(node any, name string, b bool) {
	if !b {
		e.asNoted(node, name)
		return
	}
	e.w.Name(name)
	e.w.Bool(true)
}

func (e *encoder) optInt(node any, name string, n *int64) {
	if n == nil {
		e.asNoted(node, name)
		return
	}
	e.integer(node, name, *n)
}

// integer writes a number with the digits it had, if it still is that number.
func (e *encoder) integer(node any, name string, n int64) {
	e.w.Name(name)
	raw := e.notes[noteKey{node, name}]
	whole, _, _ := strings.Cut(raw, ".")
	if old, err := strconv.ParseInt(whole, 10, 64); err == nil && old == n {
		e.w.Raw(raw)
		return
	}
	e.w.Int(n)
}

func (e *encoder) optNumber(node any, name string, f *float64) {
	if f == nil {
		e.asNoted(node, name)
		return
	}
	if math.IsNaN(*f) || math.IsInf(*f, 0) {
		e.fault(content.CodeRange, name, textFinite)
		return
	}
	e.w.Name(name)
	raw := e.notes[noteKey{node, name}]
	if old, err := strconv.ParseFloat(raw, 64); err == nil && old == *f {
		e.w.Raw(raw)
		return
	}
	e.w.Float(*f)
}

// isNumber reports whether a note is that of a number.
func isNumber(raw string) bool {
	return raw != "" && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

func (e *encoder) strings(node any, name string, list []string) {
	if len(list) == 0 {
		e.asNoted(node, name)
		return
	}
	e.w.Name(name)
	e.w.BeginArray()
	for _, s := range list {
		e.w.String(s)
	}
	e.w.EndArray()
}

// optRaw writes an optional member that is kept as JSON text.
func (e *encoder) optRaw(node any, name, json string) {
	if json == "" {
		e.asNoted(node, name)
		return
	}
	e.raw(name, json)
}

// raw writes a member that is kept as JSON text. It may come from anywhere, so
// it is checked: broken text could say anything about what stands behind it.
func (e *encoder) raw(name, json string) {
	if e.valid(name, json) {
		e.w.Name(name)
		e.w.Raw(json)
	}
}

// free writes free JSON, which is an object. If there is none, it is empty.
func (e *encoder) free(name, json string) {
	if json == "" {
		json = "{}"
	}
	if !jsonwire.IsObject(json) {
		e.fault(content.CodeType, name, textFree)
		return
	}
	if e.unchanged(json) {
		e.w.Name(name)
		e.w.Raw(json)
		return
	}
	e.raw(name, json)
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

func (e *encoder) valid(name, json string) bool {
	if err := jsonwire.Valid(json, anyDocument); err != nil {
		e.fault(content.CodeSyntax, name, "is not valid JSON: "+err.Error())
		return false
	}
	return true
}

// extra writes the members of this format that have no field, but none that
// has.
func (e *encoder) extra(node any, x *content.Extra, n *names) {
	if x == nil || x.Format != Format && x.Format != "" {
		e.defaults(node, n)
		return
	}
	if !jsonwire.IsObject(x.JSON) {
		e.fault(content.CodeType, "", "the extra members must be a JSON object")
		return
	}
	taken := uint64(0)
	skip := func(name string) bool {
		if i := slices.Index(n.kept, name); i >= 0 {
			taken |= 1 << i
		}
		return n.has(name)
	}
	if err := e.w.MembersExcept(x.JSON, skip); err != nil {
		e.fault(content.CodeSyntax, "", "the extra members are not valid JSON: "+err.Error())
	}
	e.defaultsBut(taken, node, n)
}

// defaults writes the defaults that a document wrote out for members that have
// no field.
func (e *encoder) defaults(node any, n *names) { e.defaultsBut(0, node, n) }

// defaultsBut is defaults without those of n.kept that are taken.
func (e *encoder) defaultsBut(taken uint64, node any, n *names) {
	if len(e.notes) == 0 {
		return
	}
	for i, name := range n.kept {
		if taken>>i&1 == 0 {
			e.asNoted(node, name)
		}
	}
}
