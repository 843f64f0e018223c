package fakebedrock

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const scheme = "AWS4-HMAC-SHA256"

// authenticate checks the key or the signature of a request. It returns the name and the
// message of an error.
func (s *Server) authenticate(r *http.Request, body []byte) (name, message string) {
	fields := r.Header.Values("Authorization")
	if len(fields) != 1 {
		return "MissingAuthenticationTokenException", "Missing Authentication Token"
	}
	if s.opts.Key != "" {
		if fields[0] != "Bearer "+s.opts.Key {
			return "AccessDeniedException", "Authentication failed: Please make sure your API Key is valid."
		}
		return "", ""
	}
	rest, ok := strings.CutPrefix(fields[0], scheme+" ")
	if !ok {
		return "IncompleteSignatureException", "Authorization header requires 'Credential' parameter."
	}
	values := map[string]string{}
	for part := range strings.SplitSeq(rest, ", ") {
		k, v, _ := strings.Cut(part, "=")
		values[k] = v
	}
	date := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", date)
	if err != nil || time.Since(at).Abs() > 5*time.Minute {
		return "InvalidSignatureException", "Signature expired: " + date
	}
	scope := date[:8] + "/" + s.opts.Region + "/bedrock/aws4_request"
	if values["Credential"] != s.opts.AccessKey+"/"+scope {
		return "InvalidSignatureException", "Credential should be scoped to a valid region and service."
	}
	if r.Header.Get("X-Amz-Security-Token") != s.opts.SessionToken {
		return "UnrecognizedClientException", "The security token included in the request is invalid."
	}
	names := strings.Split(values["SignedHeaders"], ";")
	if !slices.IsSorted(names) {
		return "InvalidSignatureException", "The signed headers are not sorted."
	}
	if !slices.Contains(names, "host") {
		return "InvalidSignatureException", "'Host' must be a 'SignedHeader' in the AWS Authorization."
	}
	for name := range r.Header {
		low := strings.ToLower(name)
		if (low == "content-type" || strings.HasPrefix(low, "x-amz-")) && !slices.Contains(names, low) {
			return "InvalidSignatureException", "The header " + name + " must be signed."
		}
	}
	canonical := canonicalRequest(r, names, body)
	if want := s.signature(date, scope, canonical); values["Signature"] != want {
		// The service repeats the request, and so the session token.
		return "InvalidSignatureException", "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. " +
			"Consult the service documentation for details.\n\nThe Canonical String for this request should have been\n'" + canonical + "'"
	}
	return "", ""
}

func (s *Server) signature(date, scope, canonical string) string {
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	key := []byte("AWS4" + s.opts.SecretKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	sum := sha256.Sum256([]byte(canonical))
	return hex.EncodeToString(mac(key, strings.Join([]string{scheme, date, scope, hex.EncodeToString(sum[:])}, "\n")))
}

func canonicalRequest(r *http.Request, names []string, body []byte) string {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	var headers strings.Builder
	for _, name := range names {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	sum := sha256.Sum256(body)
	return strings.Join([]string{
		r.Method, encode(path), canonicalQuery(query), headers.String(), strings.Join(names, ";"), hex.EncodeToString(sum[:]),
	}, "\n")
}

// canonicalQuery sorts the parameters, which are encoded anew.
func canonicalQuery(query string) string {
	var list []string
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		k, v, _ := strings.Cut(part, "=")
		k, _ = url.QueryUnescape(k)
		v, _ = url.QueryUnescape(v)
		list = append(list, strings.ReplaceAll(encode(k), "/", "%2F")+"="+strings.ReplaceAll(encode(v), "/", "%2F"))
	}
	slices.Sort(list)
	return strings.Join(list, "&")
}

// encode encodes all characters that are not unreserved, except slashes. A path is encoded
// as it was sent, so its escapes are encoded again.
func encode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
