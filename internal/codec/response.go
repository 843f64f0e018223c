package codec

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Rules that every codec reports by when it reads a response.
var (
	ResponseNotUnicode = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossDegraded,
		Reason: "text that is not valid Unicode was replaced by U+FFFD"}
	ResponseNoReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "the response has no stop reason; a normal end was assumed"}
	ResponseStringInput = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDegraded,
		Reason: "the tool arguments are a string; the object that it encodes is used"}
	ResponseWrongType = &loss.Rule{Feature: loss.ResponseBroken, Severity: content.LossDropped,
		Reason: "a member of the part has the wrong type and was dropped"}
	ResponseManyCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "the usage has too many members; the rest was dropped"}
)

// ResponseLosses lists the rules for reading responses.
var ResponseLosses = []*loss.Rule{
	ResponseNotUnicode, ResponseNoReason, ResponseStringInput, ResponseWrongType, ResponseManyCounts,
}

// Rules that codecs report by when they write a response of another format. Members
// that a client requested, or needs to continue, are more than a hint.
var (
	UnsupportedSources = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "sources that are not cited in a text were dropped"}
	UnsupportedLogprobs = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossDropped,
		Reason: "log probabilities were dropped"}
	UnsupportedResume = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossDropped,
		Reason: "state that the vendor needs to continue the response was dropped"}
	UnsupportedMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "members of another format were dropped"}
)

// unsupported has the members of responses and their parts whose loss is more than a
// hint.
var unsupported = map[content.Format]map[string]*loss.Rule{
	"generatecontent": {
		"citationMetadata": UnsupportedSources, "urlContextMetadata": UnsupportedSources, "groundingAttributions": UnsupportedSources,
		"logprobsResult": UnsupportedLogprobs, "continuationToken": UnsupportedResume,
	},
	"messages":         {"container": UnsupportedResume},
	"openai-chat":      {"logprobs": UnsupportedLogprobs},
	"openai-responses": {"logprobs": UnsupportedLogprobs},
}

// grounding is the member of generateContent that has the sources of texts: see
// [Sources].
const grounding = "groundingMetadata"

// Unsupported yields the path and the rule of each loss in the members of a response
// that is written in another format. path is the path of a candidate, or empty for
// members of the response. Members without a plain name are reported as "members".
func Unsupported(x *content.Extra, path string) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		for name, rule := range unsupportedMembers(x) {
			if name == "" {
				name = "members"
			}
			if path != "" {
				name = path + "." + name
			}
			if !yield(name, rule) {
				return
			}
		}
	}
}

// UnsupportedOfPart calls lost once with each rule by which members of a part are
// lost.
func UnsupportedOfPart(x *content.Extra, lost func(*loss.Rule)) {
	var reported []*loss.Rule
	for _, rule := range unsupportedMembers(x) {
		if !slices.Contains(reported, rule) { // bounded by Rule
			reported = append(reported, rule)
			lost(rule)
		}
	}
}

// unsupportedMembers yields the names of the members of x that are not empty, and the
// rules by which they are lost. It yields "" for all that are not reported by name: their
// names are not plain, there are too many, or x is not valid JSON.
func unsupportedMembers(x *content.Extra) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		doc := Open(x, x.Format)
		if doc == nil {
			yield("", UnsupportedMembers)
			return
		}
		defer doc.Close()
		n, unnamed := 0, false
		for name, v := range doc.Root().Members() {
			if n++; n > loss.MaxNames || !loss.IsPlainName(name) {
				unnamed = true
				continue
			}
			if v.Kind() == jsonwire.Null || foreign.IsIdle(v) || name == grounding && onlySources(v) {
				continue
			}
			rule := unsupported[x.Format][name]
			if rule == nil {
				rule = UnsupportedMembers
			}
			if !yield(name, rule) {
				return
			}
		}
		if unnamed {
			yield("", UnsupportedMembers)
		}
	}
}

// onlySources reports whether grounding has only the members that [Sources] reads.
func onlySources(v jsonwire.Value) bool {
	for name, x := range v.Members() {
		if name != "groundingChunks" && name != "groundingSupports" && !foreign.IsIdle(x) && x.Kind() != jsonwire.Null {
			return false
		}
	}
	return v.Kind() == jsonwire.Object
}

// Sources tracks whether all sources in the grounding of a response appear in
// citations of its texts. The zero Sources has none.
type Sources struct {
	cited map[string]bool // by link: true if a citation has it
	size  int
	lost  bool // a source has no link, or there are too many
}

// Bounds of Sources.
const (
	maxSources     = 1000
	maxSourceBytes = 256 << 10 // bytes
)

// Cite adds a citation that the response has.
func (s *Sources) Cite(c *content.Citation) {
	if c.URL != "" && c.Extra != nil && c.Extra.Format == "generatecontent" {
		s.note(c.URL, true)
	}
}

// Name adds the sources in the members of a response.
func (s *Sources) Name(x *content.Extra) {
	if x.Format != "generatecontent" || !strings.Contains(x.JSON, grounding) {
		return
	}
	for _, chunk := range gjson.Get(x.JSON, "groundingMetadata.groundingChunks").Array() {
		link := ""
		chunk.ForEach(func(_, v gjson.Result) bool {
			link = cmp.Or(v.Get("uri").Str, v.Get("sourceUri").Str)
			return true
		})
		s.note(link, false)
	}
}

func (s *Sources) note(link string, cited bool) {
	was, known := s.cited[link]
	if known || link == "" {
		s.lost = s.lost || link == ""
		if known {
			s.cited[link] = was || cited
		}
		return
	}
	if s.size += len(link); len(s.cited) == maxSources || s.size > maxSourceBytes {
		s.lost = s.lost || !cited
		return
	}
	if s.cited == nil {
		s.cited = make(map[string]bool)
	}
	s.cited[strings.Clone(link)] = cited // do not keep the whole document
}

// Lost yields a loss if a source appears in no citation.
func (s *Sources) Lost() iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		lost := s.lost
		for _, cited := range s.cited {
			lost = lost || !cited
		}
		if lost {
			yield(grounding, UnsupportedSources)
		}
	}
}

// HasMoreThan reports whether the details of a stop have more content than words and
// the raw reason.
func HasMoreThan(s *upstream.Stop, words string) bool {
	if s.Details == "" {
		return false
	}
	doc, err := jsonwire.Parse(s.Details, UnlimitedJSON)
	if err != nil {
		return true
	}
	defer doc.Close()
	known := func(v jsonwire.Value) bool { return v.Is(words) }
	if doc.Root().Kind() != jsonwire.Object {
		return hasContent(doc.Root(), known, 0)
	}
	for _, v := range doc.Root().Members() {
		if !v.Is(s.RawReason) && hasContent(v, known, 1) {
			return true
		}
	}
	return false
}

// IsModelPart reports whether a part is of a kind that handlers treat in a way of its own in
// responses. Parts that pass as they are must not be in disguise of one.
func IsModelPart(p content.Part) bool {
	switch p.(type) { // other kinds have no treatment of their own
	case *content.Text, *content.Thinking, *content.ToolUse, *content.ToolResult:
		return true
	}
	return false
}
