package openai

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// TestOwnMembers checks that members of a format that the request has no field
// for are sent in that format, and never in place of what is written.
func TestOwnMembers(t *testing.T) {
	for _, own := range []content.Format{ChatFormat, ResponsesFormat, ""} {
		n := asked("gpt-4.1", sayText("a"))
		n.Extra = &content.Extra{Format: own, JSON: `{"model":"evil","logit_bias":{"5":1},"stream":true}`}
		for format, doc := range map[content.Format]*jsonwire.Writer{
			ChatFormat: chatDoc(t, n), ResponsesFormat: planOf(t, n, KindVendor, 0).doc,
		} {
			body := doc.Text()
			if got, want := strings.Contains(body, `"logit_bias":{"5":1}`), own == format || own == ""; got != want {
				t.Errorf("members of %q over %s: sent %v, want %v", own, format, got, want)
			}
			if strings.Contains(body, "evil") || strings.Contains(body, "stream") {
				t.Errorf("members of %q over %s replace others: %s", own, format, body)
			}
		}
	}
}

func chatDoc(t *testing.T, n *upstream.Request) *jsonwire.Writer {
	t.Helper()
	c, err := New(Options{Dialect: Dialect{Kind: KindVendor}})
	if err != nil {
		t.Fatal(err)
	}
	return c.plan(n, false).doc
}

// TestStandard checks base64 in the URL-safe alphabet, wherever its characters
// stand.
func TestStandard(t *testing.T) {
	long := strings.Repeat("AAAA", 10_000)
	for from, want := range map[string]string{
		"": "", "AA": "AA==", "AAA": "AAA=", "AAAA": "AAAA", "-_-_": "+/+/", "+/+/": "+/+/",
		long: long, long + "-A": long + "+A==", long + "___": long + "///=", "_" + long[1:]: "/" + long[1:],
	} {
		if got := standard(from); got != want {
			t.Errorf("%.8s… of %d: got %.8s… of %d", from, len(from), got, len(got))
		}
	}
}
