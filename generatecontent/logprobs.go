package generatecontent

import (
	"math"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// logprobs sums the log probabilities of a candidate's tokens that came in another
// format.
type logprobs struct {
	sum float64
	n   int
}

// convert converts the log probabilities of chat completions in x to logprobsResult. It
// returns x itself if x has other members or no log probabilities.
func (l *logprobs) convert(x *content.Extra) *content.Extra {
	if x == nil || x.Format != "openai-chat" {
		return x
	}
	doc := codec.Open(x, x.Format)
	if doc == nil {
		return x
	}
	defer doc.Close()
	list := doc.Root().Get("logprobs")
	if doc.Root().Len() != 1 || !isTokens(list.Get("content"), true) || !isTokens(list.Get("refusal"), true) {
		return x
	}
	var chosen, top []byte
	some := false
	for _, name := range [...]string{"content", "refusal"} {
		for _, v := range list.Get(name).Elems() {
			p, _ := v.Get("logprob").Float()
			l.sum, l.n = l.sum+p, l.n+1
			chosen = append(appendToken(chosen, v), ',')
			top = append(top, `{"candidates":[`...)
			for i, v := range v.Get("top_logprobs").Elems() {
				if some = true; i > 0 {
					top = append(top, ',')
				}
				top = appendToken(top, v)
			}
			top = append(top, "]},"...)
		}
	}
	if len(chosen) == 0 {
		return x
	}
	b := []byte(`{"logprobsResult":{`)
	if some {
		b = append(append(append(b, `"topCandidates":[`...), top[:len(top)-1]...), "],"...)
	}
	b = append(append(append(b, `"chosenCandidates":[`...), chosen[:len(chosen)-1]...), "]}}"...)
	return &content.Extra{Format: Format, JSON: string(b)}
}

// isTokens reports whether v is a list of tokens with log probabilities, or absent.
func isTokens(v jsonwire.Value, withTop bool) bool {
	if v.Kind() != jsonwire.Array {
		return v.Kind() <= jsonwire.Null
	}
	for _, x := range v.Elems() {
		_, ok := x.Get("logprob").Float()
		if !ok || x.Get("token").Kind() != jsonwire.String || withTop && !isTokens(x.Get("top_logprobs"), false) {
			return false
		}
	}
	return true
}

// appendToken appends a token with its log probability.
func appendToken(b []byte, v jsonwire.Value) []byte {
	b = jsonwire.AppendString(append(b, `{"token":`...), v.Get("token").Str())
	b = append(append(b, `,"logProbability":`...), v.Get("logprob").Raw()...)
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
