package conformance

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream/script"
)

// TestText checks that the text of the model arrives unchanged.
func TestText(t *testing.T) {
	tests := map[string]string{
		"short":   "Ahoy there.",
		"escapes": `"quotes" \back\slashes\ <tags> & / \u0041 %s {"json":[1]}`,
		"scripts": "日本語 Ελληνικά русский עברית 👩‍🚀 é e\u0301 \u2028 \u00a0.",
		"long":    strings.Repeat("All work and no play. ", 400) + "End.",
		"oneline": strings.Repeat("x", 5000),
		"ssetrap": `data: {"type":"message_stop"} event: error`,
	}
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		for name, want := range tests {
			a := s.mustAsk(t, c, stream, request(arr{user("echo: say " + want)}, nil))
			if got := a.text(); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
			wantKinds(t, a, "text")
			if a.StopReason != "end_turn" {
				t.Errorf("%s: stop reason %q, want end_turn", name, a.StopReason)
			}
			if a.Model != "claude-demo-1" {
				t.Errorf("%s: model %q, want the requested one", name, a.Model)
			}
			if !strings.HasPrefix(a.ID, "msg_") || !strings.HasPrefix(a.RequestID, "req_") {
				t.Errorf("%s: ids %q and %q, want msg_… and req_…", name, a.ID, a.RequestID)
			}
			if want := int64(len(want)+3) / 4; a.Output != want {
				t.Errorf("%s: %d output tokens, want %d", name, a.Output, want)
			}
		}
	})
}

func TestEvents(t *testing.T) {
	each(t, func(t *testing.T, c sdk) {
		s := serve(t, nil)
		a := s.mustAsk(t, c, true, request(arr{user(play(script.Think("First."), script.Say("One two.")))}, nil))
		want := []string{
			"message_start",
			"content_block_start", "content_block_delta", "content_block_delta", "content_block_stop", // the thinking, its signature
			"content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
			"message_delta", "message_stop",
		}
		if diff := cmp.Diff(want, a.Events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestStopReasons(t *testing.T) {
	tests := []struct {
		name, say string
		more      obj
		want      string
		text      string
	}{
		{"max tokens", "echo: say 0123456789", obj{"max_tokens": 2}, "max_tokens", "01234567"},
		{"stop sequence", "echo: say one END two", obj{"stop_sequences": arr{"END"}}, "stop_sequence", "one "},
		{"refusal", play(script.Say("No."), script.Stop(content.StopRefusal)), nil, "refusal", "No."},
		{"context window", play(script.Say("Long."), script.Stop(content.StopContext)), nil, "model_context_window_exceeded", "Long."},
		{"pause", play(script.Say("Wait."), script.Stop(content.StopPause)), nil, "pause_turn", "Wait."},
	}
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		for _, tt := range tests {
			a := s.mustAsk(t, c, stream, request(arr{user(tt.say)}, tt.more))
			if a.StopReason != tt.want || !strings.HasPrefix(a.text(), tt.text) {
				t.Errorf("%s: stop reason %q after %q, want %q after %q", tt.name, a.StopReason, a.text(), tt.want, tt.text)
			}
		}
	})
}

// TestDescription checks that the upstream receives everything that the client
// sends.
func TestDescription(t *testing.T) {
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		mark := obj{"type": "ephemeral", "ttl": "1h"}
		a := s.mustAsk(t, c, stream, request(arr{
			user("First question."),
			obj{"role": "assistant", "content": arr{text("First answer.")}},
			user(arr{text("Second question."), obj{"type": "text", "text": "And this.", "cache_control": mark}}),
			obj{"role": "system", "content": "Be brief from now on."},
		}, obj{
			"system":        arr{text("You are terse.")},
			"metadata":      obj{"user_id": "u-1"},
			"service_tier":  "standard_only",
			"tools":         arr{weather},
			"tool_choice":   obj{"type": "auto", "disable_parallel_tool_use": true},
			"output_config": obj{"effort": "high"},
		}))
		wantLines(t, a,
			"echo of claude-demo-1: 4 turns",
			fmt.Sprintf("system.0: text, 14 bytes, %s", digest([]byte("You are terse."))),
			"turns.0: user, 1 part",
			fmt.Sprintf("turns.0.parts.0: text, 15 bytes, %s", digest([]byte("First question."))),
			"turns.1: assistant, 1 part",
			"turns.2: user, 2 parts",
			fmt.Sprintf("turns.2.parts.1: text, 9 bytes, %s, \"And this.\", cache 1h", digest([]byte("And this."))),
			"turns.3: system, 1 part",
			"tools.0: tool weather",
			"choice: auto, one at a time",
			"max_tokens: 4096",
			"thinking: effort high",
			`user_id: "u-1"`,
			"service_tier: standard_only",
		)
	})
}

// An image of one pixel and an empty PDF.
const (
	png64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	pdf   = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)

func image() obj {
	return obj{"type": "image", "source": obj{"type": "base64", "media_type": "image/png", "data": png64}}
}

func document() obj {
	data := base64.StdEncoding.EncodeToString([]byte(pdf))
	return obj{"type": "document", "title": "Empty", "source": obj{"type": "base64", "media_type": "application/pdf", "data": data}}
}

func TestFiles(t *testing.T) {
	png, err := base64.StdEncoding.DecodeString(png64)
	if err != nil {
		t.Fatal(err)
	}
	wantPNG := fmt.Sprintf("image, base64, image/png, %d bytes, %s", len(png), digest(png))
	wantPDF := fmt.Sprintf("document, base64, application/pdf, %d bytes, %s, title", len(pdf), digest([]byte(pdf)))
	call := obj{"type": "tool_use", "id": "toolu_1", "name": "weather", "input": obj{"city": "Oslo"}}
	result := obj{"type": "tool_result", "tool_use_id": "toolu_1", "content": arr{text("A map."), image(), document()}}
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		a := s.mustAsk(t, c, stream, request(arr{
			user(arr{image(), document(), text("What are these?")}),
			obj{"role": "assistant", "content": arr{call}},
			user(arr{result, text("And these?")}),
		}, obj{"tools": arr{weather}}))
		wantLines(t, a,
			"turns.0.parts.0: "+wantPNG,
			"turns.0.parts.1: "+wantPDF,
			"turns.2.parts.0.parts.1: "+wantPNG,
			"turns.2.parts.0.parts.2: "+wantPDF,
		)
	})
}

// TestFileIDs checks that files by id need a beta header in the older version
// of the API only.
func TestFileIDs(t *testing.T) {
	file := obj{"type": "file", "file_id": "file_011Abc"}
	params := request(arr{user(arr{
		obj{"type": "image", "source": file},
		obj{"type": "document", "source": file},
		text("What are these?"),
	})}, nil)
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		a, err := c.ask(t.Context(), call{
			BaseURL: s.url, Key: key, Stream: stream, Params: params,
			Header: map[string]string{"anthropic-beta": "files-api-2025-04-14"},
		})
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, a,
			`turns.0.parts.0: image, file, id "file_011Abc"`,
			`turns.0.parts.1: document, file, id "file_011Abc"`,
		)
		s.report(t)
		if older(c) {
			_, err := s.ask(t, c, stream, params)
			wantFailure(t, s, err, 400, "invalid_request_error", "messages.0.content.0.image.source")
			return
		}
		a = s.mustAsk(t, c, stream, params)
		wantLines(t, a, `turns.0.parts.0: image, file, id "file_011Abc"`)
	})
}

func TestStructuredOutput(t *testing.T) {
	schema := obj{
		"type": "object",
		"properties": obj{
			"ok":    obj{"type": "boolean"},
			"count": obj{"type": "integer"},
			"color": obj{"type": "string", "enum": arr{"red", "green"}},
			"tags":  obj{"type": "array", "items": obj{"type": "string"}},
		},
		"required":             arr{"ok", "count", "color", "tags"},
		"additionalProperties": false,
	}
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		a := s.mustAsk(t, c, stream, request(arr{user("Is 221 composite?")}, obj{
			"output_config": obj{"format": obj{"type": "json_schema", "schema": schema}},
		}))
		wantKinds(t, a, "text")
		wantInstance(t, a.text())
	})
}
