package upstream

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
)

// Reads returns an Upstream that reports what next, a model of the host, does not read, as losses of
// the request before next is called, so RejectLoss applies to them. next reads the texts of the last
// turn, and what names lists:
//
//   - "system", "turns": the texts of the system, and of all turns;
//   - "parts": parts that are not texts. next refuses or reports those that it cannot read;
//   - "tools" (with Choice), "thinking", "output", "max_tokens", "temperature", "top_p", "top_k",
//     "seed", "presence_penalty", "frequency_penalty", "stop_sequences", "candidates", "user_id",
//     "service_tier": the field of the [Request] with this name.
//
// Cache marks, citations and members of turns, parts and tools that only one format has are not
// reported. [Preflight] returns the losses. Reads panics if next is nil or a name is none of these.
func Reads(next Upstream, names ...string) Upstream {
	if next == nil {
		panic("upstream: Reads: nil Upstream")
	}
	for _, name := range names {
		if !strings.Contains(readable, " "+name+" ") {
			panic("upstream: Reads: unknown name " + strconv.Quote(name))
		}
	}
	return &reads{next, slices.Clone(names)}
}

const readable = " system turns parts tools thinking output max_tokens temperature top_p top_k seed presence_penalty frequency_penalty stop_sequences candidates user_id service_tier "

type reads struct {
	next  Upstream
	names []string
}

func (u *reads) Unwrap() Upstream { return u.next }

func (u *reads) Generate(ctx context.Context, r *Request, w *Writer) error {
	if err := w.Loss(u.losses(r)); err != nil {
		return err
	}
	return u.next.Generate(ctx, r, w)
}

func (u *reads) Preflight(_ context.Context, r *Request) ([]content.Loss, error) {
	return u.losses(r), nil
}

// losses returns what r has and the model does not read.
func (u *reads) losses(r *Request) []content.Loss {
	var all loss.List
	lose := func(name, path string, has bool, s content.Severity) {
		if has && !slices.Contains(u.names, name) { // bounded by the host
			all.Add(content.Loss{Path: path, Severity: s, Reason: "the model does not read this"})
		}
	}
	parts := func(path string, list []content.Part) {
		for i, p := range list {
			_, text := p.(*content.Text)
			severity := content.LossDropped
			if _, ok := p.(*content.Thinking); ok {
				severity = content.LossHint
			}
			lose("parts", path+strconv.Itoa(i), !text, severity)
		}
	}
	for i := range r.System {
		lose("system", "system."+strconv.Itoa(i), true, content.LossDropped)
	}
	if slices.Contains(u.names, "system") { // bounded by the host
		parts("system.", r.System)
	}
	for i, t := range r.Turns {
		path, last := "turns."+strconv.Itoa(i), i == len(r.Turns)-1
		lose("turns", path, !last, content.LossDropped)
		if last || slices.Contains(u.names, "turns") { // bounded by the host
			parts(path+".parts.", t.Parts)
		}
	}
	for i := range r.Tools {
		lose("tools", "tools."+strconv.Itoa(i), true, content.LossDropped)
	}
	lose("tools", "choice", r.Choice.Mode != "" || r.Choice.NoParallel || r.Choice.Extra != nil, content.LossDropped)
	lose("thinking", "thinking", r.Thinking != Thinking{}, content.LossDegraded)
	o := &r.Output
	lose("output", "output", len(o.Modalities) > 0 || o.MediaType+o.Schema.JSON+o.Verbosity+o.AspectRatio+o.ImageSize != "" || o.Extra != nil, content.LossDropped)
	for _, setting := range []struct {
		name string
		has  bool
	}{
		{"max_tokens", r.MaxTokens != nil}, {"temperature", r.Temperature != nil}, {"top_p", r.TopP != nil}, {"top_k", r.TopK != nil},
		{"seed", r.Seed != nil}, {"presence_penalty", r.PresencePenalty != nil}, {"frequency_penalty", r.FrequencyPenalty != nil},
		{"stop_sequences", len(r.StopSequences) > 0}, {"candidates", r.Candidates > 1},
	} {
		lose(setting.name, setting.name, setting.has, content.LossDropped)
	}
	lose("user_id", "user_id", r.UserID != "", content.LossHint)
	lose("service_tier", "service_tier", r.ServiceTier != "", content.LossHint)
	for tail, rule := range foreign.Members(r.Extra, foreign.Request) {
		all.Add(rule.At("extra." + tail))
	}
	return all.All
}
