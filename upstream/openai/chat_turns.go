package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
)

// messages writes the system text and the turns.
func (e *chatEncoder) messages() {
	before := e.w.Len()
	e.systemText()
	turns := e.req.Turns
	e.lastStart, e.lastEnd = adapter.LastMessage(turns)
	expired := foreign.FindExpired(turns)
	for i := 0; i < len(turns); {
		t := &turns[i]
		switch t.Role {
		case content.RoleAssistant:
			end := i + 1
			for end < len(turns) && turns[end].Role == content.RoleAssistant {
				end++
			}
			e.assistantTurns(i, end)
			i = end
			continue
		case content.RoleSystem:
			if !expired.Contains(i, t) {
				e.systemTurn(i)
			}
		default:
			e.userTurn(i)
		}
		i++
	}
	if n := len(turns); n > 0 && turns[n-1].Role == content.RoleAssistant && prefilled(turns[n-1].Parts) {
		e.addLoss(lossPrefill, partPath{turn: n - 1, part: len(turns[n-1].Parts) - 1})
	}
	e.checkLastTurn(e.w.Len() > before || len(e.pieces) > 0)
	e.flushUser()
}

// hasResult reports whether there is a tool result.
func hasResult(parts []content.Part) bool {
	return slices.ContainsFunc(parts, func(p content.Part) bool { _, ok := p.(*content.ToolResult); return ok })
}

// systemText writes the system text as the first message.
func (e *chatEncoder) systemText() {
	e.growPieces(len(e.req.System))
	for i, p := range e.req.System {
		at := partPath{list: "system", part: i}
		e.systemPart(p, at)
	}
	if e.systemSuffix != "" {
		e.pieces = append(e.pieces, piece{text: e.systemSuffix})
	}
	e.flush(e.systemRole())
}

// systemTurn writes a system turn within the conversation.
func (e *chatEncoder) systemTurn(i int) {
	t := &e.req.Turns[i]
	e.checkTurnExtra(t.Extra, i)
	keepRole := e.target.isOpenAI
	if keepRole {
		e.flushUser()
	} else if len(t.Parts) > 0 {
		e.log.Add(lossSystemTurn, partPath{turn: i}.turnPath())
	}
	e.growPieces(len(t.Parts))
	for j, p := range t.Parts {
		e.systemPart(p, partPath{turn: i, part: j})
	}
	if keepRole {
		e.flush(e.systemRole())
	}
}

// userTurn adds a user turn. Results of tool calls have been written before, except for
// orphans.
func (e *chatEncoder) userTurn(i int) {
	t := &e.req.Turns[i]
	e.checkTurnExtra(t.Extra, i)
	if e.target.isOpenAI && !e.followsAssistant(i) {
		e.flushUser() // one message per turn
	}
	e.growPieces(len(t.Parts))
	before, firstLoss := len(e.pieces), len(e.log.Losses)
	for j, p := range t.Parts {
		at := partPath{turn: i, part: j}
		r, ok := p.(*content.ToolResult)
		if !ok || r == nil {
			e.part(p, at)
			continue
		}
		if known := e.results[r.ID]; known != nil && known.part == r && known.written {
			if len(e.pieces) > before {
				e.addLoss(lossResultOrder, at)
			}
			continue
		}
		e.orphanResult(r, at)
	}
	if len(e.pieces) == before && !hasResult(t.Parts) {
		e.emptyTurn(i, firstLoss)
	} else {
		e.lastEncoded = e.lastEncoded || i >= e.lastStart
	}
}

// followsAssistant reports whether a user turn follows an assistant turn. Then it
// shares a message with the files of tool results.
func (e *chatEncoder) followsAssistant(i int) bool {
	return i > 0 && e.req.Turns[i-1].Role == content.RoleAssistant
}

// orphanResult adds a result without a tool call as text.
func (e *chatEncoder) orphanResult(r *content.ToolResult, at partPath) {
	e.addLoss(lossResultOrphan, at)
	head := "Result of a tool"
	if r.Name != "" {
		head = "Result of the tool " + r.Name
	}
	e.pieces = append(e.pieces, piece{text: head + ":"})
	text, media := e.resultText(r, at)
	if text != "" {
		e.pieces = append(e.pieces, piece{text: text})
	}
	e.pieces = append(e.pieces, media...)
}

// flushUser writes the pieces as a user message.
func (e *chatEncoder) flushUser() { e.flush("user") }

// flush writes the pieces as a message.
func (e *chatEncoder) flush(role string) {
	if len(e.pieces) == 0 {
		return
	}
	w := e.w
	w.BeginObject()
	e.member("role", role)
	w.Name("content")
	e.writeContent(e.pieces)
	w.EndObject()
	e.resetPieces()
}

// writeContent writes pieces, as a string if possible: all servers accept strings.
func (e *chatEncoder) writeContent(list []piece) {
	plain := true
	for i := range list {
		plain = plain && list[i].kind == pieceText && !list[i].cacheMark
	}
	switch {
	case plain && len(list) == 1:
		e.w.String(list[0].text)
	case plain && !e.target.isOpenAI:
		e.joinPieces(list)
	default:
		e.w.BeginArray()
		for i := range list {
			e.writePiece(&list[i])
		}
		e.w.EndArray()
	}
}

// A toolCall is a tool call of the conversation.
type toolCall struct {
	part *content.ToolUse
	at   partPath
}

// A toolResult is the result of a tool call.
type toolResult struct {
	part    *content.ToolResult
	at      partPath
	written bool
}

// A replay is the thinking that a message with tool calls returns to the server.
type replay struct {
	member     string // of the text, or ""
	text       []string
	lists      [2][]string // raw elements of thinkingLists
	encrypted  []string    // chunks of encrypted_content, sent in addition to the text
	fromBlocks bool        // from thinking blocks; the signatures of calls then repeat it
	open       bool        // the last text may continue in the next block
}

// An assistantMessage is a sequence of assistant turns, written as one message.
type assistantMessage struct {
	replay
	hasCalls    bool
	needsBreak  bool   // the next text follows a tool call and needs an empty line
	carriedText string // text of carried thinking that has not appeared as a block yet
}

// assistantTurns writes the turns from i to end, all of the assistant, as one message,
// followed by the results of its tool calls. Clients that store each chunk of a stream
// as a turn send such runs.
func (e *chatEncoder) assistantTurns(i, end int) {
	e.flushUser()
	e.calls, e.texts = e.calls[:0], e.texts[:0]
	run := e.req.Turns[i:end]
	msg := assistantMessage{hasCalls: slices.ContainsFunc(run, hasToolUse)}
	if msg.hasCalls {
		msg.carriedText = carriedThinkingText(run)
	}
	for k := range run {
		e.checkTurnExtra(run[k].Extra, i+k)
		if len(run[k].Parts) == 0 {
			e.emptyTurn(i+k, 0)
		}
		e.assistantParts(run[k].Parts, i+k, &msg)
	}
	if len(e.texts) == 0 && len(e.calls) == 0 {
		return
	}
	w := e.w
	w.BeginObject()
	e.member("role", "assistant")
	w.Name("content")
	if len(e.texts) > 0 {
		w.JoinedString(e.texts...)
	} else {
		w.Null()
	}
	if len(e.calls) > 0 {
		e.writeThinking(&msg.replay)
		w.Name("tool_calls")
		w.BeginArray()
		for k := range e.calls {
			e.toolCall(&e.calls[k])
		}
		w.EndArray()
	}
	w.EndObject()
	if len(e.calls) > 0 {
		e.collectResults(end)
		e.toolMessages()
	}
}

// assistantParts sorts the parts of a turn into texts, tool calls, and thinking to
// return with the calls.
func (e *chatEncoder) assistantParts(parts []content.Part, turn int, msg *assistantMessage) {
	for j, p := range parts {
		at := partPath{turn: turn, part: j}
		if content.IsNil(p) {
			e.addViolation(content.CodeValue, at, "", "the part must not be nil")
			continue
		}
		if _, ok := p.(*content.Thinking); !ok {
			msg.open = false
		}
		switch p := p.(type) {
		case *content.Text:
			if e.assistantText(p, at, msg.needsBreak) {
				msg.needsBreak = false
			}
			if msg.hasCalls {
				e.recallThinking(p.Signature, at, &msg.replay)
			}
		case *content.ToolUse:
			e.checkPartExtra(p.Extra, at)
			if p.Cache != nil {
				e.addLoss(lossCache, at)
			}
			e.checkSignature(p.Signature, at)
			e.recallThinking(p.Signature, at, &msg.replay)
			e.calls = append(e.calls, toolCall{p, at})
			msg.needsBreak = len(e.texts) > 0
		case *content.Thinking:
			e.checkPartExtra(p.Extra, at)
			if msg.hasCalls && e.replayThinking(p, &msg.replay) {
				msg.fromBlocks = true
				continue
			}
			if rest, ok := strings.CutPrefix(msg.carriedText, p.Text); ok && p.Text != "" && p.Signature.Data == "" {
				msg.carriedText = rest // the same thinking is carried in a signature
				continue
			}
			e.addLoss(lossThinking, at)
		case *content.Image, *content.Document, *content.Media:
			e.addLoss(lossAssistantFile, at)
		default:
			e.unsupportedPart(p, at)
		}
	}
}

func hasToolUse(t content.Turn) bool {
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool {
		_, ok := p.(*content.ToolUse)
		return ok
	})
}

// assistantText adds a text of the assistant. It reports whether the text is not empty.
func (e *chatEncoder) assistantText(p *content.Text, at partPath, needsBreak bool) bool {
	e.checkPartExtra(p.Extra, at)
	e.checkSignature(p.Signature, at)
	if len(p.Citations) > 0 {
		e.addLoss(lossCitations, at)
	}
	if p.Cache != nil {
		e.addLoss(lossCache, at)
	}
	if p.Text == "" {
		if p.Signature.Data == "" {
			e.addLoss(lossEmptyText, at)
		}
		return false
	}
	if len(e.calls) > 0 {
		e.addLoss(lossCallOrder, at)
	}
	if needsBreak {
		e.texts = append(e.texts, "\n\n")
	}
	e.texts = append(e.texts, p.Text)
	return true
}

// recallThinking adds the thinking that a signature carries.
func (e *chatEncoder) recallThinking(s content.Signature, at partPath, out *replay) {
	if s.Format != ChatFormat || s.Data == "" || out.fromBlocks {
		return
	}
	list, _ := envelope.DecodeThinking(ChatFormat, s.Data)
	for _, t := range list {
		if !e.replayThinking(t.Thinking, out) {
			e.addLoss(lossThinking, at)
		}
	}
}

// carriedThinkingText returns the text of the thinking that the signatures of a run
// carry.
func carriedThinkingText(run []content.Turn) string {
	var b strings.Builder
	for k := range run {
		for _, p := range run[k].Parts {
			if s := partfield.SignatureOf(p); s.Format == ChatFormat {
				list, _ := envelope.DecodeThinking(ChatFormat, s.Data)
				for _, t := range list {
					b.WriteString(t.Text)
				}
			}
		}
	}
	return b.String()
}

// replayThinking adds thinking of this server in the form in which the server needs it.
// The signature is the name of its member, or an object of members to send unchanged.
// It returns false if the thinking cannot be returned.
func (e *chatEncoder) replayThinking(p *content.Thinking, out *replay) bool {
	s := p.Signature
	if s.Data == "" {
		s = p.Redacted
	}
	member := e.forcedThinkingMember()
	switch {
	case e.target.isOpenAI && member == "" || member == "-" || e.target.refusals.has(fieldReasoning):
		return false
	case s.Format != ChatFormat:
		if member == "" || p.Text == "" {
			return false
		}
	case member == "" && strings.HasPrefix(s.Data, "{"):
		added, hasText := out.addObject(s.Data)
		if hasText || !added {
			return added
		}
		out.member = "reasoning_content"
	case member == "" && isThinkingMember(s.Data):
		out.member = s.Data
	case member == "":
		return false
	}
	if p.Text != "" {
		if len(out.text) > 0 && !out.open {
			out.text = append(out.text, "\n\n")
		}
		out.text, out.open = append(out.text, p.Text), s.Data == "" // signed thinking is complete
	}
	return true
}

// forcedThinkingMember returns the member that all messages with tool calls must have,
// "-" for none, or "" if it depends on the thinking.
func (e *chatEncoder) forcedThinkingMember() string {
	if name := e.target.dialect.Reasoning; name != "" {
		return name
	}
	return e.target.refusals.thinkingMember
}

// writeThinking writes the members that return thinking.
func (e *chatEncoder) writeThinking(b *replay) {
	name := b.member
	if member := e.forcedThinkingMember(); member != "" && member != "-" {
		name = member
		if len(b.text) == 0 {
			e.missingThinking(e.calls[0].at)
		}
	}
	if name != "" && !e.target.refusals.has(fieldReasoning) {
		e.sent |= fieldReasoning
		e.w.Name(name)
		e.w.JoinedString(b.text...)
	}
	if len(b.encrypted) > 0 && !e.target.refusals.has(fieldReasoning) {
		e.sent |= fieldReasoning
		e.w.Name(encryptedName)
		e.w.JoinedString(b.encrypted...)
	}
	for i, list := range b.lists {
		if len(list) > 0 && !e.target.refusals.has(fieldReasoning) {
			e.sent |= fieldReasoning
			e.w.Name(thinkingLists[i])
			e.w.BeginArray()
			for _, element := range list {
				e.w.Raw(element)
			}
			e.w.EndArray()
		}
	}
}

// missingThinking adds a loss, once per conversation, for tool calls without thinking.
// Models also call tools without thinking, so the severity depends on whether the
// server has asked for it.
func (e *chatEncoder) missingThinking(at partPath) {
	r := lossThinkingEmpty
	if e.target.refusals.thinkingMember != "" {
		r = lossThinkingMissing
	}
	if !e.missingReported {
		e.missingReported = true
		e.addLoss(r, at)
	}
}

// isThinkingMember reports whether thinking may be returned in a member. The name comes
// from a client and must not be that of another member.
func isThinkingMember(name string) bool {
	switch name {
	case "reasoning_content", "reasoning", "reasoning_text":
		return true
	}
	return false
}

// thinkingLists are the members that return lists of thinking.
var thinkingLists = [2]string{detailsName, blocksName}

// addObject adds the thinking in an object of members. It reports whether there is any,
// and whether it includes the text. Other members are ignored, since the object comes
// from a client.
func (b *replay) addObject(object string) (added, hasText bool) {
	doc, err := jsonwire.Parse(object, jsonwire.Limits{})
	if err != nil {
		return false, false
	}
	defer doc.Close()
	hasText = true
	if s := doc.Root().Get(encryptedName).Str(); s != "" {
		b.encrypted, added, hasText = append(b.encrypted, s), true, false
	}
	for i, name := range thinkingLists {
		for _, v := range doc.Root().Get(name).Elems() {
			b.lists[i] = append(b.lists[i], v.Raw())
			added = true
		}
	}
	return added, hasText
}

// toolCallID returns the id to send for a tool call.
func (e *chatEncoder) toolCallID(c *toolCall) string {
	id := c.part.ID
	if !e.target.dialect.ShortIDs && !e.target.refusals.shortIDs || len(id) == shortIDLen && shortIDRule.Valid(id) {
		return id
	}
	if !e.idsRenamed {
		e.idsRenamed = true
		e.log.Add(legal.RenamedCall, c.at.String()+".id")
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:shortIDLen]
}

// shortIDLen is the length of ids that some servers require.
const shortIDLen = 9

var shortIDRule = legal.Rule{}

// toolCall writes a tool call.
func (e *chatEncoder) toolCall(c *toolCall) {
	w, p := e.w, c.part
	w.BeginObject()
	e.member("id", e.toolCallID(c))
	e.member("type", "function")
	w.Name("function")
	w.BeginObject()
	e.member("name", p.Name)
	e.member("arguments", e.toolInput(p.Input, c.at))
	w.EndObject()
	w.EndObject()
}

// writePiece writes an element of content.
func (e *chatEncoder) writePiece(p *piece) {
	w := e.w
	w.BeginObject()
	switch p.kind {
	case pieceText:
		e.member("type", "text")
		e.member("text", p.text)
	case pieceImage:
		e.member("type", "image_url")
		w.Name("image_url")
		w.BeginObject()
		w.Name("url")
		if p.text != "" {
			w.String(p.text)
		} else {
			w.JoinedString("data:", p.mediaType, ";base64,", p.data)
		}
		if p.detail != "" {
			e.member("detail", p.detail)
		}
		w.EndObject()
	case pieceAudio:
		e.member("type", "input_audio")
		w.Name("input_audio")
		w.BeginObject()
		e.member("data", p.data)
		e.member("format", p.mediaType)
		w.EndObject()
	case pieceFile:
		e.member("type", "file")
		w.Name("file")
		w.BeginObject()
		e.member("filename", p.name)
		w.Name("file_data")
		w.JoinedString("data:", p.mediaType, ";base64,", p.data)
		w.EndObject()
	}
	if p.cacheMark {
		w.Name("prompt_cache_breakpoint")
		w.Raw(`{"mode":"explicit"}`)
	}
	w.EndObject()
}

// part adds a part of a user turn.
func (e *chatEncoder) part(p content.Part, at partPath) {
	if content.IsNil(p) {
		e.addViolation(content.CodeValue, at, "", "the part must not be nil")
		return
	}
	switch p := p.(type) {
	case *content.Text:
		e.text(p, at)
	case *content.Image:
		e.checkSignature(p.Signature, at)
		e.fileLabel(p, p.Source, at)
		e.image(p, at)
	case *content.Document:
		e.checkPartExtra(p.Extra, at)
		e.checkSignature(p.Signature, at)
		e.document(p, at)
	case *content.Media:
		e.checkPartExtra(p.Extra, at)
		e.checkSignature(p.Signature, at)
		e.fileLabel(p, p.Source, at)
		e.media(p, at)
	case *content.SearchResult:
		e.searchResult(p, at, e.part)
	case *content.ToolUse:
		e.addViolation(content.CodeOrder, at, "", "a tool call must be in an assistant turn")
	case *content.ToolResult:
		e.addViolation(content.CodeOrder, at, "", "a tool result cannot contain another tool result")
	default:
		e.unsupportedPart(p, at)
	}
}

// image adds an image, as a URL if that is allowed.
func (e *chatEncoder) image(p *content.Image, at partPath) {
	if !e.readsFiles(at, "an image", "") {
		return
	}
	detail := e.fileDetail(p.Extra, at)
	if u, ok := p.Source.(*content.URL); ok && u != nil && e.req.ForwardLinks && e.target.acceptsLinks() && isWebURL(u.URL) {
		e.pieces = append(e.pieces, piece{kind: pieceImage, text: u.URL, detail: detail, cacheMark: e.acceptsCacheMark(p.Cache, at)})
		return
	}
	s := e.base64Source(p.Source, at, true)
	if s == nil {
		return
	}
	kind := media.Canonical(s.MediaType)
	switch kind {
	case "image/png", "image/jpeg", "image/webp", "image/gif":
	default:
		if e.target.isOpenAI || !strings.HasPrefix(kind, "image/") {
			e.unreadableFile(at, kind, "", content.CodeMedia, ".source.media_type", "Chat Completions accepts only image/png, image/jpeg, image/webp and image/gif")
			return
		}
	}
	e.pieces = append(e.pieces, piece{kind: pieceImage, mediaType: kind, data: toStandardBase64(s.Data), detail: detail, cacheMark: e.acceptsCacheMark(p.Cache, at)})
}

// media adds audio.
func (e *chatEncoder) media(p *content.Media, at partPath) {
	if !e.readsFiles(at, "audio or video", "") {
		return
	}
	s := e.base64Source(p.Source, at, false)
	if s == nil {
		return
	}
	format := ""
	switch s.MediaType {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		format = "wav"
	case "audio/mp3", "audio/mpeg":
		format = "mp3"
	default:
		e.unreadableFile(at, s.MediaType, "", content.CodeUnsupported, ".source.media_type", "Chat Completions accepts audio only as WAV or MP3, and no video")
		return
	}
	e.pieces = append(e.pieces, piece{kind: pieceAudio, mediaType: format, data: toStandardBase64(s.Data), cacheMark: e.acceptsCacheMark(p.Cache, at)})
}

// document adds a document: a PDF as a file, others as text.
func (e *chatEncoder) document(p *content.Document, at partPath) {
	if p.Citations {
		e.addLoss(lossDocumentCitations, at)
	}
	before := len(e.pieces)
	mark := e.acceptsCacheMark(p.Cache, at)
	if !e.inlineDocument(p, at, e.part) {
		e.documentFile(p, at)
	}
	if mark && len(e.pieces) > before {
		e.pieces[len(e.pieces)-1].cacheMark = true
	}
}

// documentFile adds a document whose bytes are in base64 or remote.
func (e *chatEncoder) documentFile(p *content.Document, at partPath) {
	if e.unreadableRemoteFile(p, at) {
		return
	}
	s := e.base64Source(p.Source, at, false)
	switch {
	case s == nil:
	case s.MediaType == typePDF:
		if !e.target.dialect.TextOnly && !e.target.acceptsFiles() {
			e.unreadableFile(at, typePDF, e.fileName(p, at), content.CodeUnsupported, ".source", "the server does not accept PDFs; send the text")
			return
		}
		if !e.readsFiles(at, typePDF, p.Title) {
			return
		}
		e.documentHeading(p, at, false)
		if e.defaultDetail != "" {
			e.addLoss(lossDetail, at)
		}
		name := e.fileName(p, at)
		if name == "" {
			name = "document.pdf"
		}
		e.pieces = append(e.pieces, piece{kind: pieceFile, mediaType: s.MediaType, data: toStandardBase64(s.Data), name: name})
	case codec.IsText(s.MediaType):
		e.base64TextDocument(p, s, at)
	default:
		e.unreadableFile(at, s.MediaType, e.fileName(p, at), content.CodeUnsupported, ".source.media_type", "Chat Completions accepts only PDFs and text documents")
	}
}
