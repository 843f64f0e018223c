package foreign

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Session returns the session that a request names in the id of its user or in its own members,
// or "".
func Session(userID string, x *content.Extra) string {
	own := ""
	if x != nil {
		if name := dataOf(x.Format).session; name != "" {
			json, _ := x.Get(name)
			own = gjson.Parse(json).Str
		}
	}
	return cmp.Or(sessionOfUser(userID), own)
}

// sessionOfUser returns the session in a user id of Claude Code, or "". The id is a JSON object
// or, in earlier versions, user_…_account_…_session_….
func sessionOfUser(id string) string {
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
