package generatecontent

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// A talker makes up conversations as clients of other formats have them.
type talker struct {
	*rand.Rand
	calls int
}

func (r *talker) some() int { return r.IntN(3) }

// part returns something that anybody may say.
func (r *talker) part() content.Part {
	switch r.IntN(6) {
	case 0:
		return &content.Image{Source: &content.Base64{MediaType: "image/png",
			Data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="}}
	case 1:
		return &content.Document{Title: "T", Source: &content.PlainText{Text: "d"}}
	case 2:
		return plainText("")
	}
	return plainText("t" + strconv.Itoa(r.IntN(1000)))
}

// thought returns something that only a vendor reads, or nobody any more.
func (r *talker) thought() content.Part {
	switch r.IntN(6) {
	case 0:
		return &content.Thinking{Text: "x", Signature: content.Signature{Format: elsewhere, Data: "s"}}
	case 1:
		return &content.Thinking{Text: "x", Signature: ownMark("YQ==")}
	case 2:
		return neighbour(envelope.KindNextText, "Yg==")
	case 3:
		return neighbour(envelope.KindPreviousText, "Yw==")
	case 4:
		return &content.Thinking{Redacted: content.Signature{Format: elsewhere, Data: "s"}}
	}
	return &content.Thinking{}
}

// step returns what a model says, and the results of its calls.
func (r *talker) step() (turns []content.Turn) {
	var said, results []content.Part
	for range r.some() {
		said = append(said, r.thought(), r.part())
	}
	for range r.some() {
		r.calls++
		id := strconv.Itoa(r.calls % 5)
		said = append(said, r.thought(), &content.ToolUse{ID: id, Name: "f" + id})
		result := &content.ToolResult{ID: id, Error: r.IntN(4) == 0}
		for range r.some() {
			result.Parts = append(result.Parts, r.part())
		}
		results = append(results, result)
	}
	if len(results) == 0 || r.IntN(3) == 0 {
		results = append(results, plainText("go on"), r.part())
	}
	return []content.Turn{{Role: content.RoleAssistant, Parts: said}, {Role: content.RoleUser, Parts: results}}
}

// What the beginning of a conversation becomes does not change as it goes on,
// and is nothing that the vendor refuses for its shape.
func TestPrefixes(t *testing.T) {
	targets := []Target{{}, {FilesAfterResults: true, SignedCalls: true}, {SignedCalls: true, FilesInlined: true}}
	for seed := range uint64(300) {
		r := &talker{Rand: rand.New(rand.NewPCG(seed, 7))}
		n := &upstream.Request{Turns: []content.Turn{asked}}
		target, before := targets[seed%3], ""
		for range 6 {
			n.Turns = append(n.Turns, r.step()...)
			if r.IntN(4) == 0 {
				n.Turns = append(n.Turns, content.Turn{Role: content.RoleSystem, Parts: []content.Part{plainText("s")}})
			}
			q, _ := RequestForTarget(n, target)
			b, err := (&Request{Contents: q.Contents}).AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			is := strings.TrimSuffix(string(b), "]}")
			if !strings.HasPrefix(is, before) {
				t.Fatalf("seed %d begins anew:\n%s\n%s", seed, before, is)
			}
			before = is
			if err := q.Validate(&ValidateOptions{}); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, is)
			}
		}
	}
}
