package gemini

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// get is [fake.Node.Get] with both spellings of the name.
func get(n *fake.Node, name string) *fake.Node { return n.Get(name, snake(name)) }

func list(n *fake.Node, name string) []*fake.Node { return n.List(name, snake(name)) }

func str(n *fake.Node, name string) string { return n.Text(name, snake(name)) }

func num(n *fake.Node, name string) (float64, bool) { return n.Num(name, snake(name)) }

// A rule is a check beyond the parser. check returns the vendor's error text;
// one that begins with "." gets the validator's preamble.
type rule struct {
	name, ref string // ref is the section of generatecontent.md, unless another document is named
	counts    bool   // applies to countTokens too
	check     func(*call) string
}

func rules() []rule {
	var all []rule
	for _, part := range [][]rule{contentRules, configRules, toolRules, orderRules, signatureRules} {
		all = append(all, part...)
	}
	return all
}

// checkRules returns the first violation.
func checkRules(c *call) *refusal {
	for _, r := range rules() {
		if c.method == "countTokens" && !r.counts {
			continue
		}
		message := r.check(c)
		if message == "" {
			continue
		}
		if strings.HasPrefix(message, ".") {
			message = "* GenerateContentRequest" + message + "\n"
		}
		return invalid(r.name, message)
	}
	return nil
}

// A family describes what a model accepts.
type family struct {
	version float64 // 0 is unknown
	kind    string  // "pro", "flash", "flash-lite", "image"
}

var familyName = regexp.MustCompile(`^gemini-(\d+(?:\.\d+)?)-(pro|flash-lite|flash)`)

func parseFamily(name string) family {
	m := familyName.FindStringSubmatch(name)
	if m == nil {
		return family{}
	}
	f := family{kind: m[2]}
	_, _ = fmt.Sscan(m[1], &f.version)
	return f
}

// signsCalls reports whether the model is of the third family or later, which sign
// their calls. Unknown names count as new.
func (f family) signsCalls() bool { return f.version == 0 || f.version >= 3 }

var contentRules = []rule{
	{"count", "§1.6", true, func(c *call) string {
		if c.method == "countTokens" && get(c.root, "generateContentRequest") != nil && get(c.root, "contents") != nil {
			return "Only one of contents and generate_content_request can be set."
		}
		return ""
	}},
	{"contents", "§7.2", true, func(c *call) string {
		if len(c.contents) == 0 {
			return ".contents: contents is not specified"
		}
		return ""
	}},
	{"role", "§2 rule 12", true, func(c *call) string {
		for _, n := range c.contents {
			role := str(n, "role")
			if role == "" && c.server.opts.Vertex != "" {
				return "Please use a valid role: user, model."
			}
			if !slices.Contains([]string{"", "user", "model", "function"}, role) && !(c.server.opts.Lenient && role == "tool") {
				return "Please use a valid role: user, model."
			}
		}
		return ""
	}},
	{"parts", "§2 rule 10", true, func(c *call) string {
		for i, n := range c.contents {
			if len(list(n, "parts")) == 0 {
				return fmt.Sprintf(".contents[%d].parts: contents.parts must not be empty.", i)
			}
		}
		return ""
	}},
	{"part", "§2 rule 10", true, func(c *call) string {
		return c.parts(func(at string, p *fake.Node) string {
			has := slices.ContainsFunc(dataMembers, func(m string) bool {
				v := get(p, m)
				// An empty text is data too: nine recordings, §10.
				return v != nil
			})
			if !has {
				return at + ".data: required oneof field 'data' must have one initialized field"
			}
			return ""
		})
	}},
	{"system", "§3.1", true, func(c *call) string {
		sys := get(c.doc, "systemInstruction")
		if sys != nil && len(list(sys, "parts")) == 0 {
			return ".system_instruction.parts: must not be empty"
		}
		for i, p := range list(sys, "parts") {
			if str(p, "text") == "" {
				return fmt.Sprintf(".system_instruction.parts[%d].data: required oneof field 'data' must have one initialized field", i)
			}
		}
		return ""
	}},
	{"media", "§3.2, §3.10", true, func(c *call) string {
		total := 0
		return c.parts(func(at string, p *fake.Node) string {
			for _, holder := range append([]*fake.Node{p}, list(get(p, "functionResponse"), "parts")...) {
				total += len(str(get(holder, "inlineData"), "data"))
				if complaint := mediaComplaint(at, holder, c.server.opts.Vertex != ""); complaint != "" {
					return complaint
				}
			}
			if total > 100<<20 {
				return "Request payload size exceeds the limit: 104857600 bytes."
			}
			return ""
		})
	}},
	{"video", "§3.2", true, func(c *call) string {
		return c.parts(func(at string, p *fake.Node) string {
			meta := get(p, "videoMetadata")
			mime := str(get(p, "inlineData"), "mimeType") + str(get(p, "fileData"), "mimeType")
			if fps, set := num(meta, "fps"); meta != nil && (!strings.HasPrefix(mime, "video/") || set && (fps <= 0 || fps > 24)) {
				return at + ".video_metadata: only for video, with fps in (0, 24]"
			}
			return ""
		})
	}},
	{"cached", "§3.1", false, func(c *call) string {
		if str(c.doc, "cachedContent") != "" && (get(c.doc, "systemInstruction") != nil || get(c.doc, "tools") != nil || get(c.doc, "toolConfig") != nil) {
			return "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent request."
		}
		return ""
	}},
	{"safety", "§3.6", false, func(c *call) string {
		var seen []string
		for i, s := range list(c.doc, "safetySettings") {
			category := strings.ToUpper(str(s, "category"))
			if !slices.Contains(harms, category) {
				return fmt.Sprintf(".safety_settings[%d]: element predicate failed: $.category in (%s)", i, strings.Join(harms, ", "))
			}
			if slices.Contains(seen, category) {
				return fmt.Sprintf(".safety_settings: duplicate category %s", category)
			}
			seen = append(seen, category)
		}
		return ""
	}},
}

// parts calls f for each part of the contents until f returns a complaint.
func (c *call) parts(f func(at string, p *fake.Node) string) string {
	for i, n := range c.contents {
		for k, p := range list(n, "parts") {
			if s := f(fmt.Sprintf(".contents[%d].parts[%d]", i, k), p); s != "" {
				return s
			}
		}
	}
	return ""
}

// mediaTypes are the media types of generatecontent.md §3.10; a trailing "/"
// means all subtypes.
var mediaTypes = strings.Fields(`image/png image/jpeg image/jpg image/webp image/heic image/heif image/gif image/avif
audio/ video/ text/plain text/html text/css text/javascript text/csv text/markdown text/xml text/rtf text/x-python
text/x-typescript application/pdf application/json application/rtf application/x-javascript application/x-python-code
application/x-ipynb+json`)

func mediaComplaint(at string, p *fake.Node, vertex bool) string {
	if file := get(p, "fileData"); file != nil && str(file, "fileUri") == "" {
		return at + ".file_data.file_uri: must not be empty"
	}
	if uri := str(get(p, "fileData"), "fileUri"); vertex && (strings.HasPrefix(uri, "files/") || strings.Contains(uri, "generativelanguage.googleapis.com/")) {
		return "Cannot fetch content from the provided URL: " + uri
	}
	blob := get(p, "inlineData")
	if blob == nil {
		return ""
	}
	mime, _, _ := strings.Cut(str(blob, "mimeType"), ";")
	if !slices.ContainsFunc(mediaTypes, func(t string) bool {
		return t == mime || strings.HasSuffix(t, "/") && strings.HasPrefix(mime, t)
	}) {
		return "Unsupported MIME type: " + mime
	}
	if str(blob, "data") == "" {
		return at + ".inline_data.data: must not be empty"
	}
	return ""
}
