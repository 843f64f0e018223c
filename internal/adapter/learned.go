package adapter

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// MaxAttempts bounds how often one request is sent.
const MaxAttempts = 5

// Exchange sends the request of p, which request returns. If the server refuses it and learn
// reports that p.Target has changed for it, Exchange lowers the request for that target and sends
// it again. The error about a document of a client is returned: the client has written it.
func (s *Client) Exchange(ctx context.Context, p *Plan, w *upstream.Writer, request func() (*Request, error), learn func(error) bool) (*Response, error) {
	for attempt := 1; ; attempt++ {
		news, violation := p.Load(ctx)
		if err := cmp.Or(w.Loss(news), violation); err != nil {
			return nil, err
		}
		x, err := request()
		if err != nil {
			return nil, err
		}
		resp, err := s.Do(ctx, x)
		if err == nil || attempt == MaxAttempts || p.Document != nil || !learn(err) {
			return resp, err
		}
		if err := cmp.Or(w.Loss(p.Lower()), p.Err); err != nil {
			return nil, err
		}
	}
}

// A Learned is what a server has shown of the values that a model accepts, by refusing others. The
// zero value is nothing.
type Learned struct {
	Refused lower.EffortSet
	Limit   int64 // of output tokens; 0 means none

	// LowBudget and HighBudget are the range of budgets of thinking tokens, or 0.
	LowBudget, HighBudget int64
	AlwaysThinks          bool
	NoLogprobs            bool // the model returns no log probabilities
}

// And returns what v and old show, of which v is newer.
func (v Learned) And(old Learned) Learned {
	v.Refused |= old.Refused
	v.Limit = cmp.Or(v.Limit, old.Limit)
	v.LowBudget, v.HighBudget = cmp.Or(v.LowBudget, old.LowBudget), cmp.Or(v.HighBudget, old.HighBudget)
	v.AlwaysThinks = v.AlwaysThinks || old.AlwaysThinks
	v.NoLogprobs = v.NoLogprobs || old.NoLogprobs
	return v
}

// MaxOutput returns the limit of output tokens of a model for which known is listed; 0 means none.
func (v *Learned) MaxOutput(known int64) int64 { return cmp.Or(v.Limit, known) }

// LearnFrom is [Learned.Learn] for the error of a server whose adapter needs no more of it than its
// text.
func (v *Learned) LearnFrom(err error, sent *lower.Request) bool {
	var e *upstream.Error
	return errors.As(err, &e) && e.Code == upstream.CodeInvalid && v.Learn(strings.ToLower(e.Text), sent.Thinking.Effort, sent)
}

// Learn records why a server refused a request that was sent with an effort, and reports whether
// there is anything new. text is the server's error in lower case.
func (v *Learned) Learn(text, effort string, sent *lower.Request) bool {
	before := *v
	switch {
	case strings.Contains(text, "context length"): // it depends on the prompt
	case sent.MaxTokens != nil && containsAny(text, "max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens"):
		if n := limitIn(text, *sent.MaxTokens); n > 0 {
			v.Limit = n
		}
	case effort != "" && containsAny(text, "effort", "thinking level", "thinking_level", "thinkinglevel"):
		v.learnEffort(text, effort)
	case strings.Contains(text, "logprobs is not"): // enabled, or supported
		v.NoLogprobs = true
	case strings.Contains(text, "only works in thinking mode"):
		v.AlwaysThinks = true
	case strings.Contains(text, "thinking budget"):
		if n := numbersIn(text); len(n) > 1 {
			v.LowBudget, v.HighBudget = n[len(n)-2], n[len(n)-1]
		}
	}
	return *v != before
}

// learnEffort records which efforts are refused: those that the text does not list, or the one that
// was sent.
func (v *Learned) learnEffort(text, sent string) {
	words := wordsIn(text)
	var listed lower.EffortSet
	if containsAny(text, "supported values", "supported levels", "valid values", "allowed values", "input should be", "one of") {
		for _, word := range words {
			if word = strings.TrimRight(word, "."); word != sent {
				listed.Add(word)
			}
		}
	}
	switch {
	case listed != 0:
		v.Refused |= lower.AllEfforts &^ listed
	case slices.Contains(words, sent): // one pass
		v.Refused.Add(sent)
	}
}

func containsAny(text string, list ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(text, s) }) // one pass
}

// limitIn returns the limit of output tokens that an error states, or 0: the highest number below
// the one that was sent. Less is another number, such as the version of a model.
func limitIn(text string, sent int64) (limit int64) {
	const least = 1000
	for _, n := range numbersIn(text) {
		if n < sent && n >= least {
			limit = max(limit, n)
		}
	}
	if limit > 0 && strings.Contains(text, strconv.FormatInt(limit, 10)+" (exclusive)") {
		limit--
	}
	return limit
}

// wordsIn returns the words and numbers in a text. The name of a model is one word.
func wordsIn(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool {
		return c != '_' && c != '-' && c != '.' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

// numbersIn returns the numbers in a text, but not those in names.
func numbersIn(text string) (list []int64) {
	for _, s := range wordsIn(text) {
		if n, err := strconv.ParseInt(strings.TrimRight(s, "."), 10, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

const (
	// maxRemembered bounds the number of remembered models.
	maxRemembered = 256

	// memoryTime is how long a refusal is remembered: servers are updated.
	memoryTime = time.Hour
)

// A Memory holds what the server has refused, by model. It forgets that an hour after the last
// refusal. The zero value is empty. It is safe for concurrent use.
type Memory[T comparable] struct {
	Now func() time.Time // nil means [time.Now]

	mu     sync.Mutex
	models map[string]remembered[T]
}

type remembered[T comparable] struct {
	value T
	until time.Time
}

func (m *Memory[T]) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

// Get returns what is remembered of a model.
func (m *Memory[T]) Get(model string) (value T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x, ok := m.models[model]; ok {
		if m.now().Before(x.until) {
			return x.value
		}
		delete(m.models, model)
	}
	return value
}

// Add remembers what merge makes of the value of a model. At the limit it forgets all models: only
// invented names reach it.
func (m *Memory[T]) Add(model string, merge func(old T) T) {
	old := m.Get(model)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.models[model]; m.models == nil || !known && len(m.models) >= maxRemembered {
		m.models = make(map[string]remembered[T])
	}
	m.models[strings.Clone(model)] = remembered[T]{merge(old), m.now().Add(memoryTime)}
}
