// Package workload generates request bodies for benchmarks, with the sizes and
// shapes of real requests. Each function always returns the same bytes.
package workload

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// Small returns a Messages body of 0.3 KB with one text.
func Small() string {
	return `{"model":"claude-sonnet-5","max_tokens":256,"temperature":0.5,"messages":[{"role":"user","content":` +
		`"Write two sentences about a lighthouse that is kept by one person and a cat, in the voice of somebody ` +
		`who has just come up the stairs and is a little out of breath. Mention the weather, but not the sea."}]}`
}

// Chat returns a Messages body of 30 KB: 20 turns of English.
func Chat() string { return chat(rand.New(rand.NewPCG(1, 1)), english) }

// Intl returns a Messages body of 30 KB: 20 turns of Japanese, Russian and
// Greek.
func Intl() string {
	return chat(rand.New(rand.NewPCG(2, 2)), japanese+" "+russian+" "+greek)
}

// Agent returns a Messages body of 350 KB: 40 tools, 60 turns with thinking,
// tool calls and tool results, and system blocks with cache marks.
func Agent() string {
	r := rand.New(rand.NewPCG(3, 3))
	var w jsonwire.Writer
	w.BeginObject()
	text(&w, "model", "claude-opus-5-5")
	number(&w, "max_tokens", 32000)
	system(&w, r)
	w.Name("tools")
	w.BeginArray()
	for i := range 40 {
		tool(&w, r, i)
	}
	w.EndArray()
	w.Name("messages")
	w.BeginArray()
	for i := range 30 {
		userTurn(&w, r, i)
		assistantTurn(&w, r, i)
	}
	w.EndArray()
	w.Name("thinking")
	w.Raw(`{"type":"enabled","budget_tokens":31999}`)
	w.Name("metadata")
	w.Raw(`{"user_id":"{\"device_id\":\"0f8e\",\"session_id\":\"7a11\"}"}`)
	w.Name("stream")
	w.Bool(true)
	w.EndObject()
	return w.Text()
}

// Image returns a Messages body with a PNG of 1 MB of base64.
func Image() string {
	return file("image", "image/png", png(768<<10), "What does the sign in the picture say?")
}

// PDF returns a Messages body with a PDF of 25,000,000 bytes.
func PDF() string {
	data := make([]byte, 25_000_000)
	n := copy(data, "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	noise(data[n:], 5)
	return file("document", "application/pdf", data, "Summarise the report.")
}

func file(kind, mediaType string, data []byte, prompt string) string {
	var w jsonwire.Writer
	w.BeginObject()
	text(&w, "model", "claude-sonnet-5")
	number(&w, "max_tokens", 1024)
	w.Name("messages")
	w.Raw(`[{"role":"user","content":[{"type":"` + kind + `","source":{"type":"base64","media_type":"` + mediaType +
		`","data":"` + base64.StdEncoding.EncodeToString(data) + `"}},{"type":"text","text":"` + prompt + `"}]}]`)
	w.EndObject()
	return w.Text()
}

// png returns size bytes that begin like a PNG. The pixels are noise.
func png(size int) []byte {
	data := make([]byte, size)
	n := copy(data, "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x04\x00\x00\x00\x03\x00\x08\x02\x00\x00\x00")
	binary.BigEndian.PutUint32(data[n:], crc32.ChecksumIEEE(data[12:n]))
	binary.BigEndian.PutUint32(data[n+4:], uint32(size-n-24))
	n += 8 + copy(data[n+8:], "IDAT")
	noise(data[n:size-12], 4)
	copy(data[size-12:], "\x00\x00\x00\x00IEND\xaeB`\x82")
	return data
}

func noise(data []byte, seed uint64) {
	r := rand.New(rand.NewPCG(seed, seed))
	for ; len(data) >= 8; data = data[8:] {
		binary.LittleEndian.PutUint64(data, r.Uint64())
	}
}

func chat(r *rand.Rand, words string) string {
	var w jsonwire.Writer
	w.BeginObject()
	text(&w, "model", "claude-sonnet-5")
	number(&w, "max_tokens", 1024)
	text(&w, "system", prose(r, words, 400))
	w.Name("messages")
	w.BeginArray()
	for i := range 21 { // 10 pairs and a last user turn
		w.BeginObject()
		if i%2 == 0 {
			text(&w, "role", "user")
			text(&w, "content", prose(r, words, 600))
		} else {
			text(&w, "role", "assistant")
			text(&w, "content", prose(r, words, 2200))
		}
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
	return w.Text()
}

func system(w *jsonwire.Writer, r *rand.Rand) {
	w.Name("system")
	w.BeginArray()
	for i, size := range []int{70, 60, 26_000} {
		w.BeginObject()
		text(w, "type", "text")
		text(w, "text", prose(r, english, size))
		if i > 0 {
			w.Name("cache_control")
			w.Raw(`{"type":"ephemeral"}`)
		}
		w.EndObject()
	}
	w.EndArray()
}

func tool(w *jsonwire.Writer, r *rand.Rand, n int) {
	w.BeginObject()
	text(w, "name", "tool_"+strconv.Itoa(n))
	text(w, "description", prose(r, english, 900))
	w.Name("input_schema")
	toolSchema(w, r)
	w.EndObject()
}

func toolSchema(w *jsonwire.Writer, r *rand.Rand) {
	w.BeginObject()
	text(w, "$schema", "http://json-schema.org/draft-07/schema#")
	text(w, "type", "object")
	w.Name("properties")
	w.BeginObject()
	for i := range 8 {
		w.Name("field_" + strconv.Itoa(i))
		w.BeginObject()
		text(w, "type", []string{"string", "integer", "boolean"}[r.IntN(3)])
		text(w, "description", prose(r, english, 150))
		number(w, "minLength", int64(i))
		w.Name("enum")
		w.Raw(`["read","write","append",null]`)
		w.EndObject()
	}
	w.EndObject()
	w.Name("required")
	w.Raw(`["field_0","field_1"]`)
	w.Name("additionalProperties")
	w.Bool(false)
	w.EndObject()
}

func userTurn(w *jsonwire.Writer, r *rand.Rand, n int) {
	w.BeginObject()
	text(w, "role", "user")
	w.Name("content")
	w.BeginArray()
	if n == 0 {
		w.BeginObject()
		text(w, "type", "text")
		text(w, "text", prose(r, english, 500))
		w.EndObject()
	}
	for k := range 2 {
		if n == 0 {
			break
		}
		w.BeginObject()
		text(w, "type", "tool_result")
		text(w, "tool_use_id", "toolu_"+strconv.Itoa(n-1)+"_"+strconv.Itoa(k))
		text(w, "content", code(r, 2100))
		if k == 0 {
			w.Name("is_error")
			w.Bool(false)
		}
		if n == 29 && k == 1 {
			w.Name("cache_control")
			w.Raw(`{"type":"ephemeral"}`)
		}
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
}

func assistantTurn(w *jsonwire.Writer, r *rand.Rand, n int) {
	w.BeginObject()
	text(w, "role", "assistant")
	w.Name("content")
	w.BeginArray()
	if n < 29 {
		w.BeginObject()
		text(w, "type", "thinking")
		text(w, "thinking", prose(r, english, 500))
		sig := make([]byte, 300)
		noise(sig, uint64(n))
		text(w, "signature", base64.StdEncoding.EncodeToString(sig))
		w.EndObject()
	}
	w.BeginObject()
	text(w, "type", "text")
	text(w, "text", prose(r, english, 300))
	w.EndObject()
	for k := range 2 {
		if n == 29 {
			break
		}
		w.BeginObject()
		text(w, "type", "tool_use")
		text(w, "id", "toolu_"+strconv.Itoa(n)+"_"+strconv.Itoa(k))
		text(w, "name", "tool_"+strconv.Itoa(r.IntN(40)))
		w.Name("input")
		callInput(w, r, n)
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
}

func callInput(w *jsonwire.Writer, r *rand.Rand, n int) {
	w.BeginObject()
	text(w, "field_0", "/src/part_"+strconv.Itoa(n)+".go")
	text(w, "field_1", code(r, 250))
	number(w, "limit", int64(r.IntN(1000)))
	w.EndObject()
}

func text(w *jsonwire.Writer, name, s string) {
	w.Name(name)
	w.String(s)
}

func number(w *jsonwire.Writer, name string, n int64) {
	w.Name(name)
	w.Int(n)
}

// prose returns about size bytes of words, with a few line breaks.
func prose(r *rand.Rand, words string, size int) string {
	all := strings.Fields(words)
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(all[r.IntN(len(all))])
		if r.IntN(60) == 0 {
			b.WriteString(".\n\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(b.String()) + "."
}

// code returns about size bytes that look like source code: short lines with
// tabs, quotes and numbers.
func code(r *rand.Rand, size int) string {
	all := strings.Fields(english)
	var b strings.Builder
	for b.Len() < size {
		b.WriteString("\t" + all[r.IntN(len(all))] + "(\"" + all[r.IntN(len(all))] + "\", ")
		b.WriteString(strconv.Itoa(r.IntN(10_000)) + ") // " + all[r.IntN(len(all))])
		b.WriteString(" " + all[r.IntN(len(all))] + " " + all[r.IntN(len(all))] + "\n")
	}
	return b.String()
}

const (
	english = "the keeper of a quiet harbour writes down every ship that passes and every light that is seen " +
		"from the tower while small boats return with what they found between two storms and seldom hurries " +
		"because morning comes slowly here as it always did when wind turned north over grey water"
	japanese = "灯台の番人は毎晩海を見ている。小さな船が港に帰るとき、鐘を二度鳴らす。風が北に変わると、 朝はゆっくり来る。誰も急がない。" +
		"窓の外では波の音が続き、 猫は階段の上で眠っている。昨日の手紙はまだ机の上にある。"
	russian = "смотритель маяка каждую ночь глядит на море и записывает суда которые проходят мимо пока ветер с " +
		"севера приносит холодную воду а маленькие лодки возвращаются домой"
	greek = "ο φύλακας του φάρου κοιτάζει κάθε νύχτα τη θάλασσα και γράφει τα πλοία που περνούν όταν ο άνεμος " +
		"γυρίζει στον βορρά και οι μικρές βάρκες επιστρέφουν στο λιμάνι"
)
