package foreign

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// TestResponseMembers checks which members are reported, and how many by name.
func TestResponseMembers(t *testing.T) {
	many := "{"
	for i := range loss.MaxNames + 2 {
		many += `"m` + strconv.Itoa(i) + `":0,`
	}
	names := func(json string) (names []string) {
		for name := range ResponseMembers(&content.Extra{Format: "other", JSON: json}, "") {
			names = append(names, name)
		}
		return names
	}
	for _, tt := range []struct {
		name, json string
		want       []string
	}{
		{"in order", `{"speed":1,"cachedContent":{"a":1},"x_new-1":true}`, []string{"speed", "cachedContent", "x_new-1"}},
		{"without effect", `{"speed":null,"cachedContent":{},"x":[],"y":false,"z":""}`, nil},
		{"names that are not plain", `{"a b":1,"ok":1,"":1,"` + strings.Repeat("n", 65) + `":1}`, []string{"ok", "members"}},
		{"empty", `{}`, nil},
		{"not JSON", `{"a"`, []string{"members"}},
	} {
		if diff := cmp.Diff(tt.want, names(tt.json)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := names(strings.TrimSuffix(many, ",") + "}"); len(got) != loss.MaxNames+1 || got[loss.MaxNames] != "members" {
		t.Errorf("%d names are reported", len(got))
	}
}

// TestResponseRules checks which members of which formats are more than a hint.
func TestResponseRules(t *testing.T) {
	for _, tt := range []struct {
		format content.Format
		json   string
		want   []*loss.Rule
	}{
		{"generatecontent", `{"citationMetadata":{"a":1},"logprobsResult":{"a":1},"continuationToken":"t","labels":{"a":1}}`,
			[]*loss.Rule{SourcesLoss, LogprobsLoss, ResumeLoss, ResponseLoss}},
		{"generatecontent", `{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"u"}}],"groundingSupports":[],"webSearchQueries":[]}}`, nil},
		{"generatecontent", `{"groundingMetadata":{"groundingChunks":[],"webSearchQueries":["q"]}}`, []*loss.Rule{QueriesLoss}},
		{"generatecontent", `{"groundingMetadata":{"searchEntryPoint":{"renderedContent":"<div>"},"webSearchQueries":["q"],"new":1,"newer":2}}`,
			[]*loss.Rule{EntryPointLoss, QueriesLoss, ResponseLoss}},
		{"openai-chat", `{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"u"}}]}}`, []*loss.Rule{ResponseLoss}}, // not a list of sources there
		{"messages", `{"container":{"id":"c"},"logprobs":{"a":1},"groundingMetadata":{}}`, []*loss.Rule{ResumeLoss, ResponseLoss}},
		{"openai-chat", `{"logprobs":{"a":1},"container":{"id":"c"}}`, []*loss.Rule{LogprobsLoss, ResponseLoss}},
		{"openai-responses", `{"logprobs":{"a":1}}`, []*loss.Rule{LogprobsLoss}},
		{"a host's", `{"logprobs":{"a":1}}`, []*loss.Rule{ResponseLoss}},
	} {
		var got []*loss.Rule
		ResponseMembersOfPart(&content.Extra{Format: tt.format, JSON: tt.json}, func(r *loss.Rule) { got = append(got, r) })
		if !slices.Equal(tt.want, got) {
			t.Errorf("%s %s: %v, want %v", tt.format, tt.json, got, tt.want)
		}
	}
}

// TestSources checks that a source is lost unless a citation has its link.
func TestSources(t *testing.T) {
	cited := func(link string) content.Citation {
		return content.Citation{URL: link, Extra: &content.Extra{Format: "generatecontent", JSON: `{}`}}
	}
	chunks := func(list string) string { return `{"groundingMetadata":{"groundingChunks":` + list + `}}` }
	for _, tt := range []struct {
		name, format, json string
		cited              []content.Citation
		want               []string
	}{
		{"cited", "generatecontent", chunks(`[{"web":{"uri":"a"}},{"image":{"uri":"i","sourceUri":"b"}},{"image":{"sourceUri":"c"}}]`),
			[]content.Citation{cited("a"), cited("i"), cited("c")}, nil},
		{"not cited", "generatecontent", chunks(`[{"web":{"uri":"a"}}]`), []content.Citation{cited("b")}, []string{"groundingMetadata"}},
		{"without a link", "generatecontent", chunks(`[{"web":{}}]`), nil, []string{"groundingMetadata"}},
		{"not a list", "generatecontent", chunks(`"a"`), nil, []string{"groundingMetadata"}},
		{"none", "generatecontent", chunks(`null`), nil, nil},
		{"not JSON", "generatecontent", `{"groundingMetadata"`, nil, nil},
		{"a format without sources", "messages", chunks(`[{"web":{"uri":"a"}}]`), nil, nil},
	} {
		var s Sources
		for i := range tt.cited {
			s.Cite(&tt.cited[i])
		}
		s.Cite(&content.Citation{URL: "of another format", Extra: &content.Extra{Format: "messages"}})
		s.Name(&content.Extra{Format: content.Format(tt.format), JSON: tt.json})
		var got []string
		for path, rule := range s.Lost() {
			got = append(got, path)
			if rule != SourcesLoss {
				t.Errorf("%s: %s", tt.name, rule.Reason)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestTakeLogprobs checks that log probabilities are read in all forms, and what remains.
func TestTakeLogprobs(t *testing.T) {
	const a, b = `{"token":"a","logprob":-0.50,"bytes":[97],"top_logprobs":[{"token":"b","logprob":-1}]}`, `{"token":"b","logprob":-2,"top_logprobs":[]}`
	both := []Logprob{{Token: "a", Number: "-0.50", Value: -0.5, Bytes: "[97]", Top: []Logprob{{Token: "b", Number: "-1", Value: -1}}}, {Token: "b", Number: "-2", Value: -2}}
	for _, tt := range []struct {
		format     content.Format
		json, rest string // rest is that of json if nothing is taken
		want       []Logprob
	}{
		{"openai-chat", `{"logprobs":{"content":[` + a + `],"refusal":[` + b + `]}}`, "", both},
		{"openai-chat", `{"logprobs":{"content":[` + b + `],"refusal":null}}`, "", both[1:]},
		{"openai-chat", `{"logprobs":{"content":[` + b + `]},"other":1}`, `{"other":1}`, both[1:]},
		{"openai-responses", `{"logprobs":[` + a + `,` + b + `]}`, "", both},
		{"generatecontent", `{"avgLogprobs":-1,"logprobsResult":{"topCandidates":[{"candidates":[{"token":"b","logProbability":-1}]}],"chosenCandidates":[{"token":"a","tokenId":7,"logProbability":-0.5},{"token":"b","logProbability":-2}]}}`, "", []Logprob{
			{Token: "a", Number: "-0.5", Value: -0.5, Top: []Logprob{{Token: "b", Number: "-1", Value: -1}}}, {Token: "b", Number: "-2", Value: -2}}},
		{"generatecontent", `{"logprobsResult":{"chosenCandidates":[{"token":"a"}]}}`, "same", nil},
		{"generatecontent", `{"avgLogprobs":-1}`, "same", nil},
		{"openai-chat", `{"logprobs":{"content":[{"token":"b"}]}}`, "same", nil},
		{"openai-chat", `{"logprobs":{"content":[{"token":1,"logprob":-1}]}}`, "same", nil},
		{"openai-chat", `{"logprobs":{"content":[{"token":"a","logprob":-1,"top_logprobs":[{"token":1}]}]}}`, "same", nil},
		{"openai-responses", `{"logprobs":[{"token":"a","logprob":-1},1]}`, "same", nil},
		{"openai-chat", `{"logprobs":{"content":{}}}`, "same", nil},
		{"openai-chat", `{"logprobs":null}`, "same", nil},
		{"openai-chat", `{"logprobs":`, "same", nil},
		{"messages", `{"logprobs":{"content":[` + a + `]}}`, "same", nil},
	} {
		x := &content.Extra{Format: tt.format, JSON: tt.json}
		got, rest := TakeLogprobs(x)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.json, diff)
		}
		switch {
		case tt.rest == "same":
			if rest != x {
				t.Errorf("%s: %v remains", tt.json, rest)
			}
		case tt.rest == "":
			if rest != nil {
				t.Errorf("%s: %s remains", tt.json, rest.JSON)
			}
		case rest == nil || rest.JSON != tt.rest || rest.Format != tt.format:
			t.Errorf("%s: %v remains", tt.json, rest)
		}
	}
	if list, rest := TakeLogprobs(nil); list != nil || rest != nil {
		t.Error("log probabilities of nil")
	}
}

// TestAsksLogprobs checks which requests ask for log probabilities.
func TestAsksLogprobs(t *testing.T) {
	for _, tt := range []struct {
		format content.Format
		json   string
		top    int64
		asks   bool
	}{
		{"openai-chat", `{"logprobs":true}`, 0, true},
		{"openai-chat", `{"logprobs":true,"top_logprobs":20}`, 20, true},
		{"openai-chat", `{"logprobs":true,"top_logprobs":null}`, 0, true},
		{"openai-chat", `{"logprobs":true,"top_logprobs":21}`, 21, false},
		{"openai-chat", `{"logprobs":true,"top_logprobs":1.5}`, 1, false},
		{"openai-chat", `{"logprobs":true,"top_logprobs":"1"}`, 0, false},
		{"openai-chat", `{"logprobs":false}`, 0, false},
		{"openai-chat", `{"logprobs":true,"include":["other"]}`, 0, false},
		{"openai-responses", `{"include":["reasoning.encrypted_content","message.output_text.logprobs"],"top_logprobs":2}`, 2, true},
		{"openai-responses", `{"include":["message.output_text.logprobs","file_search_call.results"]}`, 0, false},
		{"openai-responses", `{"top_logprobs":2}`, 2, false},
		{"generatecontent", `{"generationConfig":{"responseLogprobs":true,"logprobs":3}}`, 3, true},
		{"generatecontent", `{"generationConfig":{"logprobs":3}}`, 3, false},
		{"messages", `{"logprobs":true}`, 0, false},
	} {
		if top, asks := AsksLogprobs(&content.Extra{Format: tt.format, JSON: tt.json}); top != tt.top || asks != tt.asks {
			t.Errorf("%s %s: %d %v", tt.format, tt.json, top, asks)
		}
	}
	if _, asks := AsksLogprobs(nil); asks {
		t.Error("a request without members asks")
	}
}

// TestNumbers pins the numbers of formats, which ids that clients have stored contain.
func TestNumbers(t *testing.T) {
	want := map[content.Format]byte{"generatecontent": 1, "messages": 2, "openai-chat": 3, "openai-responses": 4}
	got := map[content.Format]byte{}
	for n := range 0xFF {
		if name, ok := Numbered(byte(n)); ok {
			got[name], _ = Number(name)
			if got[name] != byte(n) {
				t.Errorf("%s has the numbers %d and %d", name, n, got[name])
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []content.Format{"", "a host's"} {
		if n, ok := Number(name); ok {
			t.Errorf("%q has the number %d", name, n)
		}
	}
}
