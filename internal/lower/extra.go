package lower

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
)

// extra returns x, members of an object of a kind at a path, if they are of the target's
// format and own allows them here. Otherwise it reports them and returns nil.
func (l *lowering) extra(x *content.Extra, at Path, own bool, in foreign.Kind) *content.Extra {
	if x == nil {
		return nil
	}
	at = at.Member("extra")
	switch {
	case codec.Own(x, l.t.Format) == nil:
		for tail, r := range foreign.Members(x, in) {
			l.lose(r, at.Member(tail))
		}
	case own:
		return x
	case x.JSON != "" && x.JSON != "{}" && !foreign.IsRepresented(x, in):
		l.lose(OwnMembers, at)
	}
	return nil
}
