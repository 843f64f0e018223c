package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/polywire/polywire/upstream"
)

const maxCacheKey = 64 // characters

// cacheKey returns the key of a request's conversation in the server's prompt cache, or ""
// for none. Servers route the requests of one key to the machine that has the cache. OpenAI
// recommends at most about 15 requests per minute for a key and a beginning of a prompt,
// which the requests of one conversation rarely exceed.
func (c *client) cacheKey(ctx context.Context, n *upstream.Request) string {
	key := ""
	switch {
	case c.customKey != nil:
		key = c.customKey(ctx, n)
	case c.isOpenAI, slices.Contains(c.known.cacheKeys, c.format): // bounded by servers
		key = upstream.SessionKey(ctx, n)
	}
	if len(key) > maxCacheKey {
		sum := sha256.Sum256([]byte(key))
		return hex.EncodeToString(sum[:])
	}
	return key
}
