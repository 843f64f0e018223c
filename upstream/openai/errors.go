package openai

import (
	"errors"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// decodeErrorObject decodes an error in place of a response or within a stream.
func decodeErrorObject(v jsonwire.Value) *upstream.Error {
	return openaiformat.DecodeErrorObject(ChatFormat, v, decodeErrorObject)
}

// decodeResponsesError decodes an error event, a failed response or an error object.
func decodeResponsesError(v jsonwire.Value) *upstream.Error {
	e := openaiformat.DecodeErrorObject(ResponsesFormat, v, decodeResponsesError)
	var f *openaiformat.VendorError
	if e.Code != upstream.CodeUnavailable || !errors.As(e.Err, &f) {
		return e
	}
	// These errors have no status. Codes with these prefixes are errors of the request.
	for _, s := range [...]string{"invalid_", "image_", "unsupported_", "empty_image", "failed_to_download", "data_residency"} {
		if strings.HasPrefix(f.Code, s) {
			e.Code, e.Text = upstream.CodeInvalid, f.Text()
			break
		}
	}
	return e
}
