package otelwire

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Attributes without a name in the conventions.
const (
	keyRequestID  = attribute.Key("polywire.request.id")
	keyUpstream   = attribute.Key("polywire.upstream")
	keyUpstreamID = attribute.Key("polywire.upstream.request.id")
	keyEstimated  = attribute.Key("polywire.usage.estimated")
	keyTruncated  = attribute.Key("polywire.content.truncated")
	keyLosses     = attribute.Key("polywire.losses")
	keySeverity   = attribute.Key("polywire.loss.severity")
	keyPath       = attribute.Key("polywire.loss.path")
	keyReason     = attribute.Key("polywire.loss.reason")
	keyMore       = attribute.Key("polywire.loss.more")
)

const lossEvent = "polywire.loss"

// maxLossEvents is below the limit of the SDK for the events of a span, which drops the
// oldest.
const maxLossEvents = 100

// A call is one call of Generate.
type call struct {
	*wrapper
	span  trace.Span
	attrs []attribute.KeyValue // of the host
	owner attribute.Distinct   // identifies attrs
	model string               // as requested
	start time.Time

	chunks    bool      // whether the times of chunks are recorded
	lastChunk time.Time // zero before the first
	first     time.Duration
	perChunk  []metric.RecordOption

	begun      bool // the upstream has begun a response
	head       upstream.Start
	usage      *content.Usage
	stops      []string // finish reasons by candidate
	losses     int
	lossEvents int
	output     *capture // nil unless content is recorded

	attempts atomic.Int64 // of a Failover, that are done
}

// begin starts the span and returns its context.
func (c *call) begin(ctx context.Context, r *upstream.Request) context.Context {
	c.model = r.Model
	if c.opts.Attributes != nil {
		c.attrs = slices.Clip(c.opts.Attributes(ctx, r))
	}
	set := attribute.NewSet(slices.Clone(c.attrs)...)
	c.owner = set.Equivalent()
	name := "chat"
	if r.Model != "" {
		name += " " + r.Model
	}
	c.start = time.Now()
	ctx, c.span = c.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(c.start),
		trace.WithAttributes(append(c.attrs, requestAttributes(ctx, r)...)...))
	c.chunks = r.Stream && (c.span.IsRecording() || c.meters.timeToFirstChunk.Enabled(ctx) || c.meters.timePerOutputChunk.Enabled(ctx))
	if c.opts.Content && c.span.IsRecording() {
		c.output = &capture{}
		c.span.SetAttributes(inputContent(r)...)
	}
	return upstream.WithTrace(ctx, &upstream.Trace{AttemptStart: c.startAttempt, AttemptDone: c.endAttempt})
}

// observe records events, which have just arrived.
func (c *call) observe(ctx context.Context, events []upstream.Event) {
	output := false
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case upstream.EventStart:
			c.head = *e.Start
		case upstream.EventUsage:
			c.usage = e.Usage
		case upstream.EventStop:
			c.stop(e.Candidate, e.Stop)
		case upstream.EventLoss:
			c.loss(e.Loss)
			continue
		default:
			output = output || isOutput(e)
		}
		c.begun = true
	}
	if output && c.chunks {
		c.chunk(ctx)
	}
	if c.output != nil {
		c.output.add(events)
	}
}

// isOutput reports whether an event contains a piece of the response.
func isOutput(e *upstream.Event) bool {
	switch e.Kind {
	case upstream.EventText, upstream.EventInput:
		return e.Text != ""
	case upstream.EventOpen:
		switch e.Part.(type) {
		case *content.Text, *content.Thinking:
			return false // the text follows
		}
		return true
	}
	return false
}

// chunk records the arrival of a chunk of output.
func (c *call) chunk(ctx context.Context) {
	if !c.lastChunk.IsZero() && !c.meters.timePerOutputChunk.Enabled(ctx) {
		return
	}
	now := time.Now()
	if c.lastChunk.IsZero() {
		c.first = now.Sub(c.start)
		c.perChunk = []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(c.dimensions()...))}
		c.meters.timeToFirstChunk.Record(ctx, c.first.Seconds(), c.perChunk...)
	} else {
		c.meters.timePerOutputChunk.Record(ctx, now.Sub(c.lastChunk).Seconds(), c.perChunk...)
	}
	c.lastChunk = now
}

// maxCandidates bounds the finish reasons of a span.
const maxCandidates = 1000

func (c *call) stop(candidate int, s *upstream.Stop) {
	if candidate >= maxCandidates || s.Reason == "" {
		return
	}
	for len(c.stops) <= candidate {
		c.stops = append(c.stops, "")
	}
	c.stops[candidate] = finishReason(s.Reason)
}

func (c *call) loss(l *content.Loss) {
	c.losses += l.Count()
	if c.lossEvents == maxLossEvents || !c.span.IsRecording() {
		return
	}
	c.lossEvents++
	attrs := []attribute.KeyValue{
		keySeverity.String(l.Severity.String()), keyPath.String(l.Path), keyReason.String(l.Reason),
	}
	if more := l.Count() - 1; more > 0 {
		attrs = append(attrs, keyMore.Int(more))
	}
	c.span.AddEvent(lossEvent, trace.WithAttributes(attrs...))
}

// end records the result of the call and ends the span.
func (c *call) end(ctx context.Context, err error) {
	now := time.Now()
	code := codeOf(ctx, err)
	var e *upstream.Error
	if errors.As(err, &e) && c.head.Upstream == "" {
		c.head.Upstream, c.head.UpstreamID = e.Upstream, e.UpstreamID
	}

	dims := c.dimensions()
	c.meters.tokens.record(ctx, c.usage, dims)
	if code != "" {
		dims = append(dims, semconv.ErrorTypeKey.String(string(code)))
	}
	c.meters.duration.Record(ctx, now.Sub(c.start).Seconds(), metric.WithAttributeSet(attribute.NewSet(dims...)))

	if c.span.IsRecording() {
		c.span.SetAttributes(c.responseAttributes()...)
		if c.output != nil {
			c.span.SetAttributes(c.output.attributes(c.stops)...)
		}
		if code != "" {
			c.span.SetAttributes(semconv.ErrorTypeKey.String(string(code)))
			if code != upstream.CodeCanceled {
				c.span.SetStatus(codes.Error, describe(code, err))
			}
		}
	}
	c.span.End(trace.WithTimestamp(now))
}

// dimensions returns the attributes of measurements.
func (c *call) dimensions() []attribute.KeyValue {
	requested, responded := c.measuredModels()
	attrs := append(c.attrs, semconv.GenAIOperationNameChat,
		semconv.GenAIProviderNameKey.String(c.provider(c.head.Upstream)))
	attrs = appendText(attrs, semconv.GenAIRequestModelKey, requested)
	attrs = appendText(attrs, semconv.GenAIResponseModelKey, responded)
	return appendText(attrs, keyUpstream, c.head.Upstream)
}

// responseAttributes returns the attributes of the span that are known at its end.
func (c *call) responseAttributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{semconv.GenAIProviderNameKey.String(c.provider(c.head.Upstream))}
	attrs = appendText(attrs, semconv.GenAIResponseIDKey, c.head.ID)
	attrs = appendText(attrs, semconv.GenAIResponseModelKey, c.head.Model)
	attrs = appendText(attrs, keyUpstream, c.head.Upstream)
	attrs = appendText(attrs, keyUpstreamID, c.head.UpstreamID)
	if len(c.stops) > 0 {
		attrs = append(attrs, semconv.GenAIResponseFinishReasons(c.stops...))
	}
	if c.first > 0 {
		attrs = append(attrs, semconv.GenAIResponseTimeToFirstChunk(c.first.Seconds()))
	}
	if c.losses > 0 {
		attrs = append(attrs, keyLosses.Int(c.losses))
	}
	if n := c.attempts.Load(); n > 0 {
		attrs = append(attrs, keyAttempts.Int64(n))
	}
	return append(attrs, usageAttributes(c.usage)...)
}

// codeOf returns the code of the error of a call whose context is ctx, or "" for nil.
func codeOf(ctx context.Context, err error) upstream.Code {
	if err == nil {
		return ""
	}
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		err = context.Cause(ctx)
	}
	var e *upstream.Error
	violations, _ := content.Violations(err)
	switch {
	case errors.As(err, &e):
		return known(cmp.Or(e.Code, upstream.CodeInternal))
	case len(violations) > 0:
		return upstream.CodeInvalid
	case errors.Is(err, context.DeadlineExceeded):
		return upstream.CodeTimeout
	case ctx.Err() != nil:
		return upstream.CodeCanceled
	}
	return upstream.CodeInternal
}

// known returns c, or CodeInternal if c is not a code of an [upstream.Error]: any other
// value of a host would be a value of error.type that no dashboard expects.
func known(c upstream.Code) upstream.Code {
	switch c {
	case "", upstream.CodeInvalid, upstream.CodeUnauthenticated, upstream.CodeBilling, upstream.CodePermission,
		upstream.CodeNotFound, upstream.CodeMethod, upstream.CodeConflict, upstream.CodeTooLarge,
		upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeUnavailable, upstream.CodeTimeout,
		upstream.CodeOverloaded, upstream.CodeUnsupported, upstream.CodeBadGateway, upstream.CodeCanceled:
		return c
	}
	return upstream.CodeInternal
}

// describe returns the description of a failed span. It contains no text that a vendor
// or the host wrote for the client, because such texts may quote the request.
func describe(code upstream.Code, err error) string {
	var e *upstream.Error
	if errors.As(err, &e) {
		err = e.Err
	} else if list, _ := content.Violations(err); len(list) > 0 {
		err = nil
		if path := list[0].Path; path != "" {
			err = errors.New("at " + path)
		}
	}
	return (&upstream.Error{Code: code, Err: err}).Error() // in one line, without keys
}
