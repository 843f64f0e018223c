package anthropic

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

func client(t testing.TB) *Client {
	c, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// translate converts a generateContent request to the body that is sent.
func translate(t testing.TB, c *Client, body string) {
	r, err := generatecontent.ParseRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Model = "claude-sonnet-4-5"
	p := c.plan(r.Upstream())
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	if _, err := p.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	b, err := p.body()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, b.Reader()); err != nil {
		t.Fatal(err)
	}
}

// relay decodes a request of this format and sends its document unchanged.
func relay(t testing.TB, c *Client, body string) {
	n, _, err := messages.DecodeRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := c.plan(n)
	if p.Err != nil || p.Document == nil {
		t.Fatal("the document is not passed on", p.Err)
	}
	b, err := p.body()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, b.Reader())
}

func BenchmarkTranslate(b *testing.B) {
	c := client(b)
	for name, body := range map[string]string{"agent": workload.GenerateAgent(), "chat": workload.GenerateChat(), "pdf": workload.GeneratePDF()} {
		b.Run(name, func(b *testing.B) { floor.Run(b, body, func() { translate(b, c, body) }) })
	}
}

func BenchmarkRelay(b *testing.B) {
	c := client(b)
	body := workload.Agent()
	b.Run("agent", func(b *testing.B) { floor.Run(b, body, func() { relay(b, c, body) }) })
}

// events returns a stream of n texts.
func events(n int) string {
	const head = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	const delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words of an answer\"}}\n\n"
	const tail = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":5}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	return head + strings.Repeat(delta, n) + tail
}

// stream relays a stream to a client that discards it.
func stream(t testing.TB, body string) {
	p := plan{}
	read := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return adapter.Relay(ctx, w, messages.NewStreamReader(strings.NewReader(body), nil), adapter.StartInfo{}, p.Restore)
	})
	if err := upstream.Run(context.Background(), read, &upstream.Request{}, upstream.SinkFunc(func([]upstream.Event) error { return nil })); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkStream(b *testing.B) {
	body := events(1000)
	b.Run("1000 deltas", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			stream(b, body)
		}
	})
}

// TestStreamAllocations checks that the number of allocations does not grow
// with the number of events.
func TestStreamAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget at random under the race detector")
	}
	short, long := events(100), events(2100)
	few := testing.AllocsPerRun(5, func() { stream(t, short) })
	many := testing.AllocsPerRun(5, func() { stream(t, long) })
	bytes := len(long) - len(short)
	if limit := float64(bytes/(16<<10) + 1); many-few > limit {
		t.Errorf("2000 events more take %v allocations more, want at most %v", many-few, limit)
	}
}

// TestTranslateAllocations checks that the number of allocations of a
// conversion depends on the turns and tools of a request, not on its length.
func TestTranslateAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget at random under the race detector")
	}
	c := client(t)
	body := workload.GenerateAgent()
	if n := testing.AllocsPerRun(5, func() { translate(t, c, body) }); n > 800 {
		t.Errorf("the body of an agent takes %v allocations", n)
	}
	pdf := workload.GeneratePDF()
	if n := testing.AllocsPerRun(2, func() { translate(t, c, pdf) }); n > 100 {
		t.Errorf("the body with a PDF takes %v allocations", n)
	}
}
