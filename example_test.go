package polywire_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// A service that speaks Messages.
func Example() {
	http.Handle("/v1/", messages.NewHandler(echo.New(), nil))
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil))
}

// A model is one function. The same one serves plain and streamed answers.
func Example_upstream() {
	reverse := upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
		for _, p := range req.Last() {
			if t, ok := p.(*content.Text); ok {
				words := strings.Fields(t.Text)
				for i := len(words) - 1; i >= 0; i-- {
					if err := w.Text(words[i] + " "); err != nil {
						return err // nobody is listening any more
					}
				}
			}
		}
		return nil
	})

	req := &upstream.Request{Turns: []content.Turn{
		{Role: content.User, Parts: []content.Part{&content.Text{Text: "home come"}}},
	}}
	for event, err := range upstream.Events(context.Background(), reverse, req) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Kind == upstream.EventText {
			fmt.Printf("%q\n", event.Text)
		}
	}
	// Output:
	// "come "
	// "home "
}

// Middleware changes requests on their way in; what it wraps keeps all its
// abilities.
func Example_middleware() {
	brief := upstream.Edit(echo.New(), func(ctx context.Context, r *upstream.Request) (*upstream.Request, error) {
		r = r.Clone()
		r.System = append(r.System, &content.Text{Text: "Be brief."})
		return r, nil
	})

	reply, err := upstream.Collect(context.Background(), brief, &upstream.Request{Model: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	// Output:
	// echo of demo: 0 turns
	// system.0: text, 9 bytes, sha256 213c22ed7234, "Be brief."
}

// Requests can be read and judged without any HTTP.
func Example_validate() {
	body := `{"model": "demo", "max_tokens": "many", "messages": [
	  {"role": "user", "content": [{"type": "text", "text": ""}]}]}`

	req, err := messages.ParseRequest([]byte(body))
	if req != nil {
		err = req.Validate(nil) // tells what parsing found, too
	}
	violations, _ := content.Violations(err)
	for _, v := range violations {
		fmt.Println(v.Path, "-", v.Text)
	}
	// Output:
	// max_tokens - Input should be a valid integer
	// messages - text content blocks must be non-empty
}
