package messages

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

func TestErrorTexts(t *testing.T) {
	many := new(violation.List)
	for i := range 300 {
		many.Add(content.CodeValue, fmt.Sprintf("messages.%d.content", i), strings.Repeat("x", 500))
	}
	var two violation.List
	two.Add(content.CodeMissing, "max_tokens", "Field required")
	two.Add(content.CodeType, "messages.0\nX", "is\r\nodd\u2028")
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"two violations", two.Err(), "max_tokens: Field required\nmessages.0 X: is  odd "},
		{"wrapped", fmt.Errorf("at /etc/secret: %w", &content.Violation{Path: "a", Text: "b"}), "a: b"},
		{"outermost error", &upstream.Error{Code: upstream.CodeBadGateway, Text: "no use", Err: two.Err()}, "no use"},
		{"lines", &upstream.Error{Code: upstream.CodeInvalid, Text: "a\r\nevent: x\u2029"}, "a  event: x "},
		{"unknown", errors.New("secret"), "Internal server error"},
		{"joined", errors.Join(errors.New("secret"), &upstream.Error{Code: upstream.CodeNotFound, Text: "model: x"}), "model: x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := errorMessage(handler.FailureOf(tt.err)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := errorMessage(handler.FailureOf(many.Err())); len(got) > 17<<10 || !strings.HasSuffix(got, " more") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-20:])
	}
	long := errorMessage(handler.FailureOf(&upstream.Error{Code: upstream.CodeInvalid, Text: strings.Repeat("é", 5000)}))
	if len(long) > 2<<10 || !utf8.ValidString(long) {
		t.Errorf("%d bytes, valid: %v", len(long), utf8.ValidString(long))
	}
}
