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

// request translates a request, by asking an upstream that would send it.
func (t *task) request(ctx context.Context) error {
	body, err := io.ReadAll(t.in)
	if err != nil {
		return err
	}
	req, path, err := fronts[t.from].parse(body)
	if err != nil {
		return err
	}
	if t.from == t.to && t.model == "" {
		_, err := t.out.Write(body)
		return err
	}
	req = req.WithModel(t.name(req.Model))
	req.ForwardLinks = true // nothing is fetched

	sent := new(captured)
	up, err := vendors[t.to](t.url, sent)
	if err != nil {
		return err
	}
	losses, err := upstream.Preflight(ctx, up, req)
	t.tell(losses, path)
	if err != nil {
		return inWords(err, path)
	}
	if n := t.refused(losses); n > 0 {
		return fmt.Errorf("refused: %d of %d losses are %s or worse", n, len(losses), t.refuse)
	}
	if err := upstream.Run(ctx, up, req, ignored); sent.body == nil {
		return inWords(err, path)
	}
	_, err = t.out.Write(append(sent.body, '\n'))
	return err
}

// refused counts the losses that must not be.
func (t *task) refused(losses []content.Loss) (n int) {
	for _, l := range losses {
		if t.refuse != 0 && l.Severity >= t.refuse {
			n++
		}
	}
	return n
}

// name returns the model to ask for: content generation names it outside of the
// body.
func (t *task) name(asked string) string {
	switch {
	case t.model != "":
		return t.model
	case asked != "":
		return asked
	}
	return "model"
}

// captured is a transport that keeps what is to be sent and does not send it.
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

// ignored is where the answer goes that never comes.
var ignored = upstream.SinkFunc(func([]upstream.Event) error { return nil })

// inWords tells the faults of a request in the words of its format.
func inWords(err error, path func(string) string) error {
	list, _ := content.Violations(err)
	if len(list) == 0 {
		return err
	}
	told := make([]error, len(list))
	for i, v := range list {
		other := *v
		other.Path = path(v.Path)
		told[i] = &other
	}
	return errors.Join(told...)
}
