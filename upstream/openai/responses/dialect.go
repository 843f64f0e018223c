package responses

import (
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// A dialect implements [handler.Protocol] for the Responses format.
type dialect struct {
	openaiformat.Headers
	Options
	validates bool // the server may store responses
}

func (d *dialect) Format() content.Format { return Format }

func (d *dialect) WirePath(neutral string) string { return wirePath(neutral) }

func (d *dialect) Error(_ string, f *handler.Failure) (int, []byte) {
	e := openaiformat.NewServerError(Format, f)
	if isUpgradeRefusal(f) {
		e.Status = http.StatusUpgradeRequired
	}
	return e.Status, e.Append(nil)
}

// Route matches the end of the path, so that any prefix is allowed.
func (d *dialect) Route(r *http.Request) (*handler.Route, error) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	last := len(path) - 1
	before := ""
	if last > 0 {
		before = path[last-1]
	}
	stores := d.Store != nil || d.validates
	switch {
	case path[last] == "responses" && isUpgrade(r):
		return &handler.Route{Method: http.MethodGet, CheckHeader: refuseUpgrade}, nil
	case path[last] == "responses":
		return &handler.Route{Method: http.MethodPost, Context: true, Parse: d.createResponse}, nil
	case before == "responses" && path[last] == "input_tokens":
		return &handler.Route{Method: http.MethodPost, Context: true, Parse: d.countTokens}, nil
	case before == "responses" && path[last] == "compact":
		return &handler.Route{Method: http.MethodPost, Context: true, Parse: d.compact}, nil
	case before == "responses" && path[last] != "" && stores:
		return d.storedRoute(r, path[last]), nil
	case last > 1 && path[last-2] == "responses" && path[last] == "input_items" && before != "" && stores:
		return d.inputItemsRoute(before), nil
	case last > 1 && path[last-2] == "responses" && path[last] == "cancel" && before != "" && d.validates:
		return &handler.Route{Method: http.MethodPost, Parse: func(string, *http.Request, string) (*handler.Operation, error) {
			return new(handler.Operation), nil
		}}, nil
	}
	if route := openaiformat.ModelsRoute(Format, r); route != nil {
		return route, nil
	}
	text := "there is nothing at this path"
	for _, name := range path {
		if name == "responses" {
			text = "responses are not stored, so they cannot be retrieved"
		}
	}
	return nil, &handler.Failure{Code: upstream.CodeNotFound, Detail: handler.DetailPath, Reason: text, Text: text +
		"; this handler serves POST /v1/responses, POST /v1/responses/input_tokens, POST /v1/responses/compact, GET /v1/models and GET /v1/models/{id}"}
}

// isUpgrade reports whether a request asks for a WebSocket.
func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// refuseUpgrade refuses a WebSocket. Clients that try one first, such as Codex, use HTTP at once
// after this status, and repeat the attempt after others.
func refuseUpgrade(*http.Request) error {
	const text = "WebSockets are not supported; send POST requests to this path"
	return &handler.Failure{Code: upstream.CodeInvalid, Status: http.StatusUpgradeRequired, Text: text, Reason: text}
}

func isUpgradeRefusal(f *handler.Failure) bool {
	return f.Status == http.StatusUpgradeRequired && f.Details == nil
}

// parseOperation parses and validates a body. The session is nil if nothing is stored.
func (d *dialect) parseOperation(r *http.Request, body string) (*handler.Operation, *session, error) {
	var stored *session
	decode := decodeRequest
	if d.Store != nil {
		stored = d.newSession(r.Context(), r)
		decode = stored.decode
	}
	opts := &ValidateOptions{Strict: d.Strict, AllowState: d.validates, MediaTypes: d.MediaTypes, Limits: d.Limits}
	req, err := decode(body, opts)
	if err != nil {
		return nil, nil, err
	}
	op := &handler.Operation{Memory: req.origin.Cost, Files: req.referencedFiles(opts)}
	if stored != nil {
		req.Store = nil // this handler does it
		op.Memory += int64(len(stored.input) + max(len(req.origin.Body)-len(body), 0))
	}
	// A response that is stored here is encoded anew: its vendor need not store it, and does not know
	// its ids.
	op.Request, op.Losses = req.neutralWith(handler.ForwardedHeaders(r, d.ForwardHeaders), stored == nil || stored.skips)
	return op, stored, nil
}

// createResponse returns the operation for the body of a request.
func (d *dialect) createResponse(_ string, r *http.Request, body string) (*handler.Operation, error) {
	op, stored, err := d.parseOperation(r, body)
	if err != nil {
		return nil, err
	}
	compacting := snapshot.Parsed[*Request](op.Request).wantsSummaryItem()
	// What the vendor sends passes only if it has all that the client needs.
	stores := stored != nil && !stored.skips
	anew := stores || stored != nil && stored.previous != ""
	configured := func(n *upstream.Request, whole bool) *encoder {
		s := encoderFor(n)
		s.whole = whole
		if d.OpenResponses {
			s.settings.restrict(snapshot.Parsed[*Request](n))
		}
		if stored != nil {
			s.settings.set(previousName, stored.previous)
		}
		if anew {
			s.session, s.settings.store = stored, stores && !compacting
		}
		s.init(n.Turns)
		return s
	}
	if op.Request.Stream {
		op.Stream = configured(op.Request, false)
	}
	op.EncodeAnew = d.OpenResponses || compacting || anew
	op.WithModel = openaiformat.WithModel
	op.Response = func(n *upstream.Request, resp *upstream.Response) (*jsonwire.Writer, []content.Loss) {
		return configured(n, true).convertResponse(resp)
	}
	return op, nil
}

// countTokens returns the operation for the body of input_tokens.
func (d *dialect) countTokens(_ string, r *http.Request, body string) (*handler.Operation, error) {
	op, _, err := d.parseOperation(r, body)
	if err != nil {
		return nil, err
	}
	op.CountTokens(Format, func(name string) bool { return name == "object" || name == "input_tokens" }, func(w *jsonwire.Writer, n upstream.TokenCount) {
		w.Member("object", "response.input_tokens")
		w.IntMember("input_tokens", n.Tokens)
	})
	return op, nil
}
