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

const wordStop = "STOP"

// An ending is why an answer ends, and what it is known by.
type ending struct {
	stop   upstream.Stop
	calls  int  // parts that are calls
	broken bool // one was left out
}

// callless reports whether the answer claims to wait for calls that it does not
// have. A word of this format is not ours to doubt.
func (e *ending) callless() bool {
	return e.stop.Reason == content.StopToolUse && e.calls == 0 && (e.stop.Format != Format || e.stop.RawReason == "")
}

// words says why the answer ends. A word of this format stays what it was. All
// other reasons are told as follows; the first three are the only ones that are
// told as an ordinary end.
//
//	end             STOP
//	tool_use        STOP
//	stop_sequence   STOP
//	max_tokens      MAX_TOKENS
//	context_window  MAX_TOKENS, with a message if the vendor has none
//	refusal         SAFETY, likewise
//	safety          SAFETY
//	recitation      RECITATION
//	malformed_call  MALFORMED_FUNCTION_CALL
//	pause           OTHER, likewise
//	compaction      OTHER, likewise
//	anything else   OTHER
//
// An ordinary end with a call that is broken, and so was left out, is a
// malformed_call, and so is tool_use without a call. A call that was cut is none:
// the answer ends with what cut it.
func (e *ending) words(lost func(r *loss.Rule)) (word, message string) {
	s := &e.stop
	if s.Format != Format && codec.HasMoreThan(s, s.Message) {
		lost(unsaidDetails)
	}
	if s.Sequence != "" {
		lost(unsaidSequence)
	}
	message = e.message()
	if s.Format == Format && s.RawReason != "" {
		if e.broken && s.RawReason == wordStop {
			return stopWord(content.StopMalformedCall)
		}
		return s.RawReason, message
	}
	reason := s.Reason
	if e.broken || e.callless() {
		switch reason {
		case "", content.StopEnd, content.StopToolUse, content.StopSequence:
			reason = content.StopMalformedCall
		}
	}
	word, ours := stopWord(reason)
	if message == "" {
		message = ours
	}
	switch reason {
	case content.StopContext, content.StopRefusal:
		lost(unsaidOwnReason)
	default:
		if word == "OTHER" {
			lost(unsaidReason)
		}
	}
	return word, message
}

// stopWord is the table; message is for people.
func stopWord(r content.StopReason) (word, message string) {
	switch r {
	case "", content.StopEnd, content.StopToolUse, content.StopSequence:
		return wordStop, ""
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
		return "OTHER", "The answer is a summary of the conversation."
	}
	return "OTHER", ""
}

// message returns the vendor's own words about the end.
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

// counted reports whether anything is known of the tokens that were used.
func counted(u *content.Usage) bool {
	return u.Prompt() != 0 || u.Completion() != 0 || len(u.Modalities) > 0 || u.Extra != nil
}

// appendUsage appends usage: the prompt with what caches gave and took, the
// answer without thinking. Counts of zero that clients can do without are left
// out, as the vendor does.
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
		if !usageMember(m.Name) {
			dst = append(jsonwire.AppendString(append(dst, ','), m.Name), ':')
			dst = jsonwire.AppendCompact(dst, m.JSON)
		}
	}
	return append(dst, '}')
}

func appendCount(dst []byte, name string, n int64, always bool) []byte {
	if n == 0 && !always {
		return dst
	}
	return jsonwire.AppendInt(append(dst, name...), n)
}

// A modalityList is a count that is split by what was counted.
type modalityList struct{ of, name string }

var modalityLists = [...]modalityList{
	{"prompt", "promptTokensDetails"}, {"cache", "cacheTokensDetails"},
	{"output", "candidatesTokensDetails"}, {"tool", "toolUsePromptTokensDetails"},
}

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

// usageMember reports whether name is a member that has a field.
func usageMember(name string) bool {
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
