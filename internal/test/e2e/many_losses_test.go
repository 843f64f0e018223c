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
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// everyUpstream returns an adapter of each kind that uses c.
func everyUpstream(t *testing.T, c *http.Client) map[string]upstream.Upstream {
	return map[string]upstream.Upstream{
		"anthropic": anthropicAt(t, "http://localhost", c), "gemini": geminiAt(t, "http://localhost", c),
		"chat": chatAt(t, "http://localhost", c), "responses": responsesAt(t, "http://localhost", c),
	}
}

// TestManyLosses checks that a loss in more than a thousand places is reported
// with a thousand paths and the number of the others, and that nothing else
// changes.
func TestManyLosses(t *testing.T) {
	const n = 3*loss.MaxPaths + 7
	data, _ := envelope.Encode("unknown", envelope.KindPart, "s")
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
		for _, l := range lossplaces.Of(losses) {
			if strings.HasPrefix(l.Path, "turns.1.parts.") && l.Severity == content.LossHint {
				rows, places = rows+1, places+1+l.More
			}
		}
		if rows != loss.MaxPaths || places != n {
			t.Errorf("%s: %d losses with %d paths, want %d of %d", name, rows, places, loss.MaxPaths, n)
		}
	}
}

// A scale is a transport that measures the heap when a request is sent.
type scale struct{ live uint64 }

func (s *scale) RoundTrip(r *http.Request) (*http.Response, error) {
	s.live = liveHeap()
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, errors.New("connection refused")
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // the second run frees finalized and pooled objects
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestDenseMemory checks that requests with as many small elements as allowed,
// all of which are dropped, use at most 4 times their body and 64 MiB of
// memory.
func TestDenseMemory(t *testing.T) {
	if race.Enabled || testing.Short() {
		t.Skip("slow test of memory use")
	}
	own, _ := envelope.Encode("unknown", envelope.KindPart, "s")
	known, _ := envelope.Encode(generatecontent.Format, envelope.KindPart, "s")
	for kind, data := range map[string]string{"unknown vendor": own, "known vendor": known} {
		one := `{"type":"redacted_thinking","data":"` + data + `"},`
		members := `"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
			strings.Repeat(one, 99_000) + `{"type":"text","text":"a"}]},{"role":"user","content":"a"}]`
		for name := range everyUpstream(t, nil) {
			s := new(scale)
			up := everyUpstream(t, &http.Client{Transport: s})[name]
			r := messagesRequest("m", members, whole)
			before := liveHeap() // includes the client's copy of the body
			messages.NewHandler(up, nil).ServeHTTP(httptest.NewRecorder(), r)
			if s.live == 0 {
				t.Fatalf("%s to %s: no request was sent", kind, name)
			}
			if limit := uint64(4*len(members) + 64<<20); s.live-min(before, s.live) > limit {
				t.Errorf("%s to %s: %d bytes for a body of %d", kind, name, s.live-before, len(members))
			}
		}
	}
}
