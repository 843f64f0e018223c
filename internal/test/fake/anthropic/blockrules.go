package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/polywire/polywire/internal/test/fake"
)

var blockRules = []rule{
	{"document-assistant", "§1.2 [docs]", 0, func(a *ask) string {
		return a.blocks(func(t turn, b block) string {
			if a.latest() && t.role == "assistant" && b.kind() == "document" {
				return b.at + ": `document` blocks are not permitted in assistant messages"
			}
			return ""
		})
	}},
	{"citations-user", "§1.2 [docs]", 0, func(a *ask) string {
		return a.blocks(func(t turn, b block) string {
			if !a.latest() || t.role != "user" {
				return ""
			}
			return walk(b.at, b.Node, func(at string, n *fake.Node) string {
				if n.Text("type") == "text" && len(n.List("citations")) > 0 {
					return at + ".citations: not permitted in user messages"
				}
				return ""
			})
		})
	}},
	{"search-citations", "§3.1 [docs]", 0, func(a *ask) string {
		on, off := 0, 0
		_ = a.allBlocks(func(_ string, n *fake.Node) string {
			if n.Text("type") == "search_result" {
				if n.Get("citations").True("enabled") {
					on++
				} else {
					off++
				}
			}
			return ""
		})
		if on > 0 && off > 0 {
			return "search_result: citations must be enabled for all search results or for none"
		}
		return ""
	}},
	{"citations-format", "§3.3 [docs]", 0, func(a *ask) string {
		if a.doc.Get("output_config").Get("format") == nil {
			return ""
		}
		return a.allBlocks(func(_ string, n *fake.Node) string {
			if n.Get("citations").True("enabled") {
				return "output_config.format: citations cannot be used with structured outputs"
			}
			return ""
		})
	}},
	{"image", "§3.2, §7 [report]", 0, imageRule},
	{"image-count", "§7 [docs]", 0, func(a *ask) string {
		count, limit := 0, 600
		if a.model.known() && a.model.version < 46 {
			limit = 100
		}
		_ = a.allBlocks(func(_ string, n *fake.Node) string {
			if n.Text("type") == "image" {
				count++
			}
			return ""
		})
		if count > limit {
			return fmt.Sprintf("messages: too many images: %d > %d", count, limit)
		}
		return ""
	}},
	{"toolset-result", "§3.1 [docs]", 0, func(a *ask) string {
		sets := map[string]string{}
		return a.blocks(func(_ turn, b block) string {
			if b.kind() == "tool_use" {
				sets[b.Text("id")] = b.Text("toolset_name")
			}
			if b.kind() == "tool_result" && b.Text("toolset_name") != sets[b.Text("tool_use_id")] {
				return b.at + ".tool_result.toolset_name: must be that of the call"
			}
			return ""
		})
	}},
}

// imageRule checks inline images against their limits and their declared type.
func imageRule(a *ask) string {
	return a.allBlocks(func(at string, n *fake.Node) string {
		src := n.Get("source")
		if n.Text("type") != "image" || src.Text("type") != "base64" {
			return ""
		}
		if len(src.Text("data")) > 10<<20 {
			return fmt.Sprintf("%s.image.source.base64: image exceeds 10 MB maximum: %d bytes > 10485760 bytes", at, len(src.Text("data")))
		}
		data, _ := base64.StdEncoding.DecodeString(src.Text("data"))
		if kind := sniff(data); kind != "" && kind != src.Text("media_type") {
			return at + ".image.source.base64: The image was specified using the " + src.Text("media_type") + " media type, but the image appears to be a " + kind + " image"
		}
		if len(data) >= 24 && sniff(data) == "image/png" {
			w, h := binary.BigEndian.Uint32(data[16:]), binary.BigEndian.Uint32(data[20:])
			if max(w, h) > 8000 {
				return at + ".image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"
			}
		}
		return ""
	})
}

// sniff returns the media type of an image from its first bytes, or "".
func sniff(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("GIF8")):
		return "image/gif"
	case len(b) > 12 && bytes.HasPrefix(b, []byte("RIFF")) && string(b[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}
