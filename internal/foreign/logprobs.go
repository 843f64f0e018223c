package foreign

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Logprob is the log probability of a token.
type Logprob struct {
	Token  string
	Number string  // as in the document
	Value  float64 // of Number
	Bytes  string  // of the token, as a JSON array; empty if the response does not have them

	// Top are the most probable tokens at its place, if the response has them.
	Top []Logprob
}

// Logprobs returns the log probabilities of the tokens of a response if x has them, and no
// other members. Otherwise it returns nil.
func Logprobs(x *content.Extra) []Logprob {
	if x == nil {
		return nil
	}
	read := dataOf(x.Format).logprobs
	if read == nil {
		return nil
	}
	doc, err := jsonwire.Parse(x.JSON, unlimited)
	if err != nil {
		return nil
	}
	defer doc.Close()
	return read(doc.Root())
}

// openAILogprobs reads the log probabilities of Chat Completions.
func openAILogprobs(v jsonwire.Value) []Logprob {
	of := v.Get("logprobs")
	text, ok := openAITokens(of.Get("content"), true)
	refusal, valid := openAITokens(of.Get("refusal"), true)
	if v.Len() != 1 || !ok || !valid {
		return nil
	}
	return append(text, refusal...)
}

// openAITokens reads a list of tokens, which may be absent. It returns false if v is anything
// else.
func openAITokens(v jsonwire.Value, withTop bool) (list []Logprob, ok bool) {
	if v.Kind() != jsonwire.Array {
		return nil, !v.Exists() || v.Kind() == jsonwire.Null
	}
	for _, x := range v.Elems() {
		number, token := x.Get("logprob"), x.Get("token")
		p := Logprob{Token: token.Str(), Number: number.Raw()}
		if p.Value, ok = number.Float(); !ok || token.Kind() != jsonwire.String {
			return nil, false
		}
		if b := x.Get("bytes"); b.Kind() == jsonwire.Array {
			p.Bytes = strings.Clone(b.Raw())
		}
		if withTop {
			if p.Top, ok = openAITokens(x.Get("top_logprobs"), false); !ok {
				return nil, false
			}
		}
		list = append(list, p)
	}
	return list, true
}
