package chatcompletions

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/openaiformat"
)

// An author is the kind of author of a message, which determines its parts.
type author uint8

const (
	bySystem author = iota
	byUser
	byAssistant
	byTool
)

// partTypes are the types of parts that the messages of an author may have.
var partTypes = [...][]string{
	bySystem:    {"text"},
	byUser:      {"text", "image_url", "input_audio", "file"},
	byAssistant: {"text", "refusal"},
	byTool:      {"text"},
}

// conversation validates the messages.
func (v *validator) conversation() {
	places := v.r.placesOf()
	if len(places) == 0 {
		if !v.r.found().Within("messages") {
			v.Short("messages", 1, 0)
		}
		return
	}
	for i := range places {
		v.Path.Push("messages")
		v.Path.PushIndex(i)
		v.message(i, &places[i])
		v.Path.Truncate(0)
	}
	v.Path.Push("messages")
	v.endCalls(-len(places))
	v.Path.Truncate(0)
}

// message validates one message at the path.
func (v *validator) message(i int, at *place) {
	if at.turn < 0 {
		v.endCalls(i)
		v.content(at, bySystem, v.r.System[at.part:at.part+at.content])
		v.author(v.r.System[at.part:])
		return
	}
	if int(at.turn) >= len(v.r.Messages) {
		return // the quota was exceeded
	}
	t := &v.r.Messages[at.turn]
	if at.result {
		r, ok := t.Parts[at.part].(*content.ToolResult)
		if !ok || r == nil {
			return
		}
		v.result(i, at, r)
		return
	}
	by := byUser
	switch t.Role {
	case content.RoleAssistant:
		by = byAssistant
	case content.RoleSystem:
		by = bySystem
	}
	if v.isUnreadable("role") {
		v.pairing.incomplete = true
		return // what the message may have is not known
	}
	if by == byAssistant {
		v.beginCalls(i, at, t)
	} else {
		v.endCalls(i)
	}
	v.content(at, by, t.Parts)
	v.name(t.Extra)
}

// isUnreadable reports whether parsing found a violation in a member of the object at the path, or
// of the whole object.
func (v *validator) isUnreadable(name string) bool {
	o := v.r.origin
	if o == nil || o.Violations == nil {
		return false
	}
	return o.Violations.Incomplete() || o.Violations.At(v.Path.At()) || o.Violations.WithinPath(&v.Path, name)
}

// result validates a result of a tool.
func (v *validator) result(i int, at *place, r *content.ToolResult) {
	switch {
	case at.legacy:
		v.endCalls(i)
		if r.Name == "" && !v.isUnreadable("name") {
			v.MissingMember("name")
		}
	case r.ID == "":
		v.pairing.incomplete = true
		if !v.isUnreadable("tool_call_id") {
			v.MissingMember("tool_call_id")
		}
	default:
		v.matchResult(r.ID)
	}
	by := byTool
	if !v.opts.Strict {
		by = byUser // newer models accept images, but do not see them; other vendors' models do
	}
	v.content(at, by, r.Parts)
}

// author validates the name of the author of system texts.
func (v *validator) author(parts []content.Part) {
	if len(parts) > 0 {
		if t, ok := parts[0].(*content.Text); ok && t != nil {
			v.name(t.Extra)
		}
	}
}

// name validates the name of the author of a message.
func (v *validator) name(x *content.Extra) {
	if x == nil || !v.opts.Strict {
		return
	}
	raw, _ := x.Get("name")
	name := gjson.Parse(raw).Str
	if n := utf8.RuneCountInString(name); n > maxAuthor {
		v.LongText("name", maxAuthor, int64(n))
	} else if strings.ContainsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(`<|\/>`, c) }) {
		v.Pattern("name", authorPattern)
	}
}

// content validates the content of a message, whose parts may be followed by others.
func (v *validator) content(at *place, by author, list []content.Part) {
	switch at.kind {
	case badContent:
		return
	case noContent, nullContent:
		if by == byAssistant && (at.calls > 0 || at.refusal || at.thinking != noThinking || v.hasAudio(at)) || v.isUnreadable("content") || v.isUnreadable("tool_calls") {
			return
		}
		if at.kind == noContent {
			v.MissingMember("content")
		} else {
			v.ViolationAs(content.CodeType, "invalid_type", "content", "Invalid type for '"+v.At("content")+
				"': expected one of a string or array of objects, but got null instead.")
		}
		return
	case textContent:
		return
	}
	if at.content == 0 {
		if v.opts.Strict { // some servers accept an empty list
			v.Short("content", 1, 0)
		}
		return
	}
	if by == byAssistant && at.thinking != noThinking {
		list = list[1:]
	}
	v.Path.Push("content")
	for k, p := range list[:min(int(at.content), len(list))] {
		v.Path.PushIndex(k)
		v.part(by, p)
		v.Path.Pop()
	}
	v.Path.Pop()
}

// hasAudio reports whether a message refers to earlier audio of the model.
func (v *validator) hasAudio(at *place) bool {
	_, has := v.r.Messages[at.turn].Extra.Get("audio")
	return has
}

// part validates one part at the path.
func (v *validator) part(by author, p content.Part) {
	if content.IsNil(p) {
		v.Violation(content.CodeMissing, "", "The part at '"+v.At("")+"' is missing.")
		return
	}
	kind := ""
	switch p := p.(type) { // other kinds are not parts of this format
	case *content.Text:
		kind = "text"
		if p.Refusal {
			kind = "refusal"
		}
	case *content.Image:
		kind = "image_url"
	case *content.Document:
		kind = "file"
	case *content.Media:
		kind = "input_audio"
	case *content.Unknown:
		if p.Kind == "" {
			return // the parser has reported it
		}
		if !v.opts.Strict && p.Format == Format && !isPartType(p.Kind) {
			return
		}
		kind = p.Kind
	}
	if !isOneOf(kind, partTypes[by]) {
		v.NotOneOf(content.CodeOrder, "type", kind, partTypes[by])
		return
	}
	switch p := p.(type) { // other kinds have no file
	case *content.Image:
		v.file("image_url", openaiformat.ImageFile, p.Source)
	case *content.Document:
		v.file("file", openaiformat.DocumentFile, p.Source)
	case *content.Media:
		v.file("input_audio", openaiformat.AudioFile, p.Source)
	}
}

func isPartType(kind string) bool { return isOneOf(kind, partTypes[byUser]) || kind == "refusal" }

func isOneOf(s string, list []string) bool {
	for _, x := range list {
		if s == x {
			return true
		}
	}
	return false
}

// file validates the source of a part. member is the object that has it.
func (v *validator) file(member string, kind openaiformat.FileKind, s content.Source) {
	if v.fileCount == 0 {
		v.files = v.opts.fileRules()
	}
	if v.fileCount++; v.fileCount == v.files.Limits.Files+1 {
		v.Violation(content.CodeLimit, "", "The request has too many files: at most "+strconv.Itoa(v.files.Limits.Files)+" are allowed.")
	}
	v.Path.Push(member)
	defer v.Path.Pop()
	name := [...]string{openaiformat.ImageFile: "url", openaiformat.DocumentFile: "file_data", openaiformat.AudioFile: "data"}[kind]
	switch s := s.(type) {
	case nil:
		if o := v.r.origin; o == nil || !o.Violations.Covers(v.Path.At()) && !o.Violations.WithinPath(&v.Path) {
			if kind == openaiformat.DocumentFile {
				v.MissingMember("file_id")
			} else {
				v.Empty(name)
			}
		}
	case *content.Base64:
		v.Base64(name, kind, s, &v.files)
	case *content.URL:
		v.Link(name, kind, s.URL)
	case *content.File, *content.PlainText, *content.Parts: // an id; others are not from a document
	}
}

// A pairing checks that each tool call has its result directly after its message, and that each
// result has a call.
type pairing struct {
	open       map[string]bool // ids of the calls of the latest message of the assistant; false: without a result
	ids        []string        // the same in order
	incomplete bool            // a call or a result could not be read
}

// beginCalls begins the calls of a message of the assistant.
func (v *validator) beginCalls(i int, at *place, t *content.Turn) {
	v.endCalls(i)
	p := &v.pairing
	p.incomplete = v.isUnreadable("tool_calls")
	if at.calls == 0 || at.legacy {
		return
	}
	if p.open == nil {
		p.open = make(map[string]bool, at.calls)
	}
	for _, part := range t.Parts[len(t.Parts)-int(at.calls):] {
		if c, ok := part.(*content.ToolUse); ok && c != nil && c.ID != "" {
			if _, again := p.open[c.ID]; !again {
				p.ids = append(p.ids, c.ID)
			}
			p.open[c.ID] = false
		}
	}
}

// matchResult matches the result of a message at the path with its call.
func (v *validator) matchResult(id string) {
	p := &v.pairing
	if _, known := p.open[id]; known {
		p.open[id] = true
	} else if !p.incomplete {
		v.Violation(content.CodePairing, "role",
			"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
	}
}

// maxKept is the maximum number of calls of one message whose map is used again.
const maxKept = 64

// maxReportedIDs is the maximum number of ids in one violation.
const maxReportedIDs = 20

// endCalls ends the results of the latest message of the assistant before message i, or at the
// end of the conversation if i is negative.
func (v *validator) endCalls(i int) {
	p := &v.pairing
	if len(p.ids) == 0 {
		return
	}
	var missing []string
	n := 0
	for _, id := range p.ids {
		if !p.open[id] {
			if n++; n <= maxReportedIDs {
				missing = append(missing, codec.Clip(id))
			}
		}
	}
	if len(p.open) > maxKept {
		p.open = nil // clearing a map takes time by its capacity
	}
	clear(p.open)
	p.ids = p.ids[:0]
	if n == 0 || p.incomplete {
		return
	}
	if n > maxReportedIDs {
		missing = append(missing, strconv.Itoa(n-maxReportedIDs)+" more")
	}
	name := "role"
	if i < 0 {
		name = ""
	}
	v.Violation(content.CodePairing, name, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
		"The following tool_call_ids did not have response messages: "+strings.Join(missing, ", "))
}
