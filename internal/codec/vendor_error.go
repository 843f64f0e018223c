package codec

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// A VendorError is an error of a server as it was received, for logs. Each format reads its own
// object into it. It is the Err of the [upstream.Error], or embedded in that.
type VendorError struct {
	Status  int           // of the response; 0 in a stream and in place of a response
	Size    int           // of a body without an error object, in bytes
	Found   bool          // there is an error object
	Kind    string        // the type or status that the object names
	Code    string        // its more exact code
	Number  int           // its code if that is a number
	Param   string        // the member of the request that it names
	Message string        // on one line, without secrets
	ID      string        // of the request
	Wait    time.Duration // before a retry; 0 if it is not known

	Object *content.Extra // the error object; nil if it is too large

	// Document is the JSON of an error with the Status 0, and Read decodes it, for Original.
	Document string
	Read     func(jsonwire.Value) *upstream.Error
}

// Original returns the JSON of an error in a stream or in place of a response, and a function that
// decodes it. Adapters use them to remove their keys.
func (f *VendorError) Original() (text string, read func(jsonwire.Value) *upstream.Error) {
	return f.Document, f.Read
}

// Error returns everything on one line.
func (f *VendorError) Error() string {
	var b strings.Builder
	b.WriteString("the upstream failed")
	if f.Status != 0 {
		fmt.Fprintf(&b, " with status %d", f.Status)
	}
	if !f.Found {
		fmt.Fprintf(&b, " and no error object in %d bytes", f.Size)
	}
	number := ""
	if f.Number != 0 && f.Number != f.Status {
		number = strconv.Itoa(f.Number)
	}
	for _, s := range [...]string{number, f.Kind, f.Code, f.Param} {
		if s != "" { // in parentheses: "invalid_api_key: " would look like a key
			fmt.Fprintf(&b, " (%s)", Clip(redact.Line(s)))
		}
	}
	if f.Message != "" {
		b.WriteString(": " + f.Message)
	}
	if id := redact.Line(printable(f.ID)); id != "" {
		fmt.Fprintf(&b, " [request %s]", id)
	}
	return b.String()
}

// printable returns an id if logs may contain it, or else an empty string.
func printable(id string) string {
	if len(id) > MaxQuoted || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return id
}

// IsKeyRefused reports whether the server refuses the host's key: see [KeyRefused].
func (f *VendorError) IsKeyRefused() bool {
	status := f.Status
	if status == 0 && f.Number >= 400 && f.Number <= 599 {
		status = f.Number
	}
	return KeyRefused(status, []string{f.Code, f.Kind}, f.Param, f.Message)
}

// Neutral returns the neutral form of the error with a code. err is f, or has f embedded. The Text
// is the message if the code is one of which clients see the message. isPublic is false if the error
// is about the host's key, or about its configuration: then it has neither the message nor the
// error object, and its code is [upstream.CodeBadGateway].
func (f *VendorError) Neutral(c upstream.Code, err error) (e *upstream.Error, isPublic bool) {
	e = &upstream.Error{Code: c, UpstreamID: printable(f.ID), Err: err}
	switch {
	case f.IsKeyRefused():
		e.Code, e.Text, e.KeyRefused = upstream.CodeBadGateway, KeyRefusedText, true
		return e, false
	case f.Status != 0 && IsHostError(f.Status, f.Found, f.Message):
		e.Code = upstream.CodeBadGateway
		return e, false
	}
	if f.Object != nil && (f.Status == 0 || f.Status >= 400 && f.Status <= 599) {
		e.Details, e.Status = f.Object, f.Status
	}
	switch c {
	case upstream.CodeInvalid, upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeQuota:
		e.Text = f.Message
	case upstream.CodeRateLimit:
		e.Text, e.RetryAfter = f.Message, f.Wait
	case upstream.CodeUnavailable, upstream.CodeOverloaded:
		e.RetryAfter = f.Wait
	}
	return e, true
}

// LongPrompt returns [upstream.CodeInvalid] in place of a code that servers send for a prompt that
// is too long, or else c.
func (f *VendorError) LongPrompt(c upstream.Code) upstream.Code {
	if (c == upstream.CodeUnavailable || c == upstream.CodeTooLarge) && IsPromptTooLong(f.Message) {
		return upstream.CodeInvalid
	}
	return c
}
