package codec

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

func TestStatusCode(t *testing.T) {
	want := map[int]upstream.Code{
		400: upstream.CodeInvalid, 401: upstream.CodeBadGateway, 402: upstream.CodeBadGateway, 403: upstream.CodeBadGateway,
		404: upstream.CodeNotFound, 408: upstream.CodeTimeout, 409: upstream.CodeConflict, 413: upstream.CodeTooLarge,
		422: upstream.CodeInvalid, 429: upstream.CodeRateLimit, 500: upstream.CodeUnavailable, 502: upstream.CodeUnavailable,
		503: upstream.CodeUnavailable, 504: upstream.CodeTimeout, 529: upstream.CodeOverloaded, 599: upstream.CodeUnavailable,
		0: upstream.CodeBadGateway, 200: upstream.CodeBadGateway, 302: upstream.CodeBadGateway, 600: upstream.CodeBadGateway,
	}
	got := make(map[int]upstream.Code)
	for status := range want {
		got[status] = StatusCode(status)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 1.5 ": 1500 * time.Millisecond, "3600": time.Hour, "3601": 0, "-1": 0, "1e2": 0,
		"1.2.3": 0, "Wed, 21 Oct 2026 07:28:00 GMT": 0, strings.Repeat("0", 20) + "1": 0, "inf": 0,
	} {
		if got := RetryAfter(value); got != want {
			t.Errorf("RetryAfter(%q) = %v, want %v", value, got, want)
		}
	}
	for value, want := range map[string]time.Duration{
		"": 0, "1500": 1500 * time.Millisecond, "0.5": time.Millisecond / 2, "3600000": time.Hour, "3600001": 0, "-1": 0, "soon": 0,
	} {
		if got := RetryAfterMilli(value); got != want {
			t.Errorf("RetryAfterMilli(%q) = %v, want %v", value, got, want)
		}
	}
}

func TestErrorBody(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       bool
	}{
		{"a document", `{"a":1}`, true},
		{"nothing", "", false},
		{"a page", "<html>", false},
		{"broken", `{"a":`, false},
		{"too long", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, false},
	} {
		got := false
		ErrorBody([]byte(tt.body), func(v jsonwire.Value) { got = v.Get("a").Exists() })
		if got != tt.want {
			t.Errorf("%s: taken %v", tt.name, got)
		}
	}
}

func TestBadGateway(t *testing.T) {
	cause := errors.New("why")
	if e := BadGateway(cause); e.Code != upstream.CodeBadGateway || e.Text != "" || !errors.Is(e, cause) {
		t.Errorf("BadGateway = %+v", e)
	}
}
