package adapter

import (
	"errors"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestAnswers(t *testing.T) {
	limit := func(n int64) *upstream.Request { return &upstream.Request{MaxTokens: &n} }
	for _, n := range []*upstream.Request{{}, limit(1), limit(1 << 40)} {
		if err := Answers(n); err != nil {
			t.Errorf("%+v: %v", n.MaxTokens, err)
		}
	}
	for _, n := range []*upstream.Request{limit(0), limit(-1)} {
		var fault *content.Violation
		if err := Answers(n); !errors.As(err, &fault) || fault.Path != "max_tokens" || fault.Code != content.CodeUnsupported {
			t.Errorf("%d: %v", *n.MaxTokens, err)
		}
	}
}
