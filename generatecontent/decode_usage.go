package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// The fields of usageMetadata: the counts, their sum, and how they are made up.
const (
	fPromptCount = iota
	fCachedCount
	fAnswerCount
	fThoughtsCount
	fToolCount
	fTotalCount
	fPromptDetails
	fCacheDetails
	fAnswerDetails
	fToolDetails
	usageTyped
)

const detailed = usageTyped - fPromptDetails

var usageFields = object("UsageMetadata",
	int32s("promptTokenCount"), int32s("cachedContentTokenCount"), int32s("candidatesTokenCount"),
	int32s("thoughtsTokenCount"), int32s("toolUsePromptTokenCount"), int32s("totalTokenCount"),
	value("promptTokensDetails"), value("cacheTokensDetails"), value("candidatesTokensDetails"), value("toolUsePromptTokensDetails"),
	text("serviceTier"), text("trafficType"))

// detailsOf says what the details split, in neutral words.
var detailsOf = [detailed]string{"prompt", "cache", "output", "tool"}

// counts are the sums of usageMetadata as the wire tells them. Each piece of a
// stream tells them anew; what it leaves out stays as it was.
type counts struct {
	sums    [fTotalCount]int64
	have    [fTotalCount]bool
	raws    [detailed]string // of the details, to see whether they changed
	details [detailed][]content.ModalityCount
	splits  []content.ModalityCount // all of them
	extra   *content.Extra
	last    *content.Usage // that was told

	usages codec.Chunk[content.Usage]
	lists  codec.Chunk[content.ModalityCount]
}

const (
	// mostTokens bounds a count, so that sums of counts stay far from the
	// largest number.
	mostTokens = 1 << 53
	// mostDetails bounds how many details of one count are kept.
	mostDetails = 64
	// mostUsageExtra bounds the bytes of other members that are kept.
	mostUsageExtra = 64 << 10
	// usagesAhead is how many are allocated together, at first.
	usagesAhead = 64
)

// usage reads usageMetadata and adds the event that tells it.
func (d *decoder) usage(v jsonwire.Value) {
	if v.Kind() != jsonwire.Object {
		return // there is none
	}
	var m [usageTyped]jsonwire.Value
	more := d.members(v, usageFields, m[:])
	c := &d.counts
	for i := range c.sums {
		if m[i].Exists() {
			d.count(i, m[i])
		}
	}
	changed := false
	for i := range c.details {
		if x := m[fPromptDetails+i]; x.Exists() && x.Raw() != c.raws[i] {
			if c.raws[i] = x.Raw(); len(c.raws[i]) > longestTold {
				c.raws[i] = "" // is not held on to
			}
			d.details(i, x)
			changed = true
		}
	}
	if changed {
		c.join()
	}
	if more {
		d.usageExtra(v)
	}
	u := c.usage()
	if c.last == nil || !sameUsage(c.last, &u) {
		c.last = c.usages.New(usagesAhead)
		*c.last = u
	}
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: c.last})
}

// count reads one of the sums.
func (d *decoder) count(i int, v jsonwire.Value) {
	n, ok := v.Int()
	if !ok {
		d.odd = true
		if n, ok = wholeNumber(v, 64); !ok {
			d.lose(readNoCount, "usage")
			return
		}
	}
	d.counts.sums[i], d.counts.have[i] = min(max(n, 0), mostTokens), true
}

// details reads how a count is made up.
func (d *decoder) details(i int, v jsonwire.Value) {
	list := d.counts.details[i][:0]
	if v.Kind() != jsonwire.Array {
		d.odd = true
	}
	for k, x := range v.Elems() {
		if k == mostDetails {
			d.lose(codec.ResponseManyCounts, "usage")
			break
		}
		one := content.ModalityCount{Kind: detailsOf[i], Modality: modalityWord(modalities.read(x.Get("modality")))}
		if n, ok := wholeNumber(x.Get("tokenCount"), 64); ok {
			one.Tokens = min(max(n, 0), mostTokens)
		}
		list = append(list, one)
	}
	d.counts.details[i] = list
}

// modalityWord returns the neutral word for one of the vendor's.
func modalityWord(s string) string {
	for _, known := range [...][2]string{{"TEXT", "text"}, {"IMAGE", "image"}, {"AUDIO", "audio"}, {"VIDEO", "video"}, {"DOCUMENT", "document"}} {
		if s == known[0] {
			return known[1]
		}
	}
	return strings.ToLower(s)
}

// join makes one list of all details.
func (c *counts) join() {
	n := 0
	for i := range c.details {
		n += len(c.details[i])
	}
	c.splits = nil
	if n > 0 {
		c.splits = c.lists.List(n, 16)
		for i := range c.details {
			c.splits = append(c.splits, c.details[i]...)
		}
	}
}

// usageExtra keeps the members that have no field.
func (d *decoder) usageExtra(v jsonwire.Value) {
	b := d.parser.extras.Begin()
	for name, x := range v.Members() {
		i := usageFields.find(name)
		switch {
		case i < 0:
		case i < usageTyped, x.Kind() == jsonwire.Null:
			continue
		default:
			name = usageFields.camel[i]
		}
		if len(b)+len(name)+len(x.Raw()) > mostUsageExtra {
			d.lose(codec.ResponseManyCounts, "usage")
			continue
		}
		b = codec.AppendMember(b, name, x.Raw())
	}
	if len(b) > 1 {
		d.counts.extra = d.extra(b, d.counts.extra)
	}
}

// usage says the counts in neutral words, none inside another. The prompt's
// holds what came from the cache; the candidates' does not hold the thoughts.
func (c *counts) usage() content.Usage {
	u := content.Usage{
		Input:      c.sums[fPromptCount],
		CacheRead:  c.sums[fCachedCount],
		ToolPrompt: c.sums[fToolCount],
		Output:     c.sums[fAnswerCount],
		Thinking:   c.sums[fThoughtsCount],
		Modalities: c.splits,
		Extra:      c.extra,
	}
	if c.have[fPromptCount] {
		u.CacheRead = min(u.CacheRead, u.Input)
		u.Input -= u.CacheRead
	}
	return u
}

// sameUsage reports whether two usages say the same. Lists and Extras are made
// anew only where they changed.
func sameUsage(a, b *content.Usage) bool {
	return a.Input == b.Input && a.CacheRead == b.CacheRead && a.ToolPrompt == b.ToolPrompt &&
		a.Output == b.Output && a.Thinking == b.Thinking && a.Extra == b.Extra && slices.Equal(a.Modalities, b.Modalities)
}
