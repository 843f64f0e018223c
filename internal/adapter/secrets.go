package adapter

import (
	"errors"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// A rereader is the cause of an error in the words of a vendor.
type rereader interface {
	// Original returns the JSON text that the error was read from, and what reads
	// it. The text is empty if the whole body of a failure was read.
	Original() (text string, read func(jsonwire.Value) *upstream.Error)
}

// secrets returns the values that only the host and the server know, as they
// went with a request: the key, wherever it came from, headers of the host's and
// of its client's transport that are named like secrets, and such parameters
// of the base URL.
func (s *Server) secrets(sent *http.Request) *redact.Secrets {
	var values []string
	for name, list := range sent.Header {
		for _, v := range list {
			if name == http.CanonicalHeaderKey(s.conf.KeyHeader) {
				values = append(values, redact.SecretValues(v)...)
			} else {
				values = append(values, redact.Values(name, v)...)
			}
		}
	}
	for name, list := range s.base.Query() {
		for _, v := range list {
			if strings.EqualFold(name, "code") {
				values = append(values, v)
			} else {
				values = append(values, redact.Values(name, v)...)
			}
		}
	}
	return redact.NewSecrets(values)
}

// clean removes secrets from an error about the answer. A nil Answer has none.
func (a *Response) clean(err error) error {
	if a == nil || err == nil {
		return err
	}
	return clean(err, a.hidden)
}

func clean(err error, secrets *redact.Secrets) error {
	var e *upstream.Error
	if errors.As(err, &e) {
		cleanError(e, secrets)
	}
	return err
}

// cleanError removes secrets from all that an error holds for clients and for
// logs. What was read from JSON is read again from a text without them: a part of
// a secret, where a text was cut, would not be found any more.
func cleanError(e *upstream.Error, secrets *redact.Secrets) {
	if secrets == nil {
		return
	}
	var r rereader
	if errors.As(e.Err, &r) {
		if text, read := r.Original(); text != "" {
			if clean := secrets.Clean(text); clean != text {
				codec.ErrorBody([]byte(clean), func(v jsonwire.Value) { *e = *read(v) })
			}
		}
	}
	e.Text = secrets.Clean(e.Text)
	// An envelope of more than 1 MiB is not read again.
	if e.Details != nil {
		if clean := secrets.Clean(e.Details.JSON); clean != e.Details.JSON {
			e.Details = &content.Extra{Format: e.Details.Format, JSON: clean}
		}
	}
	if secrets.Clean(e.UpstreamID) != e.UpstreamID {
		e.UpstreamID = ""
	}
	if e.Err != nil {
		text := e.Err.Error()
		if clean := secrets.Clean(text); clean != text {
			e.Err = &cleanCause{clean, e.Err}
		}
	}
}

// A cleanCause is an error whose text held a secret.
type cleanCause struct {
	text string
	err  error
}

func (e *cleanCause) Error() string { return e.text }
func (e *cleanCause) Unwrap() error { return e.err }

// cleanHeader returns h without secrets. It is h itself if there are none.
func cleanHeader(h http.Header, secrets *redact.Secrets) http.Header {
	copied := false
	for name, list := range h {
		for i, v := range list {
			clean := secrets.Clean(v)
			if clean == v {
				continue
			}
			if !copied {
				h, copied = h.Clone(), true
			}
			h[name][i] = clean
		}
	}
	return h
}
