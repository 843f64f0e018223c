package openaiformat

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/object"
)

func TestParseURL(t *testing.T) {
	for _, tt := range []struct {
		url  string
		want content.Source
	}{
		{"https://example.com/a.png", &content.URL{URL: "https://example.com/a.png"}},
		{"data:image/png;base64,iVBORw0KGgo=", &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}},
		{"data:image/png;charset=x;base64,AAAA", &content.Base64{MediaType: "image/png", Data: "AAAA"}},
		{"data:;base64,AAAA", &content.Base64{Data: "AAAA"}},
		{"data:text/plain,abc", &content.Base64{Data: "data:text/plain,abc"}},
		{"file:///x", &content.URL{URL: "file:///x"}},
	} {
		if diff := cmp.Diff(tt.want, ParseURL(tt.url)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.url, diff)
		}
	}
}

// TestFiles compares with the vendor's texts, as reports about its API quote them.
func TestFiles(t *testing.T) {
	const pngHead = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
	r := NewFileRules([]string{"application/pdf"}, nil, false, new(content.Limits))
	rules := &r
	for _, tt := range []struct {
		kind FileKind
		s    *content.Base64
		want *content.Violation
	}{
		{ImageFile, &content.Base64{MediaType: "image/png", Data: pngHead}, nil},
		{DocumentFile, &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}, nil},
		{AudioFile, &content.Base64{MediaType: "audio/wav", Data: "AAAA"}, nil},
		{ImageFile, &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}, &content.Violation{
			Code: content.CodeMedia, Vendor: "invalid_value", Path: "input[0].content[1].image_url",
			Text: "Invalid 'input[0].content[1].image_url'. Expected a base64-encoded data URL with an image MIME type " +
				"(e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got unsupported MIME type 'application/pdf'."}},
		{DocumentFile, &content.Base64{MediaType: "application/pdf", Data: "https://example.com"}, &content.Violation{
			Code: content.CodeMedia, Vendor: "invalid_value", Path: "input[0].content[1].image_url",
			Text: "Invalid file data: 'input[0].content[1].image_url'. Expected a base64-encoded data URL with an application/pdf MIME type " +
				"(e.g. 'data:application/pdf;base64,SGVsbG8sIFdvcmxkIQ=='), but got an invalid base64-encoded value: it has a character that is not in the base64 alphabet."}},
		{ImageFile, &content.Base64{MediaType: "image/jpeg", Data: pngHead}, &content.Violation{
			Code: content.CodeMedia, Vendor: "invalid_image_format", Path: "input[0].content[1].image_url",
			Text: "Invalid 'input[0].content[1].image_url': the file does not match its MIME type 'image/jpeg'; it is image/png."}},
	} {
		r := Reporter{object.Log{Path: codec.Path{Style: codec.Bracketed}}}
		r.Path.Push("input")
		r.Path.PushIndex(0)
		r.Path.Push("content")
		r.Path.PushIndex(1)
		r.Base64("image_url", tt.kind, tt.s, rules)
		var got *content.Violation
		if list, _ := content.Violations(r.Violations.Err()); len(list) > 0 {
			got = list[0]
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v: (-want +got)\n%s", tt.s, diff)
		}
	}
}

// TestTexts compares with the vendor's texts and codes, as reports about its API quote them.
func TestTexts(t *testing.T) {
	high := 2.5
	for _, tt := range []struct {
		report             func(r *Reporter)
		path, vendor, text string
	}{
		{func(r *Reporter) { r.Above("n", 128, 130) }, "n", "integer_above_max_value",
			"Invalid 'n': integer above maximum value. Expected a value <= 128, but got 130 instead."},
		{func(r *Reporter) { r.Below("max_tokens", 1, -1) }, "max_tokens", "integer_below_min_value",
			"Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got -1 instead."},
		{func(r *Reporter) { r.Between("temperature", 0, 2, &high) }, "temperature", "decimal_above_max_value",
			"Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead."},
		{func(r *Reporter) { r.Short("messages", 1, 0) }, "messages", "empty_array",
			"Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."},
		{func(r *Reporter) { r.MissingMember("messages") }, "messages", "missing_required_parameter",
			"Missing required parameter: 'messages'."},
		{func(r *Reporter) {
			r.NotOneOf(content.CodeValue, "x", "input_text", []string{"output_text", "refusal"})
		}, "x", "invalid_value",
			"Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."},
	} {
		var r Reporter
		r.Path.Style = codec.Bracketed
		tt.report(&r)
		list, _ := content.Violations(r.Violations.Err())
		if len(list) != 1 || list[0].Path != tt.path || list[0].Vendor != tt.vendor || list[0].Text != tt.text {
			t.Errorf("got %+v, want %q, %q, %q", list, tt.path, tt.vendor, tt.text)
		}
	}
}
