package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

const (
	cacheKeyName = "prompt_cache_key"
	maxCacheKey  = 64 // characters
)

// cacheKey returns the key of a request's conversation in the server's prompt cache, or ""
// for none. Servers route the requests of one key to the machine that has the cache. OpenAI
// recommends at most about 15 requests per minute for a key and a beginning of a prompt,
// which the requests of one conversation rarely exceed.
func (c *client) cacheKey(n *upstream.Request) string {
	key := ""
	switch {
	case c.customKey != nil:
		key = c.customKey(n)
	case c.isOpenAI, slices.Contains(c.known.cacheKeys, c.format): // bounded by servers
		key = conversationKey(n)
	}
	if len(key) > maxCacheKey {
		sum := sha256.Sum256([]byte(key))
		return hex.EncodeToString(sum[:])
	}
	return key
}

// conversationKey returns a digest of what all requests of a conversation have in common:
// the session of the client, or else the texts of the system and the first user turn. Tools
// and the model are not needed to distinguish conversations, and settings may change.
func conversationKey(n *upstream.Request) string {
	b := make([]byte, 0, 1<<10)
	if s := sessionOf(n.UserID); s != "" {
		b = appendText(b, "session", s)
	} else {
		b = appendBeginning(b, n)
	}
	if len(b) == 0 {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// sessionOf returns the session in a user id of Claude Code, or "". The id is a JSON object
// or, in earlier versions, user_…_account_…_session_….
func sessionOf(id string) string {
	if strings.HasPrefix(id, "{") {
		doc, err := jsonwire.Parse(id, jsonwire.Limits{})
		if err != nil {
			return ""
		}
		defer doc.Close()
		return strings.Clone(doc.Root().Get("session_id").Str())
	}
	if !strings.HasPrefix(id, "user_") {
		return ""
	}
	_, session, _ := strings.Cut(id, "_session_")
	return session
}

// appendBeginning appends the texts of the system and of the first user turn. Cache marks
// are not part of it, because clients move them, and neither are files: the requests of one
// prompt about many files share a key.
func appendBeginning(b []byte, n *upstream.Request) []byte {
	b = appendTexts(b, "system", n.System)
	for i := range n.Turns {
		if n.Turns[i].Role == content.RoleUser {
			return appendTexts(b, "user", n.Turns[i].Parts)
		}
	}
	return b
}

// appendTexts appends the texts among parts.
func appendTexts(b []byte, kind string, parts []content.Part) []byte {
	const enough = 16 << 10
	for _, p := range parts {
		if t, ok := p.(*content.Text); ok && t != nil && len(b) < enough {
			if text, _ := lower.CutAttribution(t.Text); text != "" {
				b = appendText(b, kind, text)
			}
		}
	}
	return b
}

// appendText appends the length and the beginning of a text.
func appendText(b []byte, kind, text string) []byte {
	const enough = 1 << 10
	b = append(b, kind...)
	b = strconv.AppendInt(b, int64(len(text)), 10)
	b = append(b, ' ')
	return append(b, text[:min(len(text), enough)]...)
}
