package messages

import (
	"cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// stopWords says why the answer ends. A word of this format stays what it was.
// All other reasons are told as follows; none but the first two is ever told
// as an ordinary end.
//
//	end             end_turn
//	tool_use        tool_use
//	max_tokens      max_tokens
//	stop_sequence   stop_sequence
//	context_window  model_context_window_exceeded
//	pause           pause_turn
//	refusal         refusal
//	safety          refusal, with an explanation if the vendor has none
//	recitation      refusal, with an explanation if the vendor has none
//	compaction      compaction
//	malformed_call  malformed_tool_use, which is no word of the vendor's
//	anything else   other, which is no word of the vendor's
//
// The vendor's clients take words that they do not know as they come. A reason
// to go on (end, tool_use) with a call that is broken is a malformed_call, and so is
// tool_use without a call that could be told. A call that was cut is none: the
// answer ends with what cut it.
func (a *answer) stopWords(lost func(path string, r *loss.Rule)) (word, sequence, details string) {
	s := &a.stop
	sequence = s.Sequence
	if s.Format == Format {
		if jsonwire.ValidObject(s.Details) {
			details = s.Details
		}
		goesOn := s.Reason == content.StopToolUse || s.Reason == content.StopEnd
		if s.RawReason != "" && !(a.broken && goesOn) {
			return s.RawReason, sequence, details
		}
	}
	reason := s.Reason
	switch {
	case reason == "" && a.calls > 0:
		reason = content.StopToolUse
	case reason == "":
		reason = content.StopEnd
	}
	if a.broken && (reason == content.StopToolUse || reason == content.StopEnd) || reason == content.StopToolUse && a.calls == 0 {
		reason = content.StopMalformedCall
	}
	word, why := stopWord(reason)
	told := ""
	if word == "refusal" && details == "" {
		told = s.Message
		details = refusalDetails(cmp.Or(told, why))
	}
	if s.Format != Format && (s.Message != told || codec.HasMoreThan(s, told)) {
		lost("stop", unsaidDetails)
	}
	if reason == content.StopMalformedCall || word == "other" {
		lost("stop", unsaidReason)
	}
	return word, sequence, details
}

// stopWord is the table; why explains a refusal that was none in the other
// format's words.
func stopWord(r content.StopReason) (word, why string) {
	switch r {
	case content.StopEnd:
		return "end_turn", ""
	case content.StopToolUse:
		return "tool_use", ""
	case content.StopMaxTokens:
		return "max_tokens", ""
	case content.StopSequence:
		return "stop_sequence", ""
	case content.StopContext:
		return "model_context_window_exceeded", ""
	case content.StopPause:
		return "pause_turn", ""
	case content.StopRefusal:
		return "refusal", ""
	case content.StopSafety:
		return "refusal", "A content filter stopped the answer."
	case content.StopRecitation:
		return "refusal", "The answer repeated protected text."
	case content.StopCompaction:
		return "compaction", ""
	case content.StopMalformedCall:
		return "malformed_tool_use", ""
	}
	return "other", ""
}

func refusalDetails(why string) string {
	b := []byte(`{"type":"refusal","category":null,"explanation":`)
	if why == "" {
		return string(append(b, "null}"...))
	}
	return string(append(jsonwire.AppendString(b, why), '}'))
}

// writeUsage writes usage with every member that the format has.
func writeUsage(w *jsonwire.Writer, u *content.Usage) {
	var more handler.Members
	more.Add(u.Extra, Format)
	number := func(name string, n int64) {
		w.Name(name)
		w.Int(n)
		more.Take(name)
	}
	w.BeginObject()
	number("input_tokens", u.Input+u.ToolPrompt)
	number("cache_creation_input_tokens", u.CacheWrite+u.CacheWrite1h)
	number("cache_read_input_tokens", u.CacheRead)
	writeCounts(w, "cache_creation", &cacheCreationNames, more.Take("cache_creation"), u.CacheWrite, u.CacheWrite1h)
	number("output_tokens", u.Completion())
	writeCounts(w, "output_tokens_details", &outputDetailsNames, more.Take("output_tokens_details"), u.Thinking)
	if tier := codec.Tier(u.Extra); tier != "" && more.Get("service_tier") == "" {
		more.Set("service_tier", `"`+tier+`"`)
	}
	for _, name := range [...]string{"server_tool_use", "service_tier", "inference_geo", "speed"} {
		w.Name(name)
		rawOrNull(w, more.Take(name))
	}
	for _, m := range more {
		w.Name(m.Name)
		w.Raw(m.JSON)
	}
	w.EndObject()
}

// writeCounts writes one of the inner objects of usage: the counts, in the
// order of n, and the members of more that n has not.
func writeCounts(w *jsonwire.Writer, name string, n *codec.Names, more string, counts ...int64) {
	w.Name(name)
	w.BeginObject()
	for i, name := range n.Typed {
		w.Name(name)
		w.Int(counts[i])
	}
	if more != "" {
		_ = w.MembersExcept(more, n.Has) // it is JSON: a part of what add has parsed
	}
	w.EndObject()
}
