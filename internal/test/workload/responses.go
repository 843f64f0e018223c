package workload

import (
	"encoding/base64"
	"math/rand/v2"
	"strconv"

	"github.com/polywire/polywire/internal/jsonwire"
)

// The functions in this file return the conversations of workload.go as bodies of Responses.

// ResponsesSmall returns a Responses body of 0.3 KB with one text.
func ResponsesSmall() string {
	return `{"model":"gpt-5.2","max_output_tokens":256,"temperature":0.5,"store":false,"input":` +
		`"Write two sentences about a lighthouse that is kept by one person and a cat, in the voice of somebody ` +
		`who has just come up the stairs and is a little out of breath. Mention the weather, but not the sea."}`
}

// ResponsesChat returns the Responses body of [Chat].
func ResponsesChat() string {
	r := rand.New(rand.NewPCG(1, 1))
	var w jsonwire.Writer
	beginResponses(&w, 1024, prose(r, english, 400))
	for i := range 21 {
		if i%2 == 0 {
			userItem(&w, prose(r, english, 600))
		} else {
			outputItem(&w, "msg_"+strconv.Itoa(i), prose(r, english, 2200))
		}
	}
	w.EndArray()
	w.EndObject()
	return w.Text()
}

// ResponsesAgent returns the Responses body of [Agent]. The thinking is encrypted, with a summary.
func ResponsesAgent() string {
	r := rand.New(rand.NewPCG(3, 3))
	var w jsonwire.Writer
	beginResponses(&w, 32000, prose(r, english, 26_000))
	userItem(&w, prose(r, english, 500))
	for i := range 30 {
		id := strconv.Itoa(i)
		if i < 29 {
			w.BeginObject()
			text(&w, "type", "reasoning")
			text(&w, "id", "rs_"+id)
			w.Name("summary")
			w.BeginArray()
			w.BeginObject()
			text(&w, "type", "summary_text")
			text(&w, "text", prose(r, english, 500))
			w.EndObject()
			w.EndArray()
			state := make([]byte, 300)
			noise(state, uint64(i))
			text(&w, "encrypted_content", base64.StdEncoding.EncodeToString(state))
			w.EndObject()
		}
		outputItem(&w, "msg_"+id, prose(r, english, 300))
		for k := 0; k < 2 && i < 29; k++ {
			w.BeginObject()
			text(&w, "type", "function_call")
			text(&w, "call_id", "call_"+id+"_"+strconv.Itoa(k))
			text(&w, "name", "tool_"+strconv.Itoa(r.IntN(40)))
			var input jsonwire.Writer
			callInput(&input, r, i)
			text(&w, "arguments", input.Text())
			w.EndObject()
		}
		for k := 0; k < 2 && i < 29; k++ {
			w.BeginObject()
			text(&w, "type", "function_call_output")
			text(&w, "call_id", "call_"+id+"_"+strconv.Itoa(k))
			text(&w, "output", code(r, 2100))
			w.EndObject()
		}
	}
	w.EndArray()
	w.Name("tools")
	w.BeginArray()
	for i := range 40 {
		w.BeginObject()
		text(&w, "type", "function")
		text(&w, "name", "tool_"+strconv.Itoa(i))
		text(&w, "description", prose(r, english, 900))
		w.Name("parameters")
		toolSchema(&w, r)
		w.Name("strict")
		w.Bool(false)
		w.EndObject()
	}
	w.EndArray()
	w.Name("reasoning")
	w.Raw(`{"effort":"medium"}`)
	w.Name("include")
	w.Raw(`["reasoning.encrypted_content"]`)
	text(&w, "tool_choice", "auto")
	w.Name("stream")
	w.Bool(true)
	w.EndObject()
	return w.Text()
}

// beginResponses begins a body and its input.
func beginResponses(w *jsonwire.Writer, limit int64, instructions string) {
	w.BeginObject()
	text(w, "model", "gpt-5.2")
	number(w, "max_output_tokens", limit)
	w.Name("store")
	w.Bool(false)
	text(w, "instructions", instructions)
	w.Name("input")
	w.BeginArray()
}

func userItem(w *jsonwire.Writer, s string) {
	w.BeginObject()
	text(w, "type", "message")
	text(w, "role", "user")
	w.Name("content")
	w.BeginArray()
	w.BeginObject()
	text(w, "type", "input_text")
	text(w, "text", s)
	w.EndObject()
	w.EndArray()
	w.EndObject()
}

// outputItem writes a message of the model, as a response has it.
func outputItem(w *jsonwire.Writer, id, s string) {
	w.BeginObject()
	text(w, "type", "message")
	text(w, "id", id)
	text(w, "role", "assistant")
	text(w, "status", "completed")
	w.Name("content")
	w.BeginArray()
	w.BeginObject()
	text(w, "type", "output_text")
	text(w, "text", s)
	w.Name("annotations")
	w.Raw("[]")
	w.EndObject()
	w.EndArray()
	w.EndObject()
}
