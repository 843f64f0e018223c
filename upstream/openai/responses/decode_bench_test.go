package responses

import (
	"io"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/race"
)

// responsesStream returns a stream of n deltas.
func responsesStream(n int, open, delta string) string {
	list := []string{resCreated, open}
	for range n {
		list = append(list, delta)
	}
	return events(append(list, resEnd)...)
}

const (
	resTextDelta  = `{"type":"response.output_text.delta","sequence_number":10,"item_id":"msg_68a1b2c3d4e5f6","output_index":0,"content_index":0,"delta":" word and\n more","logprobs":[],"obfuscation":"xY2k"}`
	resInputDelta = `{"type":"response.function_call_arguments.delta","sequence_number":10,"item_id":"fc_68a1b2c3d4e5f6","output_index":0,"delta":"\"key\": \"va","obfuscation":"xY2k"}`
	resSlowDelta  = `{"type":"response.reasoning_summary_text.delta","sequence_number":10,"item_id":"rs_68a1b2c3d4e5f6","output_index":0,"summary_index":0,"delta":" word and\n more"}`
)

func drainResponses(tb testing.TB, stream string) {
	r := NewStreamReader(strings.NewReader(stream), nil)
	for {
		if _, err := r.Next(); err != nil {
			if err != io.EOF {
				tb.Fatal(err)
			}
			return
		}
	}
}

// TestResponsesAllocations checks that deltas allocate only for their text.
func TestResponsesAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations cannot be counted under the race detector")
	}
	for name, s := range map[string][2]string{"text": {resAddMsg, resTextDelta}, "input": {resAddCall, resInputDelta}, "thought": {resCreated, resSlowDelta}} {
		short, long := responsesStream(1000, s[0], s[1]), responsesStream(2000, s[0], s[1])
		allocs := func(stream string) float64 { return testing.AllocsPerRun(10, func() { drainResponses(t, stream) }) }
		chunks := float64(len(long)-len(short)) / (16 << 10)
		// One for 16 KB of the stream, and one for the texts with escapes.
		if more := allocs(long) - allocs(short); more > 2*chunks+1 {
			t.Errorf("%s: %.0f KB more took %v more allocations", name, 16*chunks, more)
		}
	}
}

func BenchmarkResponsesReader(b *testing.B) {
	for name, s := range map[string][2]string{"text": {resAddMsg, resTextDelta}, "input": {resAddCall, resInputDelta}, "thought": {resCreated, resSlowDelta}} {
		stream := responsesStream(1000, s[0], s[1])
		b.Run(name, func(b *testing.B) {
			// The floor is the time to read the data of the events.
			floor.Run(b, "["+strings.Repeat(s[1]+",", 999)+s[1]+"]", func() { drainResponses(b, stream) })
		})
	}
}
