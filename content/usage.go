package content

import (
	"math"
	"slices"
)

// Usage counts tokens. No token is in two counts, so formats that report sums add them
// up. A count that is unknown is 0.
type Usage struct {
	Input        int64 // of the prompt, without tokens read from or written to caches
	CacheRead    int64 // of the prompt, read from a cache
	CacheWrite   int64 // of the prompt, written to a cache with the default lifetime
	CacheWrite1h int64 // of the prompt, written to a cache with a lifetime of an hour
	ToolPrompt   int64 // of the prompt, results of the vendor's own tools
	Output       int64 // of the response, without thinking
	Thinking     int64 // of the response

	// Estimated reports that the counts are estimates, because the server reported
	// none.
	Estimated bool

	// Modalities splits counts by modality, if the vendor reports it.
	Modalities []ModalityCount

	Extra *Extra
}

// Prompt returns the number of tokens in the prompt.
func (u Usage) Prompt() int64 {
	return u.Input + u.CacheRead + u.CacheWrite + u.CacheWrite1h + u.ToolPrompt
}

// Completion returns the number of tokens in the response, thinking included.
func (u Usage) Completion() int64 { return u.Output + u.Thinking }

// Add returns the sum of the counts of two responses, for a host that sends several requests
// for one request of its client. Each count is added to the same count, so that tokens of caches keep
// their price. A count that is unknown is 0 and adds nothing. A sum that does not fit is
// [math.MaxInt64]. The sum is Estimated if one of the two is. Modalities are added by kind and
// modality. Extra has members of one response, which cannot be added: the sum has Extra only
// if one of the two has none. Neither value is changed.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		Input:        addCounts(u.Input, v.Input),
		CacheRead:    addCounts(u.CacheRead, v.CacheRead),
		CacheWrite:   addCounts(u.CacheWrite, v.CacheWrite),
		CacheWrite1h: addCounts(u.CacheWrite1h, v.CacheWrite1h),
		ToolPrompt:   addCounts(u.ToolPrompt, v.ToolPrompt),
		Output:       addCounts(u.Output, v.Output),
		Thinking:     addCounts(u.Thinking, v.Thinking),
		Estimated:    u.Estimated || v.Estimated,
	}
	for _, list := range [][]ModalityCount{u.Modalities, v.Modalities} {
		for _, m := range list {
			i := slices.IndexFunc(sum.Modalities, func(o ModalityCount) bool { return o.Kind == m.Kind && o.Modality == m.Modality }) // bounded by ModalityCount
			if i < 0 {
				sum.Modalities = append(sum.Modalities, m)
				continue
			}
			sum.Modalities[i].Tokens = addCounts(sum.Modalities[i].Tokens, m.Tokens)
		}
	}
	if u.Extra == nil {
		sum.Extra = v.Extra
	} else if v.Extra == nil {
		sum.Extra = u.Extra
	}
	return sum
}

// addCounts adds two counts. The sum is at most [math.MaxInt64].
func addCounts(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// A ModalityCount is the number of tokens of one modality in a count of a [Usage].
type ModalityCount struct {
	Kind     string // "prompt", "cache", "output" or "tool"
	Modality string // "text", "image", "audio", "video" or "document"
	Tokens   int64
}

// A StopReason is the reason why a response ended.
type StopReason string

const (
	StopEnd           StopReason = "end"            // the model finished
	StopToolUse       StopReason = "tool_use"       // the response contains tool calls, and the model waits for the results
	StopMaxTokens     StopReason = "max_tokens"     // the limit of tokens, of the request or of the model, was reached
	StopSequence      StopReason = "stop_sequence"  // a stop sequence of the request was generated
	StopContext       StopReason = "context_window" // the context window of the model is full
	StopPause         StopReason = "pause"          // a long turn was interrupted and can be continued
	StopRefusal       StopReason = "refusal"        // the model or its vendor declined the request
	StopSafety        StopReason = "safety"         // a safety filter blocked the prompt or ended the response
	StopRecitation    StopReason = "recitation"     // the response repeated protected text
	StopMalformedCall StopReason = "malformed_call" // the model wrote an invalid tool call
	StopCompaction    StopReason = "compaction"     // the response is a requested summary of the conversation
	StopOther         StopReason = "other"          // another reason of the vendor
)
