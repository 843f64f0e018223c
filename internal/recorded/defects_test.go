package recorded

import (
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// defects are the failures of checks 8 to 11 that are known. An entry applies to errors
// of its check and formats that contain one of its texts. Its request shows the defect:
// TestDefects fails once it is corrected, and then the entry has to go.
var defects = []struct {
	reason  string
	check   string // its number
	formats []content.Format
	texts   []string
	request func() *upstream.Request
}{
	{"an empty last user message becomes a sentence, which is not sent any more if the conversation goes on",
		"10", []content.Format{formatMessages}, []string{"(The user's message is empty.)"},
		func() *upstream.Request { return conversationOf(&content.Text{}) }},
	{"a user message of which nothing can be represented becomes a sentence only if a response follows its run of user turns",
		"10", []content.Format{formatGenerate}, []string{"[Here was something that you cannot be shown.]"},
		func() *upstream.Request {
			n := conversationOf(&content.Text{Text: "q"})
			hidden := &content.ServerToolUse{Format: "other", Kind: "k", ID: "i", Name: "n"}
			n.Turns = append([]content.Turn{{Role: content.RoleUser, Parts: []content.Part{hidden}}}, n.Turns...)
			return n
		}},
	{"Preflight does not find what the encoder, which it does not call, rejects",
		"8", []content.Format{formatGenerate}, []string{"Preflight returns the error <nil>, Generate "},
		func() *upstream.Request {
			return conversationOf(&content.Image{Source: &content.Parts{Parts: []content.Part{&content.Text{Text: "a"}}}})
		}},
}

// conversationOf returns a conversation that begins with a part of the user.
func conversationOf(p content.Part) *upstream.Request {
	turn := func(role content.Role, p content.Part) content.Turn {
		return content.Turn{Role: role, Parts: []content.Part{p}}
	}
	return &upstream.Request{Resolver: new(host), Turns: []content.Turn{turn(content.RoleUser, p),
		turn(content.RoleAssistant, &content.Text{Text: "a"}), turn(content.RoleUser, &content.Text{Text: "b"})}}
}

// isDefect reports whether a failure of a check is a known defect.
func isDefect(check string, d destination, err error) bool {
	number, _, _ := strings.Cut(check, " ")
	for _, k := range defects {
		if k.check == number && slices.Contains(k.formats, d.format) &&
			slices.ContainsFunc(k.texts, func(s string) bool { return strings.Contains(err.Error(), s) }) {
			return true
		}
	}
	return false
}

func TestDefects(t *testing.T) {
	for _, k := range defects {
		for _, format := range k.formats {
			seen := false
			for _, d := range destinations {
				if d.format != format {
					continue
				}
				n := k.request()
				err := samePrefixes(d, beginnings(n))
				for _, p := range encodingChecks {
					if strings.HasPrefix(p.name, k.check+" ") {
						err = p.check(d, n)
					}
				}
				seen = seen || err != nil && isDefect(k.check, d, err)
			}
			if !seen {
				t.Errorf("corrected, so the entry can go: %s, %s", format, k.reason)
			}
		}
	}
}
