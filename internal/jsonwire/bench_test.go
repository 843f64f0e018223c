package jsonwire

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/floor"
)

// bodies returns the documents of the benchmarks.
func bodies() []struct{ name, body string } {
	return []struct{ name, body string }{
		{"small", smallBody()},
		{"chat", chatBody(words["english"], 20)},
		{"agent", agentBody()},
		{"intl", chatBody(words["japanese"]+" "+words["russian"]+" "+words["greek"], 20)},
		{"image", fileBody(1 << 20)},
		{"pdf", fileBody(25_000_000)},
		{"escapes", `{"text":"` + strings.Repeat(`\n\"`, 50_000) + `"}`},
		{"alternating", `{"text":"` + strings.Repeat(`a\n`, 70_000) + `"}`},
		{"unicode", `{"text":"` + strings.Repeat(`\u00e9\ud83d\ude00`, 20_000) + `"}`},
		{"numbers", "[" + strings.Repeat("-12.5e3,7,", 50_000) + "0]"},
		{"deep", "[" + strings.Repeat(strings.Repeat("[", 250)+strings.Repeat("]", 250)+",", 400) + "0]"},
		{"members", membersBody(100_000)},
		{"objects", "[" + strings.Repeat(`{"type":"text","id":"a","name":"b","value":1},`, 10_000) + "0]"},
		{"values", "[" + strings.Repeat("1,", 999_000) + "1]"},
		{"spaced", spaced(agentBody())},
		{"text", `{"text":"` + strings.Repeat("a text without escapes ", 1<<20) + `"}`},
	}
}

var words = map[string]string{
	"english": "the quick model reads a long letter and answers it with care, because " +
		"no one knows beforehand which of the many questions will matter in the end",
	"japanese": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で",
	"russian":  "все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему",
	"greek":    "άνδρα μοι έννεπε μούσα πολύτροπον ος μάλα πολλά πλάγχθη επεί Τροίης ιερόν πτολίεθρον",
}

func prose(r *rand.Rand, vocabulary string, size int) string {
	all := strings.Fields(vocabulary)
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(all[r.IntN(len(all))])
		switch r.IntN(40) {
		case 0:
			b.WriteString(".\n\n")
		case 1:
			b.WriteString(` "so" `)
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func smallBody() string {
	return `{"model":"model-large-2025","max_tokens":1024,"system":"You answer in one sentence.",` +
		`"messages":[{"role":"user","content":"What is the difference between a mutex and a channel, ` +
		`and when would you use which of the two in a program that serves requests?"}],"temperature":0.7,"stream":true}`
}

func chatBody(vocabulary string, turns int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var w Writer
	w.BeginObject()
	w.Name("model")
	w.String("model-large-2025")
	w.Name("messages")
	w.BeginArray()
	for i := range turns {
		w.BeginObject()
		w.Name("role")
		w.String([]string{"user", "assistant"}[i%2])
		w.Name("content")
		w.String(prose(r, vocabulary, 1500))
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
	return w.Text()
}

// code returns text like a source file: one byte in fifteen needs escaping.
func code(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%sif name%d == \"v%d\" {\n%s\treturn parse(\"%x\", %d)\n%s}\n",
			strings.Repeat("\t", r.IntN(3)), r.IntN(50), r.IntN(9), strings.Repeat("\t", r.IntN(3)),
			r.Uint32(), r.IntN(1000), strings.Repeat("\t", r.IntN(3)))
	}
	return b.String()
}

func schema(r *rand.Rand, properties int) string {
	var w Writer
	w.BeginObject()
	w.Name("type")
	w.String("object")
	w.Name("properties")
	w.BeginObject()
	for i := range properties {
		w.Name(fmt.Sprintf("property_%d", i))
		w.Raw(`{"type":"string","description":` +
			string(AppendString(nil, prose(r, words["english"], 150))) + `,"enum":["a","b","c"],"maxLength":100}`)
	}
	w.EndObject()
	w.Name("required")
	w.Raw(`["property_0","property_1"]`)
	w.EndObject()
	return w.Text()
}

// agentBody is a request of 40 tools and 60 turns: 350 KB, most of it source
// text in strings.
func agentBody() string {
	r := rand.New(rand.NewPCG(3, 4))
	var w Writer
	w.BeginObject()
	w.Name("model")
	w.String("model-large-2025")
	w.Name("tools")
	w.BeginArray()
	for i := range 40 {
		w.BeginObject()
		w.Name("name")
		w.String(fmt.Sprintf("tool_%d", i))
		w.Name("description")
		w.String(prose(r, words["english"], 400))
		w.Name("input_schema")
		w.Raw(schema(r, 8))
		w.EndObject()
	}
	w.EndArray()
	w.Name("messages")
	w.BeginArray()
	for i := range 60 {
		w.BeginObject()
		w.Name("role")
		w.String([]string{"user", "assistant"}[i%2])
		w.Name("content")
		w.BeginArray()
		w.Raw(`{"type":"text","text":` + string(AppendString(nil, prose(r, words["english"], 300))) + `}`)
		w.BeginObject()
		w.Name("type")
		w.String("tool_result")
		w.Name("tool_use_id")
		w.String(fmt.Sprintf("toolu_%016x", r.Uint64()))
		w.Name("content")
		w.String(code(r, 3600))
		w.EndObject()
		w.EndArray()
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
	return w.Text()
}

func fileBody(size int) string {
	p := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(p)
	var w Writer
	w.BeginObject()
	w.Name("type")
	w.String("document")
	w.Name("data")
	w.String(base64.StdEncoding.EncodeToString(p))
	w.EndObject()
	return w.Text()
}

func membersBody(n int) string {
	var w Writer
	w.BeginObject()
	for i := range n {
		w.Name(fmt.Sprintf("member %d", i))
		w.Int(int64(i))
	}
	w.EndObject()
	return w.Text()
}

// spaced returns a valid document with every member on its own line.
func spaced(json string) string {
	d, err := Parse(json, Limits{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	var b strings.Builder
	at := 0
	for _, n := range d.nodes {
		b.WriteString(json[at:n.start])
		b.WriteString("\n    ")
		at = int(n.start)
	}
	b.WriteString(json[at:])
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	for _, bb := range bodies() {
		b.Run(bb.name, func(b *testing.B) {
			floor.Run(b, bb.body, func() {
				d, err := Parse(bb.body, Limits{Depth: 300})
				if err != nil {
					b.Fatal(err)
				}
				d.Close()
			})
		})
	}
}

// BenchmarkStr parses a document and decodes every string and name.
func BenchmarkStr(b *testing.B) {
	for _, bb := range bodies()[:10] {
		b.Run(bb.name, func(b *testing.B) {
			floor.Run(b, bb.body, func() {
				d, err := Parse(bb.body, Limits{})
				if err != nil {
					b.Fatal(err)
				}
				for i := range d.nodes {
					_ = Value{d, uint32(i)}.Str()
				}
				d.Close()
			})
		})
	}
}

// BenchmarkWrite writes each string and every raw number of a body, one after
// another.
func BenchmarkWrite(b *testing.B) {
	for _, bb := range bodies()[:10] {
		d, err := Parse(bb.body, Limits{})
		if err != nil {
			b.Fatal(err)
		}
		var texts []string
		for i := range d.nodes {
			if v := (Value{d, uint32(i)}); v.Kind() == String {
				texts = append(texts, v.Str())
			}
		}
		d.Close()
		var w Writer
		b.Run(bb.name, func(b *testing.B) {
			floor.Run(b, bb.body, func() {
				w.Reset()
				w.BeginArray()
				for _, s := range texts {
					w.String(s)
				}
				w.EndArray()
			})
		})
	}
}

// BenchmarkLenientBase64 checks long base64 of the URL-safe alphabet.
func BenchmarkLenientBase64(b *testing.B) {
	s := strings.Repeat("QUJDabcdefghijklmnopqrstuvwxyz-_", 1<<20)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if e := CheckLenientBase64(s); e != 0 {
			b.Fatal(e)
		}
	}
}

// BenchmarkCheckBase64 compares with the standard decoder.
func BenchmarkCheckBase64(b *testing.B) {
	s := base64.StdEncoding.EncodeToString(make([]byte, 1<<20))
	dst := make([]byte, 1<<20)
	check := func() {
		if e := CheckBase64(s); e != 0 {
			b.Fatal(e)
		}
	}
	floor.Against(b, "decode", func() { _, _ = base64.StdEncoding.Strict().Decode(dst, []byte(s)) }, func() {
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			check()
		}
	}, check)
}
