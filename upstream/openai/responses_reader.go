package openai

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/upstream"
)

// A resReader reads a streamed answer. It is for one goroutine at a time.
//
// An event's type is that of its JSON, its name where there is none. Numbers of
// events are not looked at, and ids of items only where nothing else tells two
// calls apart, since servers leave them out or make new ones each time; items are
// told apart by their index and kind, calls by their call_id too. What
// comes in pieces and whole is told once: what a whole one has beyond the pieces
// is added. Unknown events are skipped. A known event is an error if a member
// that it needs has a value of the wrong type.
//
// Memory does not grow with the stream, but by some words for each item.
type resReader struct {
	source *sse.Reader
	resDecoder
	frame upstream.Frame
	err   error
}

func newResReader(src io.Reader, lim content.Limits) *resReader {
	// Servers forget the empty line behind the last event.
	r := &resReader{source: sse.NewReader(io.MultiReader(src, strings.NewReader("\n\n")), sse.Limit(lim.Body))}
	r.init(lim)
	r.frame.Format = ResponsesFormat
	return r
}

// Next returns the next event of the stream and what it means. The frame is good
// until the next call. The error is [io.EOF] after the event that ends the
// answer, and an [*upstream.Error] otherwise; it stays the same.
func (r *resReader) Next() (*upstream.Frame, error) {
	for r.err == nil {
		e, err := r.source.Next()
		if err != nil {
			r.err = resBroken(err)
			break
		}
		err = r.read(e)
		r.frame.Name, r.frame.Data, r.frame.Events = e.Name, e.Data, r.events
		if r.err = err; len(r.events) > 0 && (err == nil || err == io.EOF) {
			r.told = true
			return &r.frame, nil
		}
	}
	return nil, r.err
}

// Buffered reports whether Next will return without waiting for the source. It
// may say no where it could say yes.
func (r *resReader) Buffered() bool {
	if r.err != nil {
		return true
	}
	// Anything else may say nothing, and Next would go on to the next event.
	e, ok := r.source.Peek()
	return ok && strings.HasPrefix(e.Data, quickText) && !strings.Contains(e.Data, `"delta":""`)
}

// resBroken says what the end of a stream means.
func resBroken(err error) error {
	var timeout interface{ Timeout() bool }
	switch {
	case err == io.EOF:
		return codec.BadGateway(fmt.Errorf("openai: the stream ended without its last event: %w", io.ErrUnexpectedEOF))
	case errors.As(err, &timeout) && timeout.Timeout():
		return &upstream.Error{Code: upstream.CodeTimeout, Err: fmt.Errorf("openai: reading the stream: %w", err)}
	}
	return codec.BadGateway(fmt.Errorf("openai: reading the stream: %w", err))
}

// read reads one event.
func (r *resReader) read(e sse.Event) error {
	if e.Data == "" || e.Data[0] == '[' && strings.TrimSpace(e.Data) == "[DONE]" {
		r.events = r.events[:0]
		return nil
	}
	if r.quick(e.Data) {
		return nil
	}
	defer r.doc.Close()
	if err := r.parse(e.Data); err != nil {
		return err
	}
	return r.event(e.Name, r.doc.Root())
}

// event reads the data of an event.
func (d *resDecoder) event(name string, v jsonwire.Value) error {
	kind := v.Get("type").Str()
	if kind == "" || kind == "error" {
		if v.Get("object").Is("response") {
			return d.terminal("", v)
		}
		if name == "error" || kind == "error" || v.Get("error").Kind() > jsonwire.Null {
			return resFailure(v)
		}
		kind = name
	}
	if kind == "" && v.Kind() == jsonwire.Null {
		return codec.BadGateway(errors.New("openai: the data of an event is null"))
	}
	rest, ok := strings.CutPrefix(kind, "response.")
	switch {
	case ok:
	case v.Get("error").Kind() > jsonwire.False, v.Get("object").Is("error"):
		return resFailure(v)
	default:
		return nil
	}
	if err := resCheck(rest, v); err != nil {
		return codec.BadGateway(err)
	}
	switch rest {
	case "output_text.delta", "refusal.delta", "function_call_arguments.delta", "reasoning_summary_text.delta",
		"reasoning_text.delta":
		return d.delta(rest, v)
	case "created", "in_progress", "queued":
		d.start(v.Get("response"))
	case "output_item.added":
		return d.added(v)
	case "output_item.done":
		return d.finished(v)
	case "output_text.done", "refusal.done", "function_call_arguments.done", "reasoning_summary_text.done", "reasoning_text.done":
		return d.done(rest, v)
	case "output_text.annotation.added":
		d.annotation(v)
	case "completed", "incomplete", "failed", "cancelled":
		return d.terminal(rest, v.Get("response"))
	}
	d.replaced()
	return nil
}

// resCheck returns an error if the event lacks what it is nothing without, or has
// it in the wrong type. Servers leave indices out. kind is the event's type
// without "response.".
func resCheck(kind string, v jsonwire.Value) error {
	member, want := "", codec.Kinds(0)
	switch kind {
	case "output_text.delta", "refusal.delta", "function_call_arguments.delta", "reasoning_summary_text.delta", "reasoning_text.delta":
		member, want = "delta", codec.Texts
	case "output_text.done", "reasoning_summary_text.done", "reasoning_text.done":
		member, want = "text", codec.Texts|codec.Missing
	case "refusal.done":
		member, want = "refusal", codec.Texts|codec.Missing
	case "function_call_arguments.done": // some servers send the JSON itself
		member, want = "arguments", codec.Texts|codec.Objects|codec.Lists|codec.Optional
	case "created", "in_progress", "queued":
		member, want = "response", codec.Objects|codec.Missing
	case "output_item.added", "output_item.done":
		member, want = "item", codec.Objects
	case "output_text.annotation.added":
		member, want = "annotation", codec.Objects
	case "completed", "incomplete", "failed", "cancelled":
		member, want = "response", codec.Objects
	default:
		return nil
	}
	if err := codec.Expect("openai: the data of an event", v, codec.Objects); err != nil {
		return err
	}
	if !want.Has(v.Get(member).Kind()) {
		return codec.Expect("openai: the "+member+" of response."+kind, v.Get(member), want)
	}
	for _, name := range [...]string{"output_index", "content_index", "summary_index"} {
		if err := codec.Expect("openai: an index", v.Get(name), codec.Numbers|codec.Optional); err != nil {
			return err
		}
	}
	return nil
}

// resFailure returns the error that v tells: an event, or an answer, or an error
// object.
func resFailure(v jsonwire.Value) *upstream.Error {
	e := failure(v)
	var f *vendorError
	if !errors.As(e.Err, &f) {
		return e
	}
	f.read = resFailure
	if e.Details != nil {
		e.Details.Format = ResponsesFormat
	}
	if e.Code != upstream.CodeUnavailable {
		return e
	}
	// These have no status; all that are not the server's own are the request's.
	for _, s := range [...]string{"invalid_", "image_", "unsupported_", "empty_image", "failed_to_download", "data_residency"} {
		if strings.HasPrefix(f.code, s) {
			e.Code, e.Text = upstream.CodeInvalid, f.text()
			break
		}
	}
	return e
}
