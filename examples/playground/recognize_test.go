package main

import "testing"

func TestRecognize(t *testing.T) {
	tests := []struct{ name, text, kind, format string }{
		{"Messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi."}]}`, "request", "messages"},
		{"Messages with tools", `{"model":"m","messages":[],"tools":[{"name":"f","input_schema":{}}]}`, "request", "messages"},
		{"Messages with a tool result", `{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}`, "request", "messages"},
		{"generateContent", `{"contents":[{"parts":[{"text":"Hi."}]}]}`, "request", "generatecontent"},
		{"Chat Completions", `{"model":"m","messages":[{"role":"user","content":"Hi."}]}`, "request", "openai"},
		{"Chat Completions with system text", `{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"a"}]}`, "request", "openai"},
		{"Chat Completions with tools", `{"max_tokens":9,"messages":[],"tools":[{"type":"function","function":{"name":"f"}}]}`, "request", "openai"},
		{"Chat Completions with an image", `{"max_tokens":9,"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, "request", "openai"},
		{"Chat Completions with a tool message", `{"max_tokens":9,"messages":[{"role":"tool","content":"a"}]}`, "request", "openai"},
		{"Responses", `{"model":"m","input":"Hi."}`, "request", "openai-responses"},
		{"Responses with a list, cut off", "\n {\"model\":\"m\",\"input\":[{\"role\":\"user\",", "request", "openai-responses"},

		{"response of Messages", `{"type":"message","role":"assistant","content":[]}`, "response", "messages"},
		{"response of generateContent", `{"candidates":[]}`, "response", "generatecontent"},
		{"response of Chat Completions", `{"object":"chat.completion","choices":[]}`, "response", "openai"},
		{"response of Responses", `{"object":"response","input":"echo","output":[]}`, "response", "openai-responses"},
		{"error of Messages", `{"type":"error","error":{"type":"api_error","message":"a"}}`, "response", "messages"},
		{"error of generateContent", `{"error":{"code":400,"message":"a","status":"INVALID_ARGUMENT"}}`, "response", "generatecontent"},
		{"error of OpenAI", `{"error":{"message":"a","type":"invalid_request_error"}}`, "response", "openai"},

		{"stream of Messages", "event: ping\ndata: {\"type\": \"ping\"}\n\nevent: message_start\ndata: {\"type\":\"message_start\"}\n\n", "stream", "messages"},
		{"stream of generateContent", `data: {"candidates":[]}`, "stream", "generatecontent"},
		{"stream of Chat Completions", ": comment\n\ndata: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\n", "stream", "openai"},
		{"stream of Responses", "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n", "stream", "openai-responses"},

		{"other object", `{"a":1}`, "", ""},
		{"other text", "Hello.", "", ""},
		{"end of a stream", "data: [DONE]\n\n", "", ""},
		{"empty text", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got recognized
			answer(t, "/api/recognize", taskBody(t, "", tt.text), &got)
			if want := (recognized{tt.kind, tt.format}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestRecognizeSamples(t *testing.T) {
	for _, s := range samples {
		if got, want := recognize(s.Text), (recognized{s.Kind, s.Format}); got != want {
			t.Errorf("%s: got %+v, want %+v", s.ID, got, want)
		}
	}
}
