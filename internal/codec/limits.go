package codec

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/media"
)

// MediaLimits returns the limits of a single file.
func MediaLimits(lim content.Limits) media.Limits {
	return media.Limits{FileBytes: lim.FileBytes, ImageSide: lim.ImageSide, ImagePixels: lim.ImagePixels}
}
