package prompt

import (
	"strings"
	"testing"
)

var members = []string{"tools", "output_config.format", "system", "messages"}

func parse(t *testing.T, document string) *Prompt {
	t.Helper()
	p, err := Parse(document, members)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCompareSame(t *testing.T) {
	for name, tt := range map[string][2]string{
		"white space":       {`{"messages":[{"role":"user","content":"a"}]}`, ` { "messages" : [ { "role" : "user" , "content" : "a" } ] } `},
		"escapes":           {`{"system":"é"}`, `{"syst\u0065m":"\u00e9"}`},
		"text as a block":   {`{"system":"a","messages":[{"role":"user","content":"b"}]}`, `{"system":[{"type":"text","text":"a"}],"messages":[{"role":"user","content":[{"text":"b","type":"text"}]}]}`},
		"marks":             {`{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}`},
		"mark in a result":  {`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"a"}]}]}]}`, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"prompt_cache_breakpoint":1}]}]}`},
		"order of members":  {`{"tools":[{"name":"f","description":"d"}],"system":"s"}`, `{"system":"s","tools":[{"description":"d","name":"f"}]}`},
		"null":              {`{"tools":[{"name":"f"}],"system":null}`, `{"tools":[{"name":"f","description":null}]}`},
		"text of a result":  {`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"a"}]}]}`, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"a"}],"is_error":false}]}]}`},
		"result of nothing": {`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":""}]}]}`, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[]}]}]}`},
		"defaults":          {`{"tools":[{"type":"custom","name":"f","strict":false,"input_examples":[]}],"messages":[{"role":"user","content":[{"type":"text","text":"a","citations":[]},{"type":"document","citations":{"enabled":false}}]}]}`, `{"tools":[{"name":"f"}],"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"document"}]}]}`},
		"default of a call": {`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"x","input":{},"caller":{"type":"direct"}}]}]}`, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"x","input":{}}]}]}`},
		"other members":     {`{"max_tokens":1,"system":"s"}`, `{"system":"s","max_tokens":2}`},
		"empty text":        {`{"messages":[{"role":"assistant","content":null,"tool_calls":[]}]}`, `{"messages":[{"role":"assistant","content":"","tool_calls":[]}]}`},
	} {
		a, b := parse(t, tt[0]), parse(t, tt[1])
		if shared, path := a.Compare(b); shared != a.Size() || path != "" {
			t.Errorf("%s: shared %d of %d bytes, then %q", name, shared, a.Size(), path)
		}
		if shared, path := b.Compare(a); shared != b.Size() || path != "" {
			t.Errorf("%s, reversed: shared %d of %d bytes, then %q", name, shared, b.Size(), path)
		}
	}
}

func TestCompareDifferent(t *testing.T) {
	const user = `{"role":"user","content":"Hello"}`
	for name, tt := range map[string]struct {
		prev, next string
		shared     int64
		path       string // empty if the prompt was only extended
	}{
		"more turns":      {`{"messages":[` + user + `]}`, `{"messages":[` + user + `,{"role":"assistant","content":"Hi"}]}`, int64(len(`{"role":"user"}Hello`)), ""},
		"longer text":     {`{"messages":[` + user + `]}`, `{"messages":[{"role":"user","content":"Hello, you"}]}`, int64(len(`{"role":"user"}Hello`)), ""},
		"changed text":    {`{"messages":[` + user + `]}`, `{"messages":[{"role":"user","content":"Help"}]}`, int64(len(`{"role":"user"}Hel`)), "messages.0.content"},
		"changed block":   {`{"messages":[` + user + `]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"Help"}]}]}`, int64(len(`{"role":"user"}Hel`)), "messages.0.content.0"},
		"fewer turns":     {`{"messages":[` + user + `,{"role":"assistant","content":"Hi"}]}`, `{"messages":[` + user + `]}`, int64(len(`{"role":"user"}Hello`)), "messages.1"},
		"another tool":    {`{"tools":[{"name":"f"}],"system":"s"}`, `{"tools":[{"name":"f"},{"name":"g"}],"system":"s"}`, int64(len(`{"name":"f"}`)), "tools.1"},
		"longer system":   {`{"system":"s","messages":[` + user + `]}`, `{"system":"st","messages":[` + user + `]}`, 1, "system"},
		"schema":          {`{"output_config":{"format":{"a":1}},"system":"s"}`, `{"output_config":{"format":{"a":2}},"system":"s"}`, int64(len(`{"a":`)), "output_config.format"},
		"order in schema": {`{"tools":[{"input_schema":{"a":1,"b":2}}]}`, `{"tools":[{"input_schema":{"b":2,"a":1}}]}`, int64(len(`{"input_schema":{"`)), "tools.0"},
		"empty schema":    {`{"tools":[{"input_schema":{"a":false}}]}`, `{"tools":[{"input_schema":{}}]}`, int64(len(`{"input_schema":{`)), "tools.0"},
		"failed result":   {`{"messages":[{"content":[{"is_error":true}]}]}`, `{"messages":[{"content":[{"is_error":false}]}]}`, int64(len(`{}{`)), "messages.0.content.0"},
		"caller":          {`{"messages":[{"content":[{"caller":{"type":"x"}}]}]}`, `{"messages":[{"content":[{"caller":{"type":"direct"}}]}]}`, int64(len(`{}{`)), "messages.0.content.0"},
		"functions":       {`{"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"}]}]}`, `{"tools":[{"functionDeclarations":[{"name":"f"},{"name":"h"}]}]}`, int64(len(`{}{"name":"f"}{"name":"`)), "tools.0.functionDeclarations.1"},
	} {
		a, b := parse(t, tt.prev), parse(t, tt.next)
		if shared, path := a.Compare(b); shared != tt.shared || path != tt.path {
			t.Errorf("%s: shared %d bytes, then %q; want %d, %q", name, shared, path, tt.shared, tt.path)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"tools":[1,null,{"functionDeclarations":{}}],"system":{"parts":[[],{"text":1}]},"messages":"x"}`)
	f.Add(`{"messages":[{"content":[{"content":[{"cache_control":1}]}]}]}`)
	f.Fuzz(func(t *testing.T, document string) {
		p, err := Parse(document, members)
		if err != nil {
			return
		}
		if shared, path := p.Compare(p); shared != p.Size() || path != "" {
			t.Errorf("compared with itself: shared %d of %d, then %q", shared, p.Size(), path)
		}
		spaced := strings.NewReplacer("\n", " ").Replace(document)
		if q, err := Parse(spaced, members); err == nil {
			if shared, path := p.Compare(q); shared != p.Size() || path != "" {
				t.Errorf("with other white space: shared %d of %d, then %q", shared, p.Size(), path)
			}
		}
	})
}
