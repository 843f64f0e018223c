package conformance

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/script"
)

// ratios are the vendor's aspect ratios, and none.
var ratios = []string{
	"", "1:1", "1:4", "4:1", "1:8", "8:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9",
}

func drawing(ratio string, modalities ...string) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{ResponseModalities: modalities}
	if ratio != "" {
		c.ImageConfig = &genai.ImageConfig{AspectRatio: ratio}
	}
	return c
}

// wantDrawing checks that a response ends with an image of an aspect ratio.
func wantDrawing(t *testing.T, a *googleAnswer, ratio string) *genai.Part {
	t.Helper()
	if len(a.content.Parts) == 0 {
		t.Fatal("no parts")
	}
	p := a.content.Parts[len(a.content.Parts)-1]
	if p.InlineData == nil || p.InlineData.MIMEType != "image/png" {
		t.Fatalf("the last part is %+v, want an image", p)
	}
	m, err := png.Decode(bytes.NewReader(p.InlineData.Data))
	if err != nil {
		t.Fatal(err)
	}
	w, h := 1, 1
	if ratio != "" {
		if _, err := fmt.Sscanf(ratio, "%d:%d", &w, &h); err != nil {
			t.Fatal(err)
		}
	}
	if size := m.Bounds().Size(); size.X*h != size.Y*w {
		t.Errorf("%d by %d pixels, want %s", size.X, size.Y, ratio)
	}
	return p
}

// pixel returns a signed image of one pixel.
func pixel() *content.Image {
	return &content.Image{
		Source:    &content.Base64{MediaType: "image/png", Data: png64},
		Signature: content.Signature{Format: generatecontent.Format, Data: "c2lnbmVk"},
	}
}

func TestGoogleDrawing(t *testing.T) {
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		for _, ratio := range ratios {
			wantDrawing(t, s.mustAsk(t, stream, genai.Text("A cat."), drawing(ratio, "IMAGE")), ratio)
		}
		a := s.mustAsk(t, stream, genai.Text("echo: say A cat."), drawing("16:9", "TEXT", "IMAGE"))
		wantDrawing(t, a, "16:9")
		if a.text() != "A cat." || len(a.content.Parts) != 2 || a.finish != genai.FinishReasonStop {
			t.Errorf("text %q in %d parts, finish reason %s", a.text(), len(a.content.Parts), a.finish)
		}

		counted := func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Usage(content.Usage{Input: 9, Output: 1292, Modalities: []content.ModalityCount{
				{Kind: "output", Modality: "text", Tokens: 2}, {Kind: "output", Modality: "image", Tokens: 1290}}})
		}
		a = s.mustAsk(t, stream, genai.Text(play(script.Say("A cat."), script.Part(pixel()), counted)), drawing("1:1", "TEXT", "IMAGE"))
		want := []*genai.ModalityTokenCount{
			{Modality: genai.MediaModalityText, TokenCount: 2}, {Modality: genai.MediaModalityImage, TokenCount: 1290},
		}
		if diff := cmp.Diff(want, a.usage.CandidatesTokensDetails); diff != "" || a.usage.CandidatesTokenCount != 1292 {
			t.Errorf("%d tokens; details (-want +got):\n%s", a.usage.CandidatesTokenCount, diff)
		}
		_, err := s.ask(t, stream, genai.Text("A cat."), drawing("wide", "IMAGE"))
		s.wantFailure(t, err, 400, "INVALID_ARGUMENT", "image_config.aspect_ratio")

		large := drawing("1:1", "IMAGE")
		large.ImageConfig.ImageSize = "2K"
		if a, err = s.ask(t, stream, genai.Text("A cat."), large); err != nil {
			t.Fatal(err)
		}
		wantDrawing(t, a, "1:1")
		if l := s.report(t).Losses; len(l) != 1 || l[0].Path != "output.image_size" || l[0].Severity != content.LossDegraded {
			t.Errorf("losses of a size that echo does not support: %v", l)
		}
	})
}

// TestGoogleDrawingReturned checks that a generated image returns in the SDK's
// chat and reaches the model with its signature.
func TestGoogleDrawingReturned(t *testing.T) {
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		chat := s.chat(t, drawing("3:2", "TEXT", "IMAGE"))
		first := wantDrawing(t, s.send(t, chat, stream, genai.NewPartFromText(play(script.Say("A cat."), script.Part(pixel())))), "1:1")
		a := s.send(t, chat, stream, genai.NewPartFromText("Make it a dog."))
		if bytes.Equal(first.InlineData.Data, wantDrawing(t, a, "3:2").InlineData.Data) {
			t.Error("got the same image twice")
		}
		want := fmt.Sprintf("image, base64, image/png, %d bytes, %s, signature generatecontent 8 bytes %s\n",
			len(first.InlineData.Data), digest(first.InlineData.Data), digest([]byte(pixel().Signature.Data)))
		if !strings.Contains(a.text(), want) {
			t.Errorf("the image was not returned as %q:\n%s", want, a.text())
		}
	})
}

// TestDrawingInMessages checks that the text around an image arrives in a
// Messages response, which cannot contain images, and that the loss is
// reported.
func TestDrawingInMessages(t *testing.T) {
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, &messages.Options{HandlerOptions: upstream.HandlerOptions{}})
		a, err := s.ask(t, c, stream, request(arr{user(play(script.Say("Before."), script.Part(pixel()), script.Say("After.")))}, nil))
		if err != nil {
			t.Fatal(err)
		}
		wantKinds(t, a, "text", "text")
		if a.text() != "Before.After." || a.StopReason != "end_turn" {
			t.Errorf("text %q, stop reason %s", a.text(), a.StopReason)
		}
		lost := false
		for _, l := range lossplaces.Of(s.report(t).Losses) {
			lost = lost || l.Severity == content.LossDropped && l.Path == "parts.1" && strings.Contains(l.Reason, "images")
		}
		if !lost {
			t.Error("no loss of parts.1 is reported")
		}
	})
}
