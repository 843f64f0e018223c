package chatcompletions

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// A wholeResponse collects the messages of a response that is not streamed. It implements
// [messageWriter].
type wholeResponse struct {
	blocks   responseEncoder
	messages []sentMessage // parallel to Candidates
}

// A sentMessage is what a choice of a whole response has.
type sentMessage struct {
	texts       [fieldReasoning + 1]strings.Builder
	calls       []*content.ToolUse
	annotations jsonwire.Writer // the elements of the list
	cited       bool            // there are annotations
	images      []string        // URLs
	members     []string        // JSON objects
	logprobs    string          // JSON; empty: null
	tokens      []byte          // of logprobs, as elements of a list
}

// message returns the message of a choice. k is its position in Candidates.
func (w *wholeResponse) message(k int) *sentMessage {
	for len(w.messages) <= k {
		w.messages = append(w.messages, sentMessage{})
		w.messages[len(w.messages)-1].annotations.BeginArray()
	}
	return &w.messages[k]
}

func (w *wholeResponse) writeText(k int, f textField, text string) {
	if !utf8.ValidString(text) { // halves of a character in two parts do not become one
		text = string([]rune(text))
	}
	w.message(k).texts[f].WriteString(text)
}

func (w *wholeResponse) startCall(k, _ int, t *content.ToolUse) {
	m := w.message(k)
	m.calls = append(m.calls, t) // a copy
}

func (w *wholeResponse) writeInput(k, call int, freeform bool, text string) {
	t := w.message(k).calls[call]
	if freeform {
		t.Text += text
	} else {
		t.Input += text
	}
}

func (w *wholeResponse) writeCitation(k int, c *content.Citation, from, to int64) {
	m := w.message(k)
	m.cited = true
	writeAnnotation(&m.annotations, c, from, to)
}

func (w *wholeResponse) writeImage(k int, url string) {
	m := w.message(k)
	m.images = append(m.images, url)
}

func (w *wholeResponse) writeMembers(k int, json string) {
	m := w.message(k)
	m.members = append(m.members, json)
}

func (w *wholeResponse) writeLogprobs(k int, json string) { w.message(k).logprobs = json }

func (w *wholeResponse) addLogprobs(k int, tokens []byte) {
	m := w.message(k)
	if len(m.tokens) > 0 {
		m.tokens = append(m.tokens, ',')
	}
	m.tokens = append(m.tokens, tokens...)
	m.logprobs = logprobsOf(m.tokens)
}

// logprobsOf returns the log probabilities of a choice with tokens, the elements of a list.
func logprobsOf(tokens []byte) string { return `{"content":[` + string(tokens) + `],"refusal":null}` }

// A responseHead is what a response has if the upstream does not know it.
type responseHead struct {
	id, model string
	created   int64 // Unix time in seconds
}

// convertResponse returns the document for a response to the conversation in turns, and its
// losses. Ids that it makes differ from those in turns. A nil r is an empty response.
func convertResponse(r *upstream.Response, turns []content.Turn, client expectation, head responseHead) (*jsonwire.Writer, []content.Loss) {
	if r == nil {
		r = new(upstream.Response)
	}
	w := new(wholeResponse)
	s := &w.blocks
	s.init(w, nil, turns)
	s.expectation = client
	s.Start, s.Usage, s.Own = r.Start, r.Usage, r.Stop.Format == Format
	s.addMembers(r.Start.Extra, 0)
	all := append([]upstream.Candidate{{Parts: r.Parts, Stop: r.Stop, Extra: r.Extra}}, r.MoreCandidates...)
	if len(all) > maxChoices {
		s.LoseAt("candidates", lossManyChoices)
		all = all[:maxChoices]
	}
	for i := range all {
		k := s.Candidate(i)
		s.choice(k)
		s.Candidates[k].Stop = all[i].Stop
		s.Room = envelope.MaxIDSize
		s.Parts(i, all[i].Parts)
		s.addMembers(all[i].Extra, k)
	}
	s.finish()
	doc := new(jsonwire.Writer)
	doc.Grow(1 << 10)
	w.write(doc, head)
	return doc, s.Losses()
}

// write writes the document.
func (w *wholeResponse) write(doc *jsonwire.Writer, head responseHead) {
	s := &w.blocks
	doc.BeginObject()
	doc.Member("id", cmp.Or(s.Start.ID, head.id))
	doc.Member("object", "chat.completion")
	doc.IntMember("created", head.created)
	doc.Member("model", cmp.Or(s.Start.Model, head.model))
	doc.Array("choices")
	for k := range s.Candidates {
		doc.BeginObject()
		doc.IntMember("index", int64(s.Candidates[k].Index))
		m := w.message(k)
		doc.Name("message")
		w.writeMessage(doc, m)
		doc.RawMember("logprobs", cmp.Or(m.logprobs, "null"))
		doc.Member("finish_reason", s.finishReason(k))
		doc.EndObject()
	}
	doc.EndArray()
	doc.Name("usage")
	writeUsage(doc, &s.Usage)
	s.reportCounts()
	for _, m := range s.members {
		doc.RawMember(m.Name, m.JSON)
	}
	if !s.Own && s.members.Get("system_fingerprint") == "" { // some clients require it
		doc.RawMember("system_fingerprint", "null")
	}
	doc.EndObject()
}

// writeMessage writes the message of a choice. Like the vendor, it writes a content and a refusal
// that are empty as null.
func (w *wholeResponse) writeMessage(doc *jsonwire.Writer, m *sentMessage) {
	doc.BeginObject()
	doc.Member("role", "assistant")
	doc.NullableMember("content", m.texts[fieldContent].String())
	name := "reasoning_content"
	if w.blocks.reasoning {
		name = "reasoning"
	}
	doc.OptMember(name, m.texts[fieldReasoning].String())
	switch {
	case len(m.calls) == 0:
	case w.blocks.functions:
		doc.Name("function_call")
		writeFunction(doc, m.calls[0])
	default:
		doc.Array("tool_calls")
		for _, t := range m.calls {
			writeCall(doc, t)
		}
		doc.EndArray()
	}
	doc.NullableMember("refusal", m.texts[fieldRefusal].String())
	m.annotations.EndArray()
	doc.RawMember("annotations", m.annotations.Text())
	if len(m.images) > 0 {
		doc.Array("images")
		for _, url := range m.images {
			doc.BeginObject()
			doc.Member("type", "image_url")
			doc.Object("image_url")
			doc.Member("url", url)
			doc.EndObject()
			doc.EndObject()
		}
		doc.EndArray()
	}
	for _, json := range m.members {
		doc.Members(json)
	}
	doc.EndObject()
}

// writeCall writes a tool call.
func writeCall(doc *jsonwire.Writer, t *content.ToolUse) {
	doc.BeginObject()
	doc.Member("id", t.ID)
	doc.Name("type")
	if t.Freeform {
		doc.String("custom")
		doc.Object("custom")
		doc.Member("name", t.Name)
		doc.Member("input", t.Text)
		doc.EndObject()
	} else {
		doc.String("function")
		doc.Name("function")
		writeFunction(doc, t)
	}
	doc.EndObject()
}

// writeFunction writes the name and the arguments of a call.
func writeFunction(doc *jsonwire.Writer, t *content.ToolUse) {
	doc.BeginObject()
	doc.Member("name", t.Name)
	doc.Member("arguments", t.Input)
	doc.EndObject()
}

// writeAnnotation writes a citation of characters of the content.
func writeAnnotation(w *jsonwire.Writer, c *content.Citation, from, to int64) {
	w.BeginObject()
	w.Member("type", "url_citation")
	w.Object("url_citation")
	w.IntMember("start_index", from)
	w.IntMember("end_index", to)
	w.Member("url", c.URL)
	w.Member("title", c.Title)
	w.EndObject()
	w.EndObject()
}

// writeUsage writes the token usage. The prompt includes tokens of caches, and the completion
// includes thinking.
func writeUsage(w *jsonwire.Writer, u *content.Usage) {
	prompt, completion := u.Prompt(), u.Completion()
	w.BeginObject()
	w.IntMember("prompt_tokens", prompt)
	w.IntMember("completion_tokens", completion)
	w.IntMember("total_tokens", prompt+completion)
	w.Object("prompt_tokens_details")
	w.IntMember("cached_tokens", u.CacheRead)
	if n := u.CacheWrite + u.CacheWrite1h; n != 0 {
		w.IntMember("cache_write_tokens", n)
	}
	writeAudio(w, u, "prompt")
	w.EndObject()
	w.Object("completion_tokens_details")
	w.IntMember("reasoning_tokens", u.Thinking)
	writeAudio(w, u, "output")
	w.EndObject()
	w.EndObject()
}

// writeAudio writes the tokens of audio in a count.
func writeAudio(w *jsonwire.Writer, u *content.Usage, kind string) {
	for _, m := range u.Modalities {
		if m.Kind == kind && m.Modality == "audio" {
			w.IntMember("audio_tokens", m.Tokens)
			return
		}
	}
}

// reportCounts reports a loss if the usage has counts without a member in this format.
func (s *responseEncoder) reportCounts() {
	if openaiformat.HasOtherCounts(&s.Usage, Format, true) {
		s.LoseAt("usage", lossUsageCounts)
	}
}
