package e2e

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/race"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// everyUpstream returns an adapter of each kind, over a client.
func everyUpstream(t *testing.T, c *http.Client) map[string]upstream.Upstream {
	return map[string]upstream.Upstream{
		"anthropic": anthropicAt(t, "http://localhost", c), "gemini": geminiAt(t, "http://localhost", c),
		"chat": chatAt(t, "http://localhost", c), "responses": responsesAt(t, "http://localhost", c),
	}
}

// TestManyLosses checks that what holds in more than a thousand places is told of
// a thousand, with the number of the others, and that nothing else changes.
func TestManyLosses(t *testing.T) {
	const n = 3*loss.MaxPaths + 7
	data, _ := envelope.Encode("nobody", envelope.KindPart, "s")
	body := messagesOf(`{"role":"assistant","content":[` + times(n, `{"type":"redacted_thinking","data":"`+data+`"}`) + `,{"type":"text","text":"a"}]},{"role":"user","content":"a"}`)
	for name, up := range everyUpstream(t, nil) {
		r, err := messages.ParseRequest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		losses, err := upstream.Preflight(t.Context(), up, r.Upstream())
		if err != nil {
			t.Fatal(err)
		}
		rows, places := 0, 0
		for _, l := range losses {
			if strings.HasPrefix(l.Path, "turns.1.parts.") && l.Severity == content.LossHint {
				rows, places = rows+1, places+1+l.More
			}
		}
		if rows != loss.MaxPaths || places != n {
			t.Errorf("%s: %d reports of %d places, want %d of %d", name, rows, places, loss.MaxPaths, n)
		}
	}
}

// A scale weighs the heap when a request is to be sent.
type scale struct{ live uint64 }

func (s *scale) RoundTrip(r *http.Request) (*http.Response, error) {
	s.live = liveHeap()
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, errors.New("nobody is there")
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // what is finalized or pooled goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestDenseMemory checks that requests of as many small things as are allowed,
// of which each is lost, keep to what one request may take: 4 times its body, and
// 64 MiB.
func TestDenseMemory(t *testing.T) {
	if race.Enabled || testing.Short() {
		t.Skip("it is about memory, and takes some")
	}
	own, _ := envelope.Encode("nobody", envelope.KindPart, "s")
	next, _ := envelope.Encode(generatecontent.Format, envelope.KindNextText, "s")
	for kind, data := range map[string]string{"of nobody's": own, "of a neighbour": next} {
		one := `{"type":"redacted_thinking","data":"` + data + `"},`
		members := `"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
			strings.Repeat(one, 99_000) + `{"type":"text","text":"a"}]},{"role":"user","content":"a"}]`
		for name := range everyUpstream(t, nil) {
			s := new(scale)
			up := everyUpstream(t, &http.Client{Transport: s})[name]
			r := messagesRequest("m", members, whole)
			before := liveHeap() // with the body that the client has
			messages.NewHandler(up, nil).ServeHTTP(httptest.NewRecorder(), r)
			if s.live == 0 {
				t.Fatalf("%s to %s: nothing was sent", kind, name)
			}
			if most := uint64(4*len(members) + 64<<20); s.live-min(before, s.live) > most {
				t.Errorf("%s to %s: %d bytes for a body of %d", kind, name, s.live-before, len(members))
			}
		}
	}
}
