package foreign

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
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

// A logprobs is how a format asks for log probabilities and returns them. The first of members, names
// in a response, has them; the others follow from it.
type logprobs struct {
	request map[string]bool // the members of a request that ask for them
	asks    func(json string) (asks bool, top gjson.Result)
	members []string
	read    func(v jsonwire.Value) []Logprob
	dropped string // the member of a token that other formats do not have, or ""
}

// maxTopLogprobs is the limit of [AsksLogprobs], in all formats.
const maxTopLogprobs = 20

// AsksLogprobs reports whether the members x of a request ask for log probabilities, and for how many
// of the most probable tokens at each place.
func AsksLogprobs(x *content.Extra) (top int64, asks bool) {
	if x == nil || dataOf(x.Format).logprobs == nil {
		return 0, false
	}
	asks, n := dataOf(x.Format).logprobs.asks(x.JSON)
	top = int64(n.Num)
	return top, asks && (n.Type == gjson.Null || n.Type == gjson.Number && float64(top) == n.Num && top >= 0 && top <= maxTopLogprobs)
}

// IsLogprobs reports whether a member of a request asks for log probabilities in a format. The name has
// those of the objects that it is in, joined by dots.
func IsLogprobs(f content.Format, name string) bool {
	l := dataOf(f).logprobs
	return l != nil && l.request[name]
}

// TokensLoss is reported for members of tokens that other formats do not have: see DropsOfTokens.
var TokensLoss = loss.Hint(loss.ResponseMembers, "the ids of tokens beside their log probabilities were dropped")

// DropsOfTokens reports whether the tokens in x, of which TakeLogprobs has returned some, have members
// that other formats do not have.
func DropsOfTokens(x *content.Extra) bool {
	dropped := dataOf(x.Format).logprobs.dropped
	return dropped != "" && strings.Contains(x.JSON, dropped)
}

// TakeLogprobs returns the log probabilities of the tokens of a response in x, which may be nil, and x
// without them: nil if there are no other members. Without log probabilities it returns x itself.
func TakeLogprobs(x *content.Extra) ([]Logprob, *content.Extra) {
	if x == nil {
		return nil, nil
	}
	l := dataOf(x.Format).logprobs
	if l == nil || !strings.Contains(x.JSON, l.members[0]) {
		return nil, x
	}
	doc, err := jsonwire.Parse(x.JSON, unlimited)
	if err != nil {
		return nil, x
	}
	defer doc.Close()
	list := l.read(doc.Root().Get(l.members[0]))
	if len(list) == 0 {
		return nil, x
	}
	var w jsonwire.Writer
	w.BeginObject()
	// was parsed before
	_ = w.MembersExcept(x.JSON, func(s string) bool { return slices.Contains(l.members, s) }) // bounded by logprobs
	w.EndObject()
	if w.Text() == "{}" {
		return list, nil
	}
	return list, &content.Extra{Format: x.Format, JSON: w.Text()}
}

// LogprobsMember returns the name of the member of a response that has log probabilities, or "".
func LogprobsMember(f content.Format) string {
	if l := dataOf(f).logprobs; l != nil {
		return l.members[0]
	}
	return ""
}

// JoinLogprobs returns the value of that member for the pieces of a response: a list of all elements, or
// an object with such lists. It returns "" for less than two pieces.
func JoinLogprobs(pieces []string) string {
	if len(pieces) < 2 {
		return ""
	}
	var names []string // "" is for pieces that are lists
	lists, others := make(map[string][]string), make(map[string]string)
	add := func(name string, v gjson.Result) {
		if !slices.Contains(names, name) { // bounded by loss.MaxNames
			names = append(names, name)
		}
		others[name] = v.Raw
		if v.IsArray() {
			for _, x := range v.Array() {
				lists[name] = append(lists[name], x.Raw)
			}
		}
	}
	for _, piece := range pieces {
		v := gjson.Parse(piece)
		if v.IsArray() {
			add("", v)
		}
		v.ForEach(func(name, x gjson.Result) bool {
			if v.IsObject() && len(names) < loss.MaxNames {
				add(name.Str, x)
			}
			return v.IsObject()
		})
	}
	value := func(name string) string {
		if lists[name] == nil {
			return others[name]
		}
		return "[" + strings.Join(lists[name], ",") + "]"
	}
	if len(names) == 0 || names[0] == "" {
		return value("")
	}
	var w jsonwire.Writer
	w.BeginObject()
	for _, name := range names {
		w.RawMember(name, value(name))
	}
	w.EndObject()
	return w.Text()
}

// openAILogprobs are those of both formats of the vendor. A request of Responses that includes other
// output, which servers of other formats do not have, is not translated.
var openAILogprobs = &logprobs{
	request: map[string]bool{"logprobs": true, "top_logprobs": true, "include": true},
	members: []string{"logprobs"},
	asks: func(json string) (asks bool, top gjson.Result) {
		others := false
		gjson.Get(json, "include").ForEach(func(_, v gjson.Result) bool {
			asks = asks || v.Str == "message.output_text.logprobs"
			others = others || v.Str != "message.output_text.logprobs" && v.Str != "reasoning.encrypted_content"
			return !others
		})
		asks = asks || gjson.Get(json, "logprobs").Type == gjson.True
		return asks && !others, gjson.Get(json, "top_logprobs")
	},
	read: func(v jsonwire.Value) []Logprob {
		if v.Kind() == jsonwire.Array {
			list, _ := openAITokens(v, true)
			return list
		}
		text, ok := openAITokens(v.Get("content"), true)
		refusal, valid := openAITokens(v.Get("refusal"), true)
		if !ok || !valid {
			return nil
		}
		return append(text, refusal...)
	},
}

// geminiLogprobs are those of generateContent.
var geminiLogprobs = &logprobs{
	dropped: `"tokenId"`,
	request: map[string]bool{"generationConfig.responseLogprobs": true, "generationConfig.logprobs": true},
	members: []string{"logprobsResult", "avgLogprobs"},
	asks: func(json string) (asks bool, top gjson.Result) {
		c := gjson.Get(json, "generationConfig")
		return c.Get("responseLogprobs").Type == gjson.True, c.Get("logprobs")
	},
	read: func(v jsonwire.Value) []Logprob {
		list := geminiTokens(v.Get("chosenCandidates"))
		for i, x := range v.Get("topCandidates").Elems() {
			if i < len(list) {
				list[i].Top = geminiTokens(x.Get("candidates"))
			}
		}
		return list
	},
}

// geminiTokens reads a list of tokens. It returns nil if v is anything else.
func geminiTokens(v jsonwire.Value) (list []Logprob) {
	for _, x := range v.Elems() {
		number, token := x.Get("logProbability"), x.Get("token")
		p := Logprob{Token: token.Str(), Number: number.Raw()}
		var ok bool
		if p.Value, ok = number.Float(); !ok {
			return nil
		}
		list = append(list, p)
	}
	return list
}

// openAITokens reads a list of tokens, which may be absent. It returns false, and no list, if v is
// anything else.
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
