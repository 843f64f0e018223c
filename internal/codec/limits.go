package codec

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/media"
)

// LimitsOf returns the limits that lim points to, or those that are defaults if lim is nil.
func LimitsOf(lim *content.Limits) content.Limits {
	if lim == nil {
		return content.Limits{}
	}
	return *lim
}

// MediaLimits returns the limits of a single file.
func MediaLimits(lim content.Limits) media.Limits {
	return media.Limits{FileBytes: lim.FileBytes, ImageSide: lim.ImageSide, ImagePixels: lim.ImagePixels}
}
