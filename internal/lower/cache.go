package lower

import "sync"

// A Cache holds the targets of an adapter that have been used. K identifies one, such as by
// the name of a model. The zero value is empty. A Cache is safe for concurrent use.
type Cache[K comparable] struct {
	mu      sync.Mutex
	targets map[K]*Target
}

// maxCached bounds a Cache, because clients choose the names of models.
const maxCached = 1 << 10

// Get returns the target of k. If there is none yet, build makes it, and the key to keep,
// which equals k but must not keep the memory of a request.
func (c *Cache[K]) Get(k K, build func() (*Target, K)) *Target {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.targets[k]
	if t == nil {
		t, k = build()
		if c.targets == nil || len(c.targets) >= maxCached {
			c.targets = make(map[K]*Target)
		}
		c.targets[k] = t
	}
	return t
}
