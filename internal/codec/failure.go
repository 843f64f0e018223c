package codec

import (
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
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

// RetryAfter returns how long the headers of a failure ask to wait, 0 if they do
// not. Milliseconds come first, then seconds. A date is as far away as it was when
// the response was made, or from now if that has no date.
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
	return max(0, at.Sub(now))
}

// wait reads a number of units. More than a Duration holds is the longest one.
func wait(value string, unit time.Duration) time.Duration {
	value = strings.TrimSpace(value)
	if strings.Trim(value, "0123456789.") != "" {
		return 0
	}
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), n*float64(unit) >= math.MaxInt64:
		return math.MaxInt64
	case err != nil:
		return 0
	}
	return time.Duration(n * float64(unit))
}

// ErrorHeader returns the headers of a failure that its client needs to know when
// to try again, sorted by name: those that all vendors have, and those that begin
// with one of prefixes.
func ErrorHeader(h http.Header, prefixes ...string) []upstream.Field {
	var list []upstream.Field
	for _, name := range slices.Sorted(maps.Keys(h)) {
		switch name {
		case "Retry-After", "Retry-After-Ms", "X-Should-Retry":
		default:
			if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
				continue
			}
		}
		for _, v := range h[name] {
			list = append(list, upstream.Field{Name: name, Value: v})
		}
	}
	return list
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

// maxDetails bounds an error object that is kept.
const maxDetails = 64 << 10

// Details returns the error object v for [upstream.Error.Details]: on one line,
// with all strings cleaned. It returns nil if v is not an object, or of more than
// 64 KiB.
func Details(f content.Format, v jsonwire.Value) *content.Extra {
	if v.Kind() != jsonwire.Object || len(v.Raw()) > maxDetails {
		return nil
	}
	w := new(jsonwire.Writer)
	writeClean(w, "", v)
	return &content.Extra{Format: f, JSON: w.Text()}
}

func writeClean(w *jsonwire.Writer, name string, v jsonwire.Value) {
	switch v.Kind() {
	case jsonwire.Object:
		w.BeginObject()
		for name, x := range v.Members() {
			w.Name(name)
			writeClean(w, name, x)
		}
		w.EndObject()
	case jsonwire.Array:
		w.BeginArray()
		for _, x := range v.Elems() {
			writeClean(w, name, x)
		}
		w.EndArray()
	case jsonwire.String:
		w.String(redact.Member(name, v.Str()))
	default:
		w.Raw(v.Raw())
	}
}

// KeyRefused reports whether a vendor refuses the host's key: with the status 401,
// or by a code or a text that is about the key. Servers use the status 400 for it,
// too. codes are the names that the error has; place is the member of the request
// that it is about, if the vendor names one. A status of 0 is that of an error
// in a stream.
func KeyRefused(status int, codes []string, place, text string) bool {
	if status == http.StatusUnauthorized {
		return true
	}
	for _, c := range codes {
		c = strings.ToLower(strings.ReplaceAll(c, "-", "_"))
		if keyCodes[c] || strings.HasPrefix(c, "api_key_") || strings.HasPrefix(c, "access_token_") {
			return true
		}
	}
	switch status {
	case 0, http.StatusBadRequest, http.StatusForbidden:
	default:
		return false
	}
	return place == "" && aboutKey(text, status == http.StatusForbidden)
}

// keyCodes are codes and types of errors about the key.
var keyCodes = map[string]bool{
	"authentication_error": true, "authenticationerror": true, "unauthenticated": true, "unauthorized": true, "invalid_authentication": true,
	"invalid_api_key": true, "incorrect_api_key": true, "missing_api_key": true, "expired_api_key": true, "no_api_key": true, "wrong_api_key": true,
	"invalid_apikey": true, "invalid_key": true, "invalid_token": true, "expired_token": true, "token_expired": true, "invalid_auth": true,
	"invalid_credentials": true, "account_deactivated": true,
}

// keyNames are what vendors call a key, keyFaults what may be wrong with one.
var (
	keyNames = []string{"api key", "apikey", "subscription key", "access key", "bearer token", "access token", "auth token", "api token",
		"authentication token", "authentication credential", "authorization header", "unregistered callers", "authentication fails"}
	keyFaults = []string{"invalid", "incorrect", "not valid", "missing", "expired", "revoked", "leaked", "wrong", "not found", "unauthorized",
		"disabled", "deactivated", "suspended", "unregistered", "provide", "require", "no api key", "rejected", "malformed", "blocked",
		"fail", "inactive", "unknown", "unrecognized", "not exist", "denied", "not allowed"}
)

// aboutKey reports whether a text is about the key: names it in the same sentence
// as what is wrong with it. any says that the name alone will do. A text about a
// member of the request, or about a key that the client sent for something else,
// is not.
func aboutKey(text string, any bool) bool {
	text = strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(text))
	if place, _, ok := strings.Cut(text, ": "); ok && !strings.ContainsAny(place, " ") && strings.ContainsAny(place, ".[") {
		return false
	}
	if strings.Contains(text, "mcp ") || strings.Contains(text, "schema") || strings.HasPrefix(text, "* ") {
		return false
	}
	for sentence := range strings.SplitSeq(text, ". ") {
		has := func(words []string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(sentence, w) })
		}
		if has(keyNames) && (any || has(keyFaults)) {
			return true
		}
	}
	return false
}
