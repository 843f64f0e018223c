package recorded

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// TestChatRequests checks that a request for Chat Completions that a server accepted has no
// violation, that one that OpenAI accepted has none with Strict, and that the neutral request is
// valid in the other formats. No recorded request was refused for what is in it: the refusals are
// about models, keys and rates.
func TestChatRequests(t *testing.T) {
	asked := func(r *record) bool {
		return r.format == formatChat && r.Method == "POST" && strings.HasPrefix(r.Request, "{")
	}
	eachRecord(t, asked, func(t *testing.T, r *record) {
		opts := &chatcompletions.ValidateOptions{}
		if strings.Contains(r.URL, "/deployments/") {
			opts.Model = "deployment"
		}
		var n *upstream.Request
		check(t, r, "1 accepted", func() error {
			var losses []content.Loss
			var err error
			if n, losses, err = chatcompletions.DecodeRequest([]byte(r.Request), opts); err == nil && len(losses) > 0 {
				err = fmt.Errorf("losses %v", losses)
			}
			return err
		})
		if r.accepted() && r.Host == "api.openai.com" {
			check(t, r, "1s accepted strictly", func() error {
				strict := *opts
				strict.Strict = true
				_, _, err := chatcompletions.DecodeRequest([]byte(r.Request), &strict)
				return err
			})
		}
		if n == nil {
			return
		}
		check(t, r, "5 in "+string(formatMessages), func() error {
			to, _, err := messages.RequestFromUpstream(n)
			if err != nil {
				return unlessFile(err)
			}
			if limit := int64(1 << 14); to.MaxTokens == nil {
				to.MaxTokens = &limit
			}
			return to.Validate(&messages.ValidateOptions{AllowFiles: true})
		})
		check(t, r, "5 in "+string(formatGenerate), func() error {
			if n.Turns[0].Role == content.RoleAssistant {
				return errIncomparable // the vendor refuses a call at the beginning
			}
			to, _, err := generatecontent.RequestFromUpstream(n)
			if err != nil {
				return unlessFile(err)
			}
			return to.Validate(&generatecontent.ValidateOptions{})
		})
	})
}

// unlessFile returns err, or [errIncomparable] if it is about a file that a format does not accept.
func unlessFile(err error) error {
	var v *content.Violation
	if errors.As(err, &v) && v.Code == content.CodeUnsupported {
		return errIncomparable
	}
	return err
}
