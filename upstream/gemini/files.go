package gemini

import (
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

// A checker looks for files that the vendor cannot be sent.
type checker struct {
	faults content.Faults
	path   []string
}

// checkFiles returns what is wrong with the files of a request to which those
// that could be had were put in. Paths are neutral.
func checkFiles(n *upstream.Request) error {
	var c checker
	for i := range n.Turns {
		c.parts(n.Turns[i].Parts, "turns", strconv.Itoa(i), "parts")
	}
	return c.faults.Err()
}

func (c *checker) parts(list []content.Part, steps ...string) {
	depth := len(c.path)
	c.path = append(c.path, steps...)
	for i, p := range list {
		if content.IsNil(p) {
			continue
		}
		switch p := p.(type) {
		case *content.Image:
			c.source(p.Source, i)
		case *content.Document:
			c.source(p.Source, i)
		case *content.Media:
			c.source(p.Source, i)
		case *content.ToolResult:
			c.parts(p.Parts, strconv.Itoa(i), "parts")
		}
	}
	c.path = c.path[:depth]
}

func (c *checker) source(s content.Source, i int) {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			c.inline(s, i)
		}
	case *content.File:
		if s != nil && !generatecontent.IsStored(s.ID) {
			c.fault(content.CodeUnsupported, i, "the file is not kept by the vendor of the model; send it as base64")
		}
	case *content.Parts:
		if s != nil {
			c.parts(s.Parts, strconv.Itoa(i), "source", "parts")
		}
	}
}

// inline checks that the type of a file is known, and one that the vendor takes.
func (c *checker) inline(s *content.Base64, i int) {
	kind := s.MediaType
	if kind == "" {
		var lead [content.MediaLead]byte
		n, _ := s.Lead(lead[:])
		kind = content.DetectMediaType(lead[:n])
	}
	switch {
	case kind == "":
		c.fault(content.CodeMedia, i, "the media type of the file is not known")
	case !generatecontent.IsWelcome(kind):
		c.fault(content.CodeUnsupported, i, "the model does not take files of this media type")
	}
}

func (c *checker) fault(code content.Code, i int, text string) {
	at := ""
	for _, s := range c.path {
		at += s + "."
	}
	c.faults.Add(code, at+strconv.Itoa(i)+".source", text)
}

// absent reports whether a request has files that would have to be had from
// elsewhere to be sent.
func absent(n *upstream.Request) bool {
	for i := range n.Turns {
		if absentIn(n.Turns[i].Parts, n.PassLinks) {
			return true
		}
	}
	return false
}

func absentIn(list []content.Part, pass bool) bool {
	for _, p := range list {
		if content.IsNil(p) {
			continue
		}
		var source content.Source
		var parts []content.Part
		switch p := p.(type) {
		case *content.Image:
			source = p.Source
		case *content.Document:
			source = p.Source
		case *content.Media:
			source = p.Source
		case *content.ToolResult:
			parts = p.Parts
		}
		switch s := source.(type) {
		case *content.URL:
			if s != nil && !pass {
				return true
			}
		case *content.File:
			if s != nil && !generatecontent.IsStored(s.ID) {
				return true
			}
		case *content.Parts:
			if s != nil {
				parts = s.Parts
			}
		}
		if absentIn(parts, pass) {
			return true
		}
	}
	return false
}
