package openaiformat

import (
	"cmp"
	"errors"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Filtered returns the end of a response if err means that a filter rejected the prompt or
// stopped the response, and nil otherwise.
func Filtered(format content.Format, err error) *upstream.Frame {
	if err == nil {
		return nil // errors.As allocates, and most frames have no error
	}
	var f *VendorError
	if !errors.As(err, &f) || !f.IsFiltered() {
		return nil
	}
	rawReason := cmp.Or(f.Code, "content_filter")
	stop := &upstream.Stop{Reason: content.StopSafety, Format: format, RawReason: rawReason, Details: f.Reasons, Message: f.Message}
	return &upstream.Frame{Format: format, Complete: true, Events: []upstream.Event{{Kind: upstream.EventStop, Stop: stop}}}
}
