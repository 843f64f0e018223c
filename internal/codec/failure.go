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

// RetryAfter returns how long the headers of a failure ask to wait: up to an
// hour, more is as if they said nothing. Milliseconds come first, then seconds. A
// date is as far away as it was when the answer was made, or from now if that did
// not say.
func RetryAfter(h http.Header) time.Duration {
	if d := wait(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	at, err := http.ParseTime(value)
	if err != nil {
		return wait(value, time.Second)
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	if d := at.Sub(now); 0 < d && d <= mostWait {
		return d
	}
	return 0
}

// wait reads a number of units.
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
