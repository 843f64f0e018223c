package otelwire

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// requestAttributes returns the attributes of a span that are known at its start.
func requestAttributes(ctx context.Context, r *upstream.Request) []attribute.KeyValue {
	attrs := []attribute.KeyValue{semconv.GenAIOperationNameChat, semconv.GenAIRequestStream(r.Stream)}
	attrs = appendText(attrs, semconv.GenAIRequestModelKey, r.Model)
	attrs = appendText(attrs, keyRequestID, upstream.RequestID(ctx))
	attrs = appendInt(attrs, semconv.GenAIRequestMaxTokensKey, r.MaxTokens)
	attrs = appendFloat(attrs, semconv.GenAIRequestTemperatureKey, r.Temperature)
	attrs = appendFloat(attrs, semconv.GenAIRequestTopPKey, r.TopP)
	if r.TopK != nil {
		attrs = append(attrs, semconv.GenAIRequestTopK(float64(*r.TopK)))
	}
	attrs = appendInt(attrs, semconv.GenAIRequestSeedKey, r.Seed)
	attrs = appendFloat(attrs, semconv.GenAIRequestPresencePenaltyKey, r.PresencePenalty)
	attrs = appendFloat(attrs, semconv.GenAIRequestFrequencyPenaltyKey, r.FrequencyPenalty)
	if len(r.StopSequences) > 0 {
		attrs = append(attrs, semconv.GenAIRequestStopSequences(r.StopSequences...))
	}
	if r.Candidates > 1 {
		attrs = append(attrs, semconv.GenAIRequestChoiceCount(r.Candidates))
	}
	if t, ok := outputType(r.Output); ok {
		attrs = append(attrs, t)
	}
	return attrs
}

func appendText(attrs []attribute.KeyValue, key attribute.Key, s string) []attribute.KeyValue {
	if s == "" {
		return attrs
	}
	return append(attrs, key.String(s))
}

func appendInt(attrs []attribute.KeyValue, key attribute.Key, n *int64) []attribute.KeyValue {
	if n == nil {
		return attrs
	}
	return append(attrs, key.Int64(*n))
}

func appendFloat(attrs []attribute.KeyValue, key attribute.Key, f *float64) []attribute.KeyValue {
	if f == nil {
		return attrs
	}
	return append(attrs, key.Float64(*f))
}

// outputType returns gen_ai.output.type if the request specifies the form of the
// response.
func outputType(o upstream.Output) (t attribute.KeyValue, ok bool) {
	for _, m := range o.Modalities {
		switch m {
		case "image":
			return semconv.GenAIOutputTypeImage, true
		case "audio":
			return semconv.GenAIOutputTypeSpeech, true
		}
	}
	if o.Schema.JSON != "" || o.MediaType == "application/json" {
		return semconv.GenAIOutputTypeJSON, true
	}
	return t, false
}

// finishReason returns the value of the conventions for a reason, or the reason itself
// if there is none.
func finishReason(r content.StopReason) string {
	switch r {
	case content.StopEnd, content.StopSequence:
		return "stop"
	case content.StopMaxTokens, content.StopContext:
		return "length"
	case content.StopToolUse:
		return "tool_call"
	case content.StopRefusal, content.StopSafety, content.StopRecitation:
		return "content_filter"
	}
	return string(r)
}

// usageAttributes returns the token counts of a span. By the conventions those of caches
// are included in the input, and those of thinking in the output.
func usageAttributes(u *content.Usage) []attribute.KeyValue {
	if u == nil {
		return nil
	}
	var attrs []attribute.KeyValue
	for _, n := range []struct {
		key   attribute.Key
		count int64
	}{
		{semconv.GenAIUsageInputTokensKey, u.Prompt()},
		{semconv.GenAIUsageCacheReadInputTokensKey, u.CacheRead},
		{semconv.GenAIUsageCacheCreationInputTokensKey, u.CacheWrite + u.CacheWrite1h},
		{semconv.GenAIUsageOutputTokensKey, u.Completion()},
		{semconv.GenAIUsageReasoningOutputTokensKey, u.Thinking},
	} {
		if n.count > 0 {
			attrs = append(attrs, n.key.Int64(n.count))
		}
	}
	if u.Estimated {
		attrs = append(attrs, keyEstimated.Bool(true))
	}
	return attrs
}
