package violation

import (
	"errors"
	"fmt"
	"testing"

	"github.com/polywire/polywire/content"
)

// A response is an error that determines a response, as an upstream.Error does.
type response struct{ cause error }

func (*response) Error() string   { return "response" }
func (r *response) Unwrap() error { return r.cause }

func TestOutermost(t *testing.T) {
	other := errors.New("other")
	v, w := &content.Violation{Path: "v"}, &content.Violation{Path: "w"}
	r := &response{}
	around, cause := &response{v}, &content.Violation{Path: "cause", Err: r}
	joined := content.JoinViolations([]*content.Violation{v, w}, 1)
	mixed := errors.Join(other, v, r)
	for _, tt := range []struct {
		name      string
		err, want error
	}{
		{"nil", nil, nil},
		{"other", fmt.Errorf("a: %w", other), nil},
		{"joined others", errors.Join(other, other), nil},
		{"response", fmt.Errorf("a: %w", r), r},
		{"violation", fmt.Errorf("a: %w", v), v},
		{"violation in a response", around, around},
		{"response in a violation", cause, cause},
		{"list of violations", fmt.Errorf("a: %w", joined), joined},
		{"response first", errors.Join(other, r, v), r},
		{"violation first", mixed, mixed},
	} {
		got := Outermost(tt.err, func(err error) bool { _, ok := err.(*response); return ok })
		if got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
