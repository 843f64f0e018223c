package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Some rules are about members that are kept as JSON text. Few requests have
// them, so the text is looked at before it is read.

const maxFrames = 24 // a second

// video checks what is said beside a file about a moving picture.
func (v *validator) video(x *content.Extra) {
	const name = "videoMetadata"
	if x == nil || x.Format != Format || !strings.Contains(x.JSON, name) {
		return
	}
	doc, err := jsonwire.Parse(x.JSON, codec.UnlimitedJSON)
	if err != nil {
		return // the encoder's to tell
	}
	defer doc.Close()
	if f, ok := decimal(doc.Root().Get(name).Get("fps")); ok && !(f > 0 && f <= maxFrames) {
		v.fault(content.CodeRange, "fps must be in the range (0.0, 24.0]", "video_metadata", "fps")
	}
}

// search checks one of the vendor's own tools: a time has two ends or none.
func (v *validator) search(t *content.Tool) {
	const name = "timeRangeFilter"
	if t.Kind != "googleSearch" || !strings.Contains(t.Raw, name) {
		return
	}
	doc, err := jsonwire.Parse(t.Raw, codec.UnlimitedJSON)
	if err != nil {
		return // the encoder's to tell
	}
	defer doc.Close()
	filter := doc.Root().Get(name)
	if filter.Get("startTime").Exists() != filter.Get("endTime").Exists() {
		v.fault(content.CodeConflict, "start_time and end_time must both be set, or neither", "google_search", "time_range_filter")
	}
}
