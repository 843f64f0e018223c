package fetch

import (
	"errors"
	"net/url"

	"github.com/polywire/polywire/content"
)

// A verdict is what is wrong with an answer that came. It is told to the
// client; text continues "the file at … ".
type verdict struct {
	code content.Code
	text string
}

func (v *verdict) Error() string { return "the file " + v.text }

// refused says what is wrong with the text of a link.
func refused(fault string) error {
	return &content.Violation{Code: content.CodeValue, Text: "the link " + fault}
}

// explain says why the file behind u could not be had. Whatever was learnt by
// looking up names and connecting reads the same, so that nobody can explore a
// network by it.
func explain(u *url.URL, err error) error {
	e := &content.Violation{Code: content.CodeValue, Err: err}
	var v *verdict
	if errors.As(err, &v) {
		e.Code = v.code
		e.Text = "the file at " + nameOf(u) + " " + v.text
	} else {
		e.Text = "the file at " + nameOf(u) + " could not be fetched; make sure that the link is public and works"
	}
	return e
}

// maxName is how much of a link is named, in bytes.
const maxName = 512

// nameOf returns a link as far as it may be repeated: without query and
// fragment, which may hold secrets.
func nameOf(u *url.URL) string {
	name := u.Scheme + "://" + u.Host + u.EscapedPath()
	if len(name) <= maxName {
		return name
	}
	cut := maxName
	for name[cut]&0xc0 == 0x80 { // inside a character
		cut--
	}
	return name[:cut] + "…"
}
