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
	if part.Signature.Data == "" || part.Signature.Format != "echo" {
		t.Errorf("got signature %+v", part.Signature)
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
	const text, thinking, call, image = "text", "thinking", "call", "image"
	tests := []struct {
		name, say string
		texts     bool
		set       func(*upstream.Request)
		want      []string
		stop      content.StopReason
	}{
		{"text and image", "A cat.", true, nil, []string{text, image}, content.StopEnd},
		{"image alone", "A cat.", false, nil, []string{image}, content.StopEnd},
		{"text instruction", "echo: say Look.", true, nil, []string{text, image}, content.StopEnd},
		{"text instruction without the text modality", "echo: say Look.", false, nil, []string{text, image}, content.StopEnd},
		{"image instruction", "echo: image\necho: say Look.", true, nil, []string{image, text}, content.StopEnd},
		{"call", "echo: call get_time", true, nil, []string{call}, content.StopToolUse},
		{"forced call", "A cat.", false, func(r *upstream.Request) { r.Choice.Mode = content.ChoiceAny }, []string{call}, content.StopToolUse},
		{"refusal", "echo: refuse", true, nil, []string{text}, content.StopRefusal},
		{"thinking", "A cat.", false, func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingAuto }, []string{thinking, image}, content.StopEnd},
		{"schema with texts", "A cat.", true, func(r *upstream.Request) { r.Output.Schema.JSON = weather }, []string{text, image}, content.StopEnd},
		{"schema without texts", "A cat.", false, func(r *upstream.Request) { r.Output.Schema.JSON = weather }, []string{image}, content.StopEnd},
		{"too few tokens", "echo: say Look.", true, func(r *upstream.Request) { r.MaxTokens = p(int64(1291)) }, []string{text}, content.StopMaxTokens},
		{"tokens exactly", "echo: say Look.", true, func(r *upstream.Request) { r.MaxTokens = p(int64(1292)) }, []string{text, image}, content.StopEnd},
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
		case *content.Thinking:
			list = append(list, "thinking")
		case *content.ToolUse:
			list = append(list, "call")
		case *content.Image:
			list = append(list, "image")
		}
	}
	return list
}

func TestImageUsage(t *testing.T) {
	for _, texts := range []bool{true, false} {
		r, want := paint("A cat.", ""), content.Usage{Output: 1290, Estimated: true}
		if texts {
			r = paint("echo: say 12345678", "", "text")
			want.Output += 2
			want.Modalities = []content.ModalityCount{{Kind: "output", Modality: "text", Tokens: 2}}
		}
		want.Input = upstream.EstimateTokens(r)
		want.Modalities = append(want.Modalities, content.ModalityCount{Kind: "output", Modality: "image", Tokens: 1290})
		if diff := cmp.Diff(want, collect(t, r).Usage); diff != "" {
			t.Errorf("usage (-want +got):\n%s", diff)
		}
	}
}

func TestImageDependsOnRequest(t *testing.T) {
	draw := func(say string) []byte {
		data, _, _ := pixels(t, collect(t, paint(say, "")))
		return data
	}
	if !bytes.Equal(draw("A cat."), draw("A cat.")) || bytes.Equal(draw("A cat."), draw("A dog.")) {
		t.Error("got a different image for an equal request, or an equal image for a different request")
	}

	r := paint("A cat.", "")
	first := collect(t, r)
	data, _, _ := pixels(t, first)
	back := ask("And?")
	back.Turns = append(r.Turns, content.Turn{Role: content.RoleAssistant, Parts: first.Parts}, back.Turns[0])
	want := fmt.Sprintf("\nturns.1.parts.0: image, base64, image/png, %d bytes, sha256 %s, signature echo 44 bytes sha256 ", len(data), short(data))
	description := text(collect(t, back).Parts)
	if !strings.Contains(description, want) || !strings.Contains(description, ", signed by echo\nturns.2: user") {
		t.Errorf("no line %q in:\n%s", want, description)
	}
	first.Parts[0].(*content.Image).Signature.Data = "other"
	if description := text(collect(t, back).Parts); strings.Contains(description, "signed by echo") {
		t.Errorf("a changed signature is reported as echo's:\n%s", description)
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

func TestImageIsOnePiece(t *testing.T) {
	response, err := upstream.Collect(t.Context(), echo.New(), ask("echo: say a b \necho: image 2:1\necho: say c\necho: fail internal after 3"))
	if diff := cmp.Diff([]string{"text", "image"}, kinds(response.Parts)); err == nil || diff != "" {
		t.Errorf("%v; parts (-want +got):\n%s", err, diff)
	}
	if _, w, h := pixels(t, response); w != 2*h {
		t.Errorf("got %d by %d pixels", w, h)
	}
	_, err = upstream.Collect(t.Context(), echo.New(), ask("echo: image wide"))
	if list, _ := content.Violations(err); len(list) != 1 || !strings.HasPrefix(list[0].Text, "echo: image: the aspect ratio must be") {
		t.Errorf("got %v", err)
	}
}
