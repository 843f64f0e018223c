package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/reqctx"
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
		key = conversationKey(reqctx.Client(ctx), n)
	}
	if len(key) > maxCacheKey {
		sum := sha256.Sum256([]byte(key))
		return hex.EncodeToString(sum[:])
	}
	return key
}

// conversationKey returns a digest of what all requests of a conversation have in common:
// the identity of the client, the texts of the system, and the session of the client or else
// the texts of the first user turn. Tools and the model are not needed to distinguish
// conversations, and settings may change. Subagents of a session have another system text.
func conversationKey(client string, n *upstream.Request) string {
	d := keyDigest{hash: sha256.New(), buf: make([]byte, 0, 4<<10)}
	if client != "" {
		d.text("client", client, len(client))
	}
	empty := true
	for t := range conversationTexts(n.System) {
		d.text("system", t, len(t))
		empty = false
	}
	if s := sessionOf(n.UserID); s != "" {
		d.text("session", s, len(s))
		empty = false
	} else if i := slices.IndexFunc(n.Turns, isUser); i >= 0 { // one pass
		const enough, enoughAll = 1 << 10, 16 << 10 // only systems are shared by many conversations
		size := 0
		for t := range conversationTexts(n.Turns[i].Parts) {
			d.text("user", t, enough)
			empty = false
			if size += min(len(t), enough); size > enoughAll {
				break
			}
		}
	}
	if empty {
		return ""
	}
	return hex.EncodeToString(d.hash.Sum(nil)[:16])
}

func isUser(t content.Turn) bool { return t.Role == content.RoleUser }

// conversationTexts returns the texts among parts. Cache marks are not part of them, because
// clients move them, and neither are files: the requests of one prompt about many files share a
// key.
func conversationTexts(parts []content.Part) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range parts {
			if t, ok := p.(*content.Text); ok && t != nil {
				if text, _ := lower.CutAttribution(t.Text); text != "" && !yield(text) {
					return
				}
			}
		}
	}
}

// A keyDigest is the digest of a list of texts.
type keyDigest struct {
	hash hash.Hash
	buf  []byte // of a fixed capacity: the hash accepts no strings
}

// text adds the kind and the length of a text, and its first limit bytes.
func (d *keyDigest) text(kind, text string, limit int) {
	d.buf = append(d.buf[:0], kind...)
	d.buf = strconv.AppendInt(d.buf, int64(len(text)), 10)
	d.buf = append(d.buf, ' ')
	for text = text[:min(len(text), limit)]; ; {
		n := min(len(text), cap(d.buf)-len(d.buf))
		d.hash.Write(append(d.buf, text[:n]...)) // never fails
		if text = text[n:]; text == "" {
			return
		}
		d.buf = d.buf[:0]
	}
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
