package crosstest

import (
	"runtime"
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/race"
	"github.com/polywire/polywire/internal/workload"
	"github.com/polywire/polywire/messages"
)

// TestParseAllocations checks that parsing and validating typical requests stays within the
// documented limits of objects and of memory.
func TestParseAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop items at random under the race detector")
	}
	const share, files = 0, 128 << 10 // the limit of memory: half as much as the body again, or bytes
	for _, tt := range []struct {
		name               string
		messages, generate func() string
		objects            [2]float64 // in Messages and in generateContent
		bytes              int
	}{
		{"small", workload.Small, workload.GenerateSmall, [2]float64{12, 4}, 4 << 10},
		{"chat", workload.Chat, workload.GenerateChat, [2]float64{300, 300}, share},
		{"agent", workload.Agent, workload.GenerateAgent, [2]float64{300, 90}, share},
		{"intl", workload.Intl, workload.GenerateIntl, [2]float64{300, 300}, share},
		{"image", workload.Image, workload.GenerateImage, [2]float64{300, 300}, files},
		{"pdf", workload.PDF, workload.GeneratePDF, [2]float64{20, 12}, files},
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			body := pick(s, tt.messages, tt.generate)()
			limit := uint64(tt.bytes)
			if tt.bytes == share {
				limit = uint64(len(body)) * 3 / 2
			}
			read := pick(s, func() error {
				r, err := messages.ParseRequestString(body)
				if err != nil {
					return err
				}
				return r.Validate(nil)
			}, func() error {
				r, err := generatecontent.ParseRequestString(body)
				if err != nil {
					return err
				}
				return r.Validate(nil)
			})
			if err := read(); err != nil {
				t.Fatal(err)
			}
			least := ^uint64(0)
			objects := testing.AllocsPerRun(5, func() { // a pool may be emptied
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_ = read()
				runtime.ReadMemStats(&after)
				least = min(least, after.TotalAlloc-before.TotalAlloc)
			})
			if maxObjects := pick(s, tt.objects[0], tt.objects[1]); objects > maxObjects || least > limit {
				t.Errorf("%s: %d bytes in %v objects, at most %d in %v", tt.name, least, objects, limit, maxObjects)
			}
		})
	}
}
