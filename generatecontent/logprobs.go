package generatecontent

import (
	"math"
	"strconv"

	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
)

// logprobs collects the log probabilities of a candidate's tokens that came in another
// format. The lists have one element for each token that waits for its chunk.
type logprobs struct {
	sum         float64 // of all tokens
	n           int
	chosen, top []byte
	some        bool // an element of top is not empty
}

// add adds tokens to those that wait for their chunk.
func (l *logprobs) add(list []foreign.Logprob) {
	for _, p := range list {
		l.sum, l.n = l.sum+p.Value, l.n+1
		if len(l.chosen) > 0 {
			l.chosen, l.top = append(l.chosen, ','), append(l.top, ',')
		}
		l.chosen = appendToken(l.chosen, &p)
		l.top = append(l.top, `{"candidates":[`...)
		for i, p := range p.Top {
			if l.some = true; i > 0 {
				l.top = append(l.top, ',')
			}
			l.top = appendToken(l.top, &p)
		}
		l.top = append(l.top, "]}"...)
	}
}

// take returns the logprobsResult of the tokens that wait, or "" if there are none.
func (l *logprobs) take() string {
	if len(l.chosen) == 0 {
		return ""
	}
	top := ""
	if l.some {
		top = `"topCandidates":[` + string(l.top) + "],"
	}
	json := "{" + top + `"chosenCandidates":[` + string(l.chosen) + "]}"
	l.chosen, l.top, l.some = l.chosen[:0], l.top[:0], false
	return json
}

// askLogprobs returns the members that ask for log probabilities.
func askLogprobs(top int64) string {
	n := ""
	if top > 0 {
		n = `,"logprobs":` + strconv.FormatInt(top, 10)
	}
	return `{"generationConfig":{"responseLogprobs":true` + n + `}}`
}

// appendToken appends a token with its log probability.
func appendToken(b []byte, p *foreign.Logprob) []byte {
	b = jsonwire.AppendString(append(b, `{"token":`...), p.Token)
	b = append(append(b, `,"logProbability":`...), p.Number...)
	return append(b, '}')
}

// average returns avgLogprobs as JSON, or "" if there are no log probabilities.
func (l *logprobs) average() string {
	a := l.sum / float64(l.n)
	if l.n == 0 || math.IsInf(a, 0) {
		return ""
	}
	return strconv.FormatFloat(a, 'g', -1, 64)
}
