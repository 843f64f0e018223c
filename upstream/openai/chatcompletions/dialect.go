package chatcompletions

import (
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// A dialect implements [handler.Protocol] for the Chat Completions format.
type dialect struct {
	openaiformat.Headers
	Options
}

func (d *dialect) Format() content.Format { return Format }

func (d *dialect) WirePath(neutral string) string { return wirePath(neutral) }

// Error returns the response for a failure. The id of the request is in a header.
func (d *dialect) Error(_ string, f *handler.Failure) (int, []byte) {
	e := openaiformat.NewServerError(Format, f)
	return e.Status, e.Append(nil)
}

// Route matches the end of the path, so that any prefix is allowed.
func (d *dialect) Route(r *http.Request) (*handler.Route, error) {
	if before, ok := strings.CutSuffix(r.URL.Path, "chat/completions"); ok && (before == "" || strings.HasSuffix(before, "/")) {
		return &handler.Route{Method: http.MethodPost, Parse: d.parseFor(deployment(before))}, nil
	}
	if route := openaiformat.ModelsRoute(Format, r); route != nil {
		return route, nil
	}
	text := "Unknown request URL: " + handler.OneLine(r.Method, 16) + " " + handler.OneLine(r.URL.Path, 256) +
		". This handler serves POST /v1/chat/completions, GET /v1/models and GET /v1/models/{id}."
	return nil, &handler.Failure{Code: upstream.CodeNotFound, Reason: "there is nothing at this path", Text: text,
		Details: &content.Extra{Format: Format, JSON: `{"code":"unknown_url"}`}}
}

// deployment returns the model in the path of an Azure client, or "". before is the path before
// "chat/completions".
func deployment(before string) string {
	_, name, ok := strings.Cut(strings.TrimSuffix(before, "/"), "/deployments/")
	if !ok {
		return ""
	}
	return name
}

// parseFor returns a function that returns the operation for the body of a request. model is that
// in the path, or "".
func (d *dialect) parseFor(model string) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(_ string, r *http.Request, body string) (*handler.Operation, error) {
		opts := &ValidateOptions{Model: model, Strict: d.Strict, MediaTypes: d.MediaTypes, Limits: d.Limits}
		req, err := decodeRequest(body, opts)
		if err != nil {
			return nil, err
		}
		if model != "" { // Azure ignores the model in the body
			req.Model = model
		}
		req.origin.hidesReasoning = d.HideReasoning
		op := &handler.Operation{Files: referencedFiles(req, opts), Memory: req.origin.Cost, Response: d.responseFor}
		op.Request, op.Losses = req.withDocument(handler.ForwardedHeaders(r, d.ForwardHeaders))
		client := d.expectationOf(op.Request)
		op.EncodeAnew, op.WithModel = client.encodesAnew(), openaiformat.WithModel
		if op.Request.Stream {
			op.Stream = d.streamFor(op.Request)
		}
		return op, nil
	}
}
