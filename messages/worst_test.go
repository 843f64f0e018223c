package messages

import (
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/floor"
)

// A worst is a family of hostile documents with a size that grows with n. They reach
// the maximum body size of a handler or the maximum number of values.
type worst struct {
	name string
	n    int // the size that is benchmarked
	body func(n int) string
}

const userHead = `{"role":"user","content":`

// many returns n elements s, separated by commas.
func many(s string, n int) string {
	if n == 0 {
		return ""
	}
	return strings.Repeat(s+",", n-1) + s
}

// numbered is many with each # replaced by the index.
func numbered(s string, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(s, "#", strconv.Itoa(i)))
	}
	return b.String()
}

func withBlocks(blocks string) string {
	return `{"model":"m","max_tokens":9,"messages":[` + userHead + `[` + blocks + `]}]}`
}

func withInput(input string) string {
	return `{"model":"m","max_tokens":9,"tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[` + userHead +
		`"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{"x":` + input + `}}]},` +
		userHead + `[{"type":"tool_result","tool_use_id":"a","content":"done"}]}]}`
}

func withCalls(n int) string {
	return `{"model":"m","max_tokens":9,"tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[` + userHead +
		`"go"},{"role":"assistant","content":[` +
		numbered(`{"type":"tool_use","id":"call_#","name":"t","input":{"a":1},"caller":{"type":"direct"}}`, n) + `]},` + userHead + `[` +
		numbered(`{"type":"tool_result","tool_use_id":"call_#","content":"done","is_error":false}`, n) + `]}]}`
}

var worsts = []worst{
	{"escapes", 2_000_000, func(n int) string { return withBlocks(`{"type":"text","text":"` + strings.Repeat(`\n`, n) + `"}`) }},
	{"unicode escapes", 500_000, func(n int) string { return withBlocks(`{"type":"text","text":"` + strings.Repeat(`\u00e9`, n) + `"}`) }},
	{"escapes in base64", 1_000_000, func(n int) string {
		return withBlocks(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0x` +
			strings.Repeat(`AA\/\/`, n) + `"}}`)
	}},
	{"numbers", 900_000, func(n int) string { return withInput(`[` + many("1", n) + `]`) }},
	{"long numbers", 100, func(n int) string { return withInput(`[` + many(strings.Repeat("7", 50_000), n) + `]`) }},
	{"deep", 4_000, func(n int) string {
		return withInput(`[` + many(strings.Repeat("[", 240)+strings.Repeat("]", 240), n) + `]`)
	}},
	{"empty texts after unreadable ones", 99_000, func(n int) string {
		return withBlocks(many(`{"type":"text","text":5}`, 99) + "," + many(`{"type":"text","text":""}`, n))
	}},
	{"members", 100_000, func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[` + userHead + `"x"}],` + numbered(`"model_#":1`, n) + `}`
	}},
	{"look-alike members", 100_000, func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[` + userHead + `"x"}],` + numbered(`"modél#":1`, n) + `}`
	}},
	{"members of a block", 100_000, func(n int) string {
		return withBlocks(`{` + numbered(`"model_#":1`, n) + `,"type":"text","text":"x"}`)
	}},
	{"members of a tool", 100_000, func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[` + userHead + `"x"}],"tools":[{"type":"web_search_20250305",` +
			numbered(`"model_#":1`, n) + `,"name":"web_search"}]}`
	}},
	{"free members", 100_000, func(n int) string { return withInput(`{` + numbered(`"model_#":1`, n) + `}`) }},
	{"turns", 100_000, func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[` + many(userHead+`"x"}`, n) + `]}`
	}},
	{"text blocks", 100_000, func(n int) string { return withBlocks(many(`{"type":"text","text":"x"}`, n)) }},
	{"marked blocks", 50_000, func(n int) string {
		return withBlocks(many(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`, n))
	}},
	{"unknown blocks", 100_000, func(n int) string { return withBlocks(many(`{"type":"y"}`, n)) }},
	{"raw blocks", 50_000, func(n int) string { return withBlocks(many(`{"type":"container_upload","file_id":"f"}`, n)) }},
	{"blocks with extras", 50_000, func(n int) string { return withBlocks(many(`{"type":"text","text":"x","y":1}`, n)) }},
	{"cited blocks", 10_000, func(n int) string {
		return withBlocks(many(`{"type":"text","text":"x","citations":[`+many(`{"type":"char_location","cited_text":"q","document_index":0,`+
			`"document_title":null,"start_char_index":0,"end_char_index":1}`, 5)+`]}`, n))
	}},
	{"calls", 10_000, withCalls},
	{"tools", 20_000, func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[` + userHead + `"x"}],"tools":[` +
			numbered(`{"name":"t#","input_schema":{"type":"object"}}`, n) + `]}`
	}},
	{"violations", 100_000, func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[` + many(userHead+`"x"}`, n) + `,` + many("1", n) + `]}`
	}},
	{"stop sequences", 100_000, func(n int) string {
		return `{"model":"m","max_tokens":9,"stop_sequences":[` + many(`"x"`, n) + `],"messages":[` + userHead + `"x"}]}`
	}},
}

// BenchmarkWorst parses and validates the worst documents.
func BenchmarkWorst(b *testing.B) {
	for _, w := range worsts {
		b.Run(strings.ReplaceAll(w.name, " ", "-"), func(b *testing.B) {
			body := w.body(w.n)
			floor.Run(b, body, func() { parseValidate(body) })
		})
	}
}

// parseValidate parses and validates a body, like a handler.
func parseValidate(body string) error {
	r, err := ParseRequest(body)
	if r != nil {
		err = r.Validate(nil)
	}
	return err
}
