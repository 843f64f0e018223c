package codec

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
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
	const made = "Sat, 21 Nov 2026 07:00:00 GMT"
	for _, tt := range []struct {
		after, ms, date string
		want            time.Duration
	}{
		{"", "", "", 0}, {"7", "", "", 7 * time.Second}, {" 1.5 ", "", "", 1500 * time.Millisecond}, {"3600", "", "", time.Hour}, {"3601", "", "", 0},
		{"-1", "", "", 0}, {"1e2", "", "", 0}, {"1.2.3", "", "", 0}, {strings.Repeat("0", 20) + "1", "", "", 0}, {"inf", "", "", 0}, {"soon", "", "", 0},

		{"", "1500", "", 1500 * time.Millisecond}, {"7", "0.5", "", time.Millisecond / 2}, {"", "3600000", "", time.Hour},
		{"7", "3600001", "", 7 * time.Second}, {"7", "-1", "", 7 * time.Second}, {"7", "soon", "", 7 * time.Second},

		{"Sat, 21 Nov 2026 07:00:30 GMT", "", made, 30 * time.Second}, {" Saturday, 21-Nov-26 07:00:30 GMT", "", made, 30 * time.Second},
		{"Sat, 21 Nov 2026 08:00:00 GMT", "", made, time.Hour}, {"Sat, 21 Nov 2026 08:00:01 GMT", "", made, 0},
		{made, "", made, 0}, {"Wed, 21 Oct 2026 07:28:00 GMT", "", made, 0}, {"Fri, 31 Dec 9999 23:59:59 GMT", "", made, 0},
		{"Sat, 21 Nov 2026 07:00:30 GMT", "250", made, 250 * time.Millisecond},
	} {
		h := http.Header{"Retry-After": {tt.after}, "Retry-After-Ms": {tt.ms}, "Date": {tt.date}}
		if got := RetryAfter(h); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
	if got := RetryAfter(nil); got != 0 {
		t.Errorf("no headers: got %v", got)
	}
}

// TestRetryAfterNow checks dates of answers that do not say when they were made.
func TestRetryAfterNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for ahead, want := range map[time.Duration]time.Duration{
			90 * time.Second: 90 * time.Second, time.Hour: time.Hour, time.Hour + time.Second: 0, 0: 0, -time.Second: 0,
		} {
			h := http.Header{"Retry-After": {time.Now().Add(ahead).UTC().Format(http.TimeFormat)}}
			for _, date := range []string{"", "yesterday"} {
				h.Set("Date", date)
				if got := RetryAfter(h); got != want {
					t.Errorf("%v ahead, made %q: got %v", ahead, date, got)
				}
			}
		}
	})
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
