package anthropic

import (
	"encoding/base64"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/messages"
)

// countBody returns the document of a count request.
func (p *plan) countBody(native bool) (adapter.Body, error) {
	rules := p.client.rules
	hasModel := !rules.inPath || !rules.wrapsCount
	if p.Document != nil {
		var more []adapter.Member
		if rules.wrapsCount && p.Source.MaxTokens == nil {
			more = []adapter.Member{{Name: "max_tokens", Value: strconv.FormatInt(p.minLimit(), 10)}}
		}
		return p.splice(hasModel, more...), nil
	}
	r := messages.LoweredRequest(p.Request)
	dropOutputMembers(r)
	if !native {
		dropUncounted(r)
	}
	if rules.wrapsCount {
		r.MaxTokens = new(p.minLimit())
	}
	return p.encode(r, hasModel)
}

// minLimit returns the smallest max_tokens that the request may have.
func (p *plan) minLimit() int64 {
	if b := p.Source.Thinking.Budget; b != nil {
		return *b + 1
	}
	return 1
}

// dropOutputMembers removes members that a count request does not have. They may
// come from an [upstream.Edit] of the host, or from a client of Bedrock.
func dropOutputMembers(r *messages.Request) {
	r.MaxTokens, r.Stream, r.Metadata, r.StopSequences = nil, false, nil, nil
	r.Temperature, r.TopP, r.TopK, r.ServiceTier = nil, nil, nil, ""
}

// dropUncounted removes built-in tools, which the vendor does not count.
func dropUncounted(r *messages.Request) {
	if slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Kind != "" }) { // one pass
		r.Tools = slices.DeleteFunc(slices.Clone(r.Tools), func(t content.Tool) bool { return t.Kind != "" })
		if len(r.Tools) == 0 {
			r.Tools, r.ToolChoice = lower.CalledTools(r.Messages), nil
		}
		// one pass
		if c := r.ToolChoice; c != nil && c.Name != "" && !slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Name == c.Name }) {
			r.ToolChoice = nil
		}
	}
}

// wrap returns the document of a count request of Bedrock. It contains that of a request for
// a response in base64.
func wrap(b adapter.Body) (adapter.Body, error) {
	var s strings.Builder
	s.WriteString(`{"input":{"invokeModel":{"body":"`)
	e := base64.NewEncoder(base64.StdEncoding, &s)
	if _, err := io.Copy(e, b.Reader()); err != nil {
		return nil, err
	}
	_ = e.Close() // writes to memory
	s.WriteString(`"}}}`)
	w := new(jsonwire.Writer)
	w.Raw(s.String())
	return adapter.Written{Writer: w}, nil
}
