package codec

import (
	"cmp"
	"errors"
	"fmt"
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

// BadGateway returns the error for a response that cannot be read.
func BadGateway(err error) *upstream.Error {
	return &upstream.Error{Code: upstream.CodeBadGateway, Err: err}
}

// StreamError returns the error of reading a stream of a package: a timeout, or one of a response
// that cannot be read.
func StreamError(name string, err error) *upstream.Error {
	e := BadGateway(fmt.Errorf("%s: reading the stream: %w", name, err))
	if IsTimeout(err) {
		e.Code = upstream.CodeTimeout
	}
	return e
}

// IsTimeout reports whether err is that of an operation that took too long.
func IsTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// maxBody is the default limit of a whole response, in bytes.
const maxBody = 64 << 20

// CheckBody returns an error of a package if a whole response has more bytes than lim.Body, by
// default 64 MiB.
func CheckBody(name string, size int, lim content.Limits) error {
	if limit := cmp.Or(max(lim.Body, 0), maxBody); int64(size) > limit {
		return BadGateway(fmt.Errorf("%s: the response has %d bytes; the limit is %d", name, size, limit))
	}
	return nil
}

// DecodeCount decodes the response of a package's server to a request for a number of tokens, which
// is in a member of the response.
func DecodeCount(name string, body []byte, member string) (upstream.TokenCount, error) {
	doc, err := jsonwire.Parse(string(body), jsonwire.Limits{AllowInvalidUTF8: true})
	if err != nil {
		return upstream.TokenCount{}, BadGateway(err)
	}
	defer doc.Close()
	n, ok := doc.Root().Get(member).Int()
	if !ok || n < 0 {
		return upstream.TokenCount{}, BadGateway(fmt.Errorf("%s: the response has no valid %s", name, member))
	}
	return upstream.TokenCount{Tokens: n}, nil
}

// StatusCode returns the code for the HTTP status of a vendor's error.
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
	// Includes 401, 402 and 403, which are about the host's key.
	return upstream.CodeBadGateway
}

// IsHostError reports whether an error response with a status other than 2xx, 401 and 403 is
// about the host's configuration and not about the request: the URL is wrong, or a proxy has
// responded. found reports whether the body has the vendor's error object, and text is its
// message. Rate limits, time-outs and errors of servers may come from a proxy as well; it
// reports false for them.
func IsHostError(status int, found bool, text string) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, 498, 499:
		return false
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusProxyAuthRequired, http.StatusLengthRequired,
		http.StatusRequestURITooLong, http.StatusUnsupportedMediaType, http.StatusMisdirectedRequest, http.StatusUpgradeRequired,
		http.StatusRequestHeaderFieldsTooLarge:
		return true // the adapter chooses what they are about
	case http.StatusNotFound:
		return !found || aboutURL(text)
	}
	return status < 400 || status < 500 && !found
}

// noPage and urlProblems have the messages, and the words in messages, with which servers
// report that they have nothing at a URL.
var (
	noPage = []string{"not found", "404 not found", "404: not found", "404 page not found", "page not found", "resource not found",
		"file not found", "the requested resource was not found", "the requested resource could not be found"}
	urlProblems = []string{"invalid url", "unknown url", "request url", "requested url", "check the url", "check the configuration", "unexpected endpoint",
		"unknown endpoint", "no such endpoint", "endpoint not found", "unknown route", "no route", "no such route", "route not found",
		"unknown path", "invalid path", "path not found", "invalid request path", "cannot post ", "cannot get "}
)

// aboutURL reports whether the message of a 404 is about the URL, and not about a model or a
// file.
func aboutURL(text string) bool {
	text = strings.Trim(strings.ToLower(text), " .!")
	return slices.Contains(noPage, text) || containsAny(text, urlProblems) // bounded by noPage
}

// modelProblems and unloaded have the words with which servers reject the name of a model
// with another status than 404, and report that the host has not loaded a model.
var (
	modelProblems = []string{"invalid model", "not a valid model", "model not exist", "model does not exist", "unknown model", "no such model",
		"model not found", "model identifier", "model id ", "unexpected model name", "model name format"}
	unloaded = []string{"not loaded", "no model loaded", "no models loaded", "not been loaded", "model unloaded", "model is unloaded"}
)

// IsModelRefused reports whether e means that the server does not have the model of the
// request.
func IsModelRefused(e *upstream.Error) bool {
	return e.Code == upstream.CodeNotFound || e.Code == upstream.CodeInvalid && containsAny(strings.ToLower(e.Text), modelProblems)
}

// IsModelUnloaded reports whether e means that the server has not loaded the model, which
// only the host can do.
func IsModelUnloaded(e *upstream.Error) bool {
	return (e.Code == upstream.CodeNotFound || e.Code == upstream.CodeInvalid) && containsAny(strings.ToLower(e.Text), unloaded)
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) // bounded by urlProblems
}

// RetryAfter returns the wait that the headers of an error request, or 0. The header
// with milliseconds takes precedence. A date is relative to the Date of the response,
// or to now if it has none.
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

// wait parses a number of units. Values that overflow become the maximum Duration.
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

// ErrorHeader returns the headers of an error by which clients schedule retries,
// sorted by name: those that all vendors have, and those with one of the prefixes.
func ErrorHeader(h http.Header, prefixes ...string) []upstream.HeaderField {
	var list []upstream.HeaderField
	for _, name := range slices.Sorted(maps.Keys(h)) {
		switch name {
		case "Retry-After", "Retry-After-Ms", "X-Should-Retry":
		default:
			if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) { // bounded by the host
				continue
			}
		}
		for _, v := range h[name] {
			list = append(list, upstream.HeaderField{Name: name, Value: v})
		}
	}
	return list
}

// maxErrorBody is the maximum size of an error body that is parsed.
const maxErrorBody = 1 << 20

// ErrorBody calls read with the JSON document in the body of an error. It does nothing
// if the body is not JSON or is larger than 1 MiB.
func ErrorBody(body []byte, read func(jsonwire.Value)) {
	if len(body) > maxErrorBody {
		return
	}
	doc, err := jsonwire.Parse(string(body), jsonwire.Limits{AllowInvalidUTF8: true})
	if err != nil {
		return
	}
	defer doc.Close()
	read(doc.Root())
}

// maxDetails is the maximum size of an error object that is kept.
const maxDetails = 64 << 10

// Details returns the error object v for [upstream.Error.Details], on one line and with
// all strings redacted. It returns nil if v is not an object or is larger than 64 KiB.
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
		w.String(redact.MemberValue(name, v.Str()))
	default:
		w.Raw(v.Raw())
	}
}

// KeyRefusedText is the text that clients receive if the vendor refuses the host's key.
const KeyRefusedText = "The upstream rejected the credentials of this service"

// KeyRefused reports whether a vendor refuses the host's key: by the status 401, or by
// a code or a message about the key, which some servers send with the status 400.
// codes are the codes and types of the error. place is the member of the request that
// the vendor names, or "". The status of an error in a stream is 0.
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

// keyCodes has the codes and types of errors about the key.
var keyCodes = map[string]bool{
	"authentication_error": true, "authenticationerror": true, "unauthenticated": true, "unauthorized": true, "invalid_authentication": true,
	"invalid_api_key": true, "incorrect_api_key": true, "missing_api_key": true, "expired_api_key": true, "no_api_key": true, "wrong_api_key": true,
	"invalid_apikey": true, "invalid_key": true, "invalid_token": true, "expired_token": true, "token_expired": true, "invalid_auth": true,
	"invalid_credentials": true, "account_deactivated": true,
}

// keyNames and keyProblems have the words that vendors use for a key, and for a
// problem with it.
var (
	keyNames = []string{"api key", "apikey", "subscription key", "access key", "bearer token", "access token", "auth token", "api token",
		"authentication token", "authentication credential", "authorization header", "unregistered callers", "authentication fails"}
	keyProblems = []string{"invalid", "incorrect", "not valid", "missing", "expired", "revoked", "leaked", "wrong", "not found", "unauthorized",
		"disabled", "deactivated", "suspended", "unregistered", "provide", "require", "no api key", "rejected", "malformed", "blocked",
		"fail", "inactive", "unknown", "unrecognized", "not exist", "denied", "not allowed"}
)

// aboutKey reports whether a message is about the host's key: a sentence has one of
// keyNames and, unless any is true, one of keyProblems. It reports false for messages
// about a member of the request and about keys that the client sent for MCP servers.
func aboutKey(text string, any bool) bool {
	text = strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(text))
	if place, _, ok := strings.Cut(text, ": "); ok && !strings.ContainsAny(place, " ") && strings.ContainsAny(place, ".[") {
		return false
	}
	if strings.Contains(text, "mcp ") || strings.Contains(text, "schema") || strings.HasPrefix(text, "* ") {
		return false
	}
	for sentence := range strings.SplitSeq(text, ". ") {
		if containsAny(sentence, keyNames) && (any || containsAny(sentence, keyProblems)) {
			return true
		}
	}
	return false
}
