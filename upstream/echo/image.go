package echo

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
)

const (
	maxSide    = 64                // pixels of the longer side
	imageBytes = 1290 * tokenBytes // of MaxTokens
)

// imageSize returns the width and height of an image with an aspect ratio, which is
// 1:1 by default.
func imageSize(ratio string) (size image.Point, err error) {
	w, h, _ := strings.Cut(cmp.Or(ratio, "1:1"), ":")
	width, errWidth := strconv.ParseUint(w, 10, 16)
	height, errHeight := strconv.ParseUint(h, 10, 16)
	divisor, rest := width, height
	for rest > 0 {
		divisor, rest = rest, divisor%rest
	}
	if errWidth != nil || errHeight != nil || width == 0 || height == 0 || max(width, height)/divisor > maxSide {
		return size, errors.New("the aspect ratio must be two whole numbers in lowest terms up to 64, such as 16:9")
	}
	size = image.Pt(int(width/divisor), int(height/divisor))
	return size.Mul(maxSide / max(size.X, size.Y)), nil
}

// image writes an image of one color if there is room for it.
func (p *responder) image(size image.Point) {
	if !p.next(imageBytes) {
		return
	}
	var b bytes.Buffer
	m := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{p.script.color})
	if p.err = png.Encode(&b, m); p.err != nil {
		return
	}
	data := base64.StdEncoding.EncodeToString(b.Bytes())
	part := &content.Image{Source: &content.Base64{MediaType: "image/png", Data: data}, Signature: sign(p.req, data)}
	p.wrote(imageBytes, &p.images, p.w.Part(part))
}
