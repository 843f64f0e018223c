package codec

import (
	"iter"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// What is lost of an answer, of whichever format, when it is read. Every
// codec's table of what it reads has them.
var (
	ResponseNotUnicode = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossDegraded,
		Reason: "text that is not Unicode became U+FFFD"}
	ResponseNoReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "the answer does not say why it ended"}
	ResponseStringInput = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDegraded,
		Reason: "the arguments of a call came as a string: they are the object that it spells"}
	ResponseWrongType = &loss.Rule{Feature: loss.ResponseBroken, Severity: content.LossDropped,
		Reason: "a member of the part is not of its type and is left out"}
	ResponseManyCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "the usage has more members than are kept"}
)

// ResponseLosses is the table of them.
var ResponseLosses = []*loss.Rule{
	ResponseNotUnicode, ResponseNoReason, ResponseStringInput, ResponseWrongType, ResponseManyCounts,
}

// What is lost of an answer, by whichever codec that says it in another format
// than the vendor's. What a client asked for, or needs to go on, is no hint.
var (
	UnsupportedSources = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "sources that the vendor names beside the texts are left out"}
	UnsupportedLogprobs = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossDropped,
		Reason: "how likely the tokens were is left out"}
	UnsupportedResume = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossDropped,
		Reason: "what the vendor needs to go on from here is left out"}
	UnsupportedMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "members of another format are left out"}
)

// unsaid are the members of answers, and of their parts, whose loss is no hint.
var unsaid = map[content.Format]map[string]*loss.Rule{
	"generatecontent": {
		"citationMetadata": UnsupportedSources, "urlContextMetadata": UnsupportedSources, "groundingAttributions": UnsupportedSources,
		"logprobsResult": UnsupportedLogprobs, "continuationToken": UnsupportedResume,
	},
	"messages":         {"container": UnsupportedResume},
	"openai-chat":      {"logprobs": UnsupportedLogprobs},
	"openai-responses": {"logprobs": UnsupportedLogprobs},
}

// grounding is the member in which content generation tells sources of texts,
// of which [Sources] knows more.
const grounding = "groundingMetadata"

// Unsupported yields the losses of members of an answer that is said in another
// format: where they are, and by which rule. path is empty for
// members of the answer, else that of a candidate. Members are told by name, or
// as "members" where they have none to be told by.
func Unsupported(x *content.Extra, path string) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		for name, rule := range unsaidMembers(x) {
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

// UnsupportedOfPart calls lost with the losses of the members of a part, each once.
func UnsupportedOfPart(x *content.Extra, lost func(*loss.Rule)) {
	var told []*loss.Rule
	for _, rule := range unsaidMembers(x) {
		if !slices.Contains(told, rule) {
			told = append(told, rule)
			lost(rule)
		}
	}
}

// unsaidMembers yields the names of members that say anything, as [ReportedMembers] does,
// and the rules by which they are lost.
func unsaidMembers(x *content.Extra) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		doc := Open(x, x.Format)
		if doc != nil {
			defer doc.Close()
		}
		for name := range ReportedMembers(x) {
			if name != "" && doc != nil {
				v := doc.Root().Get(name)
				if v.Kind() == jsonwire.Null || idle(v) || name == grounding && onlySources(v) {
					continue
				}
			}
			rule := unsaid[x.Format][name]
			if rule == nil {
				rule = UnsupportedMembers
			}
			if !yield(name, rule) {
				return
			}
		}
	}
}

// onlySources reports whether grounding says nothing besides what [Sources]
// looks at.
func onlySources(v jsonwire.Value) bool {
	for name, x := range v.Members() {
		if name != "groundingChunks" && name != "groundingSupports" && !idle(x) && x.Kind() != jsonwire.Null {
			return false
		}
	}
	return v.Kind() == jsonwire.Object
}

// Sources finds out whether the sources that a vendor names of an answer, beside
// its texts, are all told in citations of these. The zero Sources knows of none.
type Sources struct {
	cited map[string]bool // the links of those that were named, or cited
	size  int
	lost  bool // one has no link, or there are too many
}

// What is remembered of an answer's sources.
const (
	mostSources    = 1000
	mostSourceSize = 256 << 10 // bytes
)

// Cite notes a citation that is told.
func (s *Sources) Cite(c *content.Citation) {
	if c.URL != "" && c.Extra != nil && c.Extra.Format == "generatecontent" {
		s.note(c.URL, true)
	}
}

// Name notes the sources that the members of an answer name.
func (s *Sources) Name(x *content.Extra) {
	if x.Format != "generatecontent" || !strings.Contains(x.JSON, grounding) {
		return
	}
	doc := Open(x, x.Format)
	if doc == nil {
		return
	}
	defer doc.Close()
	for _, chunk := range doc.Root().Get(grounding).Get("groundingChunks").Elems() {
		link := ""
		for _, v := range chunk.Members() {
			if link = v.Get("uri").Str(); link == "" {
				link = v.Get("sourceUri").Str()
			}
		}
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
	if s.size += len(link); len(s.cited) == mostSources || s.size > mostSourceSize {
		s.lost = s.lost || !cited
		return
	}
	if s.cited == nil {
		s.cited = make(map[string]bool)
	}
	s.cited[strings.Clone(link)] = cited // not the document that it came in
}

// Lost yields the loss of sources that no citation tells.
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

// MoreThan reports whether the details of a stop say more than the words that are
// told. That they repeat the vendor's word for the reason, as their own kind, is
// nothing more.
func MoreThan(s *upstream.Stop, words string) bool {
	if s.Details == "" {
		return false
	}
	doc, err := jsonwire.Parse(s.Details, UnlimitedJSON)
	if err != nil {
		return true
	}
	defer doc.Close()
	told := func(v jsonwire.Value) bool { return v.Is(words) }
	if doc.Root().Kind() != jsonwire.Object {
		return says(doc.Root(), told, 0)
	}
	for _, v := range doc.Root().Members() {
		if !v.Is(s.RawReason) && says(v, told, 1) {
			return true
		}
	}
	return false
}
