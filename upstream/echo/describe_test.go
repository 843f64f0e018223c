package echo_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

const picture = "\x89PNG\r\n\x1a\nnot much of one"

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// everything returns a request with every kind of part and parameter.
func everything() *upstream.Request {
	x := func(json string) *content.Extra { return &content.Extra{Format: "messages", JSON: json} }
	return &upstream.Request{
		Model:  "demo",
		System: []content.Part{&content.Text{Text: "Be kind.", Cache: &content.Cache{TTL: "5m"}}},
		Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{
				&content.Text{Text: "What is\nthis?", Extra: x(`{"x":1}`)},
				&content.Image{Source: &content.Base64{MediaType: "image/png", Data: b64(picture)}},
				&content.Document{Title: "T", Context: "C", Citations: true, Source: &content.PlainText{Text: "plain"}},
				&content.Document{Source: &content.Parts{Parts: []content.Part{&content.Text{Text: "inner"}}}},
				&content.Document{Source: &content.File{ID: "file_1", MediaType: "application/pdf"}},
				&content.Media{Source: &content.Base64{MediaType: "audio/wav", Data: b64("RIFF")}},
				&content.SearchResult{Source: "s", Title: "t", Parts: []content.Part{&content.Text{Text: "found"}}},
			}},
			{Role: content.RoleAssistant, Extra: x(`{"y":2}`), Parts: []content.Part{
				&content.Thinking{Text: "hm", Signature: content.Signature{Format: "messages", Data: "abc"}},
				&content.Thinking{Redacted: content.Signature{Format: "messages", Data: "secret"}},
				&content.Text{Text: "cited", Citations: make([]content.Citation, 2)},
				&content.ServerToolUse{Format: "messages", Kind: "server_tool_use", ID: "srv", Name: "web_search", Input: `{"q":1}`},
				&content.ServerToolResult{Format: "messages", Kind: "web_search_tool_result", ID: "srv", Content: `[]`},
				&content.Unknown{Format: "messages", Kind: "novel", Raw: `{"type":"novel"}`},
				&content.ToolUse{ID: "call", Name: "look", Input: `{"a":1}`},
				&content.ToolUse{ID: "call2", Name: "exec", Namespace: "functions", Freeform: true, Text: "ls"},
				&content.Text{Text: "I can't.", Refusal: true},
			}},
			{Role: content.RoleUser, Parts: []content.Part{
				&content.ToolResult{ID: "call", Error: true, Parts: []content.Part{
					&content.Text{Text: "no luck"},
					&content.Image{Source: &content.Base64{MediaType: "image/png", Data: b64(picture)}},
				}},
				&content.ToolResult{ID: "other", Name: "see", Object: `{"o":1}`},
			}},
		},
		Tools: []content.Tool{
			{Name: "look", Description: "Looks.", Input: content.Schema{JSON: `{"type":"object"}`}, Strict: new(true)},
			{Name: "web_search", Kind: "web_search_20250305", Format: "messages", Raw: `{"type":"web_search_20250305"}`},
			{Name: "see", Input: content.Schema{JSON: `{"type":"OBJECT"}`, OpenAPI: true}, Strict: new(false)},
			{Name: "exec", Namespace: "functions", Freeform: true, Grammar: &content.Grammar{Syntax: "lark", Definition: "start: /.+/"}},
		},
		Choice:           content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"look"}, NoParallel: true},
		MaxTokens:        p(int64(100000)),
		Temperature:      p(0.5),
		TopP:             p(0.25),
		TopK:             p(int64(40)),
		Seed:             p(int64(-7)),
		PresencePenalty:  p(1.5),
		FrequencyPenalty: p(-1.0),
		StopSequences:    []string{"\u0000never", "no\nway"},
		Candidates:       1,
		Thinking:         upstream.Thinking{Mode: upstream.ThinkingOff, Budget: p(int64(2048)), Effort: "high", Display: "full"},
		Output: upstream.Output{Modalities: []string{"text"}, MediaType: "text/plain", AspectRatio: "16:9", ImageSize: "2K",
			Name: "plan", Description: "A plan.", Strict: new(true), Verbosity: "low"},
		UserID:      "someone",
		ServiceTier: "auto",
		Extra:       x(`{"z":[1,2]}`),
	}
}

func TestDescription(t *testing.T) {
	want := strings.Join([]string{
		`look failed: no luck`,
		`see answered: {"o":1}`,
		``,
		`echo of demo: 3 turns`,
		`system.0: text, 8 bytes, sha256 ` + short([]byte("Be kind.")) + `, "Be kind.", cache 5m`,
		`turns.0: user, 7 parts`,
		`turns.0.parts.0: text, 13 bytes, sha256 ` + short([]byte("What is\nthis?")) + `, "What is\nthis?", extra messages {"x":1}`,
		`turns.0.parts.1: image, base64, image/png, 23 bytes, sha256 ` + short([]byte(picture)),
		`turns.0.parts.2: document, text/plain, plain text, 5 bytes, sha256 ` + short([]byte("plain")) + `, "plain", title, 1 byte, sha256 ` +
			short([]byte("T")) + `, "T", context, 1 byte, sha256 ` + short([]byte("C")) + `, "C", citations`,
		`turns.0.parts.3: document, 1 part`,
		`turns.0.parts.3.source.parts.0: text, 5 bytes, sha256 ` + short([]byte("inner")) + `, "inner"`,
		`turns.0.parts.4: document, file, id "file_1", application/pdf`,
		`turns.0.parts.5: media, base64, audio/wav, 4 bytes, sha256 ` + short([]byte("RIFF")),
		`turns.0.parts.6: search result, source, 1 byte, sha256 ` + short([]byte("s")) + `, "s", title, 1 byte, sha256 ` + short([]byte("t")) + `, "t", 1 part`,
		`turns.0.parts.6.parts.0: text, 5 bytes, sha256 ` + short([]byte("found")) + `, "found"`,
		`turns.1: assistant, 9 parts, extra messages {"y":2}`,
		`turns.1.parts.0: thinking, 2 bytes, sha256 ` + short([]byte("hm")) + `, "hm", signature messages 3 bytes sha256 ` + short([]byte("abc")),
		`turns.1.parts.1: thinking, 0 bytes, sha256 ` + short(nil) + `, "", redacted messages 6 bytes sha256 ` + short([]byte("secret")),
		`turns.1.parts.2: text, 5 bytes, sha256 ` + short([]byte("cited")) + `, "cited", 2 citations`,
		`turns.1.parts.3: server tool use web_search, id "srv", input, 7 bytes, sha256 ` + short([]byte(`{"q":1}`)) + `, "{\"q\":1}", format "messages", kind "server_tool_use"`,
		`turns.1.parts.4: server tool result, id "srv", content, 2 bytes, sha256 ` + short([]byte(`[]`)) + `, "[]", format "messages", kind "web_search_tool_result"`,
		`turns.1.parts.5: unknown, raw, 16 bytes, sha256 ` + short([]byte(`{"type":"novel"}`)) + `, "{\"type\":\"novel\"}", format "messages", kind "novel"`,
		`turns.1.parts.6: tool use look, id "call", input, 7 bytes, sha256 ` + short([]byte(`{"a":1}`)) + `, "{\"a\":1}"`,
		`turns.1.parts.7: tool use exec, id "call2", input, 2 bytes, sha256 ` + short([]byte("ls")) + `, "ls", namespace, 9 bytes, sha256 ` + short([]byte("functions")) + `, "functions", freeform`,
		`turns.1.parts.8: text, 8 bytes, sha256 ` + short([]byte("I can't.")) + `, "I can't.", refusal`,
		`turns.2: user, 2 parts`,
		`turns.2.parts.0: tool result, id "call", error, 2 parts`,
		`turns.2.parts.0.parts.0: text, 7 bytes, sha256 ` + short([]byte("no luck")) + `, "no luck"`,
		`turns.2.parts.0.parts.1: image, base64, image/png, 23 bytes, sha256 ` + short([]byte(picture)),
		`turns.2.parts.1: tool result see, id "other", object, 7 bytes, sha256 ` + short([]byte(`{"o":1}`)) + `, "{\"o\":1}", 0 parts`,
		`tools.0: tool look, description, 6 bytes, sha256 ` + short([]byte("Looks.")) + `, "Looks.", input, 17 bytes, sha256 ` +
			short([]byte(`{"type":"object"}`)) + `, "{\"type\":\"object\"}", strict`,
		`tools.1: tool web_search, messages web_search_20250305, 30 bytes, sha256 ` + short([]byte(`{"type":"web_search_20250305"}`)) +
			`, "{\"type\":\"web_search_20250305\"}"`,
		`tools.2: tool see, input in OpenAPI, 17 bytes, sha256 ` + short([]byte(`{"type":"OBJECT"}`)) + `, "{\"type\":\"OBJECT\"}", not strict`,
		`tools.3: tool exec, namespace "functions", free-form, lark grammar, 11 bytes, sha256 ` + short([]byte("start: /.+/")) + `, "start: /.+/"`,
		`choice: any, only "look", one at a time`,
		`max_tokens: 100000`,
		`temperature: 0.5`,
		`top_p: 0.25`,
		`top_k: 40`,
		`seed: -7`,
		`presence_penalty: 1.5`,
		`frequency_penalty: -1`,
		`stop_sequences: "\x00never" "no\nway"`,
		`candidates: 1`,
		`thinking: off, budget 2048, effort high, display full`,
		`output: modalities "text", text/plain, named "plan", description, 7 bytes, sha256 ` + short([]byte("A plan.")) + `, "A plan.", strict, verbosity low, aspect ratio 16:9, size 2K`,
		`user_id: "someone"`,
		`service_tier: auto`,
		`extra: messages {"z":[1,2]}`,
		``,
	}, "\n")
	got := text(collect(t, everything()).Parts)
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStreamMakesNoDifference(t *testing.T) {
	plain, streamed := ask("x"), ask("x")
	streamed.Stream = true
	if diff := cmp.Diff(collect(t, plain), collect(t, streamed)); diff != "" {
		t.Errorf("streamed response (-plain +streamed):\n%s", diff)
	}
}

type files map[string]string

var errDisk = errors.New("the disk is on fire")

func (f files) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	name := ""
	switch s := s.(type) {
	case *content.URL:
		name = s.URL
	case *content.File:
		name = s.ID
	}
	data, ok := f[name]
	switch {
	case name == "broken":
		return content.Blob{}, errDisk
	case !ok:
		return content.Blob{}, &content.Violation{Code: content.CodeValue, Text: "no such file"}
	}
	return content.Blob{MediaType: "image/png", Data: []byte(data)}, nil
}

func TestFiles(t *testing.T) {
	with := func(s ...content.Source) *upstream.Request {
		r := ask("look")
		for _, s := range s {
			r.Turns[0].Parts = append(r.Turns[0].Parts, &content.Image{Source: s})
		}
		return r
	}
	r := with(&content.URL{URL: "https://example.com/a.png"}, &content.File{ID: "f"})
	r.Resolver = files{"https://example.com/a.png": picture, "f": "x"}
	got := text(collect(t, r).Parts)
	for _, want := range []string{
		"\nturns.0.parts.1: image, url, \"https://example.com/a.png\", image/png, 23 bytes, sha256 " + short([]byte(picture)) + "\n",
		"\nturns.0.parts.2: image, file, id \"f\", image/png, 1 byte, sha256 " + short([]byte("x")) + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}

	_, err := upstream.Collect(t.Context(), echo.New(), with(&content.URL{URL: "https://example.com/"}))
	var e *content.Violation
	if !errors.As(err, &e) || e.Code != content.CodeUnsupported || e.Path != "turns.0.parts.1.source" {
		t.Errorf("URL without a Resolver: got %v", err)
	}
	r = with(&content.File{ID: "missing"})
	r.Resolver = files{}
	if _, err = upstream.Collect(t.Context(), echo.New(), r); !errors.As(err, &e) || e.Path != "turns.0.parts.1.source" || e.Code != content.CodeValue {
		t.Errorf("missing file: got %v", err)
	}
	r = with(&content.File{ID: "broken"})
	r.Resolver = files{}
	if _, err = upstream.Collect(t.Context(), echo.New(), r); !errors.Is(err, errDisk) {
		t.Errorf("failing Resolver: got %v", err)
	}
	for _, s := range []content.Source{nil, (*content.Base64)(nil), (*content.Parts)(nil), &content.Base64{Data: "%"}} {
		if _, err = upstream.Collect(t.Context(), echo.New(), with(s)); !errors.As(err, &e) || e.Path != "turns.0.parts.1.source" {
			t.Errorf("source %#v: got %v", s, err)
		}
	}
	for _, p := range []content.Part{nil, (*content.Text)(nil), (*content.ToolResult)(nil)} {
		r := ask("x")
		r.Turns[0].Parts = append(r.Turns[0].Parts, p)
		if _, err = upstream.Collect(t.Context(), echo.New(), r); !errors.As(err, &e) || e.Path != "turns.0.parts.1" {
			t.Errorf("part %#v: got %v", p, err)
		}
	}
}

func TestUsage(t *testing.T) {
	r := &upstream.Request{Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{
		&content.Text{Text: "echo: say 123456"}, // 6 bytes
		&content.Document{Source: &content.Base64{Data: b64(strings.Repeat("x", 2400))}},
	}}}}
	want := content.Usage{Input: upstream.EstimateTokens(r), Output: 2, Estimated: true}
	count, err := upstream.CountTokens(t.Context(), echo.New(), r)
	if err != nil || count.Tokens != want.Input || want.Input < 100 {
		t.Errorf("CountTokens: %v, %v; the estimate is %d", count, err, want.Input)
	}
	if diff := cmp.Diff(want, collect(t, r).Usage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func Example() {
	request := &upstream.Request{
		Model: "demo",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hello!"}}}},
	}
	response, err := upstream.Collect(context.Background(), echo.New(), request)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(response.Parts[0].(*content.Text).Text)

	request.Turns[0].Parts[0] = &content.Text{Text: "echo: say Good morning."}
	response, err = upstream.Collect(context.Background(), echo.New(), request)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(response.Parts[0].(*content.Text).Text)
	// Output:
	// echo of demo: 1 turn
	// turns.0: user, 1 part
	// turns.0.parts.0: text, 6 bytes, sha256 334d016f755c, "Hello!"
	// Good morning.
}
