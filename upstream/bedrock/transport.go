package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// service is the name of the service in signatures. That of the endpoints is
// bedrock-runtime.
const service = "bedrock"

const (
	streamType = "application/vnd.amazon.eventstream"
	jsonType   = "application/json"
)

// A transport signs requests and translates responses: streams to server-sent events, and
// error documents to those of Messages.
type transport struct {
	base        http.RoundTripper
	credentials aws.CredentialsProvider // nil if requests have a key
	region      string
	signer      *v4.Signer
	limit       int64 // of one event of a stream; 0 means the default
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	signed, err := t.sign(r)
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	res, err := t.base.RoundTrip(signed)
	if err != nil {
		return nil, err
	}
	switch kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case res.StatusCode < 200 || res.StatusCode > 299:
		translateError(res)
	case kind == streamType:
		res.Body = newFrameReader(res.Body, t.limit)
		res.ContentLength = -1
		res.Header.Del("Content-Length")
		res.Header.Set("Content-Type", "text/event-stream")
	}
	return res, nil
}

// sign returns a copy of a request with a signature. It covers the host, the media type
// and the headers of the cloud, but not headers that proxies and instrumented transports
// add or change.
func (t *transport) sign(r *http.Request) (*http.Request, error) {
	c := r.Clone(r.Context())
	// The client asks for the media types of Messages.
	c.Header.Set("Accept", jsonType)
	if t.credentials == nil {
		return c, nil
	}
	credentials, err := t.credentials.Retrieve(r.Context())
	if err != nil {
		return nil, hostError(r.Context(), fmt.Errorf("the Credentials cannot be retrieved: %w", err))
	}
	if !credentials.HasKeys() {
		return nil, hostError(r.Context(), errors.New("the Credentials have no access key id or no secret access key"))
	}
	redact.Hold(r.Context(), credentials.AccessKeyID, credentials.SecretAccessKey, credentials.SessionToken)
	hash, err := bodyHash(r)
	if err != nil {
		return nil, hostError(r.Context(), fmt.Errorf("the request body cannot be hashed: %w", err))
	}
	all := c.Header
	c.Header = make(http.Header)
	for name, values := range all {
		if name == "Content-Type" || strings.HasPrefix(name, "X-Amz") {
			c.Header[name] = values
		}
	}
	if err := t.signer.SignHTTP(r.Context(), credentials, c, hash, service, t.region, time.Now()); err != nil {
		return nil, hostError(r.Context(), fmt.Errorf("the request cannot be signed: %w", err))
	}
	for name, values := range all {
		if _, ok := c.Header[name]; !ok {
			c.Header[name] = values
		}
	}
	return c, nil
}

// A provider is a CredentialsProvider of the program. A cache calls it on a goroutine of its
// own, where no caller could recover from a panic.
type provider struct{ aws.CredentialsProvider }

// Retrieve returns the credentials. Its error contains no part of them, because the caller
// of a cache does not get them beside an error.
func (p provider) Retrieve(ctx context.Context) (c aws.Credentials, err error) {
	defer recovered(&err)
	c, err = p.CredentialsProvider.Retrieve(ctx)
	return c, withoutKeys(c, err)
}

// HandleFailToRefresh returns the credentials to use after an error.
func (p provider) HandleFailToRefresh(ctx context.Context, last aws.Credentials, failed error) (c aws.Credentials, err error) {
	s, ok := p.CredentialsProvider.(aws.HandleFailRefreshCredentialsCacheStrategy)
	if !ok {
		return aws.Credentials{}, failed
	}
	defer recovered(&err)
	c, err = s.HandleFailToRefresh(ctx, last, failed)
	return c, withoutKeys(last, withoutKeys(c, err))
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("the CredentialsProvider panicked: %v", v)
	}
}

// withoutKeys returns err with a text without the keys in c.
func withoutKeys(c aws.Credentials, err error) error {
	return redact.NewSecrets([]string{c.AccessKeyID, c.SecretAccessKey, c.SessionToken}).CleanError(err)
}

// hostError returns the error for a request that was not sent.
func hostError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &upstream.Error{Code: upstream.CodeInternal, Err: err}
}

// buffers are for hashing bodies, which may have many megabytes.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// bodyHash returns the SHA-256 of the body in hexadecimal. It reads a copy of the body.
func bodyHash(r *http.Request) (string, error) {
	h := sha256.New()
	if r.Body != nil && r.Body != http.NoBody {
		if r.GetBody == nil {
			return "", errors.New("the body can be read only once")
		}
		body, err := r.GetBody()
		if err != nil {
			return "", err
		}
		defer body.Close()
		buf := buffers.Get().(*[32 << 10]byte)
		defer buffers.Put(buf)
		if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{body}, buf[:]); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
