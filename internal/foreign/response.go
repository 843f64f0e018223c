package foreign

import (
	"cmp"
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
	SourcesLoss    = loss.Dropped(loss.ResponseCitations, "sources that are not cited in a text were dropped")
	LogprobsLoss   = loss.Dropped(loss.ResponseMembers, "log probabilities were dropped")
	ResumeLoss     = loss.Dropped(loss.ResponseMembers, "state that the vendor needs to continue the response was dropped")
	EntryPointLoss = loss.Degraded(loss.ResponseCitations, "the search suggestions, which the vendor requires programs to show, were dropped")
	QueriesLoss    = loss.Hint(loss.ResponseMembers, "the queries with which the server searched were dropped")
	ResponseLoss   = loss.Hint(loss.ResponseMembers, "members of another format were dropped")
)

// ResponseMembers yields the path and the rule of each loss in the members of a response
// that is written in another format. path is the path of a candidate, or empty for
// members of the response. Members without a plain name are reported as "members".
func ResponseMembers(x *content.Extra, path string) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		for name, rule := range responseMembers(x) {
			name = cmp.Or(name, "members")
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
			if v.Kind() == jsonwire.Null || IsIdle(v) {
				continue
			}
			if s := data.sources; s != nil && name == s.member && v.Kind() == jsonwire.Object {
				if !s.losses(v, yield) {
					return
				}
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

	// links yields the links and titles of the sources in the member; "" is a source without a
	// link. queries is the name of the list of what the server searched for.
	links   func(v jsonwire.Value) iter.Seq2[string, string]
	queries string

	// members has the rules of the members in the member: nil for sources and what cites them.
	members map[string]*loss.Rule
}

// losses yields the losses of the member. It returns false if the caller stops.
func (l *sourceList) losses(v jsonwire.Value, yield func(string, *loss.Rule) bool) bool {
	others := false
	for name, x := range v.Members() {
		r, known := l.members[name]
		switch {
		case x.Kind() == jsonwire.Null, IsIdle(x), known && r == nil:
		case !known:
			others = true
		case !yield(l.member+"."+name, r):
			return false
		}
	}
	return !others || yield(l.member, ResponseLoss)
}

// A Search is what a server has searched the web for, and what it has found. The zero Search is
// empty. It has bounds: further queries and links are omitted.
type Search struct {
	Queries []string
	Found   []Found
	size    int
}

// A Found is a result of a search.
type Found struct{ URL, Title string }

// sourcesIn returns how the format of x lists sources and the document of x, which the caller closes.
// The document is nil if x lists none.
func sourcesIn(x *content.Extra) (*sourceList, *jsonwire.Doc) {
	list := dataOf(x.Format).sources
	if list == nil || !strings.Contains(x.JSON, list.member) {
		return nil, nil
	}
	doc, err := jsonwire.Parse(x.JSON, unlimited)
	if err != nil {
		return nil, nil
	}
	return list, doc
}

// Add adds the queries and links in members of a response.
func (s *Search) Add(x *content.Extra) {
	list, doc := sourcesIn(x)
	if doc == nil {
		return
	}
	defer doc.Close()
	v := doc.Root().Get(list.member)
	for _, q := range v.Get(list.queries).Elems() {
		// bounded by maxSources
		if text := q.Str(); text != "" && s.fits(len(s.Queries), text) && !slices.Contains(s.Queries, text) {
			s.Queries = append(s.Queries, strings.Clone(text))
		}
	}
	for link, title := range list.links(v) {
		// bounded by maxSources
		if f := (Found{link, title}); link != "" && s.fits(len(s.Found), link+title) && !slices.Contains(s.Found, f) {
			s.Found = append(s.Found, Found{strings.Clone(link), strings.Clone(title)})
		}
	}
}

// fits reports whether a text fits into a list of n.
func (s *Search) fits(n int, text string) bool {
	s.size += len(text)
	return n < maxSources && s.size <= maxSourceBytes
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
	if c.URL != "" {
		s.note(c.URL, true)
	}
}

// AddFound adds the sources in a call or result of a server's tool.
func (s *Sources) AddFound(list []Found) {
	for _, f := range list {
		s.note(f.URL, false)
	}
}

// Name adds the sources in the members of a response.
func (s *Sources) Name(x *content.Extra) {
	list, doc := sourcesIn(x)
	if doc == nil {
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
			yield(cmp.Or(s.member, "parts"), SourcesLoss)
		}
	}
}
