package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// The model in a request selects the response of the server.
const (
	modelWhole   = "claude-whole"
	modelFlood   = "claude-flood" // a stream without pauses
	modelPaced   = "claude-paced" // a stream with a pause after each event
	floodEvents  = 1000
	pacedEvents  = 100
	pause        = 5 * time.Millisecond
	modelMarking = `"model":"`
)

// startVendor starts the server behind the relays.
func startVendor() (*httptest.Server, error) {
	return httptest.NewServer(http.HandlerFunc(serveVendor)), nil
}

// serveVendor reads a request and writes the response of its model.
func serveVendor(w http.ResponseWriter, r *http.Request) {
	start := make([]byte, 1<<10) // contains the model
	n, _ := io.ReadFull(r.Body, start)
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	_, rest, _ := strings.Cut(string(start[:n]), modelMarking)
	model, _, _ := strings.Cut(rest, `"`)
	switch model {
	case modelFlood:
		stream(w, floodEvents, 0)
	case modelPaced:
		stream(w, pacedEvents, pause)
	default:
		whole(w)
	}
}

// whole writes a response of 2 KB.
func whole(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-whole",`+
		`"content":[{"type":"text","text":"%s"}],"stop_reason":"end_turn","stop_sequence":null,`+
		`"usage":{"input_tokens":10,"output_tokens":400}}`, strings.Repeat("All work and no play. ", 90))
}

// stream writes events, each with the time of writing in its text.
func stream(w http.ResponseWriter, events int, pause time.Duration) {
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	send := func(name, data string) {
		_, _ = io.WriteString(w, "event: "+name+"\ndata: "+data+"\n\n")
		_ = rc.Flush()
	}
	send("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",`+
		`"model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}`)
	send("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	for range events {
		send("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+
			mark+strconv.FormatInt(time.Now().UnixNano(), 10)+`"}}`)
		if pause > 0 {
			time.Sleep(pause)
		}
	}
	send("content_block_stop", `{"type":"content_block_stop","index":0}`)
	send("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":400}}`)
	send("message_stop", `{"type":"message_stop"}`)
}

// mark precedes the time in an event.
const mark = "written at "
