package openai

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/media"
)

// A runPart is a part of an assistant turn, or a carried item.
type runPart struct {
	content.Part
	at   partPath
	item string // the carried item, if it is one
}

// assistantTurns writes a run of assistant turns. first is the index of the first turn.
// The run is one response: clients that store each chunk of a stream as a turn send
// such runs.
func (e *responsesEncoder) assistantTurns(run []content.Turn, first int) {
	for i := range run {
		e.checkTurnExtra(run[i].Extra, first+i)
		if len(run[i].Parts) == 0 {
			e.emptyTurn(first+i, 0)
		}
	}
	e.collectParts(run, first)
	for k := range e.parts {
		e.assistantPart(&e.parts[k])
	}
	e.flushTexts()
	clear(e.parts)
	e.parts = e.parts[:0]
}

func (e *responsesEncoder) assistantPart(p *runPart) {
	at := p.at
	if p.item != "" {
		e.carryItem(p.item, at, false)
		return
	}
	if content.IsNil(p.Part) {
		e.addViolation(content.CodeValue, at, "", "the part must not be nil")
		return
	}
	switch q := p.Part.(type) {
	case *content.Text:
		e.assistantText(q, at)
	case *content.ToolUse:
		e.toolCall(q, at)
	case *content.Thinking:
		e.replayThinking(q, at)
	case *content.Image:
		e.generatedImage(q, at)
	case *content.Document, *content.Media:
		e.assistantFile(q, at)
	case *content.Unknown:
		if q.Format != ResponsesFormat {
			e.addLoss(lossVendorPart, at)
		} else if !e.carriedItems.has(q.Raw) {
			e.carryItem(q.Raw, at, true)
		}
	case *content.ServerToolUse:
		if q.Format != ResponsesFormat || !e.carriesID(q.ID) {
			e.addLoss(lossVendorPart, at)
		}
	case *content.ServerToolResult:
		if q.Format != ResponsesFormat || !e.carriesID(q.ID) {
			e.addLoss(lossVendorPart, at)
		}
	default:
		e.unsupportedPart(p.Part, at)
	}
}

// carriesID reports whether the current run carries an item with an id.
func (e *responsesEncoder) carriesID(id string) bool {
	if len(e.carriedIDs.list) == 0 {
		for _, item := range e.carriedItems.list {
			_ = e.itemDoc.Parse(item, jsonwire.Limits{}) // an invalid item has no id
			e.carriedIDs.add(e.itemDoc.Root().Get("id").Str())
			e.itemDoc.Close()
		}
	}
	return id != "" && e.carriedIDs.has(id)
}

// assistantText adds a text to the current message. Consecutive texts are one text,
// since clients may store the chunks of a stream as they are. The signature with the
// phase may be at each text of a message, or at an empty text after it.
func (e *responsesEncoder) assistantText(p *content.Text, at partPath) {
	e.checkPartExtra(p.Extra, at)
	phase := ""
	signed := p.Signature.Format == ResponsesFormat && p.Signature.Data != ""
	if signed && p.Signature.Data[0] == '{' {
		phase = e.phaseOf(p.Signature.Data)
	} else {
		e.checkSignature(p.Signature, at)
	}
	if len(p.Citations) > 0 {
		e.addLoss(lossResponsesCitations, at)
	}
	if p.Cache != nil {
		e.addLoss(lossCache, at)
	}
	switch {
	case p.Text != "":
		if e.phase != phase {
			e.flushTexts()
		}
		e.texts, e.phase = append(e.texts, p.Text), phase
	case phase != "":
		if e.phase == "" {
			e.phase = phase
		}
		e.flushTexts()
	case !signed:
		e.addLoss(lossEmptyText, at)
	}
}

// flushTexts writes the current texts as a message.
func (e *responsesEncoder) flushTexts() {
	phase := e.phase
	e.phase = ""
	if len(e.texts) == 0 {
		return
	}
	e.flushPending()
	w := e.w
	w.BeginObject()
	e.member("type", "message")
	e.member("role", "assistant")
	w.Name("content")
	w.JoinedString(e.texts...)
	if phase != "" {
		e.member("phase", phase)
	}
	w.EndObject()
	clear(e.texts)
	e.texts = e.texts[:0]
}

// toolCall writes a tool call.
func (e *responsesEncoder) toolCall(p *content.ToolUse, at partPath) {
	e.flushTexts()
	e.flushPending()
	if p.Extra != nil && p.Extra.Format != ResponsesFormat { // some members of this format are written below
		e.checkPartExtra(p.Extra, at)
	}
	e.checkSignature(p.Signature, at)
	if p.Cache != nil {
		e.addLoss(lossResponsesToolCache, at)
	}
	w := e.w
	w.BeginObject()
	e.member("type", "function_call")
	e.member("call_id", p.ID)
	e.member("name", p.Name)
	e.member("arguments", e.toolInput(p.Input, at))
	if x := codec.Own(p.Extra, ResponsesFormat); x != nil {
		_ = w.MembersExcept(x.JSON, func(name string) bool { return !slices.Contains(carriedCallMembers[:], name) }) // invalid JSON has no members
	}
	w.EndObject()
	e.openCalls = append(e.openCalls, toolCall{p, at})
}

// replayThinking adds the item in a thinking block of this vendor.
func (e *responsesEncoder) replayThinking(p *content.Thinking, at partPath) {
	e.checkPartExtra(p.Extra, at)
	s := p.Redacted
	if s.Data == "" {
		s = p.Signature
	}
	if s.Format == ResponsesFormat {
		e.carryItem(s.Data, at, false)
		return
	}
	if rest, ok := strings.CutPrefix(e.carriedText, p.Text); ok && s.Data == "" && p.Text != "" {
		e.carriedText = rest
		return // the same thinking is carried in a signature
	}
	e.addLoss(lossForeignThinking, at)
}

// generatedImage writes an image of an earlier response: as OpenAI's item if the
// signature has one, otherwise as a user message.
func (e *responsesEncoder) generatedImage(p *content.Image, at partPath) {
	e.flushTexts()
	e.checkPartExtra(p.Extra, at)
	s, b := p.Signature, (*content.Base64)(nil)
	if s.Format == ResponsesFormat {
		b, _ = p.Source.(*content.Base64)
	}
	if b == nil || e.itemDoc.Parse(s.Data, jsonwire.Limits{}) != nil {
		e.assistantFile(p, at)
		return
	}
	defer e.itemDoc.Close()
	root := e.itemDoc.Root()
	if !root.Get("type").Is("image_generation_call") {
		e.assistantFile(p, at)
		return
	}
	e.flushPending()
	w := e.w
	w.BeginObject()
	e.member("type", "image_generation_call")
	e.member("id", root.Get("id").Str())
	e.member("status", "completed")
	e.member("result", toStandardBase64(b.Data))
	w.EndObject()
}

// assistantFile writes a file of an earlier response as a user message.
func (e *responsesEncoder) assistantFile(p content.Part, at partPath) {
	e.flushTexts()
	e.dropPending()
	e.addLoss(lossResponsesAssistantFile, at)
	e.part(p, at)
	e.message("user")
}

// Items that only OpenAI can read are carried in thinking blocks: a reasoning item in
// the signature of its summary, or in a redacted block if it has no summary, and the
// items of built-in tools in redacted blocks. The data of such a signature is the item
// itself. The signature of a text is the phase of its message, {"phase":"commentary"};
// the signature of an image is its item.

// collectParts lists the parts of a run of assistant turns, and inserts the carried
// items. first is the index of the first turn.
func (e *responsesEncoder) collectParts(run []content.Turn, first int) {
	e.carriedItems.reset()
	e.carriedIDs.reset()
	e.carriedText, e.parts = "", e.parts[:0]
	var texts []string
	n := 0
	for i := range run {
		n += len(run[i].Parts)
		for _, p := range run[i].Parts {
			if t, ok := p.(*content.Thinking); ok && t != nil {
				if item := itemOf(t); item != "" {
					e.carriedItems.add(item)
				}
			}
		}
	}
	e.parts = slices.Grow(e.parts, n)
	insertFrom := 0 // the first place for items that the next part carries
	for i := range run {
		for j, p := range run[i].Parts {
			if p == envelope.Removed {
				continue
			}
			at := partPath{turn: first + i, part: j}
			s := carriedState(p)
			_, isText := p.(*content.Text)
			if isText || s == "" {
				e.parts = append(e.parts, runPart{Part: p, at: at})
			}
			if s != "" {
				texts = e.restoreItems(s, insertFrom, at, texts)
			}
			if !isText && s != "" {
				e.parts = append(e.parts, runPart{Part: p, at: at})
			}
			if _, isCall := p.(*content.ToolUse); isCall || s != "" {
				insertFrom = len(e.parts)
			}
		}
	}
	e.carriedText = strings.Join(texts, "")
}

// restoreItems inserts the items that a signature carries, except those that the
// client returned. The parts from index insertFrom on are the step that the items
// belong to. It appends the text of their thinking to texts.
func (e *responsesEncoder) restoreItems(s string, insertFrom int, at partPath, texts []string) []string {
	list, ok := envelope.DecodeThinking(ResponsesFormat, s)
	if !ok {
		e.addLoss(lossBrokenState, at)
	}
	var phase content.Signature // of the texts of the step
	var returned map[string]int // indexes in the step of the items that the client returned
	list = slices.DeleteFunc(list, func(s envelope.State) bool {
		if s.TextSignature {
			if e.phaseOf(s.Signature.Data) != "" {
				phase = s.Signature
			}
			return true
		}
		texts = append(texts, s.Text)
		item := itemOf(s.Thinking)
		switch {
		case item == "":
			return true
		case !e.carriedItems.has(item):
			e.carriedItems.add(item)
			return false
		case returned == nil:
			returned = indexItems(e.parts[insertFrom:])
		}
		_, ok := returned[item]
		return !ok
	})
	if len(list) > 0 {
		e.parts = envelope.Restore(e.parts[:insertFrom], slices.Clone(e.parts[insertFrom:]), list,
			func(s *envelope.State) int {
				if i, ok := returned[itemOf(s.Thinking)]; ok {
					return i
				}
				return -1
			},
			func(s *envelope.State) runPart { return runPart{item: itemOf(s.Thinking), at: at} })
	}
	if phase.Data != "" && !slices.ContainsFunc(e.parts[insertFrom:], hasPhase) {
		e.parts = append(e.parts, runPart{Part: &content.Text{Signature: phase}, at: at}) // see assistantText
	}
	return texts
}

// indexItems returns the indexes of the items among parts.
func indexItems(parts []runPart) map[string]int {
	indexes := make(map[string]int)
	for i := range parts {
		if t, ok := parts[i].Part.(*content.Thinking); ok && t != nil {
			indexes[itemOf(t)] = i
		}
	}
	return indexes
}

// hasPhase reports whether a part is a text that the client returned with its phase.
func hasPhase(p runPart) bool {
	t, ok := p.Part.(*content.Text)
	return ok && t != nil && t.Signature.Format == ResponsesFormat && strings.HasPrefix(t.Signature.Data, "{")
}

// itemOf returns the item in a thinking block, or "".
func itemOf(t *content.Thinking) string {
	for _, s := range [...]content.Signature{t.Redacted, t.Signature} {
		if s.Format == ResponsesFormat && strings.HasPrefix(s.Data, "{") {
			return s.Data
		}
	}
	return ""
}

// carriedState returns the signature of a tool call or text if it carries items, or "".
func carriedState(p content.Part) string {
	var s content.Signature
	switch p := p.(type) {
	case *content.ToolUse:
		if p != nil {
			s = p.Signature
		}
	case *content.Text:
		if p != nil {
			s = p.Signature
		}
	}
	if s.Format != ResponsesFormat || s.Data == "" || s.Data[0] == '{' {
		return ""
	}
	return s.Data
}

// carryItem writes a carried item, or keeps a reasoning item until the next item is
// written. If fromHost is false, a client returned the item and may have forged it.
func (e *responsesEncoder) carryItem(item string, at partPath, fromHost bool) {
	e.flushTexts()
	switch kind, ok := e.parseCarried(item); {
	case !ok:
		e.addLoss(lossBrokenState, at)
	case !fromHost && !e.isReplayable(kind):
		e.addLoss(lossUnrequestedItem, at)
	case kind == "reasoning" && (e.dropThinking || e.target.refusals.has(fieldReasoning)):
		e.addLoss(lossThinkingRefused, at)
	case kind == "reasoning":
		e.pending = append(e.pending, pendingItem{item, at})
	default:
		e.flushPending()
		e.w.Raw(item)
	}
}

// itemTools maps the kinds of items that clients may return to the tool that the
// request must have for that; "" means none. Such an item can only state that a tool
// was called and what it returned, as any tool result can. Items that add tools,
// approve calls, or return the results of the program's own tools are not in the map.
var itemTools = map[string]string{
	"reasoning": "", "compaction": "", "web_search_call": "", "file_search_call": "", "code_interpreter_call": "", "image_generation_call": "",
	"mcp_call": "mcp", "program": "programmatic_tool_calling", "program_output": "programmatic_tool_calling",
	"computer_call": "computer", "shell_call": "shell", "apply_patch_call": "apply_patch", "local_shell_call": "local_shell",
}

// isReplayable reports whether a client may return items of a kind.
func (e *responsesEncoder) isReplayable(kind string) bool {
	tool, ok := itemTools[kind]
	if !ok || tool == "" {
		return ok
	}
	hasTool, known := e.hasTool[tool]
	if !known {
		hasTool = slices.ContainsFunc(e.req.Tools, func(t content.Tool) bool {
			return t.Format == ResponsesFormat && strings.HasPrefix(t.Kind, tool) // a version may follow
		})
		if e.hasTool == nil {
			e.hasTool = make(map[string]bool)
		}
		e.hasTool[tool] = hasTool
	}
	return hasTool
}

// flushPending writes the pending items before the next item.
func (e *responsesEncoder) flushPending() {
	for _, t := range e.pending {
		e.w.Raw(t.json)
	}
	e.pending = e.pending[:0]
}

// dropPending drops pending items without a next item. The server would reject them.
func (e *responsesEncoder) dropPending() {
	for _, t := range e.pending {
		e.addLoss(lossTrailingThinking, t.at)
	}
	e.pending = e.pending[:0]
}

// parseCarried returns the kind of a carried item. ok is false if the item is invalid.
func (e *responsesEncoder) parseCarried(item string) (kind string, ok bool) {
	if e.itemDoc.Parse(item, jsonwire.Limits{}) != nil {
		return "", false
	}
	defer e.itemDoc.Close()
	root := e.itemDoc.Root()
	kind = root.Get("type").Str()
	if kind == "reasoning" {
		return kind, root.Get("id").Str() != "" && root.Get("encrypted_content").Str() != "" && root.Get("summary").Kind() == jsonwire.Array
	}
	return kind, isVendorItem(kind)
}

// isVendorItem reports whether items of a kind are opaque. The program that embeds
// Polywire may return any of them; for clients see itemTools.
func isVendorItem(kind string) bool {
	switch kind {
	case "web_search_call", "file_search_call", "code_interpreter_call", "compaction", "program", "program_output",
		"tool_search_call", "tool_search_output", "mcp_list_tools", "mcp_call", "mcp_approval_request", "mcp_approval_response",
		"computer_call", "computer_call_output", "shell_call", "shell_call_output", "apply_patch_call",
		"apply_patch_call_output", "local_shell_call", "local_shell_call_output", "image_generation_call",
		"additional_tools":
		return true
	}
	return false
}

// phaseOf returns the phase in the signature of a text.
func (e *responsesEncoder) phaseOf(data string) string {
	if e.itemDoc.Parse(data, jsonwire.Limits{}) != nil {
		return ""
	}
	defer e.itemDoc.Close()
	switch phase := e.itemDoc.Root().Get("phase").Str(); phase {
	case "commentary", "final_answer":
		return phase
	}
	return ""
}

// Kinds of pieces that only the Responses API has. Their text is an id or a URL.
const (
	pieceImageID pieceKind = iota + 16
	pieceFileID
	pieceFileLink
)

// writePiece writes an element of content.
func (e *responsesEncoder) writePiece(p *piece) {
	w := e.w
	w.BeginObject()
	switch p.kind {
	case pieceText:
		e.member("type", "input_text")
		e.member("text", p.text)
	case pieceImage:
		e.member("type", "input_image")
		w.Name("image_url")
		if p.text != "" {
			w.String(p.text)
		} else {
			w.JoinedString("data:", p.mediaType, ";base64,", p.data)
		}
	case pieceImageID:
		e.member("type", "input_image")
		e.member("file_id", p.text)
	case pieceFileID:
		e.member("type", "input_file")
		e.member("file_id", p.text)
	case pieceFileLink:
		e.member("type", "input_file")
		e.member("file_url", p.text)
	default:
		e.member("type", "input_file")
		e.member("filename", p.name)
		w.Name("file_data")
		w.JoinedString("data:", p.mediaType, ";base64,", p.data)
	}
	if p.detail != "" {
		e.member("detail", p.detail)
	}
	if p.cacheMark {
		w.Name("prompt_cache_breakpoint")
		w.Raw(`{"mode":"explicit"}`)
	}
	w.EndObject()
}

// part adds a part of a user turn.
func (e *responsesEncoder) part(p content.Part, at partPath) {
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
		e.checkSignature(p.Signature, at)
		e.document(p, at)
	case *content.Media:
		e.fileLabel(p, p.Source, at)
		e.unreadableFile(at, "audio or video", "", content.CodeUnsupported, "", "Responses accepts no audio or video")
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

// source returns a piece with the bytes, the id or the URL of a source. ok is false if
// the source must be fetched first, or is not available.
func (e *responsesEncoder) source(s content.Source, at partPath, image bool) (p piece, ok bool) {
	switch s := s.(type) {
	case *content.URL:
		if s != nil && e.req.ForwardLinks && isWebURL(s.URL) && (e.target.isOpenAI || image && e.target.acceptsLinks()) {
			if image {
				return piece{kind: pieceImage, text: s.URL}, true
			}
			return piece{kind: pieceFileLink, text: s.URL}, true
		}
	case *content.File:
		// Ids of other vendors have other prefixes.
		if s != nil && e.filesLoaded && e.target.isOpenAI && strings.HasPrefix(s.ID, "file-") {
			if image {
				return piece{kind: pieceImageID, text: s.ID}, true
			}
			return piece{kind: pieceFileID, text: s.ID}, true
		}
	}
	b := e.base64Source(s, at, image)
	if b == nil {
		return p, false
	}
	return piece{kind: pieceFile, mediaType: media.Canonical(b.MediaType), data: b.Data}, true
}

// image adds an image.
func (e *responsesEncoder) image(p *content.Image, at partPath) {
	if !e.readsFiles(at, "an image", "") {
		return
	}
	detail := e.fileDetail(p.Extra, at)
	q, ok := e.source(p.Source, at, true)
	if !ok {
		return
	}
	if q.kind == pieceFile {
		q.kind, q.data = pieceImage, toStandardBase64(q.data)
		switch q.mediaType {
		case "image/png", "image/jpeg", "image/webp", "image/gif":
		default:
			e.unreadableFile(at, q.mediaType, "", content.CodeMedia, ".source.media_type", "Responses accepts only image/png, image/jpeg, image/webp and image/gif")
			return
		}
	}
	q.cacheMark, q.detail = e.acceptsCacheMark(p.Cache, at), detail
	e.pieces = append(e.pieces, q)
}

// document adds a document: plain text as text, any other document as a file.
func (e *responsesEncoder) document(p *content.Document, at partPath) {
	if p.Citations {
		e.addLoss(lossResponsesDocumentCitations, at)
	}
	before := len(e.pieces)
	mark, detail := e.acceptsCacheMark(p.Cache, at), e.fileDetail(p.Extra, at)
	if !e.inlineDocument(p, at, e.part) {
		e.file(p, detail, at)
	}
	if mark && len(e.pieces) > before {
		e.pieces[len(e.pieces)-1].cacheMark = true
	}
}

// file adds a document whose bytes are in base64 or remote.
func (e *responsesEncoder) file(p *content.Document, detail string, at partPath) {
	if e.unreadableRemoteFile(p, at) {
		return
	}
	q, ok := e.source(p.Source, at, false)
	if !ok {
		return
	}
	q.detail = detail
	if q.kind != pieceFile {
		if e.readsFiles(at, "a file", p.Title) {
			e.documentHeading(p, at, true)
			e.pieces = append(e.pieces, q)
		}
		return
	}
	if codec.IsText(q.mediaType) {
		e.base64TextDocument(p, &content.Base64{Data: q.data}, at)
		return
	}
	if !e.readsFiles(at, q.mediaType, p.Title) {
		return
	}
	suffix := extensionOf(q.mediaType)
	switch {
	case !e.target.acceptsFiles():
		e.unreadableFile(at, q.mediaType, e.fileName(p, at), content.CodeUnsupported, ".source", "the server does not accept files; send the text")
		return
	case suffix == "" || !e.target.isOpenAI && suffix != ".pdf":
		e.unreadableFile(at, q.mediaType, e.fileName(p, at), content.CodeUnsupported, ".source.media_type", "Responses accepts only PDFs, text and office documents")
		return
	}
	e.documentHeading(p, at, false)
	q.name, q.data = e.fileName(p, at), toStandardBase64(q.data)
	if q.name == "" {
		q.name = "document"
	}
	if !strings.HasSuffix(strings.ToLower(q.name), suffix) {
		q.name += suffix
	}
	e.pieces = append(e.pieces, q)
}

const officePrefix = "application/vnd.openxmlformats-officedocument."

// extensionOf returns the file extension of a media type, or "" if OpenAI does not
// accept it.
func extensionOf(mediaType string) string {
	switch mediaType {
	case "application/pdf":
		return ".pdf"
	case "application/rtf":
		return ".rtf"
	case "application/msword":
		return ".doc"
	case "application/vnd.ms-excel":
		return ".xls"
	case "application/vnd.ms-powerpoint":
		return ".ppt"
	case "application/vnd.oasis.opendocument.text":
		return ".odt"
	case officePrefix + "wordprocessingml.document":
		return ".docx"
	case officePrefix + "presentationml.presentation":
		return ".pptx"
	case officePrefix + "spreadsheetml.sheet":
		return ".xlsx"
	}
	return ""
}
