package schema

import (
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
)

// A Cache keeps translations for later requests, because agents send the same tools again and
// again. It compares whole schemas, so that a client cannot make another one get a translation
// of something else, and it keeps copies, not parts of requests. It is safe for concurrent use. A
// nil Cache keeps nothing.
type Cache struct {
	bytes int64 // the limit

	mu       sync.RWMutex
	now, old map[cacheKey]translation // those that were used since the last change of generations, and before
	size     int64                    // of now
}

// NewCache returns a Cache of at most about bytes, or nil if bytes is not positive.
func NewCache(bytes int64) *Cache {
	if bytes <= 0 {
		return nil
	}
	return &Cache{bytes: bytes, now: make(map[cacheKey]translation)}
}

type cacheKey struct {
	dialect        Dialect
	input, openAPI bool
	json           string
}

// A translation is the result of translate without an ExpansionLimit.
type translation struct {
	key    cacheKey
	text   string // empty with same
	same   bool   // the text is the schema itself
	losses []Loss // only read
}

const (
	leastCached = 128 // the length of the shortest schema that is kept
	entrySize   = 256 // an estimate of the memory for an entry besides its texts
)

// get returns a translation that is kept. It does not allocate.
func (c *Cache) get(k cacheKey) (t translation, ok bool) {
	if c == nil || len(k.json) < leastCached {
		return t, false
	}
	c.mu.RLock()
	t, ok = c.now[k]
	c.mu.RUnlock()
	if ok {
		return t, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok = c.old[k]; ok {
		delete(c.old, k)
		c.add(t)
	}
	return t, ok
}

// put keeps a translation.
func (c *Cache) put(k cacheKey, text string, losses []Loss) {
	if c == nil || len(k.json) < leastCached {
		return
	}
	t := translation{key: k, same: text == k.json, losses: losses}
	if !t.same {
		t.text = strings.Clone(text)
	}
	t.key.json = strings.Clone(k.json)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(t)
}

// add adds t to those that were used. The caller holds the lock.
func (c *Cache) add(t translation) {
	size := int64(len(t.key.json) + len(t.text) + entrySize)
	for i := range t.losses {
		size += int64(len(t.losses[i].Path) + entrySize/8)
	}
	if size > c.bytes/8 {
		return
	}
	if c.size+size > c.bytes/2 {
		c.now, c.old, c.size = make(map[cacheKey]translation), c.now, 0
	}
	if _, known := c.now[t.key]; !known {
		c.now[t.key] = t
		c.size += size
	}
}

// translate is like the function translate, with the cache. A result is kept if it needed nothing
// of the limit: it is the same whatever is left of it.
func (s *ExpansionLimit) translate(d Dialect, x content.Schema, input bool) (string, []Loss) {
	if s == nil {
		return translate(d, x, input, nil)
	}
	k := cacheKey{d, input, x.OpenAPI, x.JSON}
	if t, ok := s.Cache.get(k); ok {
		if t.same {
			return x.JSON, t.losses
		}
		return t.text, t.losses
	}
	before := *s
	text, losses := translate(d, x, input, s)
	if *s == before {
		s.Cache.put(k, text, losses)
	}
	return text, losses
}
