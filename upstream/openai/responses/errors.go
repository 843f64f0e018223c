package responses

import (
	"errors"
	"net/http"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// DecodeError decodes a response with a status other than 2xx, from its header and body. The
// body may be truncated, empty, or not JSON.
//
// The Code depends on the status and on the code and type of the error. It is
// [upstream.CodeBadGateway] for errors that concern the program's account, such as a rejected
// key, and [upstream.CodeQuota] for used-up credit, which clients do not retry. For invalid
// requests and rate limits, the Text is the server's message on one line without secrets. An
// error of a filter is an error of the request, [upstream.CodeInvalid].
func DecodeError(status int, header http.Header, body []byte) *upstream.Error {
	return openaiformat.DecodeError(Format, status, header, body)
}

// decodeError decodes an error event, a failed response or an error object.
func decodeError(v jsonwire.Value) *upstream.Error {
	e := openaiformat.DecodeErrorObject(Format, v, decodeError)
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
