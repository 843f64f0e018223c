package adapter

import (
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// CheckForeignState returns an error for a request whose conversation depends on
// state that only the vendor of another format can read: a thread, a cached prompt
// or an encrypted summary. Without that state, a model would respond to another
// conversation. own is the format of the adapter. The error lists the members.
func CheckForeignState(n *upstream.Request, own content.Format) error {
	var list violation.List
	if codec.Own(n.Extra, own) == nil {
		for tail, rule := range foreign.Members(n.Extra, foreign.Request) {
			if rule == foreign.StateLoss {
				list.Add(content.CodeUnsupported, codec.Below("extra", tail), rule.Reason)
			}
		}
	}
	for i := range n.Turns {
		for k, p := range n.Turns[i].Parts {
			if u, ok := p.(*content.Unknown); ok && u != nil && u.Format != own && foreign.IsState(u) {
				list.Add(content.CodeUnsupported, "turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(k),
					"the summary of the earlier conversation is encrypted; only the vendor that created it can read it")
			}
		}
	}
	return list.Err()
}
