// Guard checks everything that a model reads and writes: it replaces e-mail addresses, and refuses
// requests and ends responses that have a forbidden word. Streams arrive sentence by sentence.
//
//	go run ./examples/guard
//
// It serves the built-in model in all formats on http://127.0.0.1:8080. A service would call its
// moderation in place of check.
package main

import (
	"context"
	"log"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

func main() {
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: polywire.NewHandler(guard(echo.New(), check), nil), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// heldBytes is how much of a sentence the guard holds back at most.
const heldBytes = 2000

// guard returns an Upstream that passes all texts, in both directions, through check, whose error
// refuses the request or ends the response.
func guard(next upstream.Upstream, check func(ctx context.Context, text string) (string, error)) upstream.Upstream {
	after := upstream.HoldText(next, heldBytes, func(ctx context.Context, _ *upstream.Request) func(content.Part, string) (string, error) {
		return func(_ content.Part, text string) (string, error) {
			text, err := check(ctx, text)
			if err != nil { // the request is valid
				return "", &upstream.Error{Code: upstream.CodePermission, Text: "the content policy of this service ended the response", Err: err}
			}
			return text, nil
		}
	})
	return upstream.Edit(after, func(ctx context.Context, r *upstream.Request) (*upstream.Request, error) {
		for path := range r.Files() { // which check cannot read
			return nil, &content.Violation{Code: content.CodeUnsupported, Path: path, Text: "this service does not accept files"}
		}
		return r.MapTexts(func(_, text string) (string, error) { return check(ctx, text) })
	})
}

var address = regexp.MustCompile(`[\w.+-]+@[\w-]+\.[\w.-]*\w`)

// check returns a text without e-mail addresses, or an error for a text with a forbidden word.
func check(_ context.Context, text string) (string, error) {
	if strings.Contains(strings.ToLower(text), "forbidden") {
		return "", &content.Violation{Code: content.CodeValue, Text: "the content policy of this service does not allow this text"}
	}
	return address.ReplaceAllString(text, "[address]"), nil
}
