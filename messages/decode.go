package messages

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// defaultMaxBody is the default limit of a whole response, in bytes.
const defaultMaxBody = 64 << 20

// DecodeResponse decodes the body of a successful response that is not streamed. The frame
// is Complete and contains all events of the response: the start, the usage, each block
// opened and closed, the stop reason, and losses. It can be passed to
// [upstream.Writer.Frame].
//
// DecodeResponse uses three limits of lim: Body (default 64 MiB), Depth and Values. The
// rules of [ParseRequest] for documents apply, with two exceptions. Unpaired surrogates and
// invalid UTF-8 become U+FFFD, which is reported as a loss. The deviations that
// [StreamReader] describes are accepted.
//
// The error is an [*upstream.Error]: the error in the body, or else one with
// [upstream.CodeBadGateway].
func DecodeResponse(body string, lim content.Limits) (*upstream.Frame, error) {
	if limit := cmp.Or(max(lim.Body, 0), defaultMaxBody); int64(len(body)) > limit {
		return nil, codec.BadGateway(fmt.Errorf("messages: the response has %d bytes; the limit is %d", len(body), limit))
	}
	d := newDecoder(lim)
	defer d.doc.Close()
	if err := d.parse(body); err != nil {
		return nil, codec.BadGateway(err)
	}
	root := d.doc.Root()
	switch m := messageValuesOf(root); {
	case m.kind.Is("error"):
		return nil, d.failure(root)
	case !m.content.Exists():
		return nil, codec.BadGateway(errors.New("messages: the response is not a message: it has no content"))
	}
	if err := d.message(root, true); err != nil {
		return nil, codec.BadGateway(err)
	}
	if !d.stopped {
		d.nonstandard = true // clients require one
		d.lose(codec.ResponseNoReason, "stop")
	}
	f := &upstream.Frame{Complete: true}
	d.finish(f)
	return f, nil
}

// A decoder converts documents of a response to events. It keeps the state between the
// events of a stream.
type decoder struct {
	doc    jsonwire.Doc
	limits jsonwire.Limits
	parser parser // parses blocks; its violations are read after each block

	events      []upstream.Event // of the current document
	nonstandard bool             // it deviates from the format; clients must not see it unchanged
	blockErr    error            // a required member of a block is invalid
	begun       bool             // a message_start was read
	stopped     bool             // a stop reason was read
	ended       bool             // a message_stop was read
	counts      counts
	open        []openBlock
	next        int // the default index of a block
	reported    loss.Reported
}

// An openBlock is a block that can have deltas.
type openBlock struct {
	index int
	kind  blockKind
}

// maxOpen limits the blocks that are open at once. Real responses have one.
const maxOpen = 1024

func newDecoder(lim content.Limits) *decoder {
	d := new(decoder)
	d.init(lim)
	return d
}

func (d *decoder) init(lim content.Limits) {
	d.limits = jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, AllowInvalidUTF8: true}
}

// parse parses the next document.
func (d *decoder) parse(data string) error {
	clear(d.events)
	d.events, d.nonstandard = d.events[:0], false
	if err := d.doc.Parse(data, d.limits); err != nil {
		return fmt.Errorf("messages: parsing the response: %w", err)
	}
	return nil
}

// finish sets f to the current document and its events.
func (d *decoder) finish(f *upstream.Frame) {
	if d.doc.Replacements() > 0 {
		d.lose(codec.ResponseNotUnicode, "parts")
	}
	f.Format, f.Data, f.Events = Format, d.doc.Source(), d.events
	if d.nonstandard {
		f.Format = ""
	}
}

func (d *decoder) add(e upstream.Event) { d.events = append(d.events, e) }

// lose reports a loss at path, once.
func (d *decoder) lose(r *loss.Rule, path string) {
	if l := d.reported.New(r, path); l != nil {
		d.add(upstream.Event{Kind: upstream.EventLoss, Loss: l})
	}
}

// memberNames lists the members of an object of a response: those that a Go field holds, and
// others that the format defines.
type memberNames struct{ fields, kept []string }

// hasField reports whether a Go field holds the member.
func (n *memberNames) hasField(name string) bool { return slices.Contains(n.fields, name) }

// Members of responses and of their pieces. A kept member that is null is ignored.
var (
	startNames = memberNames{
		fields: []string{"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "stop_details", "usage"},
		kept:   []string{"container", "diagnostics", "context_management", "input_transformations"},
	}
	// wholeNames are the members of a whole response, some of which belong to the stop.
	wholeNames = memberNames{
		fields: append(slices.Clip(startNames.fields), "container", "context_management", "input_transformations"),
		kept:   []string{"diagnostics"},
	}
	stopNames = memberNames{fields: []string{"stop_reason", "stop_sequence", "stop_details"}, kept: []string{"container"}}
)

// endNames are the members of a whole response that are in message_delta when it is streamed.
var endNames = [...]string{"container", "context_management", "input_transformations"}

// messageValues holds the members of a message or of the delta of a message_delta.
type messageValues struct {
	kind, id, role, model, content, usage, reason, sequence, details jsonwire.Value
}

// messageValuesOf reads the members in one pass, because there may be many others.
func messageValuesOf(v jsonwire.Value) (f messageValues) {
	for name, x := range v.Members() {
		switch name {
		case "type":
			f.kind = x
		case "id":
			f.id = x
		case "role":
			f.role = x
		case "model":
			f.model = x
		case "content":
			f.content = x
		case "usage":
			f.usage = x
		case "stop_reason":
			f.reason = x
		case "stop_sequence":
			f.sequence = x
		case "stop_details":
			f.details = x
		}
	}
	return f
}

// check returns an error if a required member has the wrong type. Servers omit members or set
// them to null, but a whole message must have content.
func (f *messageValues) check(whole bool) error {
	list := codec.Lists | codec.Texts // a string is accepted, as in requests
	if !whole {
		list |= codec.Optional
	}
	return cmp.Or(
		codec.Expect("messages: content", f.content, list),
		codec.Expect("messages: role", f.role, codec.Texts|codec.Optional),
		codec.Expect("messages: usage", f.usage, codec.Objects|codec.Optional),
		codec.Expect("messages: stop_reason", f.reason, codec.Texts|codec.Optional),
	)
}

// message reads a whole message, or the message of a message_start.
func (d *decoder) message(v jsonwire.Value, whole bool) error {
	if v.Kind() != jsonwire.Object {
		return errors.New("messages: the message is not an object")
	}
	m := messageValuesOf(v)
	if err := m.check(whole); err != nil {
		return err
	}
	start := &upstream.Start{ID: d.optionalString(m.id), Model: d.optionalString(m.model)}
	d.add(upstream.Event{Kind: upstream.EventStart, Start: start})
	if m.usage.Kind() == jsonwire.Object {
		d.usage(m.usage)
	} else {
		d.nonstandard = true
	}
	if err := d.content(m.content); err != nil {
		return err
	}
	if !whole {
		start.Extra = d.rest(v, &startNames)
		d.stop(&m, nil)
		return nil
	}
	start.Extra = d.rest(v, &wholeNames)
	var end extraBuilder
	for _, name := range endNames {
		if x := v.Get(name); x.Exists() && x.Kind() != jsonwire.Null {
			end.add(name, x)
		}
	}
	d.stop(&m, end.extra())
	return nil
}

// content reads the blocks of a whole message.
func (d *decoder) content(v jsonwire.Value) error {
	switch v.Kind() {
	case jsonwire.Array:
		// Two events for each block, and a reserve.
		d.events = slices.Grow(d.events, 2*v.Len()+4)
		for i, x := range v.Elems() {
			if err := d.openBlock(i, x); err != nil {
				return err
			}
			d.closeBlock(len(d.open) - 1)
		}
	case jsonwire.String: // accepted, as in requests
		d.nonstandard = true
		n := d.next
		d.next++
		d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Part: &content.Text{}})
		d.text(n, v.Str())
		d.add(upstream.Event{Kind: upstream.EventClose, Block: n})
	default: // a message_start without content
		d.nonstandard = true
	}
	return nil
}

// stop reads the stop reason, and reports whether m has one.
func (d *decoder) stop(m *messageValues, extra *content.Extra) bool {
	if m.reason.Kind() != jsonwire.String {
		return false
	}
	reason := m.reason.Str()
	s := &upstream.Stop{
		Reason: toStopReason(reason), Sequence: d.optionalString(m.sequence), Format: Format, RawReason: reason, Extra: extra,
	}
	if m.details.Kind() == jsonwire.Object {
		s.Details, s.Message = m.details.Raw(), m.details.Get("explanation").Str()
	}
	d.stopped = true
	d.add(upstream.Event{Kind: upstream.EventStop, Stop: s})
	return true
}

// toStopReason is the inverse of [fromStopReason].
func toStopReason(reason string) content.StopReason {
	for _, r := range [...]content.StopReason{
		content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopSequence, content.StopContext,
		content.StopPause, content.StopRefusal, content.StopCompaction, content.StopMalformedCall,
	} {
		if w, _ := fromStopReason(r); w == reason {
			return r
		}
	}
	return content.StopOther
}

// optionalString returns a string that may be missing.
func (d *decoder) optionalString(v jsonwire.Value) string {
	switch v.Kind() {
	case jsonwire.String, jsonwire.None, jsonwire.Null:
	default:
		d.nonstandard = true
	}
	return v.Str()
}

// rest returns the members of v that are not in n, or nil.
func (d *decoder) rest(v jsonwire.Value, n *memberNames) *content.Extra {
	var r extraBuilder
	r.members(v, n)
	return r.extra()
}

// An extraBuilder collects members without a field in an object. The zero value is empty.
type extraBuilder struct {
	w        jsonwire.Writer
	nonempty bool
}

// add adds a member. Its name must be new.
func (r *extraBuilder) add(name string, v jsonwire.Value) {
	if !r.nonempty {
		r.nonempty = true
		r.w.BeginObject()
	}
	r.w.Name(name)
	r.w.Raw(v.Raw())
}

// members adds the members of v that are not in n.
func (r *extraBuilder) members(v jsonwire.Value, n *memberNames) {
	for name, x := range v.Members() {
		if !n.hasField(name) && (x.Kind() != jsonwire.Null || !slices.Contains(n.kept, name)) {
			r.add(name, x)
		}
	}
}

// extra returns the members, or nil if there are none.
func (r *extraBuilder) extra() *content.Extra {
	if !r.nonempty {
		return nil
	}
	r.w.EndObject()
	return &content.Extra{Format: Format, JSON: r.w.Text()}
}

// partPath returns the neutral path of a part of the response.
func partPath(n int) string { return "parts." + strconv.Itoa(n) }

// counts holds the usage as on the wire. Each usage object replaces the members that it
// contains.
type counts struct {
	input, read int64
	output      int64 // including thinking
	thinking    int64
	write       int64 // the total
	write5m     int64
	write1h     int64
	members     handler.Members
	memberBytes int // size of members
	tooMany     bool
}

// Limits of the members without a field in all usage objects of a stream.
const (
	maxUsageMembers = 64
	maxUsageBytes   = 64 << 10
)

// usage reads a usage object and adds its event.
func (d *decoder) usage(v jsonwire.Value) {
	c := &d.counts
	c.update(v)
	u := c.usage()
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: &u})
	if c.tooMany {
		d.lose(codec.ResponseManyCounts, "usage")
	}
}

// update reads a usage object. Members that are missing or null do not change a count.
func (c *counts) update(v jsonwire.Value) {
	flat, split := false, false
	crowded := v.Len() > 2*maxUsageMembers // too many to search for each name
	if crowded {
		c.members, c.memberBytes, c.tooMany = nil, 0, true
	}
	for name, x := range v.Members() {
		switch name {
		case "input_tokens":
			count(&c.input, x)
		case "output_tokens":
			count(&c.output, x)
		case "cache_read_input_tokens":
			count(&c.read, x)
		case "cache_creation_input_tokens":
			flat = count(&c.write, x)
		case "cache_creation":
			a := count(&c.write5m, x.Get("ephemeral_5m_input_tokens"))
			b := count(&c.write1h, x.Get("ephemeral_1h_input_tokens"))
			split = a || b
			c.keepRest(name, x, &cacheCreationNames)
		case "output_tokens_details":
			count(&c.thinking, x.Get("thinking_tokens"))
			c.keepRest(name, x, &outputDetailsNames)
		default:
			if !crowded {
				c.keep(name, x.Kind(), x.Raw())
			}
		}
	}
	switch sum := c.write5m + c.write1h; {
	case split:
		c.write = max(c.write, sum) // the rest of the total has the default lifetime
		if !flat {
			c.write = sum
		}
	case flat && sum > c.write: // the parts are of an earlier object
		c.write1h = min(c.write1h, c.write)
	}
	c.write5m = max(c.write-c.write1h, 0)
}

var (
	cacheCreationNames = memberNames{fields: []string{"ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"}}
	outputDetailsNames = memberNames{fields: []string{"thinking_tokens"}}
)

// maxTokenCount limits a count, so that sums of counts cannot overflow.
const maxTokenCount = 1 << 53

// count reads a number of tokens and reports whether v is one.
func count(to *int64, v jsonwire.Value) bool {
	n, ok := v.Int()
	if ok {
		*to = min(max(n, 0), maxTokenCount)
	}
	return ok
}

// keep stores a member without a field.
func (c *counts) keep(name string, k jsonwire.Kind, raw string) {
	if k == jsonwire.Null {
		return
	}
	for _, m := range c.members {
		if m.Name == name {
			c.memberBytes -= len(m.JSON) + len(m.Name)
		}
	}
	if size := c.memberBytes + len(name) + len(raw); size <= maxUsageBytes && len(c.members) < maxUsageMembers {
		c.members.Set(name, raw)
		c.memberBytes = size
		return
	}
	c.members.Take(name) // the previous value is obsolete
	c.tooMany = true
}

// keepRest stores the members of an inner object that have no field.
func (c *counts) keepRest(name string, v jsonwire.Value, n *memberNames) {
	var r extraBuilder
	r.members(v, n)
	if x := r.extra(); x != nil {
		c.keep(name, jsonwire.Object, x.JSON)
	}
}

// usage returns the neutral form, which counts each token once. Thinking beyond the output is
// ignored, so that totals stay the same.
func (c *counts) usage() content.Usage {
	u := content.Usage{
		Input:        c.input,
		CacheRead:    c.read,
		CacheWrite:   c.write5m,
		CacheWrite1h: c.write1h,
		Thinking:     min(c.thinking, c.output),
	}
	u.Output = c.output - u.Thinking
	u.Extra = c.members.Extra(Format)
	return u
}

// DecodeError decodes a response with a status other than 2xx, from its header and body.
// The body may be truncated, empty, or not JSON.
//
// The Code follows from the status, with these exceptions. It is [upstream.CodeBadGateway]
// for errors that concern the program's account with the vendor, such as a rejected key
// (also with status 400 and 403) or a missing payment. It is [upstream.CodeInvalid] for a
// prompt that is too long, and [upstream.CodeQuota] for a spend limit.
//
// The Text is the message of the error if the Code is CodeInvalid or the status is 400,
// 404, 413, 422 or 429. It is one line of at most 2 KiB without keys, user information and
// URL queries. For CodeBadGateway the Text is empty or, for a rejected key, a sentence
// without the vendor's message.
//
// Details and Status are the error object and the status, for handlers of this format. They
// are not set for a rejected key. Header contains the headers about rate limits and
// retries. RetryAfter is the delay in these headers, which may be a number or a date; a
// delay in milliseconds takes precedence. UpstreamID is the request id of the header or
// else of the body. Err, for logs, contains the status, the type, the redacted message and
// the request id.
func DecodeError(status int, header http.Header, body []byte) *upstream.Error {
	f := vendorError{status: status, id: header.Get("request-id"), size: len(body)}
	codec.ErrorBody(body, f.read)
	e := &upstream.Error{Code: codec.StatusCode(status), UpstreamID: printable(f.id), Err: &f}
	refused := codec.KeyRefused(status, []string{f.kind, f.detail}, "", f.message)
	switch {
	case refused:
		e.Code, e.Text, e.KeyRefused = upstream.CodeBadGateway, codec.KeyRefusedText, true
		return e
	case f.envelope:
		e.Code = f.code(e.Code)
		switch status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge,
			http.StatusUnprocessableEntity, http.StatusTooManyRequests:
			if e.Code != upstream.CodeBadGateway {
				e.Text = f.message
			}
		default:
			if e.Code == upstream.CodeInvalid { // the prompt is too long
				e.Text = f.message
			}
		}
		if status >= 400 && status <= 599 {
			e.Details, e.Status = f.details, status
		}
	}
	e.Header = codec.ErrorHeader(header, rateHeaders[:]...)
	switch e.Code {
	case upstream.CodeRateLimit, upstream.CodeUnavailable, upstream.CodeOverloaded:
		e.RetryAfter = codec.RetryAfter(header)
	}
	return e
}

// rateHeaders are prefixes of the names of headers about rate limits.
var rateHeaders = [...]string{"Anthropic-Ratelimit-", "Anthropic-Priority-", "Anthropic-Fast-", "X-Ratelimit-", "Ratelimit"}

// typeCode is the inverse of [errorInfoOf]. public reports whether clients may see messages of the
// type.
func typeCode(kind string) (code upstream.Code, public bool) {
	for _, c := range [...]upstream.Code{
		upstream.CodeInvalid, upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeRateLimit,
	} {
		if errorInfoOf(c).errorType == kind {
			return c, true
		}
	}
	for _, c := range [...]upstream.Code{
		upstream.CodeConflict, upstream.CodeUnavailable, upstream.CodeTimeout, upstream.CodeOverloaded,
	} {
		if errorInfoOf(c).errorType == kind {
			return c, false
		}
	}
	// authentication_error, permission_error and billing_error, which concern the program's
	// account, and unknown types
	return upstream.CodeBadGateway, false
}

// failure returns the error that an error object represents, in a stream or as a response.
func (d *decoder) failure(v jsonwire.Value) *upstream.Error { return failureOf(v) }

func failureOf(v jsonwire.Value) *upstream.Error {
	f := vendorError{original: v.Raw()}
	f.read(v)
	code, public := typeCode(f.kind)
	e := &upstream.Error{Code: code, UpstreamID: printable(f.id), Err: &f}
	if codec.KeyRefused(0, []string{f.kind, f.detail}, "", f.message) {
		e.Code, e.Text, e.KeyRefused = upstream.CodeBadGateway, codec.KeyRefusedText, true
		return e
	}
	e.Code, e.Details = f.code(code), f.details
	if public || e.Code == upstream.CodeInvalid {
		e.Text = f.message
	}
	return e
}

// A vendorError is an error of the vendor, for the program's log.
type vendorError struct {
	status   int // 0 in a stream
	envelope bool
	kind     string
	message  string         // without secrets
	detail   string         // the error code in the details
	id       string         // of the request
	size     int            // of a body without an error object
	details  *content.Extra // the error object
	original string         // the document, unless it is the body of a failed response
}

// Original lets adapters remove their keys from the document before it is decoded.
func (f *vendorError) Original() (text string, read func(jsonwire.Value) *upstream.Error) {
	return f.original, failureOf
}

// Error returns all members on one line.
func (f *vendorError) Error() string {
	var b strings.Builder
	b.WriteString("the upstream failed")
	if f.status != 0 {
		fmt.Fprintf(&b, " with status %d", f.status)
	}
	switch {
	case f.envelope:
		fmt.Fprintf(&b, ": %s", codec.Clip(redact.Line(f.kind)))
		if f.detail != "" {
			fmt.Fprintf(&b, " (%s)", codec.Clip(redact.Line(f.detail)))
		}
		if f.message != "" {
			fmt.Fprintf(&b, ": %s", f.message)
		}
	default:
		fmt.Fprintf(&b, " without an error object in a body of %d bytes", f.size)
	}
	if id := printable(f.id); id != "" {
		fmt.Fprintf(&b, " [request %s]", id)
	}
	return b.String()
}

// printable returns an id if logs may contain it, or else an empty string.
func printable(id string) string {
	if len(id) > codec.MaxQuoted || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return id
}

// read reads a document with an error object.
func (f *vendorError) read(v jsonwire.Value) {
	x := v.Get("error")
	if x.Kind() != jsonwire.Object {
		return
	}
	f.envelope = true
	f.kind = x.Get("type").Str()
	f.message = redact.Line(x.Get("message").Str())
	f.detail = x.Get("details").Get("error_code").Str()
	f.details = codec.Details(Format, x)
	if f.id == "" {
		f.id = v.Get("request_id").Str()
	}
}

// code returns a more exact code than that of the status or type, or c.
func (f *vendorError) code(c upstream.Code) upstream.Code {
	switch f.kind {
	case "authentication_error", "permission_error", "billing_error":
		return upstream.CodeBadGateway
	}
	if (c == upstream.CodeUnavailable || c == upstream.CodeTooLarge) && codec.IsPromptTooLong(f.message) {
		return upstream.CodeInvalid
	}
	switch f.detail {
	case "contract_spend_limit_reached", "enforced_spend_limit_reached":
		if c == upstream.CodeRateLimit {
			return upstream.CodeQuota
		}
	}
	return c
}

// DecodeCount decodes a response of count_tokens. The error is an [*upstream.Error] with
// [upstream.CodeBadGateway].
func DecodeCount(body []byte) (upstream.TokenCount, error) {
	d := newDecoder(content.Limits{})
	defer d.doc.Close()
	if err := d.parse(string(body)); err != nil {
		return upstream.TokenCount{}, codec.BadGateway(err)
	}
	root := d.doc.Root()
	n, ok := root.Get("input_tokens").Int()
	if !ok || n < 0 {
		return upstream.TokenCount{}, codec.BadGateway(errors.New("messages: the response has no valid input_tokens"))
	}
	return upstream.TokenCount{Tokens: n, Extra: d.rest(root, &countNames)}, nil
}

// DecodeModels decodes a page of the model list. It returns the models and the after_id of
// the next page, which is empty on the last page. The error is an [*upstream.Error] with
// [upstream.CodeBadGateway].
func DecodeModels(body []byte) (list []upstream.Model, next string, err error) {
	d := newDecoder(content.Limits{})
	defer d.doc.Close()
	if err := d.parse(string(body)); err != nil {
		return nil, "", codec.BadGateway(err)
	}
	root := d.doc.Root()
	data := root.Get("data")
	if data.Kind() != jsonwire.Array {
		return nil, "", codec.BadGateway(errors.New("messages: the response has no list of models in data"))
	}
	list = make([]upstream.Model, 0, data.Len())
	for i, v := range data.Elems() {
		m := d.model(v)
		if m.ID == "" {
			return nil, "", codec.BadGateway(fmt.Errorf("messages: data.%d has no id", i))
		}
		list = append(list, m)
	}
	if more, _ := root.Get("has_more").Bool(); more {
		next = root.Get("last_id").Str()
	}
	return list, next, nil
}

var (
	countNames = memberNames{fields: []string{"input_tokens"}, kept: []string{"context_management"}}
	modelNames = memberNames{
		fields: []string{"id", "type", "display_name", "created_at", "max_input_tokens", "max_tokens"},
		kept:   []string{"capabilities", "line", "lifecycle", "deprecated_at", "retires_at", "allowed_fallback_models"},
	}
)

// model reads one model. All capabilities stay in Extra, because there is a field for
// thinking only.
func (d *decoder) model(v jsonwire.Value) upstream.Model {
	m := upstream.Model{
		ID:    v.Get("id").Str(),
		Name:  v.Get("display_name").Str(),
		Extra: d.rest(v, &modelNames),
	}
	if t, err := time.Parse(time.RFC3339, v.Get("created_at").Str()); err == nil {
		m.Created = t
	}
	count(&m.MaxInput, v.Get("max_input_tokens"))
	count(&m.MaxOutput, v.Get("max_tokens"))
	m.Thinking, _ = v.Get("capabilities").Get("thinking").Get("supported").Bool()
	return m
}
