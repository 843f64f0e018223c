package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// SamplingRules describes which parameters of sampling a target accepts.
type SamplingRules struct {
	Temperature Number
	TopP        Number
	TopK        Number
	Seed        Number
	Presence    Number
	Frequency   Number

	One        bool // temperature or top_p, not both
	Stops      Stops
	Candidates bool // several candidates

	// Logprobs returns the own members, as a JSON object, that ask for the log probabilities of
	// tokens, and of the top most probable ones at each place. Nil means that there are none.
	Logprobs func(top int64) string
}

// A Number describes the values of a parameter that a target accepts. The zero Number
// accepts all.
type Number struct {
	Off         bool // none
	NotThinking bool // none while the model thinks
	Range       bool // from Low to High
	Low, High   float64
	Clamp       bool // others become the nearest one, if there is a loss for that

	// Usual is the value that a model uses if the parameter is not sent. HasUsual reports
	// that it is known, so that dropping it loses nothing.
	HasUsual bool
	Usual    float64
}

// Stops describes the stop sequences that a target accepts.
type Stops struct {
	Off     bool
	Cut     bool // the reader of the response cuts at them
	Max     int  // 0 means no limit
	NoEmpty bool // empty ones are left out
	NoBlank bool // blank ones are left out
}

// sampling lowers the parameters of sampling.
func (l *lowering) sampling() {
	r, to := &l.t.Sampling, &l.to.Request
	if r.One && to.Temperature != nil && to.TopP != nil && !l.isOff(&r.Temperature) {
		l.oneSampler()
	}
	to.Temperature = number(l, to.Temperature, &r.Temperature, At("temperature"),
		sampled{dropped: Temperature, nearest: TemperatureNearest, thinking: TemperatureThinking})
	to.TopP = number(l, to.TopP, &r.TopP, At("top_p"), sampled{dropped: TopP, thinking: TopPThinking})
	to.TopK = number(l, to.TopK, &r.TopK, At("top_k"), sampled{dropped: TopK, thinking: TopKThinking})
	to.PresencePenalty = number(l, to.PresencePenalty, &r.Presence, At("presence_penalty"), sampled{dropped: Penalties})
	to.FrequencyPenalty = number(l, to.FrequencyPenalty, &r.Frequency, At("frequency_penalty"), sampled{dropped: Penalties})
	to.Seed = number(l, to.Seed, &r.Seed, At("seed"), sampled{dropped: Seed})
	switch {
	case to.Candidates < 0:
		l.refuse(content.CodeValue, At("candidates"), "must not be negative")
	case to.Candidates > 1 && !r.Candidates:
		l.lose(Candidates, At("candidates"))
		to.Candidates = 0
	}
	if len(l.pending) > 0 {
		l.logprobs(!r.Temperature.NotThinking || !l.thinks)
	}
	if len(to.StopSequences) > 0 {
		l.stops()
	}
}

// isOff reports whether the model accepts no value of a parameter.
func (l *lowering) isOff(rules *Number) bool { return rules.Off || rules.NotThinking && l.thinks }

// A sampled has the rules for the losses of a parameter.
type sampled struct {
	dropped  *loss.Rule
	nearest  *loss.Rule // the nearest value was sent; nil: none is, also with Number.Clamp
	thinking *loss.Rule // dropped while the model thinks; nil: dropped
}

// number returns n, which may be nil, as a target accepts it: n itself, another value, or nil.
func number[T int64 | float64](l *lowering, n *T, rules *Number, at Path, losses sampled) *T {
	if n == nil {
		return nil
	}
	switch v := float64(*n); {
	case v-v != 0: // NaN or infinite
		l.refuse(content.CodeRange, at, "must be a finite number")
		return nil
	case l.isOff(rules):
		if rules.HasUsual && v == rules.Usual {
			return nil
		}
		if rules.Off {
			l.lose(losses.dropped, at)
		} else {
			l.lose(cmp.Or(losses.thinking, losses.dropped), at)
		}
		return nil
	case !rules.Range || v >= rules.Low && v <= rules.High:
		return n
	case rules.Clamp && losses.nearest != nil:
		l.lose(losses.nearest, at)
		return new(T(max(rules.Low, min(rules.High, v))))
	default:
		l.lose(losses.dropped, at)
		return nil
	}
}

// oneSampler drops top_p, or a temperature that has no effect.
func (l *lowering) oneSampler() {
	r, to := &l.t.Sampling, &l.to.Request
	if r.Temperature.HasUsual && *to.Temperature == r.Temperature.Usual {
		to.Temperature = nil
		return
	}
	if !r.TopP.HasUsual || *to.TopP != r.TopP.Usual {
		l.lose(TopPBeside, At("top_p"))
	}
	to.TopP = nil
}

// logprobs asks for log probabilities as the members of another format do, or reports these.
func (l *lowering) logprobs(accepted bool) {
	if accepted && l.t.Sampling.Logprobs != nil {
		if top, asks := foreign.AsksLogprobs(l.n.Extra); asks {
			json := l.t.Sampling.Logprobs(top)
			l.setMembers(func(members string) string {
				var w jsonwire.Writer
				w.BeginObject()
				if members != "" {
					w.Members(members)
				}
				w.Members(json)
				w.EndObject()
				return w.Text()
			})
			return
		}
	}
	for _, x := range l.pending {
		l.lose(x.Rule, x.Path)
	}
}

// stops lowers the stop sequences.
func (l *lowering) stops() {
	r, list := &l.t.Sampling.Stops, l.to.StopSequences
	at := At("stop_sequences")
	isEmpty := func(s string) bool { return s == "" }
	isBlank := func(s string) bool { return strings.TrimSpace(s) == "" }
	if (r.NoEmpty || r.NoBlank) && slices.ContainsFunc(list, isEmpty) { // one pass
		l.lose(StopEmpty, at)
		list = slices.DeleteFunc(slices.Clone(list), isEmpty)
	}
	if r.NoBlank && slices.ContainsFunc(list, isBlank) { // one pass
		l.lose(StopBlank, at)
		list = slices.DeleteFunc(slices.Clone(list), isBlank)
	}
	switch {
	case len(list) == 0:
		list = nil
	case r.Off:
		l.lose(StopsOff, at)
		list = nil
	case r.Cut:
		l.lose(StopsCut, at)
		l.to.Cut, list = list, nil
	case r.Max > 0 && len(list) > r.Max:
		l.lose(StopsOverLimit, at)
		list = list[:r.Max:r.Max]
	}
	l.to.StopSequences = list
}
