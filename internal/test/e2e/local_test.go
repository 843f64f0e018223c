package e2e

import (
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	vendoropenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// lenientServers are servers that resemble Chat Completions, with several
// peculiarities each.
func lenientServers() map[string]vendoropenai.Options {
	return map[string]vendoropenai.Options{
		"echoes":  {EchoReasoning: "reasoning_content", Quirks: vendoropenai.Quirks{Reasoning: "reasoning_content", UsageAlways: true, RoleAlways: true}},
		"indexes": {NoStreamOptions: true, Quirks: vendoropenai.Quirks{Reasoning: "reasoning", IndexZero: true, FinishStop: true, NoDone: true}},
		"bare":    {Quirks: vendoropenai.Quirks{NoIndex: true, NoIDs: true, UsageNever: true, NoMeta: true, NoContent: true, Comments: true}},
		"odd":     {Quirks: vendoropenai.Quirks{ObjectArgs: true, ContentList: true, NullError: true, DeltaAfterStop: true, FilterFirst: true}},
		"repeats": {Quirks: vendoropenai.Quirks{RepeatIDs: true, EmptyContent: true, UsageAtFinish: true, WholeArgs: true}},
		"strict":  {ShortIDs: true, StrictRoles: true},
		"endless": {Quirks: vendoropenai.Quirks{NoFinish: true, WholeArgs: true}},
	}
}

// TestLocal runs each client against servers that only resemble the vendor's.
func TestLocal(t *testing.T) {
	for quirk, o := range lenientServers() {
		o.Local, o.Key, o.Forbid = true, hostKey, secrets
		for name, newClient := range clients() {
			t.Run(quirk+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := vendoropenai.New(t, o)
				up, err := openai.New(&openai.Options{BaseURL: f.Base(), Key: hostKey, HTTPClient: httpClient(t),
					Dialect: openai.Dialect{Reasoning: o.EchoReasoning, Files: true, ShortIDs: o.ShortIDs, StrictRoles: o.StrictRoles}})
				if err != nil {
					t.Fatal(err)
				}
				c := newClient()
				g := newGateway(endpointNamed(c.format()), up, upstream.HandlerOptions{})
				local := adapter{name: toChat, model: "qwen-local"}
				k := session{client: c, think: true, ids: !o.Quirks.NoIDs, via: func(int) (*gateway, adapter, *fake.Server) { return g, local, f.Server }}
				k.run(t, conversation())
				checkPrefixes(t, f.Requests())
			})
		}
	}
}
