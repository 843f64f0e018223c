package main

import (
	"strings"
	"testing"
)

// readable are the formats whose streams are read.
var readable = []format{formatMessages, formatGemini}

// The writers of streams and the readers agree.
func TestCompleteStreams(t *testing.T) {
	for _, f := range readable {
		for name, r := range map[string]*reply{"text": textReply(12), "tools": toolReply(3, 4)} {
			got, err := readStream(f, writers[f](r))
			if err != nil {
				t.Fatalf("%s, %s: %v", f, name, err)
			}
			if gaps := phrases(compareReplies(r, got)); gaps != "" {
				t.Errorf("%s, %s: %s", f, name, gaps)
			}
		}
	}
}

// Arguments are JSON in pieces.
func TestToolReply(t *testing.T) {
	for _, n := range []int{1, 2, 50} {
		r := toolReply(2, n)
		if v := object(decoded(r.calls[1].joined())); len(list(v["lines"])) != n || len(r.calls[1].arguments) != n {
			t.Errorf("%d pieces: %s", n, r.calls[1].joined())
		}
	}
}

func TestIncompleteStreams(t *testing.T) {
	text, tools := textReply(3), toolReply(2, 2)
	for _, tt := range []struct {
		name     string
		f        format
		reply    *reply
		old, new string
		want     string
	}{
		{"text", formatGemini, text, " word1 and more", "", "the text differs: 38 of 53 bytes"},
		{"argument", formatMessages, tools, "line 1", "line 7", "drops 1 of 2 tool calls"},
		{"name", formatGemini, tools, "tool_1", "tool_7", "drops 1 of 2 tool calls"},
		{"repeated id", formatMessages, tools, "call_1", "call_0", "tool calls without an id of their own"},
		{"stop reason", formatMessages, tools, `"tool_use","stop_sequence"`, `"end_turn","stop_sequence"`, `stop reason "end" instead of "tools"`},
		{"usage", formatGemini, tools, `"candidatesTokenCount":4`, `"candidatesTokenCount":5`, "usage 321 and 5 instead of 321 and 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stream := writers[tt.f](tt.reply)
			changed := strings.Replace(stream, tt.old, tt.new, 1)
			if changed == stream && tt.old != "" {
				t.Fatalf("the stream does not contain %s", tt.old)
			}
			got, err := readStream(tt.f, changed)
			if err != nil {
				t.Fatal(err)
			}
			if got := phrases(compareReplies(tt.reply, got)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A project that collects the text and sends it at once does not stream.
func TestJoinedText(t *testing.T) {
	want := textReply(3)
	got := *want
	got.pieces = []string{strings.Join(want.pieces, "")}
	if got, want := phrases(compareReplies(want, &got)), "drops 2 of 3 pieces of text: they are joined"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Blocks that overlap are reported, but not as missing content.
func TestOverlap(t *testing.T) {
	r := toolReply(2, 1)
	stream := writeMessages(r)
	end := "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
	stream = strings.Replace(stream, end, "", 1)
	stream = strings.Replace(stream, "event: message_delta", end+"event: message_delta", 1)
	got, err := readStream(formatMessages, stream)
	if err != nil {
		t.Fatal(err)
	}
	if got := phrases(compareReplies(r, got)); got != overlapping {
		t.Errorf("got %q, want %q", got, overlapping)
	}
}

func TestInvalidStreams(t *testing.T) {
	messages := writeMessages(toolReply(1, 1))
	for name, tt := range map[string]struct {
		f      format
		stream string
	}{
		"empty":           {formatGemini, ""},
		"no finishReason": {formatGemini, strings.Replace(writeGemini(textReply(2)), "finishReason", "other", 1)},
		"no end":          {formatMessages, strings.Replace(messages, "message_stop", "other", 2)},
		"no beginning":    {formatMessages, strings.Replace(messages, "message_start", "other", 2)},
		"open block":      {formatMessages, strings.Replace(messages, "content_block_stop", "other", 2)},
		"delta outside":   {formatMessages, strings.Replace(messages, `"index":0,"delta"`, `"index":1,"delta"`, 1)},
		"not JSON":        {formatMessages, "data: {\n\n"},
		"after the end":   {formatMessages, messages + messages},
	} {
		if _, err := readStream(tt.f, tt.stream); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
