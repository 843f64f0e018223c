package upstream

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/tokencount"
)

// EstimateTokens estimates the number of tokens in a request, for upstreams that cannot
// count them. It loads no files.
//
// The accuracy was measured on 484 samples of about 6 KB against a published tokenizer
// of the Messages vendor. Four fifths of the estimates were within 5 % for English
// prose, 10 % for program code and JSON, and 12 % for Chinese and Japanese; Russian was
// 10 to 29 % too low. Against a newer public tokenizer (o200k) the estimates were 0 to
// 20 % too high, and 13 to 40 % for Chinese and Japanese.
//
// The estimate of an image is the formula of the Messages vendor for its width and
// height, or the maximum of the formula if these are unknown. The estimate of a PDF is
// one token for each 24 bytes.
//
// The estimate excludes system turns of Messages that a later user turn clears
// (clear_at). It includes content that the request asks the vendor to clear
// (context_management).
func EstimateTokens(r *Request) int64 {
	n := estimateParts(r.System)
	clearedTurns := foreign.FindExpired(r.Turns)
	for i := range r.Turns {
		if !clearedTurns.Contains(i, &r.Turns[i]) {
			n += turnTokens + estimateParts(r.Turns[i].Parts)
		}
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		n += toolTokens + tokencount.Text(t.Name) + tokencount.Text(t.Description) +
			tokencount.Text(t.Input.JSON) + tokencount.Text(t.Output.JSON)
		if t.Grammar != nil {
			n += tokencount.Text(t.Grammar.Definition)
		}
		if t.Kind != "" {
			n += vendorToolTokens
		}
	}
	if len(r.Tools) > 0 {
		n += toolsOverhead
	}
	return n + tokencount.Text(r.Output.Schema.JSON)
}

// Tokens that a vendor's prompt template adds, rounded from the counts that the vendor
// documents.
const (
	turnTokens       = 4
	toolTokens       = 12
	toolsOverhead    = 300
	vendorToolTokens = 400 // description of a tool that the vendor defines
	blockTokens      = 3
)

func estimateParts(ps []content.Part) (n int64) {
	for _, p := range ps {
		n += estimatePart(p)
	}
	return n
}

func estimatePart(p content.Part) (n int64) {
	f := partfield.Of(p)
	if f.Parts != nil {
		n = estimateParts(*f.Parts)
	}
	for _, s := range f.Strings {
		switch {
		case s.At == nil, s.Role == partfield.Label, s.Role == partfield.JSON && f.Parts != nil:
		case s.Role == partfield.ID: // of a tool call or its result
			n += toolTokens
		default:
			n += tokencount.Text(*s.At)
		}
	}
	if f.Kind == partfield.Document || f.Kind == partfield.SearchResult {
		n += blockTokens
	}
	if f.Redacted != nil {
		n += int64(len(f.Redacted.Data) / 6)
	}
	if f.Source != nil {
		n += estimateSource(*f.Source, f.Kind == partfield.Image)
	}
	return n
}

func estimateSource(s content.Source, image bool) int64 {
	switch s := s.(type) { // other kinds are not available
	case *content.Base64:
		if s == nil {
			return 0
		}
		if !image {
			return media.File{Data: s.Data}.Size() / 24
		}
		if w, h := (media.File{Data: s.Data}).ImageSize(); w != 0 {
			return tokencount.Image(w, h)
		}
	case *content.PlainText:
		if s != nil {
			return tokencount.Text(s.Text)
		}
		return 0
	case *content.Parts:
		if s != nil {
			return estimateParts(s.Parts)
		}
		return 0
	}
	if image {
		return tokencount.MaxImageTokens
	}
	return unknownFileTokens
}

// unknownFileTokens is the estimate for a document that is not available: about 20
// pages.
const unknownFileTokens = 20 * 2500
