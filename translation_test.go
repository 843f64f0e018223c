package polywire_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A translationClient is a request of a client, to which members are added.
type translationClient struct {
	name, body string // body has %s for members
	decode     func(body []byte) (*upstream.Request, []content.Loss, error)
}

func decodeOfMessages(b []byte) (*upstream.Request, []content.Loss, error) {
	return messages.DecodeRequest(b, nil)
}

// translationClients are clients by what their requests mean.
var translationClients = []translationClient{
	{"Messages, for Claude 5 and later", `{"model":"claude-sonnet-5","max_tokens":8000,"messages":[{"role":"user","content":"q"}]%s}`, decodeOfMessages},
	{"Messages, for Claude 4.7 and 4.8", `{"model":"claude-opus-4-8","max_tokens":8000,"messages":[{"role":"user","content":"q"}]%s}`, decodeOfMessages},
	{"Messages, for all other names", `{"model":"m","max_tokens":8000,"messages":[{"role":"user","content":"q"}]%s}`, decodeOfMessages},
	{"generateContent", `{"model":"m","contents":[{"role":"user","parts":[{"text":"q"}]}]%s}`,
		func(b []byte) (*upstream.Request, []content.Loss, error) {
			return generatecontent.DecodeRequest(b, nil)
		}},
	{"Chat Completions", `{"model":"m","messages":[{"role":"user","content":"q"}]%s}`,
		func(b []byte) (*upstream.Request, []content.Loss, error) {
			return chatcompletions.DecodeRequest(b, nil)
		}},
	{"Responses", `{"model":"m","input":"q"%s}`,
		func(b []byte) (*upstream.Request, []content.Loss, error) { return responses.DecodeRequest(b, nil) }},
}

// A translationTarget is a server with models that treat thinking alike.
type translationTarget struct {
	title, model string
	format       content.Format
}

var translationTargets = []translationTarget{
	{"Claude 3.5", "claude-3-5-haiku-20241022", messages.Format},
	{"Claude 4.5", "claude-sonnet-4-5", messages.Format},
	{"Claude 4.8", "claude-opus-4-8", messages.Format},
	{"Claude 5", "claude-sonnet-5", messages.Format},
	{"Claude Fable", "claude-fable-5", messages.Format},
	{"Gemini 2.0", "gemini-2.0-flash", generatecontent.Format},
	{"Gemini 2.5 Flash", "gemini-2.5-flash", generatecontent.Format},
	{"Gemini 2.5 Pro", "gemini-2.5-pro", generatecontent.Format},
	{"Gemini 3 Flash", "gemini-3-flash-preview", generatecontent.Format},
	{"Gemini 3 Pro", "gemini-3-pro-preview", generatecontent.Format},
	{"GPT-4.1", "gpt-4.1", responses.Format},
	{"o3", "o3", responses.Format},
	{"GPT-5", "gpt-5", responses.Format},
	{"GPT-5.2", "gpt-5.2", responses.Format},
	{"GPT-5.6, GPT-6", "gpt-6-sol", responses.Format},
	{"GPT-6 Astra, GPT-6.2", "gpt-6.2-sol", responses.Format},
	{"unknown names at a compatible server", "m", chatcompletions.Format},
}

// translationMembers are the members that have to do with thinking, by path.
var translationMembers = []string{"thinking", "output_config", "generationConfig.thinkingConfig", "reasoning", "reasoning_effort"}

// upstreams returns an adapter for each format.
func translationUpstreams(t *testing.T) map[content.Format]upstream.Upstream {
	t.Helper()
	list := make(map[content.Format]upstream.Upstream)
	add := func(f content.Format, up upstream.Upstream, err error) {
		if err != nil {
			t.Fatal(err)
		}
		list[f] = up
	}
	claude, err := anthropic.New(nil)
	add(messages.Format, claude, err)
	google, err := gemini.New(nil)
	add(generatecontent.Format, google, err)
	chat, err := openai.New(&openai.Options{BaseURL: "http://localhost/v1"})
	add(chatcompletions.Format, chat, err)
	gpt, err := openai.NewResponses(nil)
	add(responses.Format, gpt, err)
	return list
}

// sentThinking returns the members that are sent for thinking, and the worst loss.
func sentThinking(t *testing.T, up upstream.Upstream, c translationClient, members, model string) string {
	t.Helper()
	n, _, err := c.decode(fmt.Appendf(nil, c.body, members))
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	n = n.WithModel(model)
	e, err := upstream.EncodeRequest(t.Context(), up, n)
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	losses, err := upstream.Preflight(t.Context(), up, n)
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, path := range translationMembers {
		if v := gjson.Get(e.Document, path); v.Exists() {
			name := path[strings.LastIndexByte(path, '.')+1:]
			sent = append(sent, "`"+name+": "+strings.NewReplacer(`"`, "", ":", ": ", ",", ", ").Replace(v.Raw)+"`")
		}
	}
	text := strings.Join(sent, " ")
	if text == "" {
		text = "–"
	}
	var worst content.Severity
	for _, l := range losses {
		worst = max(worst, l.Severity)
	}
	if worst > 0 {
		text += " (" + worst.String() + ")"
	}
	return text
}

// TestTranslationPage compares docs/translation.md with what formats and adapters do. -update writes
// the page.
func TestTranslationPage(t *testing.T) {
	inRepository(t)
	ups := translationUpstreams(t)
	clients := func(names ...string) (list []translationClient) {
		for _, c := range translationClients {
			for _, name := range names {
				if c.name == name {
					list = append(list, c)
				}
			}
		}
		return list
	}
	var absent strings.Builder
	for _, c := range translationClients {
		n, _, err := c.decode(fmt.Appendf(nil, c.body, ""))
		if err != nil {
			t.Fatal(err)
		}
		thinking, output, limit := "the model's default", "exact", "the model's"
		switch n.Defaults.Thinking {
		case upstream.ThinkingOff:
			thinking = "off"
		case upstream.ThinkingAuto:
			thinking = "on, as much as the model decides"
		}
		if n.Defaults.LooseOutput {
			output = "may differ"
		}
		if n.Defaults.Format == messages.Format {
			limit = "required"
		}
		fmt.Fprintf(&absent, "| %s | %s | %s | %s | %s |\n", c.name, thinking, n.Defaults.Display, output, limit)
	}
	table := func(client translationClient, columns [][2]string) string {
		var b strings.Builder
		b.WriteString("| model |")
		for _, c := range columns {
			b.WriteString(" " + c[0] + " |")
		}
		b.WriteString("\n|" + strings.Repeat(" --- |", len(columns)+1) + "\n")
		for _, target := range translationTargets {
			own, _, _ := client.decode(fmt.Appendf(nil, client.body, ""))
			if own.Defaults.Format == target.format {
				continue
			}
			b.WriteString("| " + target.title + " |")
			for _, c := range columns {
				b.WriteString(" " + sentThinking(t, ups[target.format], client, c[1], target.model) + " |")
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	older := clients("Messages, for all other names")[0]
	google := clients("generateContent")[0]
	chat := clients("Responses")[0]
	config := func(s string) string { return `,"generationConfig":{"thinkingConfig":` + s + `}` }
	effort := func(s string) string { return `,"reasoning":{"effort":"` + s + `"}` }
	want := strings.NewReplacer(
		"{absent}\n", absent.String(),
		"{messages}\n", table(older, [][2]string{{"no `thinking`", ""}, {"`disabled`", `,"thinking":{"type":"disabled"}`}, {"`adaptive`", `,"thinking":{"type":"adaptive"}`}}),
		"{generatecontent}\n", table(google, [][2]string{{"no `thinkingConfig`", ""}, {"`includeThoughts: true`", config(`{"includeThoughts":true}`)}, {"`thinkingBudget: 0`", config(`{"thinkingBudget":0}`)}}),
		"{efforts}\n", table(chat, [][2]string{{"`none`", effort("none")}, {"`minimal`", effort("minimal")}, {"`medium`", effort("medium")}, {"`max`", effort("max")}}),
	).Replace(translationPage)
	const path = "docs/translation.md"
	got, err := os.ReadFile(path)
	if *update {
		if !bytes.Equal(got, []byte(want)) {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s: run this test with -update (-code +page):\n%s", path, diff)
	}
}

const translationPage = `<!-- Generated by go test . -run TranslationPage -update. Edit translation_test.go or internal/absent. -->

# Translation of settings

This page shows what becomes of settings that formats express in different ways, and what a request means
that does not have them. [losses.md](losses.md) lists what each translation can drop.

## What a request means that does not have a setting

A request that leaves a setting out means what the vendor of its format does then. Handlers put that into
` + "`Request.Defaults`" + `; adapters of other formats follow it as far as their models can. A difference that
only concerns settings that the client has left out is a hint.

| client | thinking | display of thinking | response, by its schema | limit of output tokens |
| --- | --- | --- | --- | --- |
{absent}

In all formats, a request without the setting means: the model chooses a tool or none, it may call tools in
parallel, and arguments are not validated. OpenAI's Responses makes tools without ` + "`strict`" + ` strict if it can;
no other vendor does, so other models get them as they are. A limit of the client is never raised, except to a
server's minimum of 16 tokens. Claude needs a limit; without one, ` + "`Options.MaxTokens`" + ` applies.

## Thinking

A dash means that nothing is sent; the severity of the worst loss is in parentheses. What a model with an
unknown name does is not known, so a request without settings is sent to it without them.

From Messages clients, for other names than those of Claude 5:

{messages}

From generateContent clients. ` + "`includeThoughts: true`" + ` alone means to think and to show it, as
` + "`thinkingBudget: -1`" + ` does. A budget for Claude 4.5 and earlier leaves half of the limit to the text.

{generatecontent}

From Responses clients, by ` + "`reasoning.effort`" + `; Chat Completions has the same values. An effort that is not in
a table is sent as it is if it may exist. If a server refuses an effort, a level, a budget or a limit
of output tokens, the request is sent again with the nearest value that the error allows, before the
response begins. The adapter remembers that for an hour.

{efforts}

## Strict schemas

| setting | Claude | Gemini | OpenAI |
| --- | --- | --- | --- |
| ` + "`strict: true`" + ` of a function | ` + "`strict: true`" + ` from 4.5, for at most 20 functions | ` + "`VALIDATED`" + ` for all functions, from 2.5 | ` + "`strict: true`" + ` if the schema has a strict form |
| ` + "`VALIDATED`" + ` | ` + "`strict: true`" + ` of each function whose schema has a strict form | itself | the same |
| schema of the response | always exact | always exact | ` + "`strict: true`" + ` if the schema has a strict form |

A schema has a strict form if it means the same with ` + "`additionalProperties: false`" + ` in each object. Where that was
missing, it is added, which is a hint. OpenAI's strict form also needs every property to be required.
From clients of OpenAI's formats, a schema of the response without ` + "`strict`" + ` stays without it.
`
