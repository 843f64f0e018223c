package echo_test

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// paint returns a request for images, and for more modalities.
func paint(say, ratio string, more ...string) *upstream.Request {
	r := ask(say)
	r.Output = upstream.Output{Modalities: append(more, "image"), AspectRatio: ratio}
	return r
}

// pixels decodes the image that a response ends with.
func pixels(t *testing.T, response *upstream.Response) (data []byte, width, height int) {
	t.Helper()
	if len(response.Parts) == 0 {
		t.Fatal("the response is empty")
	}
	part, ok := response.Parts[len(response.Parts)-1].(*content.Image)
	if !ok {
		t.Fatalf("the response ends with %T, want an image", response.Parts[len(response.Parts)-1])
	}
	source := part.Source.(*content.Base64)
	blob, err := source.Bytes()
	if err != nil || source.MediaType != "image/png" {
		t.Fatalf("%s: %v", source.MediaType, err)
	}
	m, err := png.Decode(bytes.NewReader(blob))
	if err != nil {
		t.Fatal(err)
	}
	return blob, m.Bounds().Dx(), m.Bounds().Dy()
}

// The first ratios are those that a vendor documents.
func TestImageRatios(t *testing.T) {
	for _, ratio := range []string{
		"1:1", "1:4", "4:1", "1:8", "8:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9",
		"", "1920:1080", "64:1", "1:64", "63:64",
	} {
		data, w, h := pixels(t, collect(t, paint("A cat.", ratio)))
		a, b := 1, 1
		if ratio != "" {
			if _, err := fmt.Sscanf(ratio, "%d:%d", &a, &b); err != nil {
				t.Fatal(err)
			}
		}
		if w*b != h*a || max(w, h) > 64 || max(w, h) <= 32 || len(data) > 1000 {
			t.Errorf("%s: %d by %d pixels in %d bytes", ratio, w, h, len(data))
		}
	}
}

func TestInvalidImageRatio(t *testing.T) {
	for _, ratio := range []string{"16", "16:", ":9", "0:1", "1:0", "-1:1", "1.5:1", "16x9", "65:1", "1:99999", "16:9:1", " 1:1"} {
		_, err := upstream.Collect(t.Context(), echo.New(), paint("A cat.", ratio))
		list, _ := content.Violations(err)
		if len(list) != 1 || list[0].Path != "output.aspect_ratio" || list[0].Code != content.CodeValue || !strings.Contains(list[0].Text, "16:9") {
			t.Errorf("%q: got %v", ratio, err)
		}
	}
	r := paint("A cat.", "wide")
	r.Output.Modalities = nil // ignores the ratio
	collect(t, r)
}

func TestImagePosition(t *testing.T) {
	const text, call, image = "text", "call", "image"
	tests := []struct {
		name, say string
		texts     bool
		set       func(*upstream.Request)
		want      []string
		stop      content.StopReason
	}{
		{"text and image", "A cat.", true, nil, []string{text, image}, content.StopEnd},
		{"image alone", "A cat.", false, nil, []string{image}, content.StopEnd},
		{"text command", "echo: say Look.", true, nil, []string{text, image}, content.StopEnd},
		{"text command without the text modality", "echo: say Look.", false, nil, []string{text, image}, content.StopEnd},
		{"call", "echo: call get_time", true, nil, []string{call}, content.StopToolUse},
		{"forced call", "A cat.", false, func(r *upstream.Request) { r.Choice.Mode = content.ChoiceAny }, []string{call}, content.StopToolUse},
		{"schema with texts", "A cat.", true, func(r *upstream.Request) { r.Output.Schema.JSON = weather }, []string{text, image}, content.StopEnd},
		{"schema without texts", "A cat.", false, func(r *upstream.Request) { r.Output.Schema.JSON = weather }, []string{image}, content.StopEnd},
		{"too few tokens", "echo: say Look.", true, func(r *upstream.Request) { r.MaxTokens = p(int64(1)) }, []string{text}, content.StopMaxTokens},
		{"tool result", "A cat.", false, func(r *upstream.Request) {
			r.Choice.Mode = content.ChoiceAny
			r.Turns = append(r.Turns,
				content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "a", Name: "get_time"}}},
				content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "a"}}})
		}, []string{image}, content.StopEnd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := paint(tt.say, "")
			if tt.texts {
				r = paint(tt.say, "", "text")
			}
			if tt.set != nil {
				tt.set(r)
			}
			got := collect(t, r)
			if diff := cmp.Diff(tt.want, kinds(got.Parts)); diff != "" || got.Stop.Reason != tt.stop {
				t.Errorf("stopped with %s, want %s; parts (-want +got):\n%s", got.Stop.Reason, tt.stop, diff)
			}
		})
	}
}

func kinds(parts []content.Part) (list []string) {
	for _, part := range parts {
		switch part.(type) {
		case *content.Text:
			list = append(list, "text")
		case *content.ToolUse:
			list = append(list, "call")
		case *content.Image:
			list = append(list, "image")
		}
	}
	return list
}

func TestImageDependsOnRequest(t *testing.T) {
	draw := func(say string) []byte {
		data, _, _ := pixels(t, collect(t, paint(say, "")))
		return data
	}
	if !bytes.Equal(draw("A cat."), draw("A cat.")) || bytes.Equal(draw("A cat."), draw("A dog.")) {
		t.Error("got a different image for an equal request, or an equal image for a different request")
	}
	data, _, _ := pixels(t, collect(t, paint("A cat.", "")))
	back := ask("And?")
	back.Turns = append(back.Turns, content.Turn{Role: content.RoleAssistant, Parts: collect(t, paint("A cat.", "")).Parts})
	want := fmt.Sprintf("\nturns.1.parts.0: image, base64, image/png, %d bytes, sha256 %s\n", len(data), short(data))
	if description := text(collect(t, back).Parts); !strings.Contains(description, want) {
		t.Errorf("no line %q in:\n%s", want, description)
	}
}

func TestLosses(t *testing.T) {
	r := paint("A cat.", "", "audio", "video")
	r.Output.ImageSize = "2K"
	r.Candidates = 2
	want := []content.Loss{
		{Path: "output.modalities", Severity: content.LossDropped, Reason: "echo generates only texts and images; the other modalities were dropped"},
		{Path: "output.image_size", Severity: content.LossDegraded, Reason: "echo draws images of at most 64 by 64 pixels; the image size was ignored"},
		{Path: "candidates", Severity: content.LossDropped, Reason: "echo generates a single candidate; the others were dropped"},
	}
	if diff := cmp.Diff(want, collect(t, r).Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if got, err := upstream.Preflight(t.Context(), echo.New(), r); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("Preflight: got %v, %v", got, err)
	}
	r.RejectLoss = content.LossDegraded
	if response, err := upstream.Collect(t.Context(), echo.New(), r); err == nil || len(response.Parts) > 0 {
		t.Errorf("losses over RejectLoss: got %v, %v", response.Parts, err)
	}
	if got := collect(t, paint("A cat.", "16:9", "text")).Losses; got != nil {
		t.Errorf("got losses %v, want none", got)
	}
	r = ask("echo: say x")
	r.Output.Modalities = []string{"audio"}
	if got := collect(t, r); len(got.Losses) != 1 || text(got.Parts) != "x" {
		t.Errorf("got %q with losses %v", text(got.Parts), got.Losses)
	}
}
