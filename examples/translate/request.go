package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// request translates a request with the adapter of the target format.
func (t *task) request(ctx context.Context) error {
	body, err := io.ReadAll(t.in)
	if err != nil {
		return err
	}
	req, losses, path, err := clientFormats[t.from].parseRequest(body)
	if err != nil {
		return err
	}
	if t.from == t.to && t.model == "" {
		_, err := t.out.Write(body)
		return err
	}
	req = req.WithModel(t.name(req.Model))
	req.ForwardLinks = true // do not fetch links

	sent := new(captured)
	up, err := adapters[t.to](t.url, sent)
	if err != nil {
		return err
	}
	more, err := upstream.Preflight(ctx, up, req)
	losses = append(losses, more...)
	t.printLosses(losses, path)
	if err != nil {
		return withClientPaths(err, path)
	}
	if n := t.refused(losses); n > 0 {
		return fmt.Errorf("refused: %d of %d losses are %s or worse", n, len(losses), t.refuse)
	}
	if err := upstream.Run(ctx, up, req, ignored); sent.body == nil {
		return withClientPaths(err, path)
	}
	_, err = t.out.Write(append(sent.body, '\n'))
	return err
}

// refused returns the number of losses with a refused severity.
func (t *task) refused(losses []content.Loss) (n int) {
	for _, l := range losses {
		if t.refuse != 0 && l.Severity >= t.refuse {
			n++
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

// captured is a transport that keeps the body of a request and does not send it.
type captured struct{ body []byte }

var errCaptured = errors.New("nothing is sent")

func (c *captured) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.body = body
	return nil, errCaptured
}

// ignored is the sink of a response that never comes.
var ignored = upstream.SinkFunc(func([]upstream.Event) error { return nil })

// withClientPaths returns err with the paths of its violations converted by path.
func withClientPaths(err error, path func(string) string) error {
	list, _ := content.Violations(err)
	if len(list) == 0 {
		return err
	}
	converted := make([]error, len(list))
	for i, v := range list {
		other := *v
		other.Path = path(v.Path)
		converted[i] = &other
	}
	return errors.Join(converted...)
}
