package main

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A responseResult is the answer for /api/response.
type responseResult struct {
	Violations []violation      `json:"violations"`
	Losses     []loss           `json:"losses"` // of decoding
	Events     []event          `json:"events"`
	Outputs    []responseOutput `json:"outputs"`
}

// A responseOutput is a response as the clients of a target receive it.
type responseOutput struct {
	Format string `json:"format"`
	Text   string `json:"text"`
	Losses []loss `json:"losses"`
	Error  string `json:"error,omitempty"`

	// Status is the HTTP status if the response is an error of the vendor, and 0 otherwise.
	Status int `json:"status,omitempty"`
}

// translateResponse translates a whole response to all targets.
func translateResponse(_ *http.Request, t *task) (*responseResult, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	src := newSource(t.Text)
	result := &responseResult{Violations: []violation{}, Losses: []loss{}, Events: []event{}, Outputs: []responseOutput{}}
	resp, err := t.source.DecodeResponse([]byte(t.Text), nil)
	failed := new(upstream.Error)
	if errors.As(err, &failed) && failed.Details != nil { // the response is an error
		for _, to := range t.Targets {
			status, _, document := to.format.Client.EncodeError(to.format.AnyRequest(""), err)
			out := responseOutput{Format: to.Format, Losses: []loss{}, Status: status}
			out.setText(document)
			result.Outputs = append(result.Outputs, out)
		}
		return result, nil
	}
	if err != nil {
		text, code := errorText(err), cmp.Or(failed.Code, upstream.CodeInternal)
		result.Violations = append(result.Violations, violation{Text: text, Code: string(code), span: src.violation("", text)})
		return result, nil
	}
	result.Events = newEvents(resp.Frame.Events)
	in := newResponsePlaces(src, &t.source.Client, resp, true)
	result.Losses = responseLosses(resp.Losses, in.path, in, nil)
	for _, to := range t.Targets {
		document, losses := to.format.Client.EncodeResponse(to.format.AnyRequest(""), resp)
		out := responseOutput{Format: to.Format}
		out.setText(document)
		path := to.format.Client.Path
		out.Losses = responseLosses(losses, path, in, newResponsePlaces(newSource(out.Text), &to.format.Client, resp, false))
		result.Outputs = append(result.Outputs, out)
	}
	return result, nil
}

// setText sets the formatted document.
func (out *responseOutput) setText(document []byte) {
	var err error
	if out.Text, err = indent(string(document)); err != nil {
		out.Error = err.Error()
	}
}

// errorText returns the text of an error of decoding a response.
func errorText(err error) string {
	if e := new(upstream.Error); errors.As(err, &e) {
		if e.Text == "" && e.Err != nil {
			return e.Err.Error()
		}
		return cmp.Or(e.Text, string(e.Code))
	}
	return err.Error()
}

// responseLosses returns losses of a response with their places in the input and, if out is
// not nil, in the output.
func responseLosses(found []content.Loss, path func(string) string, in, out *responsePlaces) []loss {
	return newLosses(found, path, func(l *loss) {
		l.Input = in.find(l.Neutral)
		if out != nil {
			l.Output = out.find(l.Neutral)
		}
	})
}
