package generatecontent

import (
	"math"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
)

// logprobs sums the log probabilities of a candidate's tokens that came in another
// format.
type logprobs struct {
	sum float64
	n   int
}

// convert converts the log probabilities in x to logprobsResult. It returns x itself if x has
// other members or no log probabilities of another format.
func (l *logprobs) convert(x *content.Extra) *content.Extra {
	list := foreign.Logprobs(x)
	if len(list) == 0 {
		return x
	}
	chosen, top, some := []byte(`"chosenCandidates":[`), []byte(`"topCandidates":[`), false
	for i, p := range list {
		l.sum, l.n = l.sum+p.Value, l.n+1
		if i > 0 {
			chosen, top = append(chosen, ','), append(top, ',')
		}
		chosen = appendToken(chosen, &p)
		top = append(top, `{"candidates":[`...)
		for i, p := range p.Top {
			if some = true; i > 0 {
				top = append(top, ',')
			}
			top = appendToken(top, &p)
		}
		top = append(top, "]}"...)
	}
	b := []byte(`{"logprobsResult":{`)
	if some {
		b = append(append(b, top...), "],"...)
	}
	b = append(append(b, chosen...), "]}}"...)
	return &content.Extra{Format: Format, JSON: string(b)}
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
