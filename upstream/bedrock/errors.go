package bedrock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// An exception is an error of the server, and how Messages represents it.
type exception struct {
	name   string
	status int    // of the response in Messages; 0 keeps that of the server
	kind   string // error.type
}

// exceptions are the errors of the operations InvokeModel and
// InvokeModelWithResponseStream, and the common errors of all operations, as the
// reference of the API lists them (November 2026). Errors about the credentials, and
// about what they permit, are those of a refused key: only the host can correct them.
var exceptions = [...]exception{
	{"AccessDeniedException", 0, "authentication_error"},
	{"ExpiredTokenException", 0, "authentication_error"},
	{"IncompleteSignature", 0, "authentication_error"},
	{"IncompleteSignatureException", 0, "authentication_error"},
	{"InvalidClientTokenId", 0, "authentication_error"},
	{"InvalidSignatureException", 0, "authentication_error"},
	{"MissingAuthenticationToken", 0, "authentication_error"},
	{"MissingAuthenticationTokenException", 0, "authentication_error"},
	{"NotAuthorized", 0, "authentication_error"},
	{"OptInRequired", 0, "authentication_error"},
	{"RequestExpired", 0, "authentication_error"},
	{"SignatureDoesNotMatch", 0, "authentication_error"},
	{"UnrecognizedClientException", 0, "authentication_error"},

	{"InternalFailure", 500, "api_error"},
	{"InternalServerException", 500, "api_error"},
	{"ModelErrorException", 500, "api_error"},
	{"ModelNotReadyException", 503, "api_error"},
	{"ModelStreamErrorException", 500, "api_error"},
	{"ModelTimeoutException", 504, "timeout_error"},
	{"ResourceNotFoundException", 404, "not_found_error"},
	{"ServiceQuotaExceededException", 429, "rate_limit_error"},
	{"ServiceUnavailable", 503, "api_error"},
	{"ServiceUnavailableException", 503, "api_error"},
	{"ThrottlingException", 429, "rate_limit_error"},
	{"ValidationError", 400, "invalid_request_error"},
	{"ValidationException", 400, "invalid_request_error"},
}

// statusKinds has the error type for the status of an error with an unknown name.
var statusKinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "authentication_error", 404: "not_found_error",
	408: "timeout_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error",
}

// An awsError is an error of the server.
type awsError struct {
	name    string
	message string
	status  int // 0 in a stream
}

// parseError returns the error in a document. name is the one in a header. It may be
// empty, and may have a URL behind a colon.
func parseError(name string, document []byte) awsError {
	var d struct {
		Message string // of any case
		Type    string `json:"__type"`
	}
	_ = json.Unmarshal(document, &d) // the name may be enough
	name, _, _ = strings.Cut(cmp.Or(name, d.Type), ":")
	if i := strings.LastIndexByte(name, '#'); i >= 0 { // of a namespace
		name = name[i+1:]
	}
	return awsError{name: name, message: d.Message}
}

// exception returns the entry of the error. Names in streams begin in lower case.
func (e *awsError) exception() exception {
	for _, x := range exceptions {
		if strings.EqualFold(x.name, e.name) {
			return x
		}
	}
	return exception{e.name, 0, cmp.Or(statusKinds[e.status], "api_error")}
}

// document returns the error as a document of Messages. The name is its error code. id is
// that of the request, or empty.
func (e *awsError) document(id string) []byte {
	type details struct {
		Code string `json:"error_code"`
	}
	type object struct {
		Type    string   `json:"type"`
		Message string   `json:"message"`
		Details *details `json:"details,omitempty"`
	}
	d := struct {
		Type      string `json:"type"`
		Error     object `json:"error"`
		RequestID string `json:"request_id,omitempty"`
	}{Type: "error", RequestID: id}
	x := e.exception()
	d.Error = object{Type: x.kind, Message: cmp.Or(e.message, e.name, "The service returned an error")}
	if x.name != "" {
		d.Error.Details = &details{x.name}
	}
	b, _ := json.Marshal(d) // strings can always be encoded
	return b
}

const maxErrorBody = 1 << 20

// translateError replaces the error document of a response by one of Messages. Documents
// of other servers on the way, such as those of a proxy, stay.
func translateError(res *http.Response) {
	name := res.Header.Get("X-Amzn-Errortype")
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if name == "" && !strings.Contains(kind, "json") {
		return
	}
	document, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // an incomplete document may be enough
	e := parseError(name, document)
	if e.name == "" && e.message == "" {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(document), &rest{res.Body, err}), res.Body}
		return
	}
	e.status = res.StatusCode
	body := e.document(res.Header.Get("X-Amzn-Requestid"))
	res.Body.Close()
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res.Header.Set("Content-Type", "application/json")
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	if status := e.exception().status; status != 0 {
		res.StatusCode, res.Status = status, strconv.Itoa(status)+" "+http.StatusText(status)
	}
}

// A rest is a body after a part of it was read, with the error of that.
type rest struct {
	body io.Reader
	err  error
}

func (r *rest) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.body.Read(p)
}
