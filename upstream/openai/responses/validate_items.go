package responses

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/openaiformat"
)

// input validates the items, then the rules for all of them together.
func (v *validator) input() {
	r := v.r
	if len(r.Input) == 0 && !v.hasState && !r.found().Within("input") {
		if r.Input == nil {
			v.MissingMember("input")
		} else {
			v.Short("input", 1, 0)
		}
	}
	v.Path.Push("input")
	for i := range r.Input {
		v.Path.PushIndex(i)
		v.item(i, &r.Input[i])
		v.Path.Pop()
	}
	v.Path.Truncate(0)
	if limit := v.rules.Limits.Files; v.files > limit { // 0 without files
		v.Invalid(content.CodeLimit, "", "input", "too many files. Expected at most "+strconv.Itoa(limit)+" files, but got "+strconv.Itoa(v.files)+" files instead.")
	}
	if !v.hasState && !r.found().Within("input") {
		v.pairing()
		v.reasoning()
	}
}

// item validates one item.
func (v *validator) item(i int, item *Item) {
	switch item.Type {
	case typeMessage:
		v.parts(item.Parts, "content")
	default:
		v.tools(item.Tools, i)
		for _, p := range item.Parts {
			if !content.IsNil(p) {
				v.itemPart(item, p)
			}
		}
	}
}

// itemPart validates the part of an item.
func (v *validator) itemPart(item *Item, p content.Part) {
	switch p := p.(type) { // other kinds are of the parser
	case *content.ToolUse:
		v.callID(p.ID)
		if v.opts.Strict && p.Name != "" && !codec.IsName(p.Name) {
			v.Pattern("name", namePattern)
		}
	case *content.ToolResult:
		if v.callID(p.ID); item.Type != typeSearchOutput {
			v.parts(p.Parts, "output")
		}
	case *content.Unknown:
		if item.Type == typeCompaction {
			v.compaction(p.Raw)
		}
	}
}

// maxCallID is the maximum length of a call_id without state, in characters.
const maxCallID = 64

func (v *validator) callID(id string) {
	if v.opts.Strict && len(id) > maxCallID && !envelope.IsReservedID(id) {
		v.LongText("call_id", maxCallID, int64(utf8.RuneCountInString(id)))
	}
}

// compaction reports a summary of this module that was damaged: without it, a model would respond
// to another conversation.
func (v *validator) compaction(raw string) {
	state := compactionState(raw)
	if !envelope.IsEnvelope(state) {
		return
	}
	if _, ok := decodeCompaction(raw); !ok {
		v.ViolationAs(content.CodeValue, "invalid_encrypted_content", "encrypted_content",
			"The encrypted content could not be read: it is not what this server sent. Send the items that it replaced.")
	}
}

// parts validates a list of parts in the member name of an item.
func (v *validator) parts(list []content.Part, name string) {
	v.Path.Push(name)
	for i, p := range list {
		if _, ok := p.(*content.Text); ok && !content.IsNil(p) {
			continue
		}
		v.Path.PushIndex(i)
		v.part(p)
		v.Path.Pop()
	}
	v.Path.Pop()
}

func (v *validator) part(p content.Part) {
	if content.IsNil(p) {
		return
	}
	switch p := p.(type) { // other kinds have no file
	case *content.Image:
		v.source(p.Source, openaiformat.ImageFile, "image_url", "file_id")
	case *content.Document:
		v.source(p.Source, openaiformat.DocumentFile, "file_data", "file_id")
	case *content.Media:
		v.source(p.Source, openaiformat.AudioFile, "input_audio", "input_audio")
	}
}

// source validates a file. name and id are the members that may have it.
func (v *validator) source(s content.Source, kind openaiformat.FileKind, name, id string) {
	if v.files == 0 {
		v.rules = v.opts.fileRules()
	}
	switch s := s.(type) { // other kinds are not of this format: the parser has reported them
	case *content.Base64:
		v.files++
		v.Base64(name, kind, s, &v.rules)
	case *content.URL:
		v.files++
		if kind == openaiformat.DocumentFile {
			name = "file_url"
		}
		v.Link(name, kind, s.URL)
	case *content.File:
		v.files++
		if s.ID == "" {
			v.MissingMember(id)
		}
	}
}

// pairing reports calls without their outputs and outputs without their calls.
func (v *validator) pairing() {
	const called, returned = 1, 2
	calls := make(map[string]int8)
	for i := range v.r.Input {
		item := &v.r.Input[i]
		if len(item.Parts) == 0 || content.IsNil(item.Parts[0]) {
			continue
		}
		switch p := item.Parts[0].(type) { // other kinds are not calls
		case *content.ToolUse:
			if item.Type == typeSearchCall {
				calls[p.ID] = returned // the vendor accepts a search without an output
			} else if calls[p.ID] != returned {
				calls[p.ID] = called
			}
		case *content.Unknown: // a call of another type may have such an output
			if id := gjson.Get(p.Raw, "call_id"); item.Type != typeMessage && id.Type == gjson.String {
				calls[id.Str] = returned
			}
		case *content.ToolResult:
			if item.Type == typeMessage {
				continue
			}
			if calls[p.ID] == 0 && item.Type != typeSearchOutput {
				v.Violation(content.CodePairing, "input", "No tool call found for "+outputName(item.Type)+" with call_id "+codec.Clip(p.ID)+".")
			}
			calls[p.ID] = returned
		}
	}
	for i := range v.r.Input {
		item := &v.r.Input[i]
		if len(item.Parts) == 0 || content.IsNil(item.Parts[0]) {
			continue
		}
		if p, ok := item.Parts[0].(*content.ToolUse); ok && calls[p.ID] == called && !isAsync(p) {
			calls[p.ID] = returned // reported once
			v.Violation(content.CodePairing, "input", "No tool output found for "+callName(item.Type)+" "+codec.Clip(p.ID)+".")
		}
	}
}

func outputName(kind string) string {
	if kind == typeCustomOutput {
		return "custom tool call output"
	}
	return "function call output"
}

func callName(kind string) string {
	if kind == typeCustomCall {
		return "custom tool call"
	}
	return "function call"
}

// isAsync reports whether the output of a call may come with a later request.
func isAsync(t *content.ToolUse) bool {
	json, _ := t.Extra.Get("async")
	return json == "true"
}

// reasoning reports reasoning of the vendor that is not followed by what the model wrote after it.
func (v *validator) reasoning() {
	for i := range v.r.Input {
		item := &v.r.Input[i]
		if item.Type != typeReasoning || item.ID == "" || !isVendorState(item) {
			continue
		}
		next := i + 1
		for next < len(v.r.Input) && v.r.Input[next].Type == typeReasoning {
			next++
		}
		if next == len(v.r.Input) || !v.isFollowing(&v.r.Input[next]) {
			v.Violation(content.CodeOrder, "input", "Item '"+codec.Clip(item.ID)+"' of type 'reasoning' was provided without its required following item.")
		}
	}
}

// isFollowing reports whether an item is one that the vendor accepts after reasoning: a call, or a
// message of the same response. Without a store, the vendor accepts a message without an id.
func (v *validator) isFollowing(item *Item) bool {
	stateless := v.r.Store != nil && !*v.r.Store
	return sideOf(item) == assistantSide && (item.Type != typeMessage || item.ID != "" || stateless)
}

// isVendorState reports whether an item of reasoning has state that this module did not make.
func isVendorState(item *Item) bool {
	if len(item.Parts) == 0 {
		return false
	}
	t, ok := item.Parts[0].(*content.Thinking)
	if !ok || t == nil {
		return false
	}
	for _, s := range [...]content.Signature{t.Redacted, t.Signature} {
		if strings.HasPrefix(s.Data, "{") && gjson.Get(s.Data, "encrypted_content").Str != "" {
			return true
		}
	}
	return false
}
