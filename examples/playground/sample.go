package main

import (
	"embed"
	"strings"
)

//go:embed samples
var sampleFiles embed.FS

// A sample is a document that the page offers.
type sample struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Kind   string `json:"kind"` // request, response or stream
	Format string `json:"format"`
	Text   string `json:"text"`
}

// samples are all samples. The first one of a kind is the one that the page shows when the
// kind is selected.
var samples = []sample{
	newSample("agent.json", "Turn of a coding agent", "request", "messages"),
	newSample("responses.json", "Turn of a coding agent with a free-form tool", "request", "openai-responses"),
	newSample("chat.json", "Tool results and an answer with a schema", "request", "openai"),
	newSample("image.json", "Question about an image", "request", "generatecontent"),
	newSample("schema.json", "Answer with a schema", "request", "generatecontent"),
	newSample("invalid.json", "Invalid request", "request", "messages"),
	newSample("response.json", "Response with a tool call", "response", "openai-responses"),
	newSample("image-response.json", "Response with an image and two candidates", "response", "generatecontent"),
	newSample("stream.txt", "Stream with thinking and a tool call", "stream", "openai"),
}

// newSample returns the sample in an embedded file. It panics if there is none.
func newSample(file, title, kind, format string) sample {
	text, err := sampleFiles.ReadFile("samples/" + file)
	if err != nil {
		panic(err)
	}
	id, _, _ := strings.Cut(file, ".")
	return sample{id, title, kind, format, string(text)}
}
