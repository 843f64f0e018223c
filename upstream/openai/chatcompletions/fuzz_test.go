package chatcompletions

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/workload"
)

// A read is what encoding/json alone reads from a document: the texts, calls and results of its
// messages in their order.
type read struct {
	Messages []struct {
		Role             string          `json:"role"`
		Content          json.RawMessage `json:"content"`
		Refusal          *string         `json:"refusal"`
		ReasoningContent *string         `json:"reasoning_content"`
		Reasoning        *string         `json:"reasoning"`
		ToolCallID       *string         `json:"tool_call_id"`
		ToolCalls        []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function *struct {
				Name string `json:"name"`
			} `json:"function"`
			Custom *struct {
				Name  string  `json:"name"`
				Input *string `json:"input"`
			} `json:"custom"`
		} `json:"tool_calls"`
		FunctionCall *struct {
			Name string `json:"name"`
		} `json:"function_call"`
	} `json:"messages"`
}

func texts(raw json.RawMessage, add func(string)) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text != "" {
			add("text " + text)
		}
		return
	}
	var list []map[string]json.RawMessage
	_ = json.Unmarshal(raw, &list)
	for _, part := range list {
		var kind, text string
		_ = json.Unmarshal(part["type"], &kind)
		if kind == "text" || kind == "refusal" {
			_ = json.Unmarshal(part[kind], &text)
			add("text " + text)
			continue
		}
		add("part")
	}
}

func (r *read) summary() (list []string) {
	add := func(s string) { list = append(list, s) }
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	for _, m := range r.Messages {
		if m.Role == "tool" || m.Role == "function" {
			add("result " + value(m.ToolCallID))
			texts(m.Content, add)
			continue
		}
		if s := value(m.ReasoningContent); s != "" {
			add("thinking " + s)
		} else if s := value(m.Reasoning); s != "" {
			add("thinking " + s)
		}
		texts(m.Content, add)
		if s := value(m.Refusal); s != "" {
			add("text " + s)
		}
		for _, c := range m.ToolCalls {
			if c.Type == "custom" || c.Type == "" && c.Custom != nil {
				add("call " + c.ID + " " + c.Custom.Name + " " + value(c.Custom.Input))
			} else {
				add("call " + c.ID + " " + c.Function.Name + " ")
			}
		}
		if m.FunctionCall != nil {
			add("call  " + m.FunctionCall.Name + " ")
		}
	}
	return list
}

func summary(parts []content.Part, list []string) []string {
	for _, p := range parts {
		switch p := p.(type) { // other kinds are one line
		case *content.Text:
			list = append(list, "text "+p.Text)
		case *content.Thinking:
			list = append(list, "thinking "+p.Text)
		case *content.ToolUse:
			list = append(list, "call "+p.ID+" "+p.Name+" "+p.Text)
		case *content.ToolResult:
			list = summary(p.Parts, append(list, "result "+p.ID))
		default:
			list = append(list, "part")
		}
	}
	return list
}

func FuzzParse(f *testing.F) {
	f.Add(conversation)
	f.Add(workload.CompletionsSmall())
	f.Add(`{"model":"","messages":[]}`)
	f.Add(`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"["}}],"function_call":{"name":"g","arguments":""}}]}`)
	f.Add(`{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":""}]},{"role":"developer","content":[{"type":"x"}]}],"stop":[""],"tool_choice":{}}`)
	for _, b := range formattest.RecordedSeeds(f, "openai-chat", func(r *formattest.Record) string { return r.Request }) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r, err := ParseRequest([]byte(body))
		if r == nil {
			if err == nil {
				t.Fatal("neither a request nor an error")
			}
			return
		}
		if !json.Valid([]byte(body)) {
			t.Fatal("encoding/json refuses what was parsed")
		}
		// What could be read must not break anything.
		invalid := r.Validate(nil)
		_ = r.Validate(&ValidateOptions{Strict: true})
		n := r.Upstream()
		for i := range n.Turns {
			for k := range n.Turns[i].Parts {
				path := "turns." + strconv.Itoa(i) + ".parts." + strconv.Itoa(k)
				if got := r.Path(path); got == "" || got == path {
					t.Errorf("%s has the path %q", path, got)
				}
			}
		}
		_ = referencedFiles(r, &ValidateOptions{})
		if err != nil || invalid != nil {
			return
		}
		var want read
		if err := json.Unmarshal([]byte(body), &want); err != nil {
			t.Fatal(err)
		}
		got := summary(r.System, nil)
		for i := range r.Messages {
			got = summary(r.Messages[i].Parts, got)
		}
		if diff := cmp.Diff(want.summary(), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
