package otelwire

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/polywire/polywire/upstream"
)

const (
	keyAttempts     = attribute.Key("polywire.attempts")
	keyIndex        = attribute.Key("polywire.attempt.index")
	keyChosen       = attribute.Key("polywire.attempt.chosen")
	keyFirstContent = attribute.Key("polywire.attempt.time_to_first_content")
)

// attemptKey is the context key of the span of an attempt of a call.
type attemptKey struct{ *call }

// startAttempt starts the span of an attempt by [upstream.Failover].
func (c *call) startAttempt(ctx context.Context, a upstream.Attempt) context.Context {
	ctx, span := c.tracer.Start(ctx, "attempt", trace.WithTimestamp(a.Start),
		trace.WithAttributes(append(c.attrs, keyIndex.Int(a.Index))...))
	return context.WithValue(ctx, attemptKey{c}, span)
}

// endAttempt records an attempt and ends its span. Attempts may run at the same time.
func (c *call) endAttempt(ctx context.Context, a upstream.Attempt) {
	c.attempts.Add(1)
	code := known(a.Code)
	dims := append(c.attrs, keyIndex.Int(a.Index), semconv.GenAIProviderNameKey.String(c.provider(a.Upstream)))
	dims = appendText(dims, keyUpstream, a.Upstream)
	if model := c.model; model != "" {
		if !c.names.has(c.owner, model) {
			model = otherModel
		}
		dims = append(dims, semconv.GenAIRequestModelKey.String(model))
	}
	if !a.Chosen {
		c.meters.droppedTokens.record(ctx, &a.Usage, dims)
	}
	dims = append(dims, keyChosen.Bool(a.Chosen))
	dims = appendText(dims, semconv.ErrorTypeKey, string(code))
	c.meters.attemptDuration.Record(ctx, a.Duration.Seconds(), metric.WithAttributes(dims...))

	span, ok := ctx.Value(attemptKey{c}).(trace.Span)
	if !ok {
		return // the host returned a context that does not come from startAttempt
	}
	if span.IsRecording() {
		span.SetAttributes(dims...)
		span.SetAttributes(appendText(nil, semconv.GenAIRequestModelKey, c.model)...)
		span.SetAttributes(appendText(nil, keyUpstreamID, a.UpstreamID)...)
		if a.FirstContent > 0 {
			span.SetAttributes(keyFirstContent.Float64(a.FirstContent.Seconds()))
		}
		if !a.Chosen {
			span.SetAttributes(usageAttributes(&a.Usage)...)
		}
		if code != "" && code != upstream.CodeCanceled {
			span.SetStatus(codes.Error, describe(code, a.Err))
		}
	}
	span.End(trace.WithTimestamp(a.Start.Add(a.Duration)))
}
