package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/ollama/ollama/anthropic"
	"github.com/ollama/ollama/api"
)

// ollama returns the converters of Ollama's own Messages API. They write the requests and
// read the streams of Ollama's chat API, not of Chat Completions.
func ollama() *contestant {
	return &contestant{name: "Ollama", module: "github.com/ollama/ollama", routes: map[route]translator{
		{formatMessages, formatChat, false}: {to: formatOllama, translate: ollamaRequest},
		{formatChat, formatMessages, true}:  {from: formatOllama, translate: ollamaStream},
	}}
}

func ollamaRequest(body []byte, out io.Writer) error {
	var req anthropic.MessagesRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	chat, err := anthropic.FromMessagesRequest(req)
	if err != nil {
		return err
	}
	doc, err := json.Marshal(chat)
	if err != nil {
		return err
	}
	_, err = out.Write(doc)
	return err
}

func ollamaStream(stream []byte, out io.Writer) error {
	converter := anthropic.NewStreamConverter("msg_01", "m", 0)
	var frame bytes.Buffer
	for line := range bytes.Lines(stream) {
		var r api.ChatResponse
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		for _, e := range converter.Process(r) {
			data, err := json.Marshal(e.Data)
			if err != nil {
				return err
			}
			frame.Reset()
			frame.WriteString("event: " + e.Event + "\ndata: ")
			frame.Write(data)
			frame.WriteString("\n\n")
			if _, err := out.Write(frame.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}
