package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/examples/internal/format"
	"github.com/polywire/polywire/upstream"
)

// request translates a request with the adapter of the target format.
func (t *task) request(ctx context.Context) error {
	body, err := io.ReadAll(t.in)
	if err != nil {
		return err
	}
	if t.from == t.to && t.model == "" {
		if _, _, err := format.ByName(t.from).Client.DecodeRequest(body); err != nil {
			return err
		}
		_, err := t.out.Write(body)
		return err
	}
	document, losses, path, err := t.translate(ctx, body)
	t.printLosses(losses, path)
	if err != nil {
		return err
	}
	_, err = t.out.Write(append(document, '\n'))
	return err
}

// translate returns a request in the target format, its losses, and a function that converts
// their paths to those of the input. The paths of an error are converted.
func (t *task) translate(ctx context.Context, body []byte) (document []byte, losses []content.Loss, path func(string) string, err error) {
	req, losses, err := format.ByName(t.from).Client.DecodeRequest(body)
	if err != nil {
		return nil, nil, nil, err
	}
	req = req.WithModel(t.name(req.Model))
	req.ForwardLinks = true // do not fetch links
	up, err := format.ByName(t.to).NewUpstream(t.url, "", nil)
	if err != nil {
		return nil, nil, nil, err
	}
	encoded, err := upstream.EncodeRequest(ctx, up, req)
	losses = append(losses, encoded.Losses...)
	if len(encoded.Placeholders) > 0 { // which may be the cause of err
		err = missing(encoded.Placeholders)
	} else if err != nil {
		return nil, losses, req.Path, content.MapPaths(err, req.Path)
	}
	if n := t.refused(losses); n > 0 {
		err = fmt.Errorf("refused: %d of %d losses are %s or worse", n, len(losses), t.refuse)
	}
	return []byte(encoded.Document), losses, req.Path, err
}

// refused returns the number of places with a loss of a refused severity.
func (t *task) refused(losses []content.Loss) (n int) {
	for _, l := range losses {
		if t.refuse != 0 && l.Severity >= t.refuse {
			n += l.Count()
		}
	}
	return n
}

// name returns the name of the model. Bodies of generateContent have no model.
func (t *task) name(requested string) string {
	switch {
	case t.model != "":
		return t.model
	case requested != "":
		return requested
	}
	return "model"
}

// missing returns an error for each file that an adapter would have to load.
func missing(files []content.Source) error {
	var errs []error
	for _, f := range files {
		name := ""
		switch f := f.(type) {
		case *content.URL:
			name = "link " + f.URL
		case *content.File:
			name = "file id " + f.ID
		}
		errs = append(errs, &content.Violation{
			Code: content.CodeUnsupported, Text: "the server does not accept the " + name + "; send the file as base64"})
	}
	return errors.Join(errs...)
}
