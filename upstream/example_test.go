package upstream_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// parrot is a whole upstream: it repeats what the user said last, and refuses
// what it cannot repeat.
var parrot = upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	for i, p := range req.Last() {
		t, ok := p.(*content.Text)
		if !ok {
			return &content.Violation{Path: fmt.Sprintf("turns.%d.parts.%d", len(req.Turns)-1, i), Text: "parrots know texts only"}
		}
		if err := w.Text(t.Text); err != nil {
			return err
		}
	}
	return nil
})

func user(text string) *upstream.Request {
	return &upstream.Request{
		Model: "parrot",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
	}
}

// A whole upstream of 15 lines.
func Example() {
	reply, err := upstream.Collect(context.Background(), parrot, user("Hello!"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text, reply.Stop.Reason)
	// Output: Hello! end
}

func ExampleCollect() {
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Text("Let me see.")
		call := w.ToolCall("", "get_weather")
		call.Input(`{"city":`)
		call.Input(`"Paris"}`)
		return call.Close() // errors stick: the last one tells of all
	})
	reply, err := upstream.Collect(context.Background(), u, user("How is the weather?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range reply.Parts {
		switch p := p.(type) {
		case *content.Text:
			fmt.Println("text:", p.Text)
		case *content.ToolUse:
			fmt.Println("call:", p.ID, p.Name, p.Input)
		}
	}
	fmt.Println("stop:", reply.Stop.Reason)
	// Output:
	// text: Let me see.
	// call: call_0 get_weather {"city":"Paris"}
	// stop: tool_use
}

func ExampleEvents() {
	for e, err := range upstream.Events(context.Background(), parrot, user("Hello!")) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e.Kind {
		case upstream.EventText:
			fmt.Println("text:", e.Text)
		case upstream.EventStop:
			fmt.Println("stop:", e.Stop.Reason)
		}
	}
	// Output:
	// text: Hello!
	// stop: end
}

// A middleware that keeps a word from getting out. It sees the words of one
// event at a time; a careful one would hold back what may be half a word.
func ExampleTap() {
	masked := upstream.Tap(parrot, func(ctx context.Context, r *upstream.Request, to upstream.Sink) upstream.Sink {
		return upstream.SinkFunc(func(events []upstream.Event) error {
			for i := range events {
				events[i].Text = strings.ReplaceAll(events[i].Text, "swordfish", "*********")
			}
			return to.Send(events)
		})
	})
	reply, err := upstream.Collect(context.Background(), masked, user("The password is swordfish."))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	// Output: The password is *********.
}

// A middleware that adds to every request, and refuses some.
func ExampleEdit() {
	polite := upstream.Edit(parrot, func(ctx context.Context, r *upstream.Request) (*upstream.Request, error) {
		if r.MaxTokens != nil && *r.MaxTokens > 4096 {
			return nil, &content.Violation{Code: content.CodeRange, Path: "max_tokens", Text: "must be at most 4096 here"}
		}
		c := r.Clone() // requests are read-only
		last := &c.Turns[len(c.Turns)-1]
		last.Parts = append(last.Parts, &content.Text{Text: " Please."})
		return c, nil
	})
	reply, err := upstream.Collect(context.Background(), polite, user("Sing."))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range reply.Parts {
		fmt.Println(p.(*content.Text).Text)
	}
	r := user("Sing.")
	r.MaxTokens = new(int64)
	*r.MaxTokens = 1 << 20
	_, err = upstream.Collect(context.Background(), polite, r)
	fmt.Println(err)
	// Output:
	// Sing. Please.
	// max_tokens: must be at most 4096 here
}

func ExampleMux() {
	says := func(name string) upstream.Upstream {
		return upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
			return w.Text(name + " answers as " + r.Model)
		})
	}
	var m upstream.Mux
	m.Handle("claude-*", says("one vendor"))
	m.HandleAs("fast", says("another"), "gemini-flash")
	m.HandleAs("local/*", says("our own"), "*")

	for _, model := range []string{"claude-x", "fast", "local/llama", "unheard-of"} {
		r := user("Who are you?")
		r.Model = model
		reply, err := upstream.Collect(context.Background(), &m, r)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(reply.Parts[0].(*content.Text).Text)
	}
	// Output:
	// one vendor answers as claude-x
	// another answers as gemini-flash
	// our own answers as llama
	// upstream: not_found: model: unheard-of
}
