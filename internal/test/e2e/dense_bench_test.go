//go:build unix

package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// BenchmarkDense parses documents with a few bytes for each value, and translates them for
// a vendor of another format. It reports the CPU time for each byte.
func BenchmarkDense(b *testing.B) {
	const size = 192 << 10
	shape := func(open, element, end string) string {
		return open + many((size-len(open)-len(end))/(len(element)+1), element) + end
	}
	const ask = `"contents":[{"role":"user","parts":[{"text":"a"}]}]`
	const message = `{"model":"m","max_tokens":99,"messages":[{"role":"user","content":"a"}],`
	targets := map[string]upstream.Upstream{
		"Messages":  anthropicAt(b, "http://127.0.0.1", nil),
		"Responses": responsesAt(b, "http://127.0.0.1", nil),
		"Gemini":    geminiAt(b, "http://127.0.0.1", nil),
	}
	for _, tt := range []struct {
		name   string
		front  content.Format
		target string // "" for parsing alone
		body   string

		invalid bool
	}{
		{"parts that are null", generatecontent.Format, "", shape(`{"contents":[{"role":"user","parts":[{"text":"a"},`, `null`, `]}]}`), true},
		{"unknown members", messages.Format, "", message + many(size/20, `"member_#":1`) + `}`, false},
		{"built-in tools", generatecontent.Format, "Messages", shape(`{`+ask+`,"tools":[`, `{"googleSearch":{}}`, `]}`), false},
		{"parts of unknown kinds", generatecontent.Format, "Messages", shape(`{"contents":[{"role":"user","parts":[{"text":"a"},`, `{"y":{}}`, `]}]}`), false},
		{"anyOf in parameters", generatecontent.Format, "Responses", shape(`{`+ask+`,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"p":{"anyOf":[`, `{"type":"string"}`, `]}}}}]}]}`), false},
		{"schemas without members", messages.Format, "Responses", message + `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false,"properties":{` + many(size/15, `"p#":{}`) + `}}}}}`, false},
		{"texts", messages.Format, "Gemini", shape(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[`, `{"type":"text","text":"x"}`, `]}]}`), false},
	} {
		name := string(tt.front) + ": " + tt.name
		if tt.target != "" {
			name += " to " + tt.target
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				var r *upstream.Request
				var err error
				if tt.front == messages.Format {
					r, _, err = messages.DecodeRequest([]byte(tt.body), nil)
				} else {
					r, _, err = generatecontent.DecodeRequest([]byte(tt.body), nil)
				}
				if err == nil && tt.target != "" {
					_, err = upstream.EncodeRequest(b.Context(), targets[tt.target], r.WithModel("m"))
				}
				if (err != nil) != tt.invalid {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N)/float64(len(tt.body)), "ns/byte")
		})
	}
}

// cpuTime returns the CPU time of the process.
func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
