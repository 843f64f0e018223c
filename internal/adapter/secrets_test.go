package adapter

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// An envelope is a decoded error of a stream.
type envelope string

func (e envelope) Error() string { return "the upstream failed" }

func (e envelope) Original() (string, func(jsonwire.Value) *upstream.Error) {
	return string(e), func(v jsonwire.Value) *upstream.Error {
		return &upstream.Error{
			Code: upstream.CodeOverloaded, UpstreamID: v.Get("id").Str(), Err: e,
			Details: &content.Extra{Format: "tests", JSON: v.Get("error").Raw()},
		}
	}
}

// TestCleanLargeEnvelope checks that an error object that is too large to be decoded
// again has no secret.
func TestCleanLargeEnvelope(t *testing.T) {
	s := serve(t, nil, func(c *Config) { c.Key = "host-key-for-tests" })
	sent, err := s.request(t.Context(), &Request{Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	for name, padding := range map[string]int{"small": 1, "large": 2 << 20} {
		text := `{"error":{"message":"of host-key-for-tests"},"id":"host-key-for-tests","padding":"` + strings.Repeat("x", padding) + `"}`
		got := upstream.Error{
			Code: upstream.CodeOverloaded, UpstreamID: "host-key-for-tests", Err: envelope(text),
			Details: &content.Extra{Format: "tests", JSON: `{"message":"of host-key-for-tests"}`},
		}
		cleanError(&got, s.secrets(sent, new(redact.Held)))
		if strings.Contains(got.Details.JSON+got.UpstreamID, "host-key") {
			t.Errorf("%s: the error has the key: %s, id %q", name, got.Details.JSON, got.UpstreamID)
		}
		if want := `{"message":"of [removed]"}`; got.Details.JSON != want {
			t.Errorf("%s: the details are %s, want %s", name, got.Details.JSON, want)
		}
	}
}

// TestCauseIsNotChanged checks that the cause of a context is not modified: other
// requests may share it.
func TestCauseIsNotChanged(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := &upstream.Error{Code: upstream.CodeTimeout, Text: "about host-key-for-tests"}
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel(cause)
		<-r.Context().Done()
	}, func(c *Config) { c.Key, c.Name = "host-key-for-tests", "vendor" })
	_, err := s.Do(ctx, &Request{Path: "/"})
	want := &upstream.Error{Code: upstream.CodeTimeout, Text: "about host-key-for-tests"}
	if diff := cmp.Diff(want, cause); diff != "" {
		t.Errorf("the cause has changed (-want +got):\n%s", diff)
	}
	if err == nil {
		t.Error("no error")
	}
}
