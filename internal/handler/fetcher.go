package handler

import (
	"errors"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
)

// newFetcher returns what fetches links unless the host says otherwise.
func newFetcher() content.Resolver {
	f, err := fetch.New(fetch.Options{})
	if err != nil {
		panic(err) // the zero value holds the defaults
	}
	return f
}

// checkLink judges the text of a link as the default does.
func checkLink(link string) error { return fetch.Check(link) }

// isBusy reports whether a file was not fetched for want of room.
func isBusy(err error) bool { return errors.Is(err, fetch.ErrBusy) }
