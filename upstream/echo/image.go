package echo

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
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
	maxSide     = 64   // pixels of the longer side
	imageTokens = 1290 // tokens that an image counts as
)

// A ratio is an aspect ratio in lowest terms.
type ratio struct{ width, height int }

var errRatio = errors.New("the aspect ratio must be two whole numbers in lowest terms up to 64, such as 16:9")

// parseRatio parses an aspect ratio. The default is 1:1.
func parseRatio(text string) (ratio, error) {
	if text == "" {
		return ratio{1, 1}, nil
	}
	w, h, _ := strings.Cut(text, ":")
	width, err := strconv.ParseUint(w, 10, 16)
	if err != nil || width == 0 {
		return ratio{}, errRatio
	}
	height, err := strconv.ParseUint(h, 10, 16)
	if err != nil || height == 0 {
		return ratio{}, errRatio
	}
	divisor, rest := width, height
	for rest > 0 {
		divisor, rest = rest, divisor%rest
	}
	width, height = width/divisor, height/divisor
	if max(width, height) > maxSide {
		return ratio{}, errRatio
	}
	return ratio{int(width), int(height)}, nil
}

func wantsImage(r *upstream.Request) bool { return slices.Contains(r.Output.Modalities, "image") }

// losses lists the output that a request wants and echo does not have.
func losses(r *upstream.Request) (list []content.Loss) {
	o := &r.Output
	if slices.ContainsFunc(o.Modalities, func(m string) bool { return m != "text" && m != "image" }) {
		list = append(list, content.Loss{Path: "output.modalities", Severity: content.LossDropped,
			Reason: "echo generates only texts and images; the other modalities were dropped"})
	}
	if o.ImageSize != "" && wantsImage(r) {
		list = append(list, content.Loss{Path: "output.image_size", Severity: content.LossDegraded,
			Reason: "echo draws images of at most 64 by 64 pixels; the image size was ignored"})
	}
	return list
}

// draw returns a PNG of one color, which depends on the text only.
func draw(r ratio, text string) ([]byte, error) {
	sum := sha256.Sum256([]byte(text))
	scale := maxSide / max(r.width, r.height)
	m := image.NewPaletted(image.Rect(0, 0, r.width*scale, r.height*scale),
		color.Palette{color.NRGBA{sum[0], sum[1], sum[2], 255}})
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

// image writes an image if there is room for it.
func (p *responder) image(r ratio) error {
	if err := p.ready(); err != nil {
		return err
	}
	if p.room < imageTokens*tokenBytes {
		p.stop.Reason = content.StopMaxTokens
		return nil
	}
	png, err := draw(r, p.description)
	if err != nil {
		return err
	}
	data := base64.StdEncoding.EncodeToString(png)
	err = p.w.Part(&content.Image{
		Source:    &content.Base64{MediaType: "image/png", Data: data},
		Signature: sign(p.req, data),
	})
	p.pieces++
	p.images++
	p.room -= imageTokens * tokenBytes
	return err
}
