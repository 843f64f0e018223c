package messages

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/upstream"
)

var workloads = []struct {
	name string
	make func() string
}{
	{"small", workload.Small},
	{"chat", workload.Chat},
	{"agent", workload.Agent},
	{"intl", workload.Intl},
	{"image", workload.Image},
	{"pdf", workload.PDF},
}

// onWorkloads benchmarks what prepare returns for each body.
func onWorkloads(b *testing.B, prepare func(b *testing.B, body string) func() error) {
	for _, load := range workloads {
		b.Run(load.name, func(b *testing.B) {
			body := load.make()
			op := prepare(b, body)
			floor.Run(b, body, func() {
				if err := op(); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func BenchmarkParse(b *testing.B) {
	onWorkloads(b, func(_ *testing.B, body string) func() error {
		return func() error {
			_, err := parseRequest(body, content.Limits{}, nil)
			return err
		}
	})
}

// BenchmarkParseValidate measures the documented performance goals.
func BenchmarkParseValidate(b *testing.B) {
	onWorkloads(b, func(_ *testing.B, body string) func() error {
		return func() error { return parseValidate(body) }
	})
}

func BenchmarkValidate(b *testing.B) {
	onWorkloads(b, func(b *testing.B, body string) func() error {
		r := mustParse(b, body)
		return func() error { return r.Validate(nil) }
	})
}

// BenchmarkEncode writes a parsed request again.
func BenchmarkEncode(b *testing.B) {
	onWorkloads(b, func(b *testing.B, body string) func() error {
		r := mustParse(b, body)
		return func() error {
			_, err := r.Body()
			return err
		}
	})
}

// BenchmarkParseRelay parses a request and finds the bytes to send on: against
// BenchmarkParse this is what a relay costs.
func BenchmarkParseRelay(b *testing.B) {
	onWorkloads(b, func(b *testing.B, body string) func() error {
		return func() error {
			r, err := parseRequest(body, content.Limits{}, nil)
			if err != nil {
				return err
			}
			if n, _ := r.withDocument(nil); snapshot.DocumentOf(n, Format) == nil {
				b.Fatal("no Wire")
			}
			return nil
		}
	})
}

func mustParse(tb testing.TB, body string) *Request {
	tb.Helper()
	r, err := parseRequest(body, content.Limits{}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func mustDecode(tb testing.TB, body string) *upstream.Request {
	tb.Helper()
	n, _, err := DecodeRequest([]byte(body), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}
