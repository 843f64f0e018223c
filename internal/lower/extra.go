package lower

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
)

// extra returns x, members of an object of a kind, if they are of the target's format and
// own allows them here. Otherwise it reports them, at the path of x, and returns nil.
func (l *lowering) extra(x *content.Extra, at Path, own bool, in foreign.Kind) *content.Extra {
	switch {
	case x == nil:
	case codec.Own(x, l.t.Format) == nil:
		for tail, r := range foreign.Members(x, in) {
			l.lose(r, at.Member(tail))
		}
	case own:
		return x
	case x.JSON != "" && x.JSON != "{}":
		l.lose(OwnMembers, at)
	}
	return nil
}
