package adapter

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Answers returns an error for a request that wants no answer: Messages takes a
// limit of no tokens, with which a request only fills its vendor's caches. No
// other vendor can be asked for that, and whoever is asked with another limit
// would answer, at the client's cost. Every adapter has its requests pass here,
// but for those of clients of its own format.
func Answers(n *upstream.Request) error {
	if n.MaxTokens == nil || *n.MaxTokens > 0 {
		return nil
	}
	return &content.Violation{Code: content.CodeUnsupported, Path: "max_tokens",
		Text: "has to be 1 or more: only clients of Messages can ask for no answer, and only servers that speak it"}
}
