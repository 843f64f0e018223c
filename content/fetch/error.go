package fetch

import (
	"errors"
	"net/url"

	"github.com/polywire/polywire/content"
)

// A responseError is an error in a response. Its text is sent to the client and
// continues "the file at … ".
type responseError struct {
	code content.Code
	text string
}

func (v *responseError) Error() string { return "the file " + v.text }

// newLinkError returns the error for an invalid link.
func newLinkError(problem string) error {
	return &content.Violation{Code: content.CodeValue, Text: "the link " + problem}
}

// newFetchError returns the error for the file at u. All failures of looking up names
// and connecting have the same text, so that clients cannot explore the network.
func newFetchError(u *url.URL, err error) error {
	e := &content.Violation{Code: content.CodeValue, Err: err}
	var v *responseError
	if errors.As(err, &v) {
		e.Code = v.code
		e.Text = "the file at " + displayURL(u) + " " + v.text
	} else {
		e.Text = "the file at " + displayURL(u) + " could not be fetched; make sure that the link is public and works"
	}
	return e
}

// maxDisplayURL is the maximum length of a link in an error text, in bytes.
const maxDisplayURL = 512

// displayURL returns a link for an error text: without query and fragment, which may
// contain secrets.
func displayURL(u *url.URL) string {
	name := u.Scheme + "://" + u.Host + u.EscapedPath()
	if len(name) <= maxDisplayURL {
		return name
	}
	cut := maxDisplayURL
	for name[cut]&0xc0 == 0x80 { // inside a character
		cut--
	}
	return name[:cut] + "…"
}
