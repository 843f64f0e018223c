package openaiformat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestSource checks links and data URLs.
func TestSource(t *testing.T) {
	for url, want := range map[string]content.Source{
		"https://a.example/a.png":              &content.URL{URL: "https://a.example/a.png"},
		"http://a.example/a.png":               &content.URL{URL: "http://a.example/a.png"},
		"data:image/png;base64,iVBORw0KGgo=":   &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="},
		"data:audio/wav;rate=8000;base64,AAAA": &content.Base64{MediaType: "audio/wav", Data: "AAAA"},
		"data:image/png,a":                     nil, "data:image/png;base64,a b": nil, "data:image/png;base64": nil,
		"file:///x": nil, "ftp://a.example/a": nil, "a.png": nil, "": nil,
	} {
		if diff := cmp.Diff(want, Source(url)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", url, diff)
		}
	}
}

// TestExtension checks that every type of documents has an extension.
func TestExtension(t *testing.T) {
	for _, kind := range DocumentTypes {
		if !strings.HasPrefix(Extension(kind), ".") {
			t.Errorf("%s has the extension %q", kind, Extension(kind))
		}
	}
	if got := Extension("text/plain"); got != "" {
		t.Errorf("text/plain has the extension %q", got)
	}
}

// TestStandardBase64 checks data in the URL-safe alphabet with its characters at any
// place.
func TestStandardBase64(t *testing.T) {
	long := strings.Repeat("AAAA", 10_000)
	for from, want := range map[string]string{
		"": "", "AA": "AA==", "AAA": "AAA=", "AAAA": "AAAA", "-_-_": "+/+/", "+/+/": "+/+/",
		long: long, long + "-A": long + "+A==", long + "___": long + "///=", "_" + long[1:]: "/" + long[1:],
	} {
		if got := StandardBase64(from); got != want {
			t.Errorf("%.8s… of %d: got %.8s… of %d", from, len(from), got, len(got))
		}
	}
}
