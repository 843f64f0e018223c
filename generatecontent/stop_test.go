package generatecontent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

func TestStopWords(t *testing.T) {
	const malformed = "The model wrote a function call that cannot be read."
	for _, tt := range []struct {
		stop          upstream.Stop
		calls         int
		broken        bool
		word, message string
		losses        []string
	}{
		{stop: upstream.Stop{Reason: content.StopEnd}, word: "STOP"},
		{stop: upstream.Stop{}, word: "STOP"},
		{stop: upstream.Stop{Reason: content.StopToolUse}, calls: 1, word: "STOP"},
		{stop: upstream.Stop{Reason: content.StopToolUse}, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopToolUse, Format: "other", RawReason: "tool_calls"}, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopToolUse, Format: Format, RawReason: "STOP"}, word: "STOP"},
		{stop: upstream.Stop{Reason: content.StopSequence}, word: "STOP"},
		{stop: upstream.Stop{Reason: content.StopSequence, Sequence: "x"}, word: "STOP", losses: []string{"hint "}},
		{stop: upstream.Stop{Reason: content.StopMaxTokens}, word: "MAX_TOKENS"},
		{stop: upstream.Stop{Reason: content.StopContext}, word: "MAX_TOKENS", message: "The context of the model is full.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopSafety}, word: "SAFETY"},
		{stop: upstream.Stop{Reason: content.StopRefusal, Format: "other", RawReason: "refusal", Details: `{"type":"refusal","category":null,"explanation":null}`}, word: "SAFETY",
			message: "The model declined to answer.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopRefusal, Format: "other", RawReason: "refusal", Message: "No.", Details: `{"type":"refusal","category":null,"explanation":"No."}`},
			word: "SAFETY", message: "No.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopRefusal, Format: "other", RawReason: "refusal", Message: "No.", Details: `{"type":"refusal","category":"bio","explanation":"No."}`},
			word: "SAFETY", message: "No.", losses: []string{"degraded ", "hint "}},
		{stop: upstream.Stop{Reason: content.StopRecitation}, word: "RECITATION"},
		{stop: upstream.Stop{Reason: content.StopMalformedCall}, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopPause}, word: "OTHER", message: "The model paused in a long turn.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopCompaction}, word: "OTHER", message: "The response is a summary of the conversation.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopOther, Format: "other", RawReason: "STOP"}, word: "OTHER", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: "of a later version"}, word: "OTHER", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopOther, Format: Format, RawReason: "LANGUAGE", Details: `{"finishMessage":"No \"x\"."}`}, word: "LANGUAGE", message: `No "x".`},
		{stop: upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "STOP", Details: `{"finishMessage":null}`}, word: "STOP"},

		{stop: upstream.Stop{Reason: content.StopEnd}, broken: true, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopToolUse}, broken: true, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopToolUse}, calls: 1, broken: true, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "STOP"}, broken: true, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopMaxTokens}, broken: true, word: "MAX_TOKENS"},
		{stop: upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "SPII"}, broken: true, word: "SPII"},
	} {
		e := ending{stop: tt.stop, calls: tt.calls, broken: tt.broken}
		var lost []content.Loss
		word, message := e.finishReason(func(r *loss.Rule) {
			lost = append(lost, r.At(""))
		})
		if word != tt.word || message != tt.message {
			t.Errorf("%+v: got %s %q, want %s %q", tt.stop, word, message, tt.word, tt.message)
		}
		checkLosses(t, tt.losses, lost)
	}
}

func TestUsageMembers(t *testing.T) {
	for _, tt := range []struct {
		usage content.Usage
		want  string
	}{
		{content.Usage{}, `{"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0}`},
		// Neutral counts are disjoint. On the wire, the count of the prompt includes
		// cached tokens but not those of tool results; the total includes everything.
		{content.Usage{Input: 1, CacheRead: 2, CacheWrite: 4, CacheWrite1h: 8, ToolPrompt: 16, Output: 32, Thinking: 64},
			`{"promptTokenCount":15,"cachedContentTokenCount":2,"candidatesTokenCount":32,"thoughtsTokenCount":64,` +
				`"toolUsePromptTokenCount":16,"totalTokenCount":127}`},
		{content.Usage{Input: 3, Output: 4, Extra: extra(`{"trafficType":"ON_DEMAND","totalTokenCount":99,"cacheTokensDetails":[]}`),
			Modalities: []content.ModalityCount{{Kind: "tool", Modality: "text", Tokens: 1}, {Kind: "prompt", Modality: "TEXT", Tokens: 2},
				{Kind: "odd", Modality: "TEXT", Tokens: 9}, {Kind: "prompt", Modality: "IMAGE", Tokens: 1}, {Kind: "cache", Modality: "AUDIO", Tokens: 5},
				{Kind: "output", Modality: "DOCUMENT", Tokens: 4}}},
			`{"promptTokenCount":3,"candidatesTokenCount":4,"totalTokenCount":7,` +
				`"promptTokensDetails":[{"modality":"TEXT","tokenCount":2},{"modality":"IMAGE","tokenCount":1}],` +
				`"cacheTokensDetails":[{"modality":"AUDIO","tokenCount":5}],"candidatesTokensDetails":[{"modality":"DOCUMENT","tokenCount":4}],` +
				`"toolUsePromptTokensDetails":[{"modality":"TEXT","tokenCount":1}],"trafficType":"ON_DEMAND"}`},
	} {
		if diff := cmp.Diff(tt.want, string(appendUsage(nil, &tt.usage))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
