package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
)

// The media types that the end of a link shows.
var endings = [...][2]string{
	{".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".gif", "image/gif"},
	{".webp", "image/webp"},
}

// linkedDocument is what a document is that a link leads to, where nobody says
// otherwise: other formats take no others by link.
const linkedDocument = "application/pdf"

// source returns s, another source instead, or nil if it cannot be said. A
// source that is nil stays: the encoder tells.
func (c *converter) source(s content.Source, usual string) content.Source {
	c.path.Push("source")
	defer c.path.Pop()
	switch s := s.(type) {
	case *content.Base64:
		if s == nil {
			break
		}
		c.foreign(s.Extra)
		if s.MediaType == "" {
			return c.detected(s)
		}
	case *content.PlainText:
		if s != nil {
			c.foreign(s.Extra)
		}
	case *content.URL:
		if s == nil {
			break
		}
		c.foreign(s.Extra)
		if s.MediaType != "" || usual == "" || c.Own(s.Extra) != nil || c.target.FilesInlined && !c.from.ForwardLinks {
			break
		}
		copied := *s
		if copied.MediaType = usual; usual != linkedDocument {
			c.lost(guessedType, "media_type")
			copied.MediaType = guess(s.URL, usual)
		}
		return &copied
	case *content.File:
		if s == nil {
			break
		}
		c.foreign(s.Extra)
		if !c.target.FilesInlined && !strings.Contains(s.ID, "://") && s.MediaType == "" {
			c.lost(foreignFile)
			return nil
		}
	}
	return s
}

// detected says the type of a file that only its bytes tell.
func (c *converter) detected(s *content.Base64) content.Source {
	var lead [content.SniffLen]byte
	n, _ := s.DecodePrefix(lead[:])
	t := content.DetectMediaType(lead[:n])
	if t == "" {
		return s
	}
	c.lost(detectedType, "media_type")
	copied := *s
	copied.MediaType = t
	return &copied
}

// IsStored reports whether the id of a [content.File] is that of a file which
// this format's vendor keeps.
func IsStored(id string) bool { return isStored(id) }

// IsSupportedMediaType reports whether the vendor takes files of a media type.
func IsSupportedMediaType(mediaType string) bool {
	for _, prefix := range [...]string{"text/", "audio/", "video/"} {
		if strings.HasPrefix(mediaType, prefix) && len(mediaType) > len(prefix) {
			return true
		}
	}
	return slices.Contains(fileTypes, mediaType)
}

func guess(url, usual string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	for _, e := range endings {
		if strings.HasSuffix(strings.ToLower(url), e[0]) {
			return e[1]
		}
	}
	return usual
}
