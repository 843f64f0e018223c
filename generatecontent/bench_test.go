package generatecontent

import (
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/workload"
)

var workloads = []struct {
	name string
	make func() string
}{
	{"small", workload.GenerateSmall},
	{"chat", workload.GenerateChat},
	{"agent", workload.GenerateAgent},
	{"intl", workload.GenerateIntl},
	{"image", workload.GenerateImage},
	{"pdf", workload.GeneratePDF},
}

// each benchmarks op on every workload.
func each(b *testing.B, op func(b *testing.B, body string, r *Request) func()) {
	for _, load := range workloads {
		b.Run(load.name, func(b *testing.B) {
			body := load.make()
			r, err := parseRequest(body, reading{})
			if err != nil {
				b.Fatal(err)
			}
			floor.Run(b, body, op(b, body, r))
		})
	}
}

func BenchmarkParse(b *testing.B) {
	each(b, func(b *testing.B, body string, _ *Request) func() {
		return func() {
			if _, err := parseRequest(body, reading{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkParseValidate parses and validates a request.
func BenchmarkParseValidate(b *testing.B) {
	each(b, func(b *testing.B, body string, _ *Request) func() {
		return func() {
			r, err := parseRequest(body, reading{})
			if err == nil {
				err = r.Validate(nil)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	each(b, func(_ *testing.B, _ string, r *Request) func() { return func() { _ = r.Validate(nil) } })
}

// BenchmarkEncode writes a parsed request again.
func BenchmarkEncode(b *testing.B) {
	each(b, func(b *testing.B, _ string, r *Request) func() {
		return func() {
			if _, err := r.Body(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkParseRelay parses a request and finds the bytes to forward. The difference to
// BenchmarkParse is the cost of forwarding.
func BenchmarkParseRelay(b *testing.B) {
	each(b, func(b *testing.B, body string, _ *Request) func() {
		return func() {
			r, err := parseRequest(body, reading{})
			if err != nil {
				b.Fatal(err)
			}
			n, _ := r.withDocument(nil)
			if snapshot.DocumentOf(n, Format) == nil {
				b.Fatal("no Wire")
			}
		}
	})
}

// BenchmarkWorst parses and validates hostile requests.
func BenchmarkWorst(b *testing.B) {
	const user = `{"role":"user","parts":`
	many := func(s string, n int) string { return strings.Repeat(s+",", n-1) + s }
	for _, tt := range []struct{ name, body string }{
		{"parts", `{"contents":[` + user + `[` + many(`{"text":"x"}`, 100_000) + `]}]}`},
		{"empty parts", `{"contents":[` + user + `[` + many(`{}`, 100_000) + `,{"text":"x"}]}]}`},
		{"unknown parts", `{"contents":[` + user + `[` + many(`{"y":{}}`, 100_000) + `]}]}`},
		{"turns", `{"contents":[` + many(user+`[{"text":"x"}]}`, 100_000) + `]}`},
		{"results", `{"contents":[` + user + `[` +
			many(`{"functionResponse":{"name":"n","response":{"a":"x"}}}`, 10_000) + `]}]}`},
		{"calls", `{"contents":[` + user + `[` +
			many(`{"functionCall":{"name":"n","args":{},"willContinue":true},"partMetadata":{}}`, 10_000) + `]}]}`},
		{"members", `{"contents":[],` + manyMembers(100_000) + `}`},
		{"members of parts", `{"contents":[` + user + `[{` + manyMembers(100_000) + `,"text":"a"}]}]}`},
		{"tools", `{"contents":[],"tools":[` + many(`{"functionDeclarations":[{"name":"n"}]}`, 100_000) + `]}`},
		{"schema", `{"contents":[],"generationConfig":{"response_schema":{"properties":{` +
			many(`"p":{"type":"string"}`, 1) + manySchemas(20_000) + `}}}}`},
		{"required", `{"contents":[],"generationConfig":{"responseSchema":{"properties":{"p":{}` + manySchemas(20_000) + `},"required":[` +
			manyQuoted(20_000) + `]}}}`},
		{"every second part", `{"contents":[` + user + `[` + many(`{},{"text":"x"}`, 50_000) + `]}]}`},
		{"violations", `{"contents":[` + many("1", 100_000) + `]}`},
		{"violations and turns", `{"contents":[` + many("1", 1_000) + `,` + many(user+`[{"text":"x"}]}`, 100_000) + `]}`},
		{"violations and calls", `{"contents":[` + many("1", 1_000) + `,` + many(user+`[{"functionCall":{}}]}`, 50_000) + `]}`},
		{"violations and settings", `{"contents":[` + many("1", 1_000) + `],"safetySettings":[` + many(`{"category":8}`, 100_000) + `]}`},
		{"violations and tools", `{"contents":[` + many("1", 1_000) + `],"tools":[{"functionDeclarations":[` + many(`{"name":"n","parameters":{"type":"OBJECT"}}`, 9_000) + `]}]}`},
		{"settings", `{"contents":[],"safetySettings":[` + many(`{"category":7}`, 100_000) + `]}`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			floor.Run(b, tt.body, func() {
				if r, _ := parseRequest(tt.body, reading{}); r != nil {
					_ = r.Validate(&ValidateOptions{Strict: true})
				}
			})
		})
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"model_` + strconv.Itoa(i) + `":1`)
	}
	return b.String()
}

func manyQuoted(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"p` + strconv.Itoa(i) + `"`)
	}
	return b.String()
}

func manySchemas(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"p` + strconv.Itoa(i) + `":{"type":"array","items":{"any_of":[{"type":"number"}]}}`)
	}
	return b.String()
}
