package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

const finishReasonStop = "STOP"

// An ending is the stop of a candidate with the facts that affect its finishReason.
type ending struct {
	stop   upstream.Stop
	calls  int  // tool calls
	broken bool // a tool call was dropped
}

// isMissingCalls reports whether the stop reason is tool_use but the candidate has no tool
// calls. It returns false for a vendor's own finishReason.
func (e *ending) isMissingCalls() bool {
	return e.stop.Reason == content.StopToolUse && e.calls == 0 && (e.stop.Format != Format || e.stop.RawReason == "")
}

// finishReason returns the finishReason and finishMessage. A finishReason of the vendor is
// returned unchanged. Other reasons are converted as follows:
//
//	end             STOP
//	tool_use        STOP
//	stop_sequence   STOP
//	max_tokens      MAX_TOKENS
//	context_window  MAX_TOKENS, with a default message
//	refusal         SAFETY, with a default message
//	safety          SAFETY
//	recitation      RECITATION
//	malformed_call  MALFORMED_FUNCTION_CALL
//	pause           OTHER, with a default message
//	compaction      OTHER, with a default message
//	anything else   OTHER
//
// The first three become MALFORMED_FUNCTION_CALL if a broken tool call was dropped, or if
// tool_use has no tool call. A tool call that was cut is not broken: then the reason is
// that of the cut.
func (e *ending) finishReason(lost func(r *loss.Rule)) (reason, message string) {
	s := &e.stop
	if s.Format != Format && codec.HasMoreThan(s, s.Message) {
		lost(lossStopDetails)
	}
	if s.Sequence != "" {
		lost(lossStopSequence)
	}
	message = e.message()
	if s.Format == Format && s.RawReason != "" {
		if e.broken && s.RawReason == finishReasonStop {
			return toFinishReason(content.StopMalformedCall)
		}
		return s.RawReason, message
	}
	neutral := s.Reason
	if e.broken || e.isMissingCalls() {
		switch neutral {
		case "", content.StopEnd, content.StopToolUse, content.StopSequence:
			neutral = content.StopMalformedCall
		}
	}
	reason, defaultMessage := toFinishReason(neutral)
	if message == "" {
		message = defaultMessage
	}
	switch neutral {
	case content.StopContext, content.StopRefusal:
		lost(lossStopReasonNearest)
	default:
		if reason == "OTHER" {
			lost(lossStopReason)
		}
	}
	return reason, message
}

// toFinishReason returns the finishReason for a neutral reason, and a default message.
func toFinishReason(r content.StopReason) (reason, message string) {
	switch r {
	case "", content.StopEnd, content.StopToolUse, content.StopSequence:
		return finishReasonStop, ""
	case content.StopMaxTokens:
		return "MAX_TOKENS", ""
	case content.StopContext:
		return "MAX_TOKENS", "The context of the model is full."
	case content.StopRefusal:
		return "SAFETY", "The model declined to answer."
	case content.StopSafety:
		return "SAFETY", ""
	case content.StopRecitation:
		return "RECITATION", ""
	case content.StopMalformedCall:
		return "MALFORMED_FUNCTION_CALL", "The model wrote a function call that cannot be read."
	case content.StopPause:
		return "OTHER", "The model paused in a long turn."
	case content.StopCompaction:
		return "OTHER", "The response is a summary of the conversation."
	}
	return "OTHER", ""
}

// message returns the vendor's finishMessage, or "".
func (e *ending) message() string {
	var m handler.Members
	if e.stop.Message != "" {
		return e.stop.Message
	} else if s := &e.stop; s.Format == Format && strings.Contains(s.Details, "finishMessage") {
		m.Add(&content.Extra{Format: Format, JSON: s.Details}, Format)
	} else if s.Extra != nil && strings.Contains(s.Extra.JSON, "finishMessage") {
		m.Add(s.Extra, Format)
	}
	json := m.Take("finishMessage")
	if json == "" {
		return ""
	}
	doc, err := jsonwire.Parse(json, jsonwire.Limits{})
	if err != nil {
		return ""
	}
	defer doc.Close()
	return doc.Root().Str()
}

// hasUsage reports whether u has any counts or members.
func hasUsage(u *content.Usage) bool {
	return u.Prompt() != 0 || u.Completion() != 0 || len(u.Modalities) > 0 || u.Extra != nil
}

// appendUsage appends usageMetadata. The count of the prompt includes tokens read from and
// written to caches. The count of the candidates does not include thinking. Like the
// vendor, it omits optional counts that are zero.
func appendUsage(dst []byte, u *content.Usage) []byte {
	dst = appendCount(dst, `{"promptTokenCount":`, u.Prompt()-u.ToolPrompt, true)
	dst = appendCount(dst, `,"cachedContentTokenCount":`, u.CacheRead, false)
	dst = appendCount(dst, `,"candidatesTokenCount":`, u.Output, true)
	dst = appendCount(dst, `,"thoughtsTokenCount":`, u.Thinking, false)
	dst = appendCount(dst, `,"toolUsePromptTokenCount":`, u.ToolPrompt, false)
	dst = appendCount(dst, `,"totalTokenCount":`, u.Prompt()+u.Completion(), true)
	for i := range modalityLists {
		dst = appendModalities(dst, u.Modalities, &modalityLists[i])
	}
	var more handler.Members
	more.Add(u.Extra, Format)
	if tier := codec.Tier(u.Extra); tier != "" && more.Get("serviceTier") == "" {
		more.Set("serviceTier", `"`+tier+`"`)
	}
	for _, m := range more {
		if !isUsageMember(m.Name) {
			dst = append(jsonwire.AppendString(append(dst, ','), m.Name), ':')
			dst = jsonwire.AppendCompact(dst, m.JSON)
		}
	}
	return append(dst, '}')
}

// appendCount appends a count unless it is zero and always is false.
func appendCount(dst []byte, name string, n int64, always bool) []byte {
	if n == 0 && !always {
		return dst
	}
	return jsonwire.AppendInt(append(dst, name...), n)
}

// A modalityList is the member of usageMetadata for a kind of modality counts.
type modalityList struct{ of, name string }

var modalityLists = [...]modalityList{
	{"prompt", "promptTokensDetails"}, {"cache", "cacheTokensDetails"},
	{"output", "candidatesTokensDetails"}, {"tool", "toolUsePromptTokensDetails"},
}

// appendModalities appends the member l with the counts of its kind.
func appendModalities(dst []byte, counts []content.ModalityCount, l *modalityList) []byte {
	some := false
	for i := range counts {
		c := &counts[i]
		if c.Kind != l.of {
			continue
		}
		if some {
			dst = append(dst, ',')
		} else {
			dst = append(append(append(dst, `,"`...), l.name...), `":[`...)
		}
		some = true
		dst = jsonwire.AppendString(append(dst, `{"modality":`...), strings.ToUpper(c.Modality))
		dst = append(jsonwire.AppendInt(append(dst, `,"tokenCount":`...), c.Tokens), '}')
	}
	if some {
		dst = append(dst, ']')
	}
	return dst
}

// isUsageMember reports whether appendUsage writes the member from a field.
func isUsageMember(name string) bool {
	switch name {
	case "promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount",
		"toolUsePromptTokenCount", "totalTokenCount":
		return true
	}
	for i := range modalityLists {
		if modalityLists[i].name == name {
			return true
		}
	}
	return false
}
