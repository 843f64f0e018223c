package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// parrot is a complete Upstream. It repeats the texts of the last turn and refuses
// all other parts.
var parrot = upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	for i, p := range req.LastParts() {
		t, ok := p.(*content.Text)
		if !ok {
			return &content.Violation{Code: content.CodeUnsupported, Path: fmt.Sprintf("turns.%d.parts.%d", len(req.Turns)-1, i), Text: "must be a text"}
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

// A complete Upstream.
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
		return call.Close() // returns the first error of all calls
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

// Middleware that masks a word in responses. It does not find words that are split
// across events; the next example does.
func ExampleTap() {
	masked := upstream.Tap(parrot, func(ctx context.Context, r *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
		return upstream.SinkFunc(func(events []upstream.Event) error {
			for i := range events {
				events[i].Text = strings.ReplaceAll(events[i].Text, "swordfish", "*********")
			}
			return to.Send(events)
		}), nil
	})
	reply, err := upstream.Collect(context.Background(), masked, user("The password is swordfish."))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	// Output: The password is *********.
}

// A Collector in a Tap records the response while the client receives it.
func ExampleCollector() {
	var collector upstream.Collector
	recorded := upstream.Tap(parrot, func(ctx context.Context, r *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
		return upstream.SinkFunc(func(events []upstream.Event) error {
			if err := collector.Send(events); err != nil {
				return err
			}
			return to.Send(events)
		}), nil
	})
	if err := upstream.Run(context.Background(), recorded, user("Hello!"), upstream.SinkFunc(func([]upstream.Event) error { return nil })); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(collector.Response().Parts[0].(*content.Text).Text)
	// Output: Hello!
}

// Middleware that changes requests and refuses some.
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
	vendor := func(name string) upstream.Upstream {
		return upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
			return w.Text(name + " answers as " + r.Model)
		})
	}
	var m upstream.Mux
	m.Handle("claude-*", vendor("one vendor"))
	m.HandleAs("fast", vendor("another"), "gemini-flash")
	m.HandleAs("local/*", vendor("our own"), "*")

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

// words returns the words of a remote model, which fails after two of them.
func words(ctx context.Context) (<-chan string, <-chan error) {
	out, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(out)
		for _, word := range []string{"Once ", "upon "} {
			select {
			case out <- word:
			case <-ctx.Done():
				return
			}
		}
		failed <- errors.New("gpu 7 at 10.0.0.9 is gone")
	}()
	return out, failed
}

// A model that streams from a channel and fails halfway. The client receives the
// written text, then the Code and Text of the error. Err is only logged.
func ExampleFunc() {
	up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop() // stops the sender
		out, failed := words(ctx)
		for word := range out {
			if err := w.Text(word); err != nil {
				return err // the client has left
			}
		}
		select {
		case err := <-failed:
			return &upstream.Error{Code: upstream.CodeUnavailable, Text: "The storyteller is away.", Err: err}
		default:
			return ctx.Err()
		}
	})

	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model": "m", "max_tokens": 99,
	  "stream": true, "messages": [{"role": "user", "content": "A story, please."}]}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("anthropic-version", "2023-06-01")
	client := httptest.NewRecorder()
	messages.NewHandler(up, nil).ServeHTTP(client, r)
	for line := range strings.Lines(client.Body.String()) {
		if strings.Contains(line, `"text_delta"`) || strings.Contains(line, `"error"`) {
			line, _, _ = strings.Cut(line, `,"request_id"`)
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Once "}}
	// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"upon "}}
	// data: {"type":"error","error":{"type":"api_error","message":"The storyteller is away."}
}

// A service that accepts two API keys.
func ExampleKeys() {
	h := messages.NewHandler(parrot, &messages.Options{HandlerOptions: upstream.HandlerOptions{
		Authenticate: upstream.Keys("k-ada", "k-bob"),
	}})
	for _, key := range []string{"k-bob", "k-eve", ""} {
		r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model": "parrot", "max_tokens": 99,
		  "messages": [{"role": "user", "content": "Hello!"}]}`))
		r.Header = http.Header{
			"Content-Type":      {"application/json"},
			"Anthropic-Version": {"2023-06-01"},
			"X-Api-Key":         {key},
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 200
	// 401
	// 401
}

type tenantKey struct{}

// Each tenant has an upstream of its own.
func ExampleSelect() {
	byTenant := map[string]upstream.Upstream{"ada": parrot, "bob": echo.New()}
	up := upstream.Select(func(ctx context.Context, _ *upstream.Request) (upstream.Upstream, error) {
		tenant, _ := ctx.Value(tenantKey{}).(string) // Authenticate of the handler has set it
		if up := byTenant[tenant]; up != nil {
			return up, nil
		}
		return nil, &upstream.Error{Code: upstream.CodePermission, Text: "This key has no model."}
	})
	for _, tenant := range []string{"ada", "eve"} {
		resp, err := upstream.Collect(context.WithValue(context.Background(), tenantKey{}, tenant), up, user("Hello!"))
		fmt.Println(tenant, len(resp.Parts), err)
	}
	// Output:
	// ada 1 <nil>
	// eve 0 upstream: permission: This key has no model.
}

const secret = "swordfish"

// A mask masks a word in responses, even if it is split across events. It holds back
// the end of a text that may be the beginning of the word.
type mask struct {
	to   upstream.Sink
	held map[int]string // by block
}

func (m *mask) Send(events []upstream.Event) error {
	var out []upstream.Event
	for _, e := range events {
		switch e.Kind {
		case upstream.EventText:
			text := strings.ReplaceAll(m.held[e.Block]+e.Text, secret, "*********")
			n := len(text) - partial(text)
			m.held[e.Block], e.Text = text[n:], text[:n]
		case upstream.EventClose:
			out = append(out, upstream.Event{
				Kind: upstream.EventText, Block: e.Block, Candidate: e.Candidate, Text: m.held[e.Block],
			})
			delete(m.held, e.Block)
		}
		out = append(out, e)
	}
	return m.to.Send(out)
}

// partial returns the number of bytes at the end of a text that may begin the secret.
func partial(text string) int {
	for n := min(len(text), len(secret)-1); n > 0; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return n
		}
	}
	return 0
}

// Middleware that masks a word in responses, even if it is split across events.
func ExampleTap_pieces() {
	slow := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for _, piece := range []string{"The password is sw", "ordf", "ish, not swor", "d."} {
			if err := w.Text(piece); err != nil {
				return err
			}
		}
		return nil
	})
	masked := upstream.Tap(slow, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
		return &mask{to: to, held: map[int]string{}}, nil
	})
	reply, err := upstream.Collect(context.Background(), masked, user("What is it?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	// Output: The password is *********, not sword.
}
