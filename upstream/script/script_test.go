package script_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/script"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func ask(text string) *upstream.Request {
	return &upstream.Request{
		Model: "demo",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
		Tools: []content.Tool{{Name: "run", Freeform: true, Namespace: "shell"}, {Name: "look"}},
	}
}

func signature(text string) string {
	sum := sha256.Sum256([]byte("script:" + text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func TestSteps(t *testing.T) {
	say := func(s string) content.Part { return &content.Text{Text: s} }
	picture := &content.Image{Source: &content.URL{URL: "https://example.com/a.png"}}
	usage := func(output, thinking int64) content.Usage {
		return content.Usage{Input: upstream.EstimateTokens(ask("hi")), Output: output, Thinking: thinking, Estimated: true}
	}
	for _, tt := range []struct {
		name  string
		reply script.Reply
		want  []content.Part
		stop  content.StopReason
		usage content.Usage
	}{
		{"text", script.Reply{script.Say("One  two, "), script.Say("three.")}, []content.Part{say("One  two, three.")}, content.StopEnd, usage(4, 0)},
		{"no text", script.Reply{script.Say("")}, nil, content.StopEnd, usage(0, 0)},
		{"thinking", script.Reply{script.Think("Hm. Yes."), script.Say("Yes.")}, []content.Part{
			&content.Thinking{Text: "Hm. Yes.", Signature: content.Signature{Format: "script", Data: signature("Hm. Yes.")}}, say("Yes."),
		}, content.StopEnd, usage(1, 2)},
		{"parallel calls", script.Reply{script.Say("Look."), script.Call("look", `{"at": "日本語の天気はどうですか"}`), script.Call("look", "")}, []content.Part{
			say("Look."), &content.ToolUse{ID: "call_0", Name: "look", Input: `{"at": "日本語の天気はどうですか"}`}, &content.ToolUse{ID: "call_1", Name: "look"},
		}, content.StopToolUse, usage(13, 0)},
		{"free-form call", script.Reply{script.Call("run", "ls -l")}, []content.Part{
			&content.ToolUse{ID: "call_0", Name: "run", Freeform: true, Text: "ls -l", Namespace: "shell"},
		}, content.StopToolUse, usage(2, 0)},
		{"part", script.Reply{script.Part(picture)}, []content.Part{picture}, content.StopEnd, usage(0, 0)},
		{"stop", script.Reply{script.Say("One"), script.Stop(content.StopMaxTokens)}, []content.Part{say("One")}, content.StopMaxTokens, usage(1, 0)},
		{"usage of a step", script.Reply{script.Say("One"), func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Usage(content.Usage{Input: 7, Output: 9})
		}}, []content.Part{say("One")}, content.StopEnd, content.Usage{Input: 7, Output: 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := upstream.Collect(t.Context(), tt.reply, ask("hi"))
			if err != nil {
				t.Fatal(err)
			}
			want := &upstream.Response{Start: upstream.Start{Model: "demo"}, Parts: tt.want, Stop: upstream.Stop{Reason: tt.stop}, Usage: tt.usage}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Texts and arguments arrive in pieces, after the start with the usage of the prompt.
func TestPieces(t *testing.T) {
	var kinds []upstream.EventKind
	var texts []string
	for e, err := range upstream.Events(t.Context(), script.Reply{script.Say("One two "), script.Call("look", `{"at": "日本語"}`)}, ask("hi")) {
		if err != nil {
			t.Fatal(err)
		}
		if kinds = append(kinds, e.Kind); e.Text != "" {
			texts = append(texts, e.Text)
		}
	}
	if diff := cmp.Diff([]string{"One ", "two ", `{"at": "日本` + "\xe8\xaa", "\x9e\"}"}, texts); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]upstream.EventKind{upstream.EventStart, upstream.EventUsage, upstream.EventOpen}, kinds[:3]); diff != "" {
		t.Errorf("first events (-want +got):\n%s", diff)
	}
}

func TestFailures(t *testing.T) {
	busy := &upstream.Error{Code: upstream.CodeOverloaded, Text: "busy", RetryAfter: 7 * time.Second}
	for _, tt := range []struct {
		name  string
		reply script.Reply
		want  error
		text  string
	}{
		{"before the response", script.Reply{script.Fail(busy), script.Say("no")}, busy, ""},
		{"in the response", script.Reply{script.Say("One"), script.Fail(busy), script.Say("no")}, busy, "One"},
		{"cut", script.Reply{script.Say("One"), script.Cut()}, io.ErrUnexpectedEOF, "One"},
		{"expectation without a Model", script.Reply{script.Expect(func(*upstream.Request) error { return busy }), script.Say("no")}, busy, ""},
		{"call without a name", script.Reply{script.Say("One"), script.Call("", "{}"), script.Say("no")}, nil, "One"},
	} {
		got, err := upstream.Collect(t.Context(), tt.reply, ask("hi"))
		if tt.want != nil && !errors.Is(err, tt.want) || err == nil {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
		if text := textOf(got.Parts); text != tt.text || (text == "") != (got.Start.Model == "") {
			t.Errorf("%s: got %q, want %q; started with %q", tt.name, text, tt.text, got.Start.Model)
		}
	}
}

func textOf(parts []content.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if t, ok := p.(*content.Text); ok && t != nil {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func TestWait(t *testing.T) {
	reply := script.Reply{script.Say("One "), script.Wait(time.Minute), script.Say("two")}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got, err := upstream.Collect(t.Context(), reply, ask("hi"))
		if err != nil || textOf(got.Parts) != "One two" || time.Since(began) != time.Minute {
			t.Errorf("got %v, %v after %v", got.Parts, err, time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		began := time.Now()
		got, err := upstream.Collect(ctx, reply, ask("hi"))
		if !errors.Is(err, cause) || textOf(got.Parts) != "One " || time.Since(began) != time.Second {
			t.Errorf("got %v, %v after %v", got.Parts, err, time.Since(began))
		}
	})
}

func TestModel(t *testing.T) {
	wrong := errors.New("the request has no tool result")
	for _, tt := range []struct {
		name    string
		replies []script.Reply
		asks    []string
		texts   []string // of the responses, or what their errors contain
		verify  string
	}{
		{"in order", []script.Reply{{script.Say("One")}, {script.Say("Two")}}, []string{"a", "b"}, []string{"One", "Two"}, ""},
		{"request without a reply", []script.Reply{{script.Say("One")}}, []string{"a", "b"},
			[]string{"One", "invalid: script: request 2: the script has no reply to it"}, "script: request 2: the script has no reply to it"},
		{"empty reply", []script.Reply{nil}, []string{"a"},
			[]string{"script: request 1: the script has no reply to it"}, "script: request 1: the script has no reply to it"},
		{"reply without a request", []script.Reply{{script.Say("One")}, {script.Say("Two")}, {script.Say("Three")}}, []string{"a"},
			[]string{"One"}, "script: the model received 1 of 3 requests"},
		{"expectation", []script.Reply{{script.Expect(func(*upstream.Request) error { return nil }), script.Say("One")},
			{script.Expect(func(*upstream.Request) error { return wrong }), script.Say("Two")}}, []string{"a", "b"},
			[]string{"One", "script: request 2: the request has no tool result"}, "script: request 2: the request has no tool result"},
		{"intended failure", []script.Reply{{script.Cut()}}, []string{"a"}, []string{"unavailable: the connection"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := script.New(tt.replies...)
			for i, text := range tt.asks {
				got, err := upstream.Collect(t.Context(), model, ask(text))
				if s := fmt.Sprint(err); err != nil && !strings.Contains(s, tt.texts[i]) || err == nil && textOf(got.Parts) != tt.texts[i] {
					t.Errorf("request %d: got %q, %v, want %q", i+1, textOf(got.Parts), err, tt.texts[i])
				}
			}
			var arrived []string
			for _, r := range model.Requests() {
				arrived = append(arrived, textOf(r.LastParts()))
			}
			if diff := cmp.Diff(tt.asks, arrived); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if err := model.Verify(); (err == nil) != (tt.verify == "") || err != nil && err.Error() != tt.verify {
				t.Errorf("Verify returned %v, want %q", err, tt.verify)
			}
		})
	}
	if err := script.New(script.Reply{script.Expect(func(*upstream.Request) error { return wrong })}); err.Verify() == nil {
		t.Error("Verify returned nil before any request")
	}
}

// The suite for upstreams passes for a script that depends on the request.
func TestSuite(t *testing.T) {
	words := make(script.Reply, 300)
	for i := range words {
		words[i] = script.Say("wörd ")
	}
	replies := map[string]script.Reply{
		"long": words, "silent": {script.Wait(time.Hour)}, "call": {script.Call("look", `{"at":"it"}`), script.Call("look", "")},
		"think": {script.Think("Hm. "), script.Say("Yes.")}, "invalid": {script.Fail(&content.Violation{Code: content.CodeValue, Path: "turns.0", Text: "no"})},
		"fail": {script.Fail(&upstream.Error{Code: upstream.CodeOverloaded})}, "cut": {script.Say("One"), script.Cut()},
	}
	model := script.NewFunc(func(_ int, r *upstream.Request) script.Reply {
		text := textOf(r.LastParts())
		if reply := replies[text]; reply != nil {
			return reply
		}
		return script.Reply{script.Say("so, " + text)}
	})
	upstreamtest.Run(t, model, &upstreamtest.Options{
		Text: ask("Hello!"), Long: ask("long"), Silent: ask("silent"), Call: ask("call"), Think: ask("think"),
		Invalid: []*upstream.Request{ask("invalid")}, Fail: []*upstream.Request{ask("fail"), ask("cut")},
		Marked: ask,
	})
}

// A script serves clients of all formats, streamed and whole, from one handler.
func TestFormats(t *testing.T) {
	for _, tt := range []struct{ name, path, body, end string }{
		{"messages", "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"look","input_schema":{"type":"object"}}]%s}`, "message_stop"},
		{"generateContent", "/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"look"}]}]}`, "finishReason"},
		{"chat completions", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"look"}}]%s}`, "[DONE]"},
		{"responses", "/v1/responses", `{"model":"m","store":false,"input":"a","tools":[{"type":"function","name":"look","parameters":{"type":"object"}}]%s}`, "response.completed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply := script.Reply{script.Say("Let me look."), script.Call("look", `{"at":"it"}`)}
			model := script.New(reply, reply, script.Reply{script.Fail(&upstream.Error{Code: upstream.CodeOverloaded, Text: "Busy."})})
			h := polywire.NewHandler(model, nil)
			post := func(stream bool) *httptest.ResponseRecorder {
				path, more := tt.path, ""
				if stream {
					path, more = strings.Replace(path, ":generateContent", ":streamGenerateContent?alt=sse", 1), `,"stream":true`
				}
				w, r := httptest.NewRecorder(), httptest.NewRequest("POST", path, strings.NewReader(strings.Replace(tt.body, "%s", more, 1)))
				r.Header.Set("anthropic-version", "2023-06-01")
				h.ServeHTTP(w, r)
				return w
			}
			for _, stream := range []bool{false, true} {
				w := post(stream)
				if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, "look") || stream != strings.Contains(body, "data: ") || stream && !strings.Contains(body, tt.end) {
					t.Errorf("stream %v: got status %d, %s", stream, w.Code, body)
				}
			}
			if w := post(true); w.Code < 500 || !strings.Contains(w.Body.String(), "Busy.") {
				t.Errorf("failure: got status %d, %s", w.Code, w.Body)
			}
			if err := model.Verify(); err != nil {
				t.Error(err)
			}
		})
	}
}
