package codec

import (
	"cmp"

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

// FileLimits returns the limits of l for files, with the defaults of a format filled in.
func FileLimits(l *content.Limits, defaults content.Limits) content.Limits {
	return content.Limits{
		Files:       cmp.Or(l.Files, defaults.Files),
		FileBytes:   cmp.Or(l.FileBytes, defaults.FileBytes),
		ImageSide:   cmp.Or(l.ImageSide, defaults.ImageSide),
		ImagePixels: cmp.Or(l.ImagePixels, defaults.ImagePixels),
	}
}

// MediaLimits returns the limits of a single file.
func MediaLimits(lim content.Limits) media.Limits {
	return media.Limits{FileBytes: lim.FileBytes, ImageSide: lim.ImageSide, ImagePixels: lim.ImagePixels}
}
