package upstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"iter"
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/reqctx"
)

// SessionKey returns a key of the conversation of r: 32 hexadecimal digits that all its
// requests have in common, in all processes, and that no other conversation has. It is for
// what should stay the same during a conversation, such as the Upstream whose prompt cache is warm:
// see [SessionOrder]. It returns "" for a request without texts and without a session.
//
// The key is a digest of
//
//   - the identity of the client that ctx has: see [WithClient]. So no client can reach what
//     belongs to the conversation of another one by naming its session;
//   - the texts of the system, because the subagents of a session have others;
//   - Request.Session or, without one, the session in the user id, as Claude Code sends it,
//     or prompt_cache_key of OpenAI's formats. Without any of them it has the texts of the
//     first user turn, up to about 16 KiB. Then conversations with an equal beginning share a key.
//
// The model, tools and settings do not change it, nor do files and cache marks. r is only read.
func SessionKey(ctx context.Context, r *Request) string {
	d := newKeyDigest()
	if client := reqctx.Client(ctx); client != "" {
		d.whole("client", client)
	}
	empty := true
	for t := range conversationTexts(r.System) {
		d.whole("system", t)
		empty = false
	}
	if s := cmp.Or(r.Session, foreign.Session(r.UserID, r.Extra)); s != "" {
		d.whole("session", s)
		empty = false
	} else if i := slices.IndexFunc(r.Turns, isUser); i >= 0 { // one pass
		const enough, enoughAll = 1 << 10, 16 << 10 // only systems are shared by many conversations
		size := 0
		for t := range conversationTexts(r.Turns[i].Parts) {
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

// conversationTexts returns the texts among parts, without what differs between the requests of
// a conversation.
func conversationTexts(parts []content.Part) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range parts {
			if t, ok := p.(*content.Text); ok && t != nil {
				if text, _ := foreign.CutAttribution(t.Text); text != "" && !yield(text) {
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

func newKeyDigest() *keyDigest {
	return &keyDigest{hash: sha256.New(), buf: make([]byte, 0, 4<<10)}
}

// whole adds the kind and the length of a text, and the text.
func (d *keyDigest) whole(kind, text string) { d.text(kind, text, len(text)) }

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

// SessionOrder returns a function for FailoverOptions.Order that keeps each conversation at one
// Upstream, whose prompt cache is warm and which has its state. names are unique names of the
// upstreams in the list of [Failover], in the order of the list; the names, not the positions,
// determine which conversations an Upstream gets. Conversations are spread evenly.
//
// If the Upstream of a conversation fails, the request goes to the next one in the order of
// this conversation. If an Upstream is added or removed, only the conversations move that it
// gets or had. The order depends on [SessionKey] alone, so all replicas agree without a store.
// Requests without a key have the order of names.
//
// The function is safe for concurrent use. SessionOrder panics if a name is repeated.
func SessionOrder(names ...string) func(ctx context.Context, r *Request) []int {
	names = slices.Clone(names)
	sorted := slices.Sorted(slices.Values(names))
	if len(slices.Compact(sorted)) != len(names) {
		panic("upstream: SessionOrder: a name is repeated")
	}
	return func(ctx context.Context, r *Request) []int {
		key := SessionKey(ctx, r)
		order, weights := make([]int, len(names)), make([]uint64, len(names))
		for i, name := range names {
			sum := sha256.Sum256([]byte(key + " " + name))
			order[i], weights[i] = i, binary.BigEndian.Uint64(sum[:])
		}
		if key != "" { // rendezvous hashing
			slices.SortFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
		}
		return order
	}
}
