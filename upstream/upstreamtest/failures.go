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

// atRequest are the codes that tell a client that its request is at fault.
var atRequest = []upstream.Code{
	upstream.CodeInvalid, upstream.CodePermission, upstream.CodeNotFound, upstream.CodeConflict,
	upstream.CodeTooLarge, upstream.CodeUnsupported,
}

// goWords are from texts of Go's errors, which are no sentences for clients.
var goWords = []string{
	"dial tcp", "dial unix", "read tcp", "write tcp", "lookup ", "no such host", "connection refused",
	"connection reset by peer", "broken pipe", "i/o timeout", "unexpected EOF", "x509:", "tls: ",
	"context canceled", "context deadline exceeded", "invalid character '", "cannot unmarshal", "runtime error",
	"nil pointer", "goroutine ", "net/http:", ".go:",
}

// sentence returns what is wrong with a text that goes out.
func sentence(text string) error {
	const most = 2 << 10
	switch {
	case !utf8.ValidString(text):
		return fmt.Errorf("the text is not UTF-8: %s", clip(text))
	case len(text) > most:
		return fmt.Errorf("the text has %d bytes, more than %d: %s", len(text), most, clip(text))
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("the text is not a single line: %s", clip(text))
	}
	for _, w := range goWords {
		if strings.Contains(text, w) {
			return fmt.Errorf("the text goes out to the client and holds %q, which is Go's: %s; the cause belongs into Err", w, clip(text))
		}
	}
	return nil
}

// tellable returns what is wrong with an error that a client is to hear of.
func tellable(err error) error {
	var failure *upstream.Error
	if errors.As(err, &failure) {
		switch {
		case !slices.Contains(codes, failure.Code):
			return fmt.Errorf("the Code %q is none of upstream's for failures", failure.Code)
		case failure.RetryAfter < 0:
			return fmt.Errorf("RetryAfter is negative: %v", failure.RetryAfter)
		}
		return sentence(failure.Text)
	}
	faults, _ := content.Violations(err)
	if len(faults) == 0 {
		return fmt.Errorf("a %T without an *upstream.Error or *content.Violation reaches the client as an internal error without a text: %v", err, err)
	}
	for _, f := range faults {
		if f.Code == "" || f.Text == "" {
			return fmt.Errorf("a *content.Violation at %q lacks its Code or Text", f.Path)
		}
		if bad := sentence(f.Text); bad != nil {
			return bad
		}
	}
	return nil
}

// refusals looks at how requests are refused that must be.
func (c *checker) refusals() error {
	if len(c.o.Bad) == 0 {
		return skip("it needs Options.Bad")
	}
	return c.failing("Bad", c.o.Bad, func(r *result) error {
		var failure *upstream.Error
		switch {
		case errors.As(r.err, &failure) && !slices.Contains(atRequest, failure.Code):
			return fmt.Errorf("the Code %q does not tell the client that its request is at fault", failure.Code)
		case len(r.events) > len(r.read().losses):
			return errors.New("the answer had begun before the request was refused")
		}
		return nil
	})
}

func (c *checker) failures() error {
	if len(c.o.Fail) == 0 {
		return skip("it needs Options.Fail")
	}
	return c.failing("Fail", c.o.Fail, func(r *result) error {
		if failure := (*upstream.Error)(nil); !errors.As(r.err, &failure) {
			return fmt.Errorf("a %T where an *upstream.Error tells how it failed: %v", r.err, r.err)
		}
		return nil
	})
}

// failing asks for what must fail.
func (c *checker) failing(name string, reqs []*upstream.Request, judge func(*result) error) error {
	var all []error
	for i, req := range reqs {
		r := c.call(c.ctx, req, nil, 0)
		err := r.fault
		if err == nil && r.err == nil {
			err = errors.New("Generate returned nil")
		}
		if err == nil {
			err = tellable(r.err)
		}
		if err == nil {
			err = judge(r)
		}
		if err != nil {
			all = append(all, fmt.Errorf("Options.%s[%d]: %w", name, i, err))
		}
	}
	return errors.Join(all...)
}

// A record is what was found of secrets in all calls.
type record struct {
	mu    sync.Mutex
	found []error
}

func (k *record) keep(secrets []string, r *result) {
	if len(secrets) == 0 {
		return
	}
	look := func(path, s string) {
		for i, secret := range secrets {
			if secret != "" && strings.Contains(s, secret) {
				k.mu.Lock()
				k.found = append(k.found, fmt.Errorf("Options.Secrets[%d] is in %s", i, path))
				k.mu.Unlock()
			}
		}
	}
	for i := range r.events {
		eachString("an event", reflect.ValueOf(&r.events[i]), look)
	}
	var failure *upstream.Error
	if errors.As(r.err, &failure) {
		look("the Text of an *upstream.Error", failure.Text)
	}
	faults, _ := content.Violations(r.err)
	for _, f := range faults {
		look("the Text of a *content.Violation", f.Text)
		look("the Path of a *content.Violation", f.Path)
	}
}

// secrets tells what all other checks have seen. It makes no call of its own
// but for the usual answers.
func (c *checker) secrets() error {
	if len(c.o.Secrets) == 0 {
		return skip("it needs Options.Secrets")
	}
	c.references()
	c.record.mu.Lock()
	defer c.record.mu.Unlock()
	const most = 10
	return errors.Join(c.record.found[:min(len(c.record.found), most)]...)
}

func containsFold(s, word string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(word))
}
