package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Indexes into usageFields: the counts, the total, and the details by modality.
const (
	fPromptCount = iota
	fCachedCount
	fCandidatesCount
	fThoughtsCount
	fToolCount
	fTotalCount
	fPromptDetails
	fCacheDetails
	fCandidatesDetails
	fToolDetails
	usageTyped
)

const detailCount = usageTyped - fPromptDetails

var usageFields = object("UsageMetadata",
	int32s("promptTokenCount"), int32s("cachedContentTokenCount"), int32s("candidatesTokenCount"),
	int32s("thoughtsTokenCount"), int32s("toolUsePromptTokenCount"), int32s("totalTokenCount"),
	value("promptTokensDetails"), value("cacheTokensDetails"), value("candidatesTokensDetails"), value("toolUsePromptTokensDetails"),
	text("serviceTier"), text("trafficType"))

// detailKinds lists the neutral kinds of the details.
var detailKinds = [detailCount]string{"prompt", "cache", "output", "tool"}

// counts holds the counts of usageMetadata in wire form. A chunk of a stream replaces the
// counts that it has.
type counts struct {
	sums       [fTotalCount]int64
	have       [fTotalCount]bool
	raws       [detailCount]string // JSON of the details, to detect changes
	details    [detailCount][]content.ModalityCount
	modalities []content.ModalityCount // all details
	extra      *content.Extra
	last       *content.Usage // the last usage that was added

	usages codec.Chunk[content.Usage]
	lists  codec.Chunk[content.ModalityCount]
}

const (
	// maxTokenCount limits a count, so that sums of counts cannot overflow.
	maxTokenCount = 1 << 53
	// maxUsageDetails limits the details of one count.
	maxUsageDetails = 64
	// maxUsageExtra limits the bytes of other members.
	maxUsageExtra = 64 << 10
	// usagesAhead is the size of the first allocation of usages.
	usagesAhead = 64
)

// addUsage decodes usageMetadata and adds an EventUsage.
func (d *decoder) addUsage(v jsonwire.Value) {
	if v.Kind() != jsonwire.Object {
		return // absent
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
			if c.raws[i] = x.Raw(); len(c.raws[i]) > maxKnownMemberSize {
				c.raws[i] = "" // do not retain it
			}
			d.details(i, x)
			changed = true
		}
	}
	if changed {
		c.joinDetails()
	}
	if more {
		d.usageExtra(v)
	}
	u := c.usage()
	if c.last == nil || !equalUsage(c.last, &u) {
		c.last = c.usages.New(usagesAhead)
		*c.last = u
	}
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: c.last})
}

// count decodes one count.
func (d *decoder) count(i int, v jsonwire.Value) {
	n, ok := v.Int()
	if !ok {
		d.deviates = true
		if n, ok = wholeNumber(v, 64); !ok {
			d.lose(lossTokenCount, "usage")
			return
		}
	}
	d.counts.sums[i], d.counts.have[i] = min(max(n, 0), maxTokenCount), true
}

// details decodes the details of one count.
func (d *decoder) details(i int, v jsonwire.Value) {
	list := d.counts.details[i][:0]
	if v.Kind() != jsonwire.Array {
		d.deviates = true
	}
	for k, x := range v.Elems() {
		if k == maxUsageDetails {
			d.lose(codec.ResponseManyCounts, "usage")
			break
		}
		one := content.ModalityCount{Kind: detailKinds[i], Modality: fromModality(modalities.read(x.Get("modality")))}
		if n, ok := wholeNumber(x.Get("tokenCount"), 64); ok {
			one.Tokens = min(max(n, 0), maxTokenCount)
		}
		list = append(list, one)
	}
	d.counts.details[i] = list
}

// fromModality returns the neutral form of a modality.
func fromModality(s string) string {
	for _, known := range [...][2]string{{"TEXT", "text"}, {"IMAGE", "image"}, {"AUDIO", "audio"}, {"VIDEO", "video"}, {"DOCUMENT", "document"}} {
		if s == known[0] {
			return known[1]
		}
	}
	return strings.ToLower(s)
}

// joinDetails sets modalities to the details of all counts.
func (c *counts) joinDetails() {
	n := 0
	for i := range c.details {
		n += len(c.details[i])
	}
	c.modalities = nil
	if n > 0 {
		c.modalities = c.lists.List(n, 16)
		for i := range c.details {
			c.modalities = append(c.modalities, c.details[i]...)
		}
	}
}

// usageExtra sets extra to the members that have no field.
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
		if len(b)+len(name)+len(x.Raw()) > maxUsageExtra {
			d.lose(codec.ResponseManyCounts, "usage")
			continue
		}
		b = codec.AppendMember(b, name, x.Raw())
	}
	if len(b) > 1 {
		d.counts.extra = d.extra(b, d.counts.extra)
	}
}

// usage returns the counts in neutral form, where no count includes another. On the wire
// the count of the prompt includes cached tokens, and the count of the candidates does not
// include thinking.
func (c *counts) usage() content.Usage {
	u := content.Usage{
		Input:      c.sums[fPromptCount],
		CacheRead:  c.sums[fCachedCount],
		ToolPrompt: c.sums[fToolCount],
		Output:     c.sums[fCandidatesCount],
		Thinking:   c.sums[fThoughtsCount],
		Modalities: c.modalities,
		Extra:      c.extra,
	}
	if c.have[fPromptCount] {
		u.CacheRead = min(u.CacheRead, u.Input)
		u.Input -= u.CacheRead
	}
	return u
}

// equalUsage reports whether two usages are equal. It compares pointers of Extras, because
// they are allocated only when they change.
func equalUsage(a, b *content.Usage) bool {
	return a.Input == b.Input && a.CacheRead == b.CacheRead && a.ToolPrompt == b.ToolPrompt &&
		a.Output == b.Output && a.Thinking == b.Thinking && a.Extra == b.Extra && slices.Equal(a.Modalities, b.Modalities)
}
