package echo

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

const (
	imageSide   = 64   // the longer side's pixels, at most
	imageTokens = 1290 // what an image counts as in the answer
	imageCells  = 8    // of the pattern, each way
)

// A shape is an aspect ratio in lowest terms.
type shape struct{ width, height int }

const wrongShape = "an aspect ratio is two whole numbers such as 16:9, neither more than 64 times the other"

// shapeOf reads an aspect ratio. A square is what is drawn without one.
func shapeOf(ratio string) (shape, bool) {
	if ratio == "" {
		return shape{1, 1}, true
	}
	w, h, found := strings.Cut(ratio, ":")
	width, err := strconv.ParseUint(w, 10, 16)
	height, err2 := strconv.ParseUint(h, 10, 16)
	if !found || err != nil || err2 != nil || width == 0 || height == 0 {
		return shape{}, false
	}
	s := shape{int(width), int(height)}
	a, b := s.width, s.height
	for b > 0 {
		a, b = b, a%b
	}
	s.width, s.height = s.width/a, s.height/a
	return s, max(s.width, s.height) <= imageSide
}

// wantsText reports whether the request wants texts, or nothing that echo has.
func wantsText(r *upstream.Request) bool {
	return !wantsImage(r) || slices.Contains(r.Output.Modalities, "text")
}

func wantsImage(r *upstream.Request) bool { return slices.Contains(r.Output.Modalities, "image") }

// losses lists what of the wanted output echo has not.
func losses(r *upstream.Request) (list []content.Loss) {
	o := &r.Output
	for _, m := range o.Modalities {
		if m != "text" && m != "image" {
			list = append(list, content.Loss{
				Path: "output.modalities", Severity: content.LossDropped, Reason: "echo answers with texts and images only",
			})
			break
		}
	}
	if o.ImageSize != "" && wantsImage(r) {
		list = append(list, content.Loss{
			Path: "output.image_size", Severity: content.LossDegraded, Reason: "echo draws small images only",
		})
	}
	return list
}

// addImage adds the image that the request asks for, unless the script has one,
// or calls or refuses instead.
func (s *script) addImage(r *upstream.Request, d *description) error {
	if !wantsImage(r) || s.stop == content.StopRefusal {
		return nil
	}
	if slices.ContainsFunc(s.steps, func(t step) bool { return t.kind >= stepCall }) {
		return nil
	}
	shape, ok := shapeOf(r.Output.AspectRatio)
	if !ok {
		return &content.Violation{Code: content.CodeValue, Path: "output.aspect_ratio", Text: "echo cannot draw this: " + wrongShape}
	}
	s.steps = append(s.steps, step{kind: stepImage, text: d.text(), shape: shape})
	return nil
}

// draw makes a picture for what a text says: two colours, the one half
// mirroring the other.
func draw(s shape, text string) ([]byte, error) {
	sum := sha256.Sum256([]byte(text))
	scale := imageSide / max(s.width, s.height)
	width, height := s.width*scale, s.height*scale
	dark := color.NRGBA{sum[8] / 2, sum[9] / 2, sum[10] / 2, 255}
	light := color.NRGBA{255 - sum[11]/4, 255 - sum[12]/4, 255 - sum[13]/4, 255}
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{light, dark})
	for y := range height {
		row := sum[y*imageCells/height]
		for x := range width {
			cell := x * imageCells / width
			m.SetColorIndex(x, y, row>>min(cell, imageCells-1-cell)&1)
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

// picture adds an image to the answer, if there is room.
func (s *speaker) picture(t *step) error {
	if err := s.ready(); err != nil {
		return err
	}
	if s.room < imageTokens*tokenBytes {
		s.full()
		return nil
	}
	png, err := draw(t.shape, t.text)
	if err != nil {
		return err
	}
	data := base64.StdEncoding.EncodeToString(png)
	part := &content.Image{
		Source:    &content.Base64{MediaType: "image/png", Data: data},
		Signature: sign(s.req, data),
	}
	if err := s.w.Part(part); err != nil {
		return err
	}
	s.pieces++
	s.images++
	s.room -= imageTokens * tokenBytes
	return nil
}

// usage tells what the answer cost.
func (s *speaker) usage(prompt int64) content.Usage {
	u := content.Usage{Input: prompt, Output: tokens(s.output), Thinking: tokens(s.thought), Estimated: true}
	if s.images == 0 {
		return u
	}
	of := func(modality string, n int64) {
		if n > 0 {
			u.Modalities = append(u.Modalities, content.ModalityCount{Of: "output", Modality: modality, Tokens: n})
		}
	}
	of("text", u.Output)
	of("image", s.images*imageTokens)
	u.Output += s.images * imageTokens
	return u
}
