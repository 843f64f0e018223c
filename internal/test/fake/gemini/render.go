package gemini

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// An answer is a turn of the script in the vendor's format.
type answer struct {
	server                         *Server
	request                        *call
	id                             uint32
	model, reason, details         string
	blocked                        string
	usage                          *fake.Usage
	response, candidate, usageOnly []fake.Member
	chunks                         []chunk
	split                          int
	calls                          int
	signs, thoughts                bool
	signedCall                     bool
	citations                      []string
}

// A chunk is the parts of one event, or another piece.
type chunk struct {
	parts []string
	text  string // the part in a whole response, where text is not split
	other fake.Piece
}

// answer returns the response of a turn to the request c.
func (s *Server) answer(c *call, id uint32, turn []fake.Piece) *answer {
	a := &answer{
		server: s, request: c, id: id, model: c.model, reason: "STOP", split: int(fake.Default),
		usage: &fake.Usage{Input: 10, Output: 5}, signs: c.family.signsCalls(),
		thoughts: c.thought.True("includeThoughts", "include_thoughts"),
	}
	for _, p := range turn {
		if !a.setting(p) {
			a.content(p)
		}
	}
	return a
}

// setting applies a piece that is not content and reports whether p is one.
func (a *answer) setting(p fake.Piece) bool {
	switch p := p.(type) {
	case fake.Stop:
		a.reason, a.details = p.Reason, p.Details
	case fake.Usage:
		a.usage = &p
	case fake.NoUsage:
		a.usage = nil
	case fake.Model:
		a.model = string(p)
	case fake.Split:
		a.split = int(p)
	case fake.Blocked:
		a.blocked = string(p)
	case fake.Member:
		switch p.On {
		case "candidate":
			a.candidate = append(a.candidate, p)
		case "usage":
			a.usageOnly = append(a.usageOnly, p)
		default:
			a.response = append(a.response, p)
		}
	default:
		return false
	}
	return true
}

func (a *answer) content(p fake.Piece) {
	switch p := p.(type) {
	case fake.Text:
		a.text(string(p), false)
	case fake.Cited:
		a.citations = append(a.citations, p.Citations...)
		a.text(p.Text, false)
	case fake.Thinking:
		if a.thoughts && p != "" {
			a.text(string(p), true)
		}
	case fake.Redacted: // the vendor has no redacted thinking
	case fake.ToolCall:
		a.whole1(a.call(p))
	case fake.Image:
		a.whole1(a.image(p))
	case fake.Raw:
		a.whole1(string(p))
	case fake.Together:
		var c chunk
		for _, inner := range p {
			call, ok := inner.(fake.ToolCall)
			if !ok {
				panic(fmt.Sprintf("fake: %T is not allowed in a chunk with calls", inner))
			}
			c.parts = append(c.parts, a.call(call))
		}
		c.text = strings.Join(c.parts, ",")
		a.chunks = append(a.chunks, c)
	default:
		a.chunks = append(a.chunks, chunk{other: p})
	}
}

// whole1 adds a chunk of one part that is not split.
func (a *answer) whole1(part string) {
	a.chunks = append(a.chunks, chunk{parts: []string{part}, text: part})
}

func textPart(s string, thought bool, signature string) string {
	mark := ""
	if thought {
		mark = "true"
	}
	return fake.Join("text", fake.Quote(s), "thought", mark, "thoughtSignature", fake.QuoteOr(signature, ""))
}

func (a *answer) text(s string, thought bool) {
	for i, t := range fake.Chunks(s, a.split, true) {
		c := chunk{parts: []string{textPart(t, thought, "")}}
		if i == 0 {
			c.text = textPart(s, thought, "")
		}
		a.chunks = append(a.chunks, c)
	}
}

// call renders a tool call. From the third family on, the first of a step is
// signed, generatecontent.md §6 rule 2.
func (a *answer) call(c fake.ToolCall) string {
	if c.Args == "" {
		c.Args = "{}"
	}
	if c.ID == "" && a.signs {
		c.ID = fmt.Sprintf("fc-%d-%d", a.id, a.calls)
	}
	a.calls++
	signature := ""
	if a.signs && !a.signedCall {
		a.signedCall = true
		signature = fake.Quote(sign(a.id, callIdentity(c.Name, canonicalText(c.Args))))
	}
	return fake.Join("functionCall", fake.Join("id", fake.QuoteOr(c.ID, ""), "name", fake.Quote(c.Name), "args", c.Args), "thoughtSignature", signature)
}

func (a *answer) image(p fake.Image) string {
	signature := ""
	if strings.Contains(a.request.model, "image") {
		signature = fake.Quote(sign(a.id, "image"))
	}
	return fake.Join("inlineData", fake.Join("mimeType", fake.Quote(p.MIME), "data", fake.Quote(p.Data)), "thoughtSignature", signature)
}

// usageJSON returns the usage, generatecontent.md §4.4; before the last chunk,
// only the prompt's counts.
func (a *answer) usageJSON(last bool) string {
	if a.usage == nil {
		return ""
	}
	u := *a.usage
	n := func(v int) string {
		if v == 0 {
			return ""
		}
		return strconv.Itoa(v)
	}
	prompt := u.Input + u.CacheRead + u.CacheWrite
	if !last {
		return fake.Join("promptTokenCount", n(prompt), "cachedContentTokenCount", n(u.CacheRead), "totalTokenCount", n(prompt))
	}
	members := []string{
		"promptTokenCount", n(prompt), "cachedContentTokenCount", n(u.CacheRead), "candidatesTokenCount", n(u.Output),
		"thoughtsTokenCount", n(u.Thinking), "toolUsePromptTokenCount", n(u.ToolPrompt),
		"totalTokenCount", n(prompt + u.Output + u.Thinking + u.ToolPrompt),
		"promptTokensDetails", fmt.Sprintf(`[{"modality":"TEXT","tokenCount":%d}]`, prompt),
	}
	return fake.Join(fake.With(members, a.usageOnly)...)
}

// document returns one GenerateContentResponse.
func (a *answer) document(parts []string, last bool) string {
	body := fake.Join("role", `"model"`)
	if len(parts) > 0 {
		body = fake.Join("parts", "["+strings.Join(parts, ",")+"]", "role", `"model"`)
	}
	candidate := []string{"content", body}
	if last {
		citations := ""
		if len(a.citations) > 0 {
			citations = fake.Join("citationSources", "["+strings.Join(a.citations, ",")+"]")
		}
		candidate = append(candidate, "finishReason", fake.QuoteOr(a.reason, ""), "finishMessage", fake.QuoteOr(a.details, ""),
			"citationMetadata", citations)
		candidate = fake.With(candidate, a.candidate)
	}
	candidate = append(candidate, "index", "0")
	members := []string{"candidates", "[" + fake.Join(candidate...) + "]"}
	if a.blocked != "" {
		members = []string{"promptFeedback", fake.Join("blockReason", fake.Quote(a.blocked))}
	}
	members = append(members, "usageMetadata", a.usageJSON(last),
		"modelVersion", fake.Quote(a.model), "responseId", fake.Quote(fmt.Sprintf("r-%08d", a.id)))
	return fake.Join(fake.With(members, a.response)...)
}

// closing returns the empty text part that ends a signed response without
// calls.
func (a *answer) closing() string {
	if a.signs && !a.signedCall {
		return textPart("", false, sign(a.id, "text"))
	}
	return textPart("", false, "")
}

// whole returns the response as one document. If it has no calls, its last text
// has the signature.
func (a *answer) whole() string {
	var parts []string
	last := -1
	for _, c := range a.chunks {
		if c.text == "" {
			continue
		}
		parts = append(parts, c.text)
		last = -1
		if strings.HasPrefix(c.text, `{"text":`) && !strings.Contains(c.text, `"thought":true}`) {
			last = len(parts) - 1
		}
	}
	if a.signs && !a.signedCall && last >= 0 {
		parts[last] = strings.TrimSuffix(parts[last], "}") + `,"thoughtSignature":` + fake.Quote(sign(a.id, "text")) + "}"
	}
	return a.document(parts, true)
}

// stream returns the response as server-sent events, each ended by two CR LF.
func (a *answer) stream() []fake.Step {
	return a.steps(func(_ int, doc string) string { return "data: " + doc + "\r\n\r\n" }, "")
}

// array returns the response as the pieces of a JSON array, generatecontent.md
// §1.5.
func (a *answer) array() []fake.Step {
	return a.steps(func(i int, doc string) string {
		if i == 0 {
			return "[" + doc
		}
		return ",\r\n" + doc
	}, "\r\n]")
}

func (a *answer) steps(frame func(i int, doc string) string, end string) []fake.Step {
	var steps []fake.Step
	sent := 0
	add := func(doc string) {
		steps = append(steps, fake.Frame(frame(sent, doc)))
		sent++
	}
	for _, c := range a.chunks {
		switch p := c.other.(type) {
		case nil:
			add(a.document(c.parts, false))
		case fake.Ping:
			steps = append(steps, fake.Frame("\r\n\r\n"))
		case fake.Event:
			add(p.Data)
		case fake.Wire:
			steps = append(steps, fake.Frame(string(p)))
		case fake.Status:
			// The vendor writes the bare object and ends the stream,
			// generatecontent.md §5.5 form B.
			return append(steps, fake.Frame(envelope(statusRefusal(p))))
		case fake.Disruption:
			steps = append(steps, fake.Step{Disruption: p})
		}
	}
	add(a.document([]string{a.closing()}, true))
	if end != "" {
		steps = append(steps, fake.Frame(end))
	}
	return steps
}
