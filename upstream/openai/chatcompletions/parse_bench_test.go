package chatcompletions

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/workload"
)

// BenchmarkParseValidate measures the documented performance goals.
func BenchmarkParseValidate(b *testing.B) {
	for _, load := range []struct {
		name string
		make func() string
	}{
		{"small", workload.CompletionsSmall},
		{"chat", workload.CompletionsChat},
		{"agent", workload.CompletionsAgent},
		{"image", workload.CompletionsImage},
		{"pdf", workload.CompletionsPDF},
	} {
		b.Run(load.name, func(b *testing.B) {
			body := load.make()
			floor.Run(b, body, func() {
				r, err := parseRequest(body, content.Limits{})
				if err == nil {
					err = r.Validate(nil)
				}
				if err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
