package adapter

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// A reReader is a decoded error of a vendor that can be decoded again.
type reReader interface {
	// Original returns the JSON text of the error and its decoder. The text is empty
	// if the error was decoded from a whole response body.
	Original() (text string, read func(jsonwire.Value) *upstream.Error)
}

// secrets returns the secrets in a request: the key, the headers that have the name of a secret,
// and those of the base URL and that its transport holds.
func (s *Client) secrets(sent *http.Request, held *redact.Held) *redact.Secrets {
	values := append(held.Values(), s.baseSecrets...)
	for name, list := range sent.Header {
		for _, v := range list {
			if name == s.keyName {
				values = append(values, redact.SecretsInValue(v)...)
			} else {
				values = append(values, redact.SecretsOf(name, v)...)
			}
		}
	}
	return redact.NewSecrets(values)
}

// secretsIn returns the values of parameters that have the name of a secret.
func secretsIn(query url.Values) (values []string) {
	for name, list := range query {
		for _, v := range list {
			if strings.EqualFold(name, "code") {
				values = append(values, v)
			} else {
				values = append(values, redact.SecretsOf(name, v)...)
			}
		}
	}
	return values
}

// clean removes secrets from an error. A nil Response has none.
func (a *Response) clean(err error) error {
	if a == nil || err == nil {
		return err
	}
	err = clean(err, a.secrets)
	var e *upstream.Error
	if errors.As(err, &e) {
		a.client.hideAccount(e)
	}
	return err
}

// hideAccount removes the names of the host's account from what clients receive of an error.
func (s *Client) hideAccount(e *upstream.Error) {
	if len(s.config.Private) == 0 {
		return
	}
	names := redact.NewSecrets(s.config.Private)
	e.Text = names.Clean(e.Text)
	if e.Details != nil {
		e.Details = &content.Extra{Format: e.Details.Format, JSON: names.Clean(e.Details.JSON)}
	}
}

func clean(err error, secrets *redact.Secrets) error {
	var e *upstream.Error
	if errors.As(err, &e) {
		cleanError(e, secrets)
	}
	return err
}

// cleanError removes secrets from everything in an error that clients or logs
// receive. An error that was decoded from JSON is decoded again from a clean text:
// in a text that was cut, part of a secret would not be recognised.
func cleanError(e *upstream.Error, secrets *redact.Secrets) {
	if secrets == nil {
		return
	}
	var r reReader
	if errors.As(e.Err, &r) {
		if text, read := r.Original(); text != "" {
			if clean := secrets.Clean(text); clean != text {
				codec.ErrorBody([]byte(clean), func(v jsonwire.Value) { *e = *read(v) })
			}
		}
	}
	e.Text = secrets.Clean(e.Text)
	// An error object of more than 1 MiB was not decoded again.
	if e.Details != nil {
		if clean := secrets.Clean(e.Details.JSON); clean != e.Details.JSON {
			e.Details = &content.Extra{Format: e.Details.Format, JSON: clean}
		}
	}
	if secrets.Clean(e.UpstreamID) != e.UpstreamID {
		e.UpstreamID = ""
	}
	e.Err = secrets.CleanError(e.Err)
}

// cleanHeader returns h without secrets: h itself if it has none.
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
