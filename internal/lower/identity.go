package lower

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// IdentityRules describes which user ids and service tiers a target accepts.
type IdentityRules struct {
	User         int    // the most characters of a user id; 0 means that none is sent
	UserBytes    int    // the same in bytes
	DigestPrefix string // of the digest of a longer one

	// Tiers maps service tiers to those of the target. The empty tier is not sent, which
	// loses nothing. Others are a loss.
	Tiers map[string]string
}

// identity lowers the user id and the service tier.
func (l *lowering) identity() {
	rules := &l.t.Identity
	switch id := l.n.UserID; {
	case id == "":
	case rules.User+rules.UserBytes == 0:
		l.lose(User, At("user_id"))
		l.to.UserID = ""
	case rules.UserBytes > 0 && len(id) > rules.UserBytes, rules.User > 0 && len(id) > rules.User && utf8.RuneCountInString(id) > rules.User:
		l.lose(UserDigest, At("user_id"))
		sum := sha256.Sum256([]byte(id))
		l.to.UserID = rules.DigestPrefix + hex.EncodeToString(sum[:])
	}
	if l.n.ServiceTier == "" {
		return
	}
	tier, known := rules.Tiers[l.n.ServiceTier]
	if !known {
		l.lose(ServiceTier, At("service_tier"))
	}
	l.to.ServiceTier = tier
}
