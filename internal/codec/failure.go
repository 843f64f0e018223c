package codec

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// BadGateway returns what is wrong with an answer that cannot be read.
func BadGateway(err error) *upstream.Error {
	return &upstream.Error{Code: upstream.CodeBadGateway, Err: err}
}

// StatusCode is the table from the statuses with which vendors fail to codes.
func StatusCode(status int) upstream.Code {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return upstream.CodeInvalid
	case http.StatusNotFound:
		return upstream.CodeNotFound
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return upstream.CodeTimeout
	case http.StatusConflict:
		return upstream.CodeConflict
	case http.StatusRequestEntityTooLarge:
		return upstream.CodeTooLarge
	case http.StatusTooManyRequests:
		return upstream.CodeRateLimit
	case 529:
		return upstream.CodeOverloaded
	}
	if status >= 500 && status <= 599 {
		return upstream.CodeUnavailable
	}
	// 401, 402 and 403 among them: they are about the host's key.
	return upstream.CodeBadGateway
}

// mostWait bounds how long a vendor may ask to wait.
const mostWait = time.Hour

// RetryAfter reads a header that is a number of seconds up to an hour; all else
// is 0.
func RetryAfter(value string) time.Duration { return wait(value, time.Second) }

// RetryAfterMilli is RetryAfter for a header that is a number of milliseconds.
func RetryAfterMilli(value string) time.Duration { return wait(value, time.Millisecond) }

func wait(value string, unit time.Duration) time.Duration {
	value = strings.TrimSpace(value)
	if strings.Trim(value, "0123456789.") != "" || len(value) > 12 {
		return 0
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || n*float64(unit) > float64(mostWait) {
		return 0
	}
	return time.Duration(n * float64(unit))
}

// largestError bounds the bodies of failures that are looked at.
const largestError = 1 << 20

// ErrorBody calls take with the document in the body of a failure, if it is
// one and of a size that errors have.
func ErrorBody(body []byte, take func(jsonwire.Value)) {
	if len(body) > largestError {
		return
	}
	doc, err := jsonwire.Parse(string(body), jsonwire.Limits{Lenient: true})
	if err != nil {
		return
	}
	defer doc.Close()
	take(doc.Root())
}
