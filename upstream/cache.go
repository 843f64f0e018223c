package upstream

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/prompt"
)

// A RequestEncoder is an Upstream that can encode a request without sending it. Use
// [EncodeRequest] to call it.
type RequestEncoder interface {
	EncodeRequest(ctx context.Context, r *Request) (EncodedRequest, error)
}

// An EncodedRequest is a request in the form in which an Upstream sends it.
type EncodedRequest struct {
	Format   content.Format
	Model    string // the name that the server has for the model
	Document string // the JSON object to send

	// Losses are those of [Preflight], also beside an error. RejectLoss does not apply to them.
	Losses []content.Loss

	// Placeholders are the links and file ids for which Document has placeholders, as
	// often as they occur: see [EncodeRequest].
	Placeholders []content.Source

	// Prompt lists the members of Document that the vendor caches, in the order of the
	// cache, as paths such as "generationConfig.responseSchema". It includes settings
	// of which the vendor documents that a change invalidates what follows, and may list
	// members that Document does not have.
	Prompt []string

	// CacheKey is the member of Document that selects a cache, such as
	// "prompt_cache_key". Empty means that the format has none.
	CacheKey string
}

// EncodeRequest returns the document that u would send for r. It sends and fetches
// nothing: for each file that u would load, the document has a short placeholder. A
// program that sends the document calls [Request.Inline] before.
//
// EncodeRequest uses the first Upstream in the chain of wrapped upstreams that is a
// [RequestEncoder]; if there is none, the error wraps [ErrUnsupported].
func EncodeRequest(ctx context.Context, u Upstream, r *Request) (EncodedRequest, error) {
	ctx, err := checkFormat(ctx, u, r)
	if err != nil {
		return EncodedRequest{}, err
	}
	return operate(ctx, u, r, EncodeRequest, RequestEncoder.EncodeRequest, func() (EncodedRequest, error) {
		return EncodedRequest{}, fmt.Errorf("encoding a request: %w", ErrUnsupported)
	})
}

// A CacheDiff describes what the prompts of two requests have in common, as a vendor
// caches it: the beginning, up to the first difference. See [CacheBreak].
type CacheDiff struct {
	// Broken reports whether the second prompt does not begin with the first one.
	Broken bool

	// Path is the difference between the requests that breaks the cache, in the names of
	// the client's document, such as "system.0" or "messages.3.content.1". If next has
	// no Wire, for example because it is a Clone, Path has the names of the Request, such
	// as "turns.3.parts.1". Path is empty if no difference between the requests is the
	// cause, for example if an [Edit] inserts the time.
	Path string

	// WirePath is the place in the document that is sent at which the prompts differ. It
	// may be a place that the client's document does not have.
	WirePath string

	Shared int64 // bytes that the beginnings of both prompts share
	Total  int64 // bytes of the first prompt
}

// String returns a line for logs, such as
// "broken at system.0: 1203 of 84000 bytes shared".
func (d CacheDiff) String() string {
	if !d.Broken {
		return fmt.Sprintf("not broken: %d bytes shared", d.Shared)
	}
	at := ""
	if path := d.Path; path != "" {
		at = " at " + path
	} else if d.WirePath != "" {
		at = " at " + d.WirePath + " of the document sent"
	}
	return fmt.Sprintf("broken%s: %d of %d bytes shared", at, d.Shared, d.Total)
}

// CacheBreak compares the documents that u would send for two requests, usually
// consecutive turns of a conversation. It reports whether a vendor's prompt cache that holds
// prev can be used for next, and if not, which difference breaks it. It sends and fetches
// nothing.
//
// It compares the tools, the system text and the turns, in the order of the vendor's
// cache, and settings that the vendor documents to invalidate caches. It ignores cache marks,
// other settings, such as the limit of output tokens, and other spellings of the same, such
// as a text in place of a list with a text, or a default value. A different model or format
// breaks the cache at "model". A different cache key, such as prompt_cache_key, is reported
// if nothing else differs. Requests without a common cache for other reasons, such as
// another account, are not detected.
//
// CacheBreak is for diagnosis: it encodes both requests and, if the cache is broken,
// mixtures of them, about as often as the logarithm of the number of parts. The functions
// of an [Edit] in u are called each time. The errors are those of [EncodeRequest].
func CacheBreak(ctx context.Context, u Upstream, prev, next *Request) (CacheDiff, error) {
	a, err := encodePrompt(ctx, u, prev)
	if err != nil {
		return CacheDiff{}, err
	}
	b, err := encodePrompt(ctx, u, next)
	if err != nil {
		return CacheDiff{}, err
	}
	d := CacheDiff{Total: a.prompt.Size()}
	if a.Model != b.Model || a.Format != b.Format {
		d.Broken, d.Path, d.WirePath = true, "model", "model"
		return d, nil
	}
	d.Shared, d.WirePath = a.shared(&b)
	if d.Broken = d.WirePath != ""; d.Broken {
		if d.WirePath == a.CacheKey {
			d.Shared = 0
		}
		d.Path = next.Path(breakCause(ctx, u, prev, next))
	}
	return d, context.Cause(ctx)
}

// An encodedPrompt is an encoded request with its prompt.
type encodedPrompt struct {
	EncodedRequest
	prompt, key *prompt.Prompt
}

// shared returns how many bytes of p are at the beginning of next, and the first difference.
// If all are, a different cache key is the difference.
func (p *encodedPrompt) shared(next *encodedPrompt) (n int64, path string) {
	n, path = p.prompt.Compare(next.prompt)
	if path == "" && p.CacheKey != "" {
		if _, path = p.key.Compare(next.key); path == "" {
			_, path = next.key.Compare(p.key)
		}
	}
	return n, path
}

func encodePrompt(ctx context.Context, u Upstream, r *Request) (encodedPrompt, error) {
	e, err := EncodeRequest(ctx, u, r)
	if err != nil {
		return encodedPrompt{}, err
	}
	p, err := prompt.Parse(e.Document, e.Prompt)
	var key *prompt.Prompt
	if err == nil {
		key, err = prompt.Parse(e.Document, []string{e.CacheKey})
	}
	if err != nil {
		return encodedPrompt{}, fmt.Errorf("upstream: an encoded request is not a JSON document: %w", err)
	}
	return encodedPrompt{e, p, key}, nil
}

// breakCause returns the neutral path of the difference because of which the prompt of next
// does not begin with that of prev. It returns "" if there is no such difference.
//
// A place in the encoded document is not always one of the request. So breakCause finds the
// cause by its effect: it gives a copy of next the values of prev, place by place, until the
// copy shares more with prev. A binary search finds that place.
func breakCause(ctx context.Context, u Upstream, prev, next *Request) string {
	from, to := *prev, *next
	from.Wire, to.Wire = nil, nil // documents, too, are compared as they would be encoded
	base, err := encodePrompt(ctx, u, &from)
	if err != nil {
		return ""
	}
	shared := func(r *Request) int64 {
		e, err := encodePrompt(ctx, u, r)
		if err != nil || e.Model != base.Model || e.Format != base.Format {
			return -1
		}
		n, path := base.shared(&e)
		if path == "" {
			n++ // more than with another cache key
		}
		return n
	}
	places := placesOf(&from, &to)
	before := shared(&to)
	if before < 0 {
		return ""
	}
	n := sort.Search(len(places), func(n int) bool {
		mixed := to
		mixed.System, mixed.Tools, mixed.Turns = slices.Clone(to.System), slices.Clone(to.Tools), slices.Clone(to.Turns)
		for _, p := range places[:n+1] {
			p.copy(&mixed)
		}
		return shared(&mixed) > before
	})
	if n == len(places) {
		return ""
	}
	return places[n].path
}

// A place is a part of a request that another request may have instead: a setting, an
// element of a list, or a part of a turn.
type place struct {
	path string
	copy func(c *Request) // copies it to c, to which all places before it were copied
}

// placesOf returns the places of from at which to may differ.
func placesOf(from, to *Request) []place {
	places := []place{
		{"choice", func(c *Request) { c.Choice = from.Choice }},
		{"max_tokens", func(c *Request) { c.MaxTokens = from.MaxTokens }},
		{"thinking.effort", func(c *Request) { c.Thinking.Effort = from.Thinking.Effort }},
		{"thinking", func(c *Request) { c.Thinking = from.Thinking }},
		{"output.schema", func(c *Request) { c.Output.MediaType, c.Output.Schema = from.Output.MediaType, from.Output.Schema }},
		{"output", func(c *Request) { c.Output = from.Output }},
		{"temperature", func(c *Request) { c.Temperature = from.Temperature }},
		{"top_p", func(c *Request) { c.TopP = from.TopP }},
		{"top_k", func(c *Request) { c.TopK = from.TopK }},
		{"seed", func(c *Request) { c.Seed = from.Seed }},
		{"presence_penalty", func(c *Request) { c.PresencePenalty = from.PresencePenalty }},
		{"frequency_penalty", func(c *Request) { c.FrequencyPenalty = from.FrequencyPenalty }},
		{"stop_sequences", func(c *Request) { c.StopSequences = from.StopSequences }},
		{"candidates", func(c *Request) { c.Candidates = from.Candidates }},
		{"user_id", func(c *Request) { c.UserID = from.UserID }},
		{"service_tier", func(c *Request) { c.ServiceTier = from.ServiceTier }},
		{"session", func(c *Request) { c.Session = from.Session }},
		{"headers", func(c *Request) { c.Header = from.Header }},
		{"extra", func(c *Request) { c.Extra = from.Extra }},
	}
	add := func(path string, i int, copy func(c *Request)) {
		places = append(places, place{path + "." + strconv.Itoa(i), copy})
	}
	n, m := len(from.Tools), len(to.Tools)
	for i := range min(n, m) {
		add("tools", i, func(c *Request) { c.Tools[i] = from.Tools[i] })
	}
	if n != m {
		add("tools", min(n, m), func(c *Request) { c.Tools = from.Tools })
	}
	n, m = len(from.System), len(to.System)
	for i := range min(n, m) {
		add("system", i, func(c *Request) { c.System[i] = from.System[i] })
	}
	if n != m {
		add("system", min(n, m), func(c *Request) { c.System = from.System })
	}
	for i := range min(len(from.Turns), len(to.Turns)) {
		turn := "turns." + strconv.Itoa(i)
		n, m = len(from.Turns[i].Parts), len(to.Turns[i].Parts)
		for k := range min(n, m) {
			add(turn+".parts", k, func(c *Request) {
				t := &c.Turns[i]
				if k == 0 {
					t.Parts = slices.Clone(t.Parts)
				}
				t.Parts[k] = from.Turns[i].Parts[k]
			})
		}
		whole := func(c *Request) { c.Turns[i] = from.Turns[i] }
		if n != m {
			add(turn+".parts", min(n, m), whole)
		} else {
			add("turns", i, whole)
		}
	}
	if n, m = len(from.Turns), len(to.Turns); n != m {
		add("turns", min(n, m), func(c *Request) { c.Turns = from.Turns })
	}
	return places
}
