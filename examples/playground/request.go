package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/examples/internal/format"
	"github.com/polywire/polywire/upstream"
)

// A requestResult is the answer for /api/request.
type requestResult struct {
	Violations     []violation     `json:"violations"`
	MoreViolations int             `json:"moreViolations"`
	Tokens         *int64          `json:"tokens,omitempty"` // estimate; nil if the request is invalid
	Losses         []loss          `json:"losses"`           // of decoding
	Outputs        []requestOutput `json:"outputs"`
}

// A requestOutput is a request as a target receives it.
type requestOutput struct {
	Format string   `json:"format"`
	Model  string   `json:"model"`
	Text   string   `json:"text"`
	Took   float64  `json:"took"` // milliseconds
	Files  []string `json:"files,omitempty"`
	Losses []loss   `json:"losses"`

	// Error is set if the target cannot represent the request. Violations then lists the
	// places, if they are known.
	Error      string      `json:"error,omitempty"`
	Violations []violation `json:"violations,omitempty"`
}

// A violation is a [content.Violation] with its place.
type violation struct {
	Path string `json:"path"`
	Text string `json:"text"`
	Code string `json:"code"`
	span
}

// A loss is a [content.Loss] with its place in the input.
type loss struct {
	Path     string `json:"path"` // in the document of the client
	Neutral  string `json:"neutral"`
	Severity string `json:"severity"`
	Reason   string `json:"reason"`
	More     int    `json:"more"` // places that are not in the list; at the first place of a reason
	Line     int    `json:"line"` // of docs/losses.md, or 0

	Input  *span `json:"input"`
	Output *span `json:"output"` // of responses
}

// newLosses returns losses, each place by itself. path converts their paths, and mark sets the
// places in documents.
func newLosses(found []content.Loss, path func(string) string, mark func(*loss)) []loss {
	list := make([]loss, 0, len(found))
	for i := range found {
		l, first := &found[i], len(list)
		for at := range l.Places() {
			entry := loss{Path: path(at), Neutral: at, Severity: l.Severity.String(), Reason: l.Reason, Line: lossLine(l)}
			mark(&entry)
			list = append(list, entry)
		}
		list[first].More = l.More
	}
	return list
}

// translateRequest translates a request to all targets.
func translateRequest(r *http.Request, t *task) (*requestResult, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	src := newSource(t.Text)
	result := &requestResult{Violations: []violation{}, Losses: []loss{}, Outputs: []requestOutput{}}
	req, losses, err := t.source.Client.DecodeRequest([]byte(t.Text))
	if err != nil {
		result.Violations, result.MoreViolations = src.violations(err, samePath)
		return result, nil
	}
	tokens := upstream.EstimateTokens(req)
	result.Tokens = &tokens
	result.Losses = src.losses(losses, req.Path)
	result.Outputs = make([]requestOutput, len(t.Targets))
	var all sync.WaitGroup
	for i := range t.Targets {
		all.Go(func() { result.Outputs[i] = t.Targets[i].translate(r.Context(), req, src) })
	}
	all.Wait()
	return result, nil
}

// check finds the formats of a task. It returns an error if one is unknown.
func (t *task) check() error {
	t.source = format.ByName(t.Format)
	switch {
	case t.source == nil:
		return fmt.Errorf("format: unknown format %q; want one of %q", t.Format, format.Names())
	case len(t.Targets) > maxTargets:
		return fmt.Errorf("targets: at most %d are allowed", maxTargets)
	}
	for i := range t.Targets {
		to := &t.Targets[i]
		to.format, to.same = format.ByName(to.Format), to.Format == t.Format
		if to.format == nil {
			return fmt.Errorf("targets.%d.format: unknown format %q; want one of %q", i, to.Format, format.Names())
		}
	}
	return nil
}

func samePath(path string) string { return path }

// requestFor returns a copy of a request for the target. A server of the client's own format
// has the model that the client requests.
func (to *target) requestFor(req *upstream.Request) *upstream.Request {
	model := cmp.Or(to.Model, to.format.Model)
	if to.Model == "" && to.same && req.Model != "" {
		model = req.Model
	}
	req = req.WithModel(model)
	req.ForwardLinks = true // fetch nothing
	return req
}

// translate encodes a request for the target.
func (to *target) translate(ctx context.Context, req *upstream.Request, src *source) requestOutput {
	begin := time.Now()
	req = to.requestFor(req)
	out := requestOutput{Format: to.Format, Model: req.Model, Losses: []loss{}}
	up, err := to.format.NewUpstream(to.URL, "", nil)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	encoded, err := upstream.EncodeRequest(ctx, up, req)
	out.Losses = src.losses(encoded.Losses, req.Path)
	for _, f := range encoded.Placeholders {
		out.Files = append(out.Files, fileName(f))
	}
	if err != nil {
		out.Error = err.Error()
		out.Violations, _ = src.violations(err, req.Path)
	} else {
		out.Model = encoded.Model
		out.Text, err = indent(encoded.Document)
		if err != nil {
			out.Error = err.Error()
		}
	}
	out.Took = float64(time.Since(begin).Microseconds()) / 1000
	return out
}

// fileName returns the name of a file that an adapter would load before it sends the request.
func fileName(f content.Source) string {
	switch f := f.(type) {
	case *content.URL:
		return "link " + f.URL
	case *content.File:
		return "file id " + f.ID
	}
	return "file"
}

// indent formats a document. Numbers and strings keep their bytes.
func indent(document string) (string, error) {
	var b bytes.Buffer
	b.Grow(len(document) + len(document)/4)
	if err := json.Indent(&b, []byte(document), "", "  "); err != nil {
		return "", errors.New("the encoded document is not JSON")
	}
	return b.String(), nil
}

// violations returns the violations in err with their places. path converts their paths.
func (s *source) violations(err error, path func(string) string) ([]violation, int) {
	found, more := content.Violations(err)
	list := make([]violation, 0, len(found))
	for _, v := range found {
		p := path(v.Path)
		list = append(list, violation{p, v.Text, string(v.Code), s.violation(p, v.Text)})
	}
	if len(list) == 0 {
		list = append(list, violation{Text: err.Error(), span: s.violation("", "")})
	}
	return list, more
}

// losses returns losses of a request. path converts their paths.
func (s *source) losses(found []content.Loss, path func(string) string) []loss {
	return newLosses(found, path, func(l *loss) { l.Input = s.at(l.Path) })
}
