package record_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/record"
	"github.com/polywire/polywire/upstream/script"
)

// A recording is usually a file below testdata. The Upstream that is recorded is usually the
// adapter of a vendor.
func Example() {
	var file strings.Builder
	vendor := script.Reply{script.Say("Good morning.")}
	request := &upstream.Request{
		Model: "demo",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hello!"}}}},
	}
	_, err := upstream.Collect(context.Background(), record.NewRecorder(vendor, &file), request)
	fmt.Println(strings.Split(file.String(), "\n")[4], err)

	player, err := record.NewPlayer(strings.NewReader(file.String()))
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := upstream.Collect(context.Background(), player, request)
	fmt.Println(response.Parts[0].(*content.Text).Text, err)

	request.Turns[0].Parts[0] = &content.Text{Text: "Good night!"}
	_, err = upstream.Collect(context.Background(), player, request)
	fmt.Println(err)
	// Output:
	// {"turns.0.parts.0.text":"Hello!"} <nil>
	// Good morning. <nil>
	// turns.0.parts.0.text: there is no recording of this request: here it has "Good night!", and the most similar one, number 1, has "Hello!"
}
