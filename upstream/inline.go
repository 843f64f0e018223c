package upstream

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/violation"
)

// Inline returns r with links and file ids replaced by the files: as [content.Base64],
// or as [content.PlainText] for a plain text document. It is for adapters. r is not
// changed. If nothing is replaced, Inline returns r; otherwise it returns a copy that
// shares unchanged values with r. No adapter sends its Wire, which only converts paths: see
// [Request.Path].
//
// If r.ForwardLinks is set, the links for which keep returns true are kept, for vendors
// that fetch links themselves. keep gets the part with the link; nil keeps none. File ids
// for which Load returns [content.ErrUnresolved] are always kept.
//
// If files are not available, the error contains a [*content.Violation] for each, with a
// neutral path such as "turns.0.parts.1.source". An error of the Resolver that is not a
// violation concerns the server and not the request, such as that of a store that fails.
// Inline returns the first such error unchanged, unless there are violations.
func (r *Request) Inline(ctx context.Context, keep func(p content.Part, link *content.URL) bool) (*Request, error) {
	if !r.ForwardLinks {
		keep = nil
	}
	in := inliner{req: r, ctx: ctx, keep: keep}
	system, changed := in.parts("system", r.System)
	turns, own := partfield.MapTurns(r.Turns, func(i int, parts []content.Part) ([]content.Part, bool) {
		return in.parts("turns."+strconv.Itoa(i)+".parts", parts)
	})
	if err := in.err(); err != nil {
		return nil, err
	}
	if !changed && !own {
		return r, nil
	}
	c := *r
	c.System, c.Turns, c.Wire = system, turns, document.Of(r.Wire).Paths().Wire()
	return &c, nil
}

// An inliner replaces the sources of a request.
type inliner struct {
	req        *Request
	ctx        context.Context
	keep       func(content.Part, *content.URL) bool // nil keeps no links
	violations violation.List
	otherErr   error             // first error that is not a violation
	encoded    map[string]string // base64 data by source, because a file may be used several times
}

// err returns the violations or, if there are none, otherErr.
func (in *inliner) err() error {
	if err := in.violations.Err(); err != nil {
		return err
	}
	return in.otherErr
}

// parts returns list with replaced sources, and whether it is a changed copy.
func (in *inliner) parts(path string, list []content.Part) ([]content.Part, bool) {
	return partfield.Map(list, func(i int, p content.Part) content.Part { return in.part(path, i, p) })
}

// part returns p, or a copy of p with replaced sources.
func (in *inliner) part(path string, i int, p content.Part) content.Part {
	at := func() string { return path + "." + strconv.Itoa(i) }
	if r, ok := p.(*content.ToolResult); ok && r != nil {
		list, other := in.parts(at()+".parts", r.Parts)
		if !other {
			return p
		}
		c := *r
		c.Parts = list
		return &c
	}
	from := partfield.SourceOf(p)
	if s := in.source(at, from, p); s != from {
		return partfield.WithSource(p, s)
	}
	return p
}

// source returns s, the source of p, or what replaces it.
func (in *inliner) source(at func() string, s content.Source, p content.Part) content.Source {
	var extra *content.Extra
	name := ""
	switch s := s.(type) { // other kinds contain their data
	case *content.URL:
		if s == nil || in.keep != nil && in.keep(p, s) {
			return s
		}
		extra, name = s.Extra, "url "+s.URL
	case *content.File:
		if s == nil {
			return s
		}
		extra, name = s.Extra, "file "+s.ID
	case *content.Parts:
		if s == nil {
			return s
		}
		list, other := in.parts(at()+".source.parts", s.Parts)
		if !other {
			return s
		}
		return &content.Parts{Parts: list, Extra: s.Extra}
	default:
		return s
	}
	b, err := in.req.Load(in.ctx, s)
	if err != nil {
		in.addError(at, s, err)
		return s
	}
	if _, document := p.(*content.Document); document && b.MediaType == "text/plain" {
		return &content.PlainText{Text: string(b.Data), MediaType: b.MediaType, Extra: extra}
	}
	data, ok := in.encoded[name]
	if !ok {
		data = encodeBase64(b.Data)
		if in.encoded == nil {
			in.encoded = make(map[string]string)
		}
		in.encoded[name] = data
	}
	return &content.Base64{MediaType: b.MediaType, Data: data, Extra: extra}
}

// addError records why a file is not available.
func (in *inliner) addError(at func() string, s content.Source, err error) {
	if _, file := s.(*content.File); file && errors.Is(err, content.ErrUnresolved) {
		return
	}
	list, _ := content.Violations(content.AtPath(err, at()+".source"))
	if len(list) == 0 && in.otherErr == nil {
		in.otherErr = err
	}
	for _, e := range list {
		in.violations.Add(e.Code, e.Path, e.Text)
	}
}

// encodeBase64 returns data in base64 with a single allocation.
func encodeBase64(data []byte) string {
	var b strings.Builder
	b.Grow(base64.StdEncoding.EncodedLen(len(data)))
	const piece = 3 << 10
	var dst [piece / 3 * 4]byte
	for len(data) > 0 {
		n := min(piece, len(data))
		base64.StdEncoding.Encode(dst[:], data[:n])
		b.Write(dst[:base64.StdEncoding.EncodedLen(n)])
		data = data[n:]
	}
	return b.String()
}
