package chatcompletions

import (
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
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
	w.write(doc, head)
	return doc, loss.Unique(s.Losses())
}

// write writes the document.
func (w *wholeResponse) write(doc *jsonwire.Writer, head responseHead) {
	s := &w.blocks
	if s.Start.ID != "" {
		head.id = s.Start.ID
	}
	if s.Start.Model != "" {
		head.model = s.Start.Model
	}
	doc.BeginObject()
	doc.Name("id")
	doc.String(head.id)
	doc.Name("object")
	doc.String("chat.completion")
	doc.Name("created")
	doc.Int(head.created)
	doc.Name("model")
	doc.String(head.model)
	doc.Name("choices")
	doc.BeginArray()
	for k := range s.Candidates {
		doc.BeginObject()
		doc.Name("index")
		doc.Int(int64(s.Candidates[k].Index))
		m := w.message(k)
		doc.Name("message")
		w.writeMessage(doc, m)
		doc.Name("logprobs")
		nullable(doc, m.logprobs, doc.Raw)
		doc.Name("finish_reason")
		doc.String(s.finishReason(k))
		doc.EndObject()
	}
	doc.EndArray()
	doc.Name("usage")
	writeUsage(doc, &s.Usage)
	s.reportCounts()
	for _, m := range s.members {
		doc.Name(m.Name)
		doc.Raw(m.JSON)
	}
	doc.EndObject()
}

// writeMessage writes the message of a choice. Like the vendor, it writes a content and a refusal
// that are empty as null.
func (w *wholeResponse) writeMessage(doc *jsonwire.Writer, m *sentMessage) {
	doc.BeginObject()
	doc.Name("role")
	doc.String("assistant")
	doc.Name("content")
	nullable(doc, m.texts[fieldContent].String(), doc.String)
	if text := m.texts[fieldReasoning].String(); text != "" {
		doc.Name("reasoning_content")
		doc.String(text)
	}
	switch {
	case len(m.calls) == 0:
	case w.blocks.functions:
		doc.Name("function_call")
		writeFunction(doc, m.calls[0])
	default:
		doc.Name("tool_calls")
		doc.BeginArray()
		for _, t := range m.calls {
			writeCall(doc, t)
		}
		doc.EndArray()
	}
	doc.Name("refusal")
	nullable(doc, m.texts[fieldRefusal].String(), doc.String)
	doc.Name("annotations")
	m.annotations.EndArray()
	doc.Raw(m.annotations.Text())
	if len(m.images) > 0 {
		doc.Name("images")
		doc.BeginArray()
		for _, url := range m.images {
			doc.BeginObject()
			doc.Name("type")
			doc.String("image_url")
			doc.Name("image_url")
			doc.BeginObject()
			doc.Name("url")
			doc.String(url)
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

// nullable writes text with write, or null if it is empty.
func nullable(doc *jsonwire.Writer, text string, write func(string)) {
	if text == "" {
		doc.Null()
		return
	}
	write(text)
}

// writeCall writes a tool call.
func writeCall(doc *jsonwire.Writer, t *content.ToolUse) {
	doc.BeginObject()
	doc.Name("id")
	doc.String(t.ID)
	doc.Name("type")
	if t.Freeform {
		doc.String("custom")
		doc.Name("custom")
		doc.BeginObject()
		doc.Name("name")
		doc.String(t.Name)
		doc.Name("input")
		doc.String(t.Text)
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
	doc.Name("name")
	doc.String(t.Name)
	doc.Name("arguments")
	doc.String(t.Input)
	doc.EndObject()
}

// writeAnnotation writes a citation of characters of the content.
func writeAnnotation(w *jsonwire.Writer, c *content.Citation, from, to int64) {
	w.BeginObject()
	w.Name("type")
	w.String("url_citation")
	w.Name("url_citation")
	w.BeginObject()
	w.Name("start_index")
	w.Int(from)
	w.Name("end_index")
	w.Int(to)
	w.Name("url")
	w.String(c.URL)
	w.Name("title")
	w.String(c.Title)
	w.EndObject()
	w.EndObject()
}

// writeUsage writes the token usage. The prompt includes tokens of caches, and the completion
// includes thinking.
func writeUsage(w *jsonwire.Writer, u *content.Usage) {
	prompt, completion := u.Prompt(), u.Completion()
	w.BeginObject()
	w.Name("prompt_tokens")
	w.Int(prompt)
	w.Name("completion_tokens")
	w.Int(completion)
	w.Name("total_tokens")
	w.Int(prompt + completion)
	w.Name("prompt_tokens_details")
	w.BeginObject()
	w.Name("cached_tokens")
	w.Int(u.CacheRead)
	if n := u.CacheWrite + u.CacheWrite1h; n != 0 {
		w.Name("cache_write_tokens")
		w.Int(n)
	}
	writeAudio(w, u, "prompt")
	w.EndObject()
	w.Name("completion_tokens_details")
	w.BeginObject()
	w.Name("reasoning_tokens")
	w.Int(u.Thinking)
	writeAudio(w, u, "output")
	w.EndObject()
	w.EndObject()
}

// writeAudio writes the tokens of audio in a count.
func writeAudio(w *jsonwire.Writer, u *content.Usage, kind string) {
	for _, m := range u.Modalities {
		if m.Kind == kind && m.Modality == "audio" {
			w.Name("audio_tokens")
			w.Int(m.Tokens)
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
