package foreign

import "strings"

// attributionName begins the line with which Claude Code begins its system prompt. The line
// has the version of the agent and digests of the session and of the request, for the
// vendor's accounting:
//
//	x-anthropic-billing-header: cc_version=2.1.197.90a; cc_entrypoint=cli; cch=71fea;
const attributionName = "x-anthropic-billing-header:"

// CutAttribution returns a system text without such lines at its beginning, and reports
// whether there are any.
func CutAttribution(text string) (rest string, found bool) {
	for strings.HasPrefix(text, attributionName) {
		_, text, _ = strings.Cut(text, "\n")
		text, found = strings.TrimLeft(text, "\r\n"), true
	}
	return text, found
}
