package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

type resolver func(s content.Source) (content.Blob, error)

func (f resolver) Resolve(_ context.Context, s content.Source) (content.Blob, error) { return f(s) }

func TestLoad(t *testing.T) {
	found := content.Blob{MediaType: "image/png", Data: []byte("png")}
	tests := []struct {
		name   string
		source content.Source
		with   bool // a Resolver
		want   content.Blob
		code   content.Code
	}{
		{"base64", &content.Base64{MediaType: "a/b", Data: "aGk="}, false, content.Blob{MediaType: "a/b", Data: []byte("hi")}, ""},
		{"bad base64", &content.Base64{Data: "a%"}, false, content.Blob{}, content.CodeMedia},
		{"plain text", &content.PlainText{Text: "hi"}, false, content.Blob{MediaType: "text/plain", Data: []byte("hi")}, ""},
		{"link", &content.URL{URL: "u"}, false, content.Blob{}, content.CodeUnsupported},
		{"link, resolved", &content.URL{URL: "u"}, true, found, ""},
		{"file", &content.File{ID: "f"}, false, content.Blob{}, content.CodeUnsupported},
		{"file, resolved", &content.File{ID: "f"}, true, found, ""},
		{"parts", &content.Parts{}, true, content.Blob{}, content.CodeUnsupported},
		{"nil", nil, true, content.Blob{}, content.CodeUnsupported},
		{"nil base64", (*content.Base64)(nil), true, content.Blob{}, content.CodeUnsupported},
		{"nil text", (*content.PlainText)(nil), true, content.Blob{}, content.CodeUnsupported},
		{"nil link", (*content.URL)(nil), true, content.Blob{}, content.CodeUnsupported},
		{"nil file", (*content.File)(nil), true, content.Blob{}, content.CodeUnsupported},
	}
	for _, tt := range tests {
		r := &upstream.Request{}
		if tt.with {
			r.Resolver = resolver(func(content.Source) (content.Blob, error) { return found, nil })
		}
		got, err := r.Load(t.Context(), tt.source)
		var e *content.Violation
		if errors.As(err, &e) != (tt.code != "") || e != nil && e.Code != tt.code {
			t.Errorf("%s: got %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	cause := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	r := &upstream.Request{Resolver: resolver(func(content.Source) (content.Blob, error) { panic("Resolve called after the context was done") })}
	if _, err := r.Load(ctx, &content.URL{}); err != cause {
		t.Errorf("got %v", err)
	}
}

func TestKeys(t *testing.T) {
	auth := upstream.Keys("one", "two")
	for key, want := range map[string]error{"one": nil, "two": nil, "": upstream.ErrNoKey, "on": upstream.ErrBadKey, "onetwo": upstream.ErrBadKey} {
		if _, err := auth(t.Context(), nil, key); err != want {
			t.Errorf("%q: got %v", key, err)
		}
	}
	for _, keys := range [][]string{nil, {"a", ""}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q: no panic", keys)
				}
			}()
			upstream.Keys(keys...)
		}()
	}
}

// TestErrorText checks that the text of an Error contains its causes but no secrets.
func TestErrorText(t *testing.T) {
	cause := errors.New("dial 10.0.0.1:\nrefused")
	for want, e := range map[string]*upstream.Error{
		"upstream: overloaded: try later: dial 10.0.0.1: refused": {Code: upstream.CodeOverloaded, Text: "try later", Err: cause},
		"upstream: internal: dial 10.0.0.1: refused":              {Code: upstream.CodeInternal, Err: cause},
		"upstream: timeout: the dial 10.0.0.1: refused":           {Code: upstream.CodeTimeout, Text: "refused", Err: fmt.Errorf("the %w", cause)},
		"upstream: not_found: no such model":                      {Code: upstream.CodeNotFound, Text: "no such model"},
		"upstream: not_found":                                     {Code: upstream.CodeNotFound},
		`upstream: internal: Get "https://h.example/v1": dial 10.0.0.1: refused`: {Code: upstream.CodeInternal,
			Err: fmt.Errorf(`Get "https://h.example/v1?key=k-1": %w`, cause)},
		"upstream: internal: the key [removed] is not known": {Code: upstream.CodeInternal,
			Err: errors.New("the key sk-ant-0123456789 is not known")},
		"upstream: internal: upstream: not_found: no such model: dial 10.0.0.1: refused": {Code: upstream.CodeInternal,
			Err: &upstream.Error{Code: upstream.CodeNotFound, Text: "no such model", Err: cause}},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if strings.Contains(want, "10.0.0.1") != errors.Is(e, cause) {
			t.Errorf("%s: the cause is not found", want)
		}
	}
	long := &upstream.Error{Code: upstream.CodeInternal, Err: errors.New(strings.Repeat("words ", 10_000))}
	if n := len(long.Error()); n > 2<<10 {
		t.Errorf("%d bytes", n)
	}
}
