package content

// Usage counts tokens. No count is inside another: a format that reports sums
// adds up what it needs. Counts that are not known are zero.
type Usage struct {
	Input        int64 // of the prompt, without what caches gave or took
	CacheRead    int64 // of the prompt, read from a cache
	CacheWrite   int64 // of the prompt, written to a cache for the default time
	CacheWrite1h int64 // of the prompt, written to a cache for an hour
	ToolPrompt   int64 // of results that built-in tools put into the prompt
	Output       int64 // of the answer, without thinking
	Thinking     int64

	// Estimated reports that the counts are estimates, because the server that
	// responded did not report any.
	Estimated bool

	// Modalities splits counts by what was counted, where the vendor says so.
	Modalities []ModalityCount

	Extra *Extra
}

// Prompt is everything that the model read.
func (u Usage) Prompt() int64 {
	return u.Input + u.CacheRead + u.CacheWrite + u.CacheWrite1h + u.ToolPrompt
}

// Answer is everything that the model wrote, thinking included.
func (u Usage) Answer() int64 { return u.Output + u.Thinking }

// A ModalityCount is a part of one count of a [Usage].
type ModalityCount struct {
	Of       string // "prompt", "cache", "output" or "tool"
	Modality string // "text", "image", "audio", "video" or "document"
	Tokens   int64
}

// A StopReason says why an answer ended.
type StopReason string

const (
	StopEnd           StopReason = "end"            // the model was done
	StopToolUse       StopReason = "tool_use"       // it waits for the results of its calls
	StopMaxTokens     StopReason = "max_tokens"     // the caller's or the model's limit of the answer
	StopSequence      StopReason = "stop_sequence"  // one of the caller's stop sequences
	StopContext       StopReason = "context_window" // the model's context is full
	StopPause         StopReason = "pause"          // a long turn was interrupted and may be resumed
	StopRefusal       StopReason = "refusal"        // the model or its vendor declined
	StopSafety        StopReason = "safety"         // a filter cut the answer, or blocked the prompt
	StopRecitation    StopReason = "recitation"     // the answer repeated protected text
	StopMalformedCall StopReason = "malformed_call" // the model wrote a call that cannot be read
	StopCompaction    StopReason = "compaction"     // the answer is a summary that was asked for
	StopOther         StopReason = "other"          // see the vendor's own word
)
