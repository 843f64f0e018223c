package openai

import (
	"maps"
	"slices"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/lowertest"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// someTargets are targets of all kinds, and those of all known servers by host.
var someTargets = withServers(map[string]target{
	"gpt-4o":   {isOpenAI: true, family: familyOf("gpt-4o")},
	"gpt-5":    {isOpenAI: true, family: familyOf("gpt-5")},
	"gpt-5.6":  {isOpenAI: true, family: familyOf("gpt-5.6")},
	"o3":       {isOpenAI: true, family: familyOf("o3")},
	"local":    {},
	"text":     {dialect: Dialect{TextOnly: true, DescribeUnreadable: true}},
	"strict":   {dialect: Dialect{ShortIDs: true, StrictRoles: true, Reasoning: "reasoning_content", Thinking: chatcompletions.ThinkingObject}},
	"refusals": {refusals: refusals{fields: 1<<31 - 1, toolsWithNone: true}},
})

func withServers(list map[string]target) map[string]target {
	for host, s := range servers {
		list[host] = target{known: s, dialect: s.defaults}
	}
	return list
}

var bothFormats = []content.Format{ChatFormat, ResponsesFormat}

// TestLowerTwice checks that lowering what was lowered loses nothing.
func TestLowerTwice(t *testing.T) {
	for name, target := range someTargets {
		for _, f := range bothFormats {
			t.Run(name+" "+string(f), func(t *testing.T) {
				t.Parallel()
				to := target.lowerTarget(f)
				lowertest.Requests(t, "../..", func(name string, n *upstream.Request) {
					t.Run(name, func(t *testing.T) { lowertest.Twice(t, n, to) })
				})
			})
		}
	}
}

// FuzzLowerTwice is TestLowerTwice for changed requests.
func FuzzLowerTwice(f *testing.F) {
	var targets []*lower.Target
	names := []string{"gpt-4o", "gpt-5.6", "local", "text", "strict"}
	for _, name := range append(names, slices.Sorted(maps.Keys(servers))...) {
		for _, format := range bothFormats {
			target := someTargets[name]
			targets = append(targets, target.lowerTarget(format))
		}
	}
	lowertest.Fuzz(f, targets)
}
