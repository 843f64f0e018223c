package echo

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
)

const maxSide = 64 // pixels of the longer side

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

// draw returns an image of one color, which depends on text.
func draw(ratio, text string) (*content.Image, error) {
	size, err := imageSize(ratio)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	var b bytes.Buffer
	m := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.NRGBA{sum[0], sum[1], sum[2], 255}})
	if err := png.Encode(&b, m); err != nil {
		return nil, err
	}
	return &content.Image{Source: &content.Base64{MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())}}, nil
}
