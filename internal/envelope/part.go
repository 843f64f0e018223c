package envelope

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// Of returns the signature of a part, the zero one if it has none.
func Of(p content.Part) content.Signature {
	if content.IsNil(p) {
		return content.Signature{}
	}
	switch p := p.(type) {
	case *content.Text:
		return p.Signature
	case *content.Image:
		return p.Signature
	case *content.Document:
		return p.Signature
	case *content.Media:
		return p.Signature
	case *content.Thinking:
		return p.Signature
	case *content.ToolUse:
		return p.Signature
	case *content.ServerToolUse:
		return p.Signature
	case *content.ServerToolResult:
		return p.Signature
	}
	return content.Signature{}
}

// With returns a copy of a part that has another signature, or the part itself
// if it is of a kind that has none.
func With(p content.Part, s content.Signature) content.Part {
	switch p := p.(type) {
	case *content.Text:
		c := *p
		c.Signature = s
		return &c
	case *content.Image:
		c := *p
		c.Signature = s
		return &c
	case *content.Document:
		c := *p
		c.Signature = s
		return &c
	case *content.Media:
		c := *p
		c.Signature = s
		return &c
	case *content.Thinking:
		c := *p
		c.Signature = s
		return &c
	case *content.ToolUse:
		c := *p
		c.Signature = s
		return &c
	case *content.ServerToolUse:
		c := *p
		c.Signature = s
		return &c
	case *content.ServerToolResult:
		c := *p
		c.Signature = s
		return &c
	}
	return p
}

// What fronts lose of signatures. Damaged is of requests, the others are of
// answers.
var (
	Damaged = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossDropped,
		Reason: "the carried signature did not come back as it was sent"}
	Nobodys = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "a signature of no known format, or where this format has none"}
	TooLarge = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "a signature of another format that is too large to be carried"}
	TooLate = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "a signature of another format that came too late to be carried"}
	TwoVendors = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "thoughts of two vendors in one answer cannot be carried together"}
)

// Foreign reports whether a signature is one that a front of the format own
// seals: of another format, which has a name.
func Foreign(s content.Signature, own content.Format) bool {
	return s.Data != "" && s.Format != own && nameable(s.Format)
}

// Broken returns what is left of an envelope that is damaged: a signature of no
// format, which every vendor takes for another's.
func Broken(s content.Signature) content.Signature { return content.Signature{Data: s.Data} }

// Turns opens the parts of turns, in their order. open gets the index of the turn
// and a part. It returns the part itself if there is
// nothing to be opened, else another one instead, and whether what it found is
// damaged. Parts stand where they stood; lists with another part in them are
// copies, and so is that of the turns then.
func Turns(turns []content.Turn, open func(turn int, p content.Part) (q content.Part, damaged bool)) (list []content.Turn, changed bool, lost []content.Loss) {
	list = turns
	for i := range turns {
		own := false
		for j, p := range turns[i].Parts {
			q, damaged := open(i, p)
			if q == p {
				continue
			}
			if !changed {
				changed, list = true, slices.Clone(turns)
			}
			if !own {
				own, list[i].Parts = true, slices.Clone(turns[i].Parts)
			}
			list[i].Parts[j] = q
			if damaged {
				lost = append(lost, Damaged.At("turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(j)+".signature"))
			}
		}
	}
	return list, changed, lost
}
