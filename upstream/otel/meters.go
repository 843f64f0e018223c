package otelwire

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/polywire/polywire/content"
)

// Boundaries of histograms, as the conventions specify them.
var (
	durationBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// Types of tokens that the conventions do not define.
const (
	tokenCacheRead       = "cache_read"
	tokenCacheCreation   = "cache_creation"
	tokenCacheCreation1h = "cache_creation_1h"
)

type meters struct {
	duration           metric.Float64Histogram
	timeToFirstChunk   metric.Float64Histogram
	timePerOutputChunk metric.Float64Histogram
	tokens             tokenMeter

	attemptDuration metric.Float64Histogram
	droppedTokens   tokenMeter
}

// newMeters returns the instruments. Those that cannot be created record nothing.
func newMeters(m metric.Meter) meters {
	seconds := metric.WithExplicitBucketBoundaries(durationBounds...)
	duration, err1 := genaiconv.NewClientOperationDuration(m, seconds)
	first, err2 := genaiconv.NewClientOperationTimeToFirstChunk(m, seconds)
	chunk, err3 := genaiconv.NewClientOperationTimePerOutputChunk(m, seconds)
	tokens, err4 := genaiconv.NewClientTokenUsage(m, metric.WithExplicitBucketBoundaries(tokenBounds...))
	attempts, err5 := m.Float64Histogram("polywire.attempt.duration", seconds, metric.WithUnit("s"),
		metric.WithDescription("Duration of the attempts of a Failover."))
	dropped, err6 := m.Int64Counter("polywire.attempt.dropped_tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Number of tokens of attempts whose response was dropped."))
	for _, err := range []error{err1, err2, err3, err4, err5, err6} {
		if err != nil {
			otel.Handle(err)
		}
	}
	return meters{
		duration.Inst(), first.Inst(), chunk.Inst(),
		func(ctx context.Context, n int64, set metric.MeasurementOption) { tokens.Inst().Record(ctx, n, set) },
		attempts,
		func(ctx context.Context, n int64, set metric.MeasurementOption) { dropped.Add(ctx, n, set) },
	}
}

// A tokenMeter records a number of tokens.
type tokenMeter func(ctx context.Context, n int64, set metric.MeasurementOption)

// record records each count of u that is not 0. No token is in two counts.
func (m tokenMeter) record(ctx context.Context, u *content.Usage, dims []attribute.KeyValue) {
	if u == nil {
		return
	}
	for _, n := range []struct {
		kind  string
		count int64
	}{
		{string(genaiconv.TokenTypeInput), u.Input + u.ToolPrompt},
		{tokenCacheRead, u.CacheRead},
		{tokenCacheCreation, u.CacheWrite},
		{tokenCacheCreation1h, u.CacheWrite1h},
		{string(genaiconv.TokenTypeOutput), u.Completion()},
	} {
		if n.count <= 0 {
			continue
		}
		attrs := append(dims[:len(dims):len(dims)], semconv.GenAITokenTypeKey.String(n.kind))
		if u.Estimated {
			attrs = append(attrs, keyEstimated.Bool(true))
		}
		m(ctx, n.count, metric.WithAttributeSet(attribute.NewSet(attrs...)))
	}
}
