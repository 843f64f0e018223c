package workload

import (
	"encoding/base64"
	"math/rand/v2"
	"strconv"

	"github.com/polywire/polywire/internal/jsonwire"
)

// The functions in this file return the conversations of workload.go as bodies of Chat
// Completions.

// CompletionsSmall returns a Chat Completions body of 0.3 KB with one text.
func CompletionsSmall() string {
	return `{"model":"gpt-5.2","max_completion_tokens":256,"temperature":0.5,"messages":[{"role":"user","content":` +
		`"Write two sentences about a lighthouse that is kept by one person and a cat, in the voice of somebody ` +
		`who has just come up the stairs and is a little out of breath. Mention the weather, but not the sea."}]}`
}

// CompletionsChat returns the Chat Completions body of [Chat].
func CompletionsChat() string {
	r := rand.New(rand.NewPCG(1, 1))
	var w jsonwire.Writer
	beginCompletions(&w, 1024)
	message(&w, "system", prose(r, english, 400))
	for i := range 21 {
		if i%2 == 0 {
			message(&w, "user", prose(r, english, 600))
		} else {
			message(&w, "assistant", prose(r, english, 2200))
		}
	}
	w.EndArray()
	w.EndObject()
	return w.Text()
}

// CompletionsAgent returns the Chat Completions body of [Agent]. The thinking has no signatures.
func CompletionsAgent() string {
	r := rand.New(rand.NewPCG(3, 3))
	var w jsonwire.Writer
	beginCompletions(&w, 32000)
	message(&w, "system", prose(r, english, 26_000))
	for i := range 30 {
		if i == 0 {
			message(&w, "user", prose(r, english, 500))
		}
		for k := range 2 {
			if i == 0 {
				break
			}
			w.BeginObject()
			text(&w, "role", "tool")
			text(&w, "tool_call_id", "call_"+strconv.Itoa(i-1)+"_"+strconv.Itoa(k))
			text(&w, "content", code(r, 2100))
			w.EndObject()
		}
		assistantMessage(&w, r, i)
	}
	w.EndArray()
	w.Name("tools")
	w.BeginArray()
	for i := range 40 {
		w.BeginObject()
		text(&w, "type", "function")
		w.Name("function")
		w.BeginObject()
		text(&w, "name", "tool_"+strconv.Itoa(i))
		text(&w, "description", prose(r, english, 900))
		w.Name("parameters")
		toolSchema(&w, r)
		w.EndObject()
		w.EndObject()
	}
	w.EndArray()
	text(&w, "reasoning_effort", "medium")
	text(&w, "tool_choice", "auto")
	w.Name("stream")
	w.Bool(true)
	w.Name("stream_options")
	w.Raw(`{"include_usage":true}`)
	w.EndObject()
	return w.Text()
}

// CompletionsImage returns the Chat Completions body of [Image].
func CompletionsImage() string {
	return completionsFile(`{"type":"image_url","image_url":{"url":"data:image/png;base64,`+base64.StdEncoding.EncodeToString(png(768<<10))+`"}}`,
		"What does the sign in the picture say?")
}

// CompletionsPDF returns the Chat Completions body of [PDF].
func CompletionsPDF() string {
	data := make([]byte, 25_000_000)
	n := copy(data, "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	noise(data[n:], 5)
	return completionsFile(`{"type":"file","file":{"filename":"report.pdf","file_data":"data:application/pdf;base64,`+
		base64.StdEncoding.EncodeToString(data)+`"}}`, "Summarise the report.")
}

func completionsFile(part, prompt string) string {
	return `{"model":"gpt-5.2","max_completion_tokens":1024,"messages":[{"role":"user","content":[` + part +
		`,{"type":"text","text":"` + prompt + `"}]}]}`
}

// beginCompletions begins a body and its messages.
func beginCompletions(w *jsonwire.Writer, limit int64) {
	w.BeginObject()
	text(w, "model", "gpt-5.2")
	number(w, "max_completion_tokens", limit)
	w.Name("messages")
	w.BeginArray()
}

func message(w *jsonwire.Writer, role, s string) {
	w.BeginObject()
	text(w, "role", role)
	text(w, "content", s)
	w.EndObject()
}

func assistantMessage(w *jsonwire.Writer, r *rand.Rand, n int) {
	w.BeginObject()
	text(w, "role", "assistant")
	text(w, "content", prose(r, english, 300))
	if n < 29 {
		text(w, "reasoning_content", prose(r, english, 500))
		w.Name("tool_calls")
		w.BeginArray()
		for k := range 2 {
			w.BeginObject()
			text(w, "id", "call_"+strconv.Itoa(n)+"_"+strconv.Itoa(k))
			text(w, "type", "function")
			w.Name("function")
			w.BeginObject()
			text(w, "name", "tool_"+strconv.Itoa(r.IntN(40)))
			var input jsonwire.Writer
			callInput(&input, r, n)
			text(w, "arguments", input.Text())
			w.EndObject()
			w.EndObject()
		}
		w.EndArray()
	}
	w.EndObject()
}
