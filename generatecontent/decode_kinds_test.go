package generatecontent

import (
	"errors"
	"io"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/upstream"
)

// TestWrongKinds checks that a response, or a chunk of one, is an error if a
// member that it needs has a value of the wrong kind.
func TestWrongKinds(t *testing.T) {
	const (
		body = `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"f","args":{}}},` +
			`{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3}}`
		blocked = `{"promptFeedback":{"blockReason":"SAFETY"}}`
		parts   = "candidates.0.content.parts"
	)
	list := []formattest.Needed{
		{body, "", "object"}, {body, "candidates", "null array object"}, {body, "candidates.0", "object"},
		{body, "candidates.0.content", "null object"}, {body, "candidates.0.content.role", "null string"},
		{body, parts, "null array object"}, {body, parts + ".0", "object"}, {body, parts + ".0.text", "null string"},
		{body, parts + ".1.functionCall", "null object"}, {body, parts + ".1.functionCall.name", "null string"},
		{body, parts + ".2.inlineData", "null object"},
		{body, "candidates.0.finishReason", "null string number"}, {body, "usageMetadata", "null object"},
		{blocked, "promptFeedback", "null object"},
	}
	for _, s := range []string{body, blocked} {
		if _, err := DecodeResponse(s, content.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	formattest.WrongKinds(t, list, func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := DecodeResponse(broken, content.Limits{})
		check := func(form string, err error) {
			t.Helper()
			var e *upstream.Error
			if err == io.EOF || !errors.As(err, &e) || e.Code != upstream.CodeBadGateway {
				t.Errorf("%s: got the error %v of %s", form, err, broken)
			}
		}
		check("whole", err)
		const last = `{"candidates":[{"finishReason":"STOP"}]}`
		_, err = comesTo("data: " + broken + "\n\ndata: " + last + "\n\n")
		check("events", err)
		_, err = comesTo("[" + broken + "," + last + "]")
		check("array", err)
	})
}
