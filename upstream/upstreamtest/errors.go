package upstreamtest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

var codes = []upstream.Code{
	upstream.CodeInvalid, upstream.CodeUnauthenticated, upstream.CodeBilling, upstream.CodePermission,
	upstream.CodeNotFound, upstream.CodeMethod, upstream.CodeConflict, upstream.CodeTooLarge,
	upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeInternal, upstream.CodeUnavailable,
	upstream.CodeTimeout, upstream.CodeOverloaded, upstream.CodeUnsupported, upstream.CodeBadGateway,
}

// requestCodes are the codes of errors for which the request is the cause.
var requestCodes = []upstream.Code{
	upstream.CodeInvalid, upstream.CodePermission, upstream.CodeNotFound, upstream.CodeConflict,
	upstream.CodeTooLarge, upstream.CodeUnsupported,
}

// goTexts are texts of Go errors, which must not be sent to clients.
var goTexts = []string{
	"dial tcp", "dial unix", "read tcp", "write tcp", "lookup ", "no such host", "connection refused",
	"connection reset by peer", "broken pipe", "i/o timeout", "unexpected EOF", "x509:", "tls: ",
	"context canceled", "context deadline exceeded", "invalid character '", "cannot unmarshal", "runtime error",
	"nil pointer", "goroutine ", "net/http:", ".go:",
}

// checkErrorText checks an error text that is sent to clients.
func checkErrorText(text string) error {
	const maxBytes = 2 << 10
	switch {
	case !utf8.ValidString(text):
		return fmt.Errorf("the text is not valid UTF-8: %s", clip(text))
	case len(text) > maxBytes:
		return fmt.Errorf("the text has %d bytes, want at most %d: %s", len(text), maxBytes, clip(text))
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("the text has control characters or line breaks: %s", clip(text))
	}
	for _, w := range goTexts {
		if strings.Contains(text, w) {
			return fmt.Errorf("the text, which the client sees, contains %q of a Go error: %s; put the cause into Err", w, clip(text))
		}
	}
	return nil
}

// checkError checks an error that a handler sends to its client.
func checkError(err error) error {
	var failure *upstream.Error
	if errors.As(err, &failure) {
		switch {
		case !slices.Contains(codes, failure.Code):
			return fmt.Errorf("the Code %q is not an error code of package upstream", failure.Code)
		case failure.RetryAfter < 0:
			return fmt.Errorf("RetryAfter is negative: %v", failure.RetryAfter)
		}
		return checkErrorText(failure.Text)
	}
	violations, _ := content.Violations(err)
	if len(violations) == 0 {
		return fmt.Errorf("the error is a %T, which clients see as an internal error without a text; return an *upstream.Error or a *content.Violation: %v", err, err)
	}
	for _, f := range violations {
		if f.Code == "" || f.Text == "" {
			return fmt.Errorf("the *content.Violation at %q has no Code or no Text", f.Path)
		}
		if bad := checkErrorText(f.Text); bad != nil {
			return bad
		}
	}
	return nil
}

func (c *checker) checkInvalid() error {
	if len(c.options.Invalid) == 0 {
		return skip("Options.Invalid is nil")
	}
	return c.checkErrors("Invalid", c.options.Invalid, func(r *result) error {
		var failure *upstream.Error
		switch {
		case errors.As(r.generateErr, &failure) && !slices.Contains(requestCodes, failure.Code):
			return fmt.Errorf("the Code %q is not for invalid requests, want one of %q", failure.Code, requestCodes)
		case len(r.events) > len(r.response().losses):
			return errors.New("the response started before the error")
		}
		return nil
	})
}

func (c *checker) checkFailures() error {
	if len(c.options.Fail) == 0 {
		return skip("Options.Fail is nil")
	}
	return c.checkErrors("Fail", c.options.Fail, func(r *result) error {
		if failure := (*upstream.Error)(nil); !errors.As(r.generateErr, &failure) {
			return fmt.Errorf("the error is a %T, want an *upstream.Error: %v", r.generateErr, r.generateErr)
		}
		return nil
	})
}

// checkErrors sends requests that must fail, and checks their errors.
func (c *checker) checkErrors(name string, reqs []*upstream.Request, check func(*result) error) error {
	var all []error
	for i, req := range reqs {
		r := c.call(c.ctx, req, nil, 0)
		err := r.abortErr
		if err == nil && r.generateErr == nil {
			err = errors.New("Generate returned nil, want an error")
		}
		if err == nil {
			err = checkError(r.generateErr)
		}
		if err == nil {
			err = check(r)
		}
		if err != nil {
			all = append(all, fmt.Errorf("Options.%s[%d]: %w", name, i, err))
		}
	}
	return errors.Join(all...)
}

// secretLeaks collects the secrets that were found in results.
type secretLeaks struct {
	mu    sync.Mutex
	found []error
}

func (k *secretLeaks) inspect(secrets []string, r *result) {
	if len(secrets) == 0 {
		return
	}
	look := func(path, s string) {
		for i, secret := range secrets {
			if secret != "" && strings.Contains(s, secret) {
				k.mu.Lock()
				k.found = append(k.found, fmt.Errorf("%s contains Options.Secrets[%d]", path, i))
				k.mu.Unlock()
			}
		}
	}
	for i := range r.events {
		eachString("an event", reflect.ValueOf(&r.events[i]), look)
	}
	var failure *upstream.Error
	if errors.As(r.generateErr, &failure) {
		look("the Text of an *upstream.Error", failure.Text)
	}
	violations, _ := content.Violations(r.generateErr)
	for _, f := range violations {
		look("the Text of a *content.Violation", f.Text)
		look("the Path of a *content.Violation", f.Path)
	}
}

// checkSecrets reports the secrets that were found in the results of all checks.
func (c *checker) checkSecrets() error {
	if len(c.options.Secrets) == 0 {
		return skip("Options.Secrets is empty")
	}
	c.references()
	c.secretLeaks.mu.Lock()
	defer c.secretLeaks.mu.Unlock()
	const maxReported = 10
	return errors.Join(c.secretLeaks.found[:min(len(c.secretLeaks.found), maxReported)]...)
}

func containsFold(s, word string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(word))
}
