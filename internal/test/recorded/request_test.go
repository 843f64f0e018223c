package recorded

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A document is a parsed request of one of the served formats.
type document interface {
	AppendJSON(dst []byte) ([]byte, error)
	Upstream() *upstream.Request
	Path(neutral string) string
}

// parseRequest parses a request document. The document is nil if it cannot be read.
func parseRequest(format content.Format, body string, count bool) (document, error) {
	var d document
	var err error
	switch {
	case format == formatMessages:
		if r, e := messages.ParseRequest([]byte(body)); r != nil {
			d, err = r, e
		} else {
			err = e
		}
	default:
		parse := generatecontent.ParseRequest[[]byte]
		if count {
			parse = generatecontent.ParseCountRequest[[]byte]
		}
		if r, e := parse([]byte(body)); r != nil {
			d, err = r, e
		} else {
			err = e
		}
	}
	return d, err
}

// validate returns the violations of a request document, joined by line feeds.
func validate(format content.Format, body string, rules messages.ValidateOptions) error {
	d, err := parseRequest(format, body, rules.Count)
	switch d := d.(type) {
	case *messages.Request:
		err = d.Validate(&rules)
	case *generatecontent.Request:
		err = d.Validate(&generatecontent.ValidateOptions{Strict: rules.Strict, Count: rules.Count})
	}
	list, more := content.Violations(err)
	if len(list) == 0 {
		return err
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = v.Error()
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(texts, "\n"))
}

// rules are those of the recorded headers. Recordings without headers do not
// show which betas were asked for, so files are allowed there.
func (r *record) rules(strict bool) messages.ValidateOptions {
	rules := messages.ValidateOptions{
		Version: r.RequestHeaders["anthropic-version"],
		Strict:  strict,
		Count:   r.Endpoint == "count",
	}
	for beta := range strings.SplitSeq(r.RequestHeaders["anthropic-beta"], ",") {
		if beta = strings.TrimSpace(beta); beta != "" {
			rules.Betas = append(rules.Betas, beta)
		}
	}
	_, recorded := r.RequestHeaders["anthropic-version"]
	rules.AllowFiles = !recorded
	return rules
}

func TestRequests(t *testing.T) {
	eachRecord(t, (*record).asked, func(t *testing.T, r *record) {
		switch {
		case r.accepted():
			check(t, r, "1 accepted", func() error { return validate(r.format, r.Request, r.rules(false)) })
			check(t, r, "1s accepted strictly", func() error { return validate(r.format, r.Request, r.rules(true)) })
			check(t, r, "2 encoded and parsed again", func() error { return encodedAgain(r) })
		case r.Status == 400:
			err := validate(r.format, r.Request, r.rules(false))
			check(t, r, "1r rejected", func() error {
				if err == nil {
					return fmt.Errorf("accepted; the vendor's reason was %q", vendorMessage(r))
				}
				return nil
			})
			check(t, r, "1r rejected at the vendor's path", func() error { return samePath(vendorMessage(r), err) })
		}
	})
}

// vendorMessage is the sentence of a recorded error.
func vendorMessage(r *record) string {
	v := parseJSON(r.Response)
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	return cmp.Or(stringAt(v, "error", "message"), stringAt(v, "error"))
}

var leadingPath = regexp.MustCompile(`^(?:\* GenerateContentRequest\.)?([a-z_]+(?:\.\w+|\[\d+\])+):`)

// samePath checks that a violation has the path with which the vendor's message
// begins, if it does.
func samePath(message string, err error) error {
	m := leadingPath.FindStringSubmatch(message)
	if m == nil || err == nil {
		return nil
	}
	if !strings.Contains("\n"+err.Error(), "\n"+m[1]+":") {
		return fmt.Errorf("%v\nthe vendor's message was %q", err, message)
	}
	return nil
}

// ignoreOrigin makes requests equal that were parsed from different documents.
var ignoreOrigin = cmpopts.IgnoreUnexported(messages.Request{}, generatecontent.Request{})

// encodedAgain checks that encoding a parsed request and parsing that gives an
// equal request.
func encodedAgain(r *record) error {
	count := r.Endpoint == "count"
	first, err := parseRequest(r.format, r.Request, count)
	if first == nil || err != nil {
		return errIncomparable // check 1 reports it
	}
	text, err := first.AppendJSON(nil)
	if err != nil {
		return err
	}
	second, err := parseRequest(r.format, string(text), count)
	if err != nil {
		return fmt.Errorf("parsed again: %w", err)
	}
	if diff := gocmp.Diff(first, second, cmpopts.EquateEmpty(), ignoreOrigin); diff != "" {
		return fmt.Errorf("the second request differs (-first +second):\n%s", diff)
	}
	again, err := second.AppendJSON(nil)
	if err != nil {
		return err
	}
	if string(again) != string(text) {
		return fmt.Errorf("encoded again: %s", difference(parseJSON(string(text)), parseJSON(string(again))))
	}
	return nil
}
