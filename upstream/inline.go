package upstream

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
)

// Inline returns r with the files that it names by link or id put in: links as
// [content.Base64], a document of plain text as [content.PlainText]. It is for
// upstreams that send a request on to a vendor. r itself is not changed; if
// nothing has to be put in, it is what is returned, else a copy that shares all
// that stays and has no Wire.
//
// With takesLinks, for a vendor that fetches links itself, they stay if
// ForwardLinks is set. Files that are [content.ErrUnresolved] stay in any case: the
// vendor may know them, or the upstream refuses them. What cannot be had is told
// as one error, whose faults have neutral paths, "turns.0.parts.1.source".
func (r *Request) Inline(ctx context.Context, takesLinks bool) (*Request, error) {
	in := inliner{req: r, ctx: ctx, keep: takesLinks && r.ForwardLinks}
	system, changed := in.parts("system", r.System)
	turns := r.Turns
	own := false
	for i := range r.Turns {
		list, other := in.parts("turns."+strconv.Itoa(i)+".parts", r.Turns[i].Parts)
		if !other {
			continue
		}
		if !own {
			own, turns = true, slices.Clone(turns)
		}
		turns[i].Parts = list
	}
	if err := in.err(); err != nil {
		return nil, err
	}
	if !changed && !own {
		return r, nil
	}
	c := *r
	c.System, c.Turns, c.Wire = system, turns, nil
	return &c, nil
}

// An inliner walks through the parts of a request.
type inliner struct {
	req    *Request
	ctx    context.Context
	keep   bool // links
	faults content.ViolationList
	failed error
	known  map[string]string // what was encoded, by what was named
}

// err returns what went wrong; a fault of the request comes first.
func (in *inliner) err() error {
	if err := in.faults.Err(); err != nil {
		return err
	}
	return in.failed
}

// parts returns the list with the files put in, and whether it is another one.
func (in *inliner) parts(path string, list []content.Part) ([]content.Part, bool) {
	own := false
	for i, p := range list {
		q := in.part(path, i, p)
		if q == p {
			continue
		}
		if !own {
			own, list = true, slices.Clone(list)
		}
		list[i] = q
	}
	return list, own
}

// part returns p, or a copy with its files put in.
func (in *inliner) part(path string, i int, p content.Part) content.Part {
	if content.IsNil(p) {
		return p
	}
	at := func() string { return path + "." + strconv.Itoa(i) }
	switch p := p.(type) {
	case *content.Image:
		if s := in.source(at, p.Source, false); s != p.Source {
			c := *p
			c.Source = s
			return &c
		}
	case *content.Document:
		if s := in.source(at, p.Source, true); s != p.Source {
			c := *p
			c.Source = s
			return &c
		}
	case *content.Media:
		if s := in.source(at, p.Source, false); s != p.Source {
			c := *p
			c.Source = s
			return &c
		}
	case *content.ToolResult:
		if list, other := in.parts(at()+".parts", p.Parts); other {
			c := *p
			c.Parts = list
			return &c
		}
	}
	return p
}

// source returns s, or what it stands for.
func (in *inliner) source(at func() string, s content.Source, document bool) content.Source {
	var extra *content.Extra
	name := ""
	switch s := s.(type) {
	case *content.URL:
		if s == nil || in.keep {
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
		in.fault(at, s, err)
		return s
	}
	if document && b.MediaType == "text/plain" {
		return &content.PlainText{Text: string(b.Data), MediaType: b.MediaType, Extra: extra}
	}
	data, ok := in.known[name]
	if !ok {
		data = encode(b.Data)
		if in.known == nil {
			in.known = make(map[string]string)
		}
		in.known[name] = data
	}
	return &content.Base64{MediaType: b.MediaType, Data: data, Extra: extra}
}

// fault notes why a file cannot be had.
func (in *inliner) fault(at func() string, s content.Source, err error) {
	if _, file := s.(*content.File); file && errors.Is(err, content.ErrUnresolved) {
		return
	}
	list, _ := content.Violations(content.AtPath(err, at()+".source"))
	if len(list) == 0 && in.failed == nil {
		in.failed = err
	}
	for _, e := range list {
		in.faults.Add(e.Code, e.Path, e.Text)
	}
}

// encode returns data in base64, in memory that is allocated once.
func encode(data []byte) string {
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
