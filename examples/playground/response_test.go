package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/examples/internal/format"
)

func TestResponses(t *testing.T) {
	for _, f := range format.All {
		t.Run(f.Name, func(t *testing.T) {
			var r responseResult
			answer(t, "/api/response", taskBody(t, f.Name, recording(t, "reply", f.Name, ".json"), "messages", "generatecontent"), &r)
			if len(r.Violations) > 0 || len(r.Outputs) != 2 {
				t.Fatalf("got %+v", r)
			}
			for _, out := range r.Outputs {
				for _, want := range []string{"Look it up.", "Checking.", "depth_at", `"buoy": "B7"`} {
					if out.Error != "" || !strings.Contains(out.Text, want) {
						t.Errorf("%s lacks %q: %+v", out.Format, want, out)
					}
				}
			}
			kinds := map[string]int{}
			for _, e := range r.Events {
				kinds[e.Kind]++
			}
			if kinds["EventOpen"] != 3 || kinds["EventClose"] != 3 || kinds["EventStop"] != 1 {
				t.Errorf("events %v", kinds)
			}
		})
	}
}

// Losses of responses are marked at the part, in the output only if it has the part.
func TestResponsePlaces(t *testing.T) {
	image := `{"inlineData": {"mimeType": "image/png", "data": "` + pixel + `"}}`
	code := `{"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {}}}`
	text := `{"candidates": [{"content": {"role": "model", "parts": [{"text": "same"}, {"text": "same"}, ` + image + `, ` + code + `]}, "finishReason": "STOP", "avgLogprobs": -0.5},
		{"content": {"role": "model", "parts": [{"text": "other"}]}, "finishReason": "STOP", "index": 1}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}`
	var r responseResult
	answer(t, "/api/response", taskBody(t, "generatecontent", text, "messages"), &r)
	type marked struct{ Severity, Path, Input string }
	var got []marked
	for _, l := range r.Outputs[0].Losses {
		m := marked{Severity: l.Severity, Path: l.Path}
		if l.Input != nil {
			m.Input = cutText(text, *l.Input)
		}
		if l.Output != nil {
			t.Errorf("marked in the output: %+v", l)
		}
		got = append(got, m)
	}
	all := text[strings.Index(text, `"candidates"`):strings.Index(text, `, "usageMetadata"`)]
	want := []marked{
		{"hint", "avgLogprobs", `"avgLogprobs": -0.5`},
		{"dropped", "content.2", image},
		{"dropped", "content.3", code},
		{"dropped", "candidates", strings.Join(strings.Fields(all), " ")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBrokenResponses(t *testing.T) {
	tests := []struct {
		name, format, text string
		want               responseResult // with a part of the text of the violation, or of the output
	}{
		{"syntax", "openai", "{\"a\": 1,\n x}", responseResult{Violations: []violation{{Text: "member name", Code: "bad_gateway", span: span{10, 11}}}}},
		{"empty", "messages", "", responseResult{Violations: []violation{{Text: "empty", Code: "bad_gateway"}}}},
		{"other document", "openai-responses", "{}", responseResult{Violations: []violation{{Text: "not a response", Code: "bad_gateway", span: span{0, 1}}}}},
		{"error of the vendor", "messages", `{"type":"error","error":{"type":"overloaded_error","message":"later"}}`,
			responseResult{Outputs: []responseOutput{{Format: "generatecontent", Status: 503, Text: `"code": 503`}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got responseResult
			answer(t, "/api/response", taskBody(t, tt.format, tt.text, "generatecontent"), &got)
			if len(got.Violations) != len(tt.want.Violations) || len(got.Outputs) != len(tt.want.Outputs) {
				t.Fatalf("got %+v", got)
			}
			for i, want := range tt.want.Violations {
				if v := got.Violations[i]; !strings.Contains(v.Text, want.Text) || v.Code != want.Code || v.span != want.span {
					t.Errorf("got %+v, want %+v", v, want)
				}
			}
			for i, want := range tt.want.Outputs {
				if out := got.Outputs[i]; out.Format != want.Format || out.Status != want.Status || !strings.Contains(out.Text, want.Text) {
					t.Errorf("got %+v, want %+v", out, want)
				}
			}
		})
	}
}
