package generatecontent

import (
	"errors"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// For adapters of this module.
//
// PlaceholderSignature is the signature that the vendor documents for a tool call without a known
// one. It is not sent as base64, because Vertex rejects that.
const PlaceholderSignature = "skip_thought_signature_validator"

// For adapters of this module.
//
// BaseTarget returns what a server accepts that supports the whole format.
func BaseTarget() lower.Target { return baseTarget }

// For adapters of this module.
//
// LoweredRequest returns a request in this format for which [lower.Lower] has found nothing, or
// nothing more, that has to be changed.
func LoweredRequest(n *lower.Request) *Request {
	r := requestFromExtra(n.Extra)
	r.jsonParsed, r.literals = n.Parsed, n.Literals
	r.Model, r.Contents, r.Tools, r.ServiceTier = n.Model, n.Turns, n.Tools, n.ServiceTier
	if s := r.SystemInstruction; s != nil {
		s.Parts = n.System
	} else if len(n.System) > 0 {
		r.SystemInstruction = &Instruction{Parts: n.System}
	}
	if c := &n.Choice; c.Mode != "" || len(c.Names) > 0 || c.Extra != nil {
		if r.ToolConfig == nil {
			r.ToolConfig = &ToolConfig{}
		}
		r.ToolConfig.FunctionCalling = &FunctionCalling{
			Mode: strings.ToUpper(string(c.Mode)), AllowedFunctionNames: c.Names, Extra: c.Extra,
		}
	}
	g := r.GenerationConfig
	if g == nil {
		g = &GenerationConfig{}
	}
	g.fromNeutral(&n.Request)
	switch set := g.isSet(); {
	case set:
		r.GenerationConfig = g
	case g.unmappedMembers() == nil:
		r.GenerationConfig = nil
	}
	return r
}

// For adapters of this module.
//
// DecodeFrame is [DecodeResponse] without the copy of body. It returns a complete frame.
func DecodeFrame(body string, lim content.Limits) (*upstream.Frame, error) {
	if err := codec.CheckBody("generatecontent", len(body), lim); err != nil {
		return nil, err
	}
	d := newDecoder(lim)
	d.whole = true
	defer d.doc.Close()
	if err := d.read(body); err != nil {
		return nil, err
	}
	if len(d.states) == 0 && !d.blocked {
		return nil, codec.BadGateway(errors.New("generatecontent: the response has no candidates"))
	}
	for i := range d.states {
		d.endCall(i, false) // of a response without a finishReason
	}
	for i := range d.states {
		if !d.states[i].finished && !d.blocked {
			d.deviates = true // command-line agents need a finishReason
			d.lose(codec.ResponseNoReason, response.CandidatePath(i, "stop"))
			break
		}
	}
	f := &upstream.Frame{Complete: true}
	d.fill(f)
	return f, nil
}
