package adapter

import (
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/upstream"
)

// Kept returns an error for a request that names state of the conversation which
// only the vendor of another format than own keeps, such as a thread or a cached
// prompt, or has it in a form that only that vendor can read: a model that does not see it would answer something else. Every
// adapter checks its requests with it. The error lists the members.
func Kept(n *upstream.Request, own content.Format) error {
	var list content.ViolationList
	if codec.Own(n.Extra, own) == nil {
		for at, rule := range codec.LostMembers(n.Extra, "extra") {
			if rule == codec.ForeignKept {
				list.Add(content.CodeUnsupported, at, rule.Reason)
			}
		}
	}
	if own == "messages" {
		return list.Err()
	}
	for i := range n.Turns {
		for k, p := range n.Turns[i].Parts {
			if legal.Encrypted(p) {
				list.Add(content.CodeUnsupported, "turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(k),
					"the summary of the earlier conversation is encrypted, and only the vendor that made it can read it")
			}
		}
	}
	return list.Err()
}
