package gemini

import (
	"fmt"
	"slices"

	"github.com/polywire/polywire/internal/test/fake"
)

const (
	countComplaint = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
	turnComplaint  = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)

// orderRules are the rules of generatecontent.md §3.11. They do not apply to
// countTokens, agents.md §2.
var orderRules = []rule{
	{"call-name", "§3.2", false, func(c *call) string {
		return c.parts(func(at string, p *fake.Node) string {
			if f := get(p, "functionCall"); f != nil && str(f, "name") == "" {
				return at + ".function_call.name: Name cannot be empty."
			}
			if f := get(p, "functionResponse"); f != nil && str(f, "name") == "" {
				return at + ".function_response.name: Name cannot be empty."
			}
			return ""
		})
	}},
	{"part-role", "§3.11", false, func(c *call) string {
		for _, n := range c.contents {
			model := str(n, "role") == "model"
			if len(members(n, "functionCall")) > 0 && !model || len(members(n, "functionResponse")) > 0 && model {
				return turnComplaint
			}
		}
		return ""
	}},
	{"call-turn", "§3.11", false, func(c *call) string {
		for i, n := range c.contents {
			if len(members(n, "functionCall")) > 0 && (i == 0 || str(c.contents[i-1], "role") == "model") {
				return turnComplaint
			}
		}
		return ""
	}},
	{"response-count", "§3.11", false, func(c *call) string {
		for i, n := range c.contents {
			calls, results := members(n, "functionCall"), []*fake.Node(nil)
			if i+1 < len(c.contents) {
				results = members(c.contents[i+1], "functionResponse")
			}
			last := i+1 == len(c.contents)
			if len(calls) != len(results) && !(last && len(calls) == 0) {
				return countComplaint
			}
			if i == 0 && len(members(n, "functionResponse")) > 0 {
				return countComplaint
			}
		}
		return ""
	}},
	{"response-match", "§3.11", false, func(c *call) string {
		for i := 1; i < len(c.contents); i++ {
			if s := match(members(c.contents[i-1], "functionCall"), members(c.contents[i], "functionResponse")); s != "" {
				return fmt.Sprintf(".contents[%d]: %s", i, s)
			}
		}
		return ""
	}},
}

// joinContents joins consecutive contents of the model, and consecutive
// contents of results only, for [Options.Lenient].
func joinContents(contents []*fake.Node) []*fake.Node {
	var out []*fake.Node
	before := ""
	for _, n := range contents {
		kind := ""
		if str(n, "role") == "model" {
			kind = "model"
		} else if results := len(members(n, "functionResponse")); results > 0 && results == len(list(n, "parts")) {
			kind = "user"
		}
		if kind == "" || kind != before {
			out, before = append(out, n), kind
			continue
		}
		last := out[len(out)-1]
		parts := append(slices.Clone(list(last, "parts")), list(n, "parts")...)
		out[len(out)-1] = &fake.Node{Kind: fake.Object, Keys: []string{"role", "parts"}, Items: []*fake.Node{
			{Kind: fake.String, Str: kind}, {Kind: fake.Array, Items: parts},
		}}
	}
	return out
}

// members returns the named members of the parts of a content.
func members(n *fake.Node, name string) []*fake.Node {
	var out []*fake.Node
	for _, p := range list(n, "parts") {
		if m := get(p, name); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// match pairs results and calls: by id if both have one, else by name and
// position.
func match(calls, results []*fake.Node) string {
	open := slices.Clone(calls)
	for _, r := range results {
		at := slices.IndexFunc(open, func(k *fake.Node) bool {
			if str(r, "id") != "" && str(k, "id") != "" {
				return str(r, "id") == str(k, "id")
			}
			return str(r, "name") == str(k, "name")
		})
		if at < 0 {
			return "function response " + str(r, "name") + " " + str(r, "id") + " has no function call"
		}
		if str(open[at], "name") != str(r, "name") {
			return "function response " + str(r, "name") + " has the id of a call of " + str(open[at], "name")
		}
		open = slices.Delete(open, at, at+1)
	}
	return ""
}
