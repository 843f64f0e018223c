package chatcompletions

import (
	"net/http"

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

// decodeError decodes an error in place of a response or within a stream.
func decodeError(v jsonwire.Value) *upstream.Error {
	return openaiformat.DecodeErrorObject(Format, v, decodeError)
}
