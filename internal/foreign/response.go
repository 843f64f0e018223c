package foreign

import (
	"iter"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// The rules by which members of a response are reported that is written in another format.
// Members that a client requested, or needs to continue, are more than a hint.
var (
	SourcesLoss = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "sources that are not cited in a text were dropped"}
	LogprobsLoss = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossDropped,
		Reason: "log probabilities were dropped"}
	ResumeLoss = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossDropped,
		Reason: "state that the vendor needs to continue the response was dropped"}
	ResponseLoss = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "members of another format were dropped"}
)

// ResponseMembers yields the path and the rule of each loss in the members of a response
// that is written in another format. path is the path of a candidate, or empty for
// members of the response. Members without a plain name are reported as "members".
func ResponseMembers(x *content.Extra, path string) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		for name, rule := range responseMembers(x) {
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

// ResponseMembersOfPart calls lost once with each rule by which members of a part are
// lost.
func ResponseMembersOfPart(x *content.Extra, lost func(*loss.Rule)) {
	var reported []*loss.Rule
	for _, rule := range responseMembers(x) {
		if !slices.Contains(reported, rule) { // bounded by Rule
			reported = append(reported, rule)
			lost(rule)
		}
	}
}

// responseMembers yields the names of the members of x that are not empty, and the
// rules by which they are lost. It yields "" for all that are not reported by name: their
// names are not plain, there are too many, or x is not valid JSON.
func responseMembers(x *content.Extra) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		doc, err := jsonwire.Parse(x.JSON, unlimited)
		if err != nil {
			yield("", ResponseLoss)
			return
		}
		defer doc.Close()
		data, n, unnamed := dataOf(x.Format), 0, false
		for name, v := range doc.Root().Members() {
			if n++; n > loss.MaxNames || !loss.IsPlainName(name) {
				unnamed = true
				continue
			}
			if v.Kind() == jsonwire.Null || IsIdle(v) || data.sources.are(name, v) {
				continue
			}
			rule := data.response[name]
			if rule == nil {
				rule = ResponseLoss
			}
			if !yield(name, rule) {
				return
			}
		}
		if unnamed {
			yield("", ResponseLoss)
		}
	}
}

// sourceList describes the member of a response that lists the sources of its texts.
type sourceList struct {
	member string

	// links yields the links of the sources in the member; "" is a source without a link.
	// describes reports whether the member has only the sources and what cites them.
	links     func(v jsonwire.Value) iter.Seq[string]
	describes func(v jsonwire.Value) bool
}

// are reports whether the member with a name has nothing but sources. l may be nil.
func (l *sourceList) are(name string, v jsonwire.Value) bool {
	return l != nil && name == l.member && l.describes(v)
}

// Sources tracks whether all sources that a response lists appear in citations of its texts.
// The zero Sources has none.
type Sources struct {
	member string          // that lists the sources
	cited  map[string]bool // by link: true if a citation has it
	size   int
	lost   bool // a source has no link, or there are too many
}

// Bounds of Sources.
const (
	maxSources     = 1000
	maxSourceBytes = 256 << 10 // bytes
)

// Cite adds a citation that the response has.
func (s *Sources) Cite(c *content.Citation) {
	if c.URL != "" && c.Extra != nil && dataOf(c.Extra.Format).sources != nil {
		s.note(c.URL, true)
	}
}

// Name adds the sources in the members of a response.
func (s *Sources) Name(x *content.Extra) {
	list := dataOf(x.Format).sources
	if list == nil || !strings.Contains(x.JSON, list.member) {
		return
	}
	doc, err := jsonwire.Parse(x.JSON, unlimited)
	if err != nil {
		return
	}
	defer doc.Close()
	s.member = list.member
	for link := range list.links(doc.Root().Get(list.member)) {
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
			yield(s.member, SourcesLoss)
		}
	}
}
