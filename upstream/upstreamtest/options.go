package upstreamtest

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Options says what to ask an Upstream. The zero value holds the defaults.
// Requests are not changed; those that are nil have a default, or their checks
// are skipped.
type Options struct {
	// Model is what the default requests ask for. Empty means the first model
	// that the Upstream lists, or "test" if it lists none.
	Model string

	// Text is answered with some text. Nil asks for a short sentence.
	Text *upstream.Request

	// Long is answered with text in many pieces; the more there are, the more
	// the checks see. Nil asks to count to 200.
	Long *upstream.Request

	// Silent is answered with nothing at all until its context ends. Nil skips
	// what needs it.
	Silent *upstream.Request

	// Call has tools and is answered with one call or more, Think with a
	// thought. Nil skips the checks.
	Call, Think *upstream.Request

	// Lossy is a request of which something gets lost on the way, reported as
	// a loss. Nil tries one with a bit of everything, of which nothing need be
	// lost.
	Lossy *upstream.Request

	// Bad are requests that must be refused as faults of the request, Fail
	// such as fail for any other reason, such as a model that is overloaded.
	Bad, Fail []*upstream.Request

	// Marked makes a request whose answer holds the mark, a word, and no mark
	// of another request. Nil means that answers at the same time are only
	// compared where the Upstream is Deterministic.
	Marked func(mark string) *upstream.Request

	// Deterministic says that equal requests have equal answers, whether or
	// not they are streamed, and that whatever reaches the model shows in what
	// it answers.
	Deterministic bool

	// Brief asks for few answers and leaves out the checks that need many.
	Brief bool

	// Secrets are texts that must not get out, such as keys, host names and
	// paths. They are looked for in all events and error texts.
	Secrets []string

	// Skip names checks to leave out.
	Skip []string

	// Grace is how long the Upstream may take to return when it is told to.
	// Zero means 5 s, more than the second that handlers wait by default,
	// since machines that run tests are busy.
	Grace time.Duration

	// Timeout bounds one answer. Zero means two minutes.
	Timeout time.Duration

	// Buffer is how much the heap may grow while a client takes nothing of the
	// answer to Long, in bytes. Zero means 8 MiB.
	Buffer int64
}

// filled returns a copy with every default in place.
func (o *Options) filled(ctx context.Context, u upstream.Upstream) Options {
	var f Options
	if o != nil {
		f = *o
	}
	f.Grace = cmp.Or(f.Grace, 5*time.Second)
	f.Timeout = cmp.Or(f.Timeout, 2*time.Minute)
	f.Buffer = cmp.Or(f.Buffer, 8<<20)
	if f.Model == "" {
		f.Model = firstModel(ctx, u, f.Grace)
	}
	if f.Text == nil {
		f.Text = ask(f.Model, "Say hello in one short sentence.")
	}
	if f.Long == nil {
		f.Long = ask(f.Model, "Count from 1 to 200, each number on a line of its own, and write nothing else.")
	}
	return f
}

func firstModel(ctx context.Context, u upstream.Upstream, d time.Duration) string {
	list, err := within(ctx, d, func(ctx context.Context) ([]upstream.Model, error) {
		return upstream.Models(ctx, u)
	})
	if err != nil || len(list) == 0 || list[0].ID == "" {
		return "test" // the models check tells what is wrong
	}
	return list[0].ID
}

func ask(model, text string) *upstream.Request {
	max := int64(2048)
	return &upstream.Request{
		Model:     model,
		MaxTokens: &max,
		Turns:     []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
	}
}

// A dot of a picture, to send along.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// rich returns a whole conversation with a bit of everything that a vendor may
// be unable to say.
func rich(model string) *upstream.Request {
	topK, seed, heat, penalty, max := int64(40), int64(7), 0.5, 0.25, int64(2048)
	return &upstream.Request{
		Model:  model,
		System: []content.Part{&content.Text{Text: "Be brief.", Cache: &content.Cache{TTL: "5m"}}},
		Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "What is in the file?"}}},
			{Role: content.RoleAssistant, Parts: []content.Part{
				&content.Thinking{Text: "I had better look.", Signature: content.Signature{Format: foreign, Data: "c2lnbmVk"}},
				&content.ToolUse{ID: "call_7", Name: "look", Input: `{"b":1,"a":[2]}`},
			}},
			{Role: content.RoleUser, Parts: []content.Part{
				&content.ToolResult{ID: "call_7", Name: "look", Parts: []content.Part{
					&content.Text{Text: "a dot"}, &content.Image{Source: &content.Base64{MediaType: "image/png", Data: dot}},
				}},
				&content.Text{Text: "Say in one sentence what it shows.", Cache: &content.Cache{TTL: "1h"}},
			}},
		},
		Tools: []content.Tool{{Name: "look", Description: "Looks at the file.",
			Input: content.Schema{JSON: `{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"array","items":{"type":"integer"}}}}`}}},
		MaxTokens: &max, Temperature: &heat, TopK: &topK, Seed: &seed, PresencePenalty: &penalty,
		StopSequences: []string{"\n\nEND"},
		UserID:        "user-7",
		Extra:         &content.Extra{Format: foreign, JSON: `{"flavour":"plain"}`},
	}
}

// foreign is a format that nobody speaks.
const foreign content.Format = "upstreamtest"

// withStream returns a copy of r with another Stream.
func withStream(r *upstream.Request, stream bool) *upstream.Request {
	c := r.Clone()
	c.Stream = stream
	return c
}

// lastUser returns the index of the last turn of the user, made if need be.
func lastUser(r *upstream.Request) int {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		if r.Turns[i].Role == content.RoleUser {
			return i
		}
	}
	r.Turns = append(r.Turns, content.Turn{Role: content.RoleUser})
	return len(r.Turns) - 1
}

// longer returns r with a lot more text in it.
func longer(r *upstream.Request) *upstream.Request {
	c := r.Clone()
	t := &c.Turns[lastUser(c)]
	t.Parts = append(t.Parts, &content.Text{Text: strings.Repeat("The quick brown fox jumps over the lazy dog. ", 40)})
	return c
}
