package lower

import (
	"cmp"
	"sync"

	"github.com/polywire/polywire/internal/schema"
)

// A Cache holds the targets of an adapter that have been used. K identifies one, such as by
// the name of a model. All of them keep translations of schemas in common. The zero value is
// empty and keeps none. A Cache is safe for concurrent use.
type Cache[K comparable] struct {
	schemas *schema.Cache

	mu      sync.Mutex
	targets map[K]*Target
}

// maxCached bounds a Cache, because clients choose the names of models.
const maxCached = 1 << 10

// schemaBytes is the default for NewCache.
const schemaBytes = 4 << 20

// NewCache returns an empty Cache that keeps at most schemas bytes of translations of schemas: 4 MiB
// if schemas is 0, and none if it is negative.
func NewCache[K comparable](schemas int64) Cache[K] {
	return Cache[K]{schemas: schema.NewCache(cmp.Or(schemas, schemaBytes))}
}

// Get returns the target of k. If there is none yet, build makes it, and the key to keep,
// which equals k but must not keep the memory of a request.
func (c *Cache[K]) Get(k K, build func() (*Target, K)) *Target {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.targets[k]
	if t == nil {
		t, k = build()
		t.Schemas = c.schemas
		if c.targets == nil || len(c.targets) >= maxCached {
			c.targets = make(map[K]*Target)
		}
		c.targets[k] = t
	}
	return t
}
