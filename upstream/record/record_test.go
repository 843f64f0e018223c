package record_test

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/leak"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/record"
	"github.com/polywire/polywire/upstream/script"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

func ask(texts ...string) *upstream.Request {
	r := &upstream.Request{Model: "demo"}
	for i, s := range texts {
		role := content.RoleUser
		if i%2 == 1 {
			role = content.RoleAssistant
		}
		r.Turns = append(r.Turns, content.Turn{Role: role, Parts: []content.Part{&content.Text{Text: s}}})
	}
	return r
}

// recorded returns the recording of the responses of up to requests.
func recorded(t *testing.T, up upstream.Upstream, requests ...*upstream.Request) string {
	t.Helper()
	var file strings.Builder
	c := record.NewRecorder(up, &file)
	for _, r := range requests {
		_, _ = upstream.Collect(t.Context(), c, r)
	}
	return file.String()
}

func player(t *testing.T, text string) *record.Player {
	t.Helper()
	p, err := record.NewPlayer(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRecording compares a whole recording: what is in it, and what is not.
func TestRecording(t *testing.T) {
	r := ask("Hello!", "Good morning.", "And now?")
	limit, temperature := int64(99), 0.25
	r.MaxTokens, r.Temperature, r.UserID, r.Stream = &limit, &temperature, "ada@example.com", true
	r.Header = []upstream.HeaderField{{Name: "X", Value: "header-secret"}}
	r.Turns[1].Parts = append(r.Turns[1].Parts, &content.Thinking{Text: "Hm."}, &content.ToolUse{ID: "toolu_secret", Name: "look", Input: `{"at": "it"}`})
	r.Turns[2].Parts = append(r.Turns[2].Parts,
		&content.Image{Source: &content.URL{URL: "https://example.com/a.png?sig=url-secret"}},
		&content.Image{Source: &content.Base64{MediaType: "image/png", Data: strings.Repeat("A", 1000)}})
	r.Tools = []content.Tool{{Name: "look", Input: content.Schema{JSON: "{\n\"type\": \"object\"}"}}}
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Loss([]content.Loss{{Path: "temperature", Severity: content.LossDropped, Reason: "not supported"}})
		_ = w.Start(upstream.Start{ID: "msg_1", Model: "demo-1", UpstreamID: "req_secret", Header: []upstream.HeaderField{{Name: "org", Value: "org_secret"}}})
		_ = w.Text("Bye.")
		return &upstream.Error{Code: upstream.CodeOverloaded, Text: "Bearer sk-ant-api03-secretsecretsecretsecret", RetryAfter: 7 * time.Second, UpstreamID: "req_secret", Err: errors.New("https://vendor-secret/")}
	})
	want := `{"request":""}
{"model":"demo"}
{"turns.0":"user"}
{"turns.0.parts.0":"text"}
{"turns.0.parts.0.text":"Hello!"}
{"turns.1":"assistant"}
{"turns.1.parts.0":"text"}
{"turns.1.parts.0.text":"Good morning."}
{"turns.1.parts.1":"tool_use"}
{"turns.1.parts.1.input":{"at":"it"}}
{"turns.1.parts.1.name":"look"}
{"turns.2":"user"}
{"turns.2.parts.0":"text"}
{"turns.2.parts.0.text":"And now?"}
{"turns.2.parts.1":"image"}
{"turns.2.parts.1.source":"url"}
{"turns.2.parts.1.source.url":"https://example.com/a.png"}
{"turns.2.parts.2":"image"}
{"turns.2.parts.2.source":"base64"}
{"turns.2.parts.2.source.media_type":"image/png"}
{"turns.2.parts.2.source.sha256":"c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4, 1000 characters"}
{"tools.0":"look"}
{"tools.0.input":{"type":"object"}}
{"max_tokens":99}
{"temperature":0.25}
{"event":"loss","path":"temperature","severity":3,"reason":"not supported"}
{"event":"start","id":"msg_1","model":"demo-1"}
{"event":"open","part":"text"}
{"event":"text","text":"Bye."}
{"end":"failed","code":"overloaded","text":"Bearer [removed]","retry_after":7}
`
	got := regexp.MustCompile(`,"ms":\d+`).ReplaceAllString(recorded(t, up, r), "") // 0, which is omitted, if the machine is idle
	if diff := cmp.Diff(strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A recorded response is the same when it is played, also with its error.
func TestPlayer(t *testing.T) {
	for name, reply := range map[string]script.Reply{
		"text and calls": {script.Think("Hm."), script.Say("Let me look."), script.Call("look", `{"at":"日本語"}`), script.Call("look", "")},
		"image":          {script.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}), script.Stop(content.StopMaxTokens)},
		"failure":        {script.Fail(&upstream.Error{Code: upstream.CodeRateLimit, Text: "Slow down.", RetryAfter: 3 * time.Second})},
		"cut":            {script.Say("One"), script.Fail(&upstream.Error{Code: upstream.CodeUnavailable, Text: "broken"})},
	} {
		want, wantErr := upstream.Collect(t.Context(), reply, ask("hi"))
		p := player(t, recorded(t, reply, ask("hi")))
		for range 2 {
			got, err := upstream.Collect(t.Context(), p, ask("hi"))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if diff := cmp.Diff(wantErr, err, cmp.Comparer(func(a, b error) bool {
				return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
			})); diff != "" {
				t.Errorf("%s: error (-want +got):\n%s", name, diff)
			}
		}
	}
}

// Equal requests receive their recordings in order.
func TestEqualRequests(t *testing.T) {
	model := script.New(script.Reply{script.Say("One")}, script.Reply{script.Say("Other")}, script.Reply{script.Say("Two")})
	p := player(t, recorded(t, model, ask("a"), ask("b"), ask("a")))
	for i, want := range []string{"One", "Two", "Two"} {
		got, err := upstream.Collect(t.Context(), p, ask("a"))
		if err != nil || cmp.Diff([]content.Part{&content.Text{Text: want}}, got.Parts) != "" {
			t.Errorf("request %d: got %v, %v, want %s", i, got.Parts, err, want)
		}
	}
}

// The error of a request without a recording has the path of the first difference.
func TestUnknownRequest(t *testing.T) {
	long := strings.Repeat("long ", 100)
	thinking := ask("Hello!", "Hi.", "one")
	thinking.Turns[1].Parts = append([]content.Part{&content.Thinking{Text: "Hm."}}, &content.Text{Text: "Ho."})
	p := player(t, recorded(t, script.Reply{script.Say("Bye.")}, ask("Hello!"), ask("Hello!", "Hi.", "one"), ask(long+"one")))
	for _, tt := range []struct {
		name       string
		r          *upstream.Request
		path, text string
	}{
		{"text", ask("Hello!", "Hi.", "two"), "turns.2.parts.0.text", `here it has "two", and the most similar one, number 2, has "one"`},
		{"more turns", ask("Hello!", "Hi.", "one", "more"), "turns.3", `here it has "assistant", and the most similar one, number 2, has nothing`},
		{"fewer turns", ask("Hello!", "Hi."), "turns.2", `here it has nothing, and the most similar one, number 2, has "user"`},
		{"beside thinking", thinking, "turns.1.parts.1.text", `here it has "Ho.", and`},
		{"long text", ask(long + "two"), "turns.0.parts.0.text", `here it has …long long long long two", and the most similar one, number 3, has …long long long long one"`},
	} {
		_, err := upstream.Collect(t.Context(), p, tt.r)
		var v *content.Violation
		if !errors.As(err, &v) || v.Path != tt.path || !strings.Contains(v.Text, tt.text) {
			t.Errorf("%s: got %v, want %s: %s", tt.name, err, tt.path, tt.text)
		}
	}
	if _, err := upstream.Collect(t.Context(), player(t, ""), ask("a")); err == nil || !strings.Contains(err.Error(), "the recording is empty") {
		t.Errorf("empty recording: got %v", err)
	}
}

func TestTiming(t *testing.T) {
	reply := script.Reply{script.Say("One "), script.Wait(time.Minute), script.Say("two")}
	synctest.Test(t, func(t *testing.T) {
		p := player(t, recorded(t, reply, ask("hi")))
		for _, p.Timing = range []bool{false, true} {
			began := time.Now()
			if _, err := upstream.Collect(t.Context(), p, ask("hi")); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); (took == time.Minute) != p.Timing {
				t.Errorf("timing %v: took %v", p.Timing, took)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := upstream.Collect(ctx, p, ask("hi")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestNotRecorded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var file strings.Builder
	_, err := upstream.Collect(ctx, record.NewRecorder(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		cancel()
		return w.Text("a")
	}), &file), ask("hi"))
	if file.Len() > 0 || err != nil {
		t.Errorf("after the client has left: %v, recorded %s", err, &file)
	}

	type strange struct{ content.Part }
	for name, r := range map[string]*upstream.Request{
		"nil":     {Turns: []content.Turn{{Parts: []content.Part{nil}}}},
		"unknown": {Turns: []content.Turn{{Parts: []content.Part{strange{}}}}},
		"source":  {Turns: []content.Turn{{Parts: []content.Part{&content.Image{}}}}},
	} {
		if _, err := upstream.Collect(t.Context(), record.NewRecorder(script.Reply{}, io.Discard), r); err == nil {
			t.Errorf("%s: got no error", name)
		}
		if _, err := upstream.Collect(t.Context(), player(t, ""), r); err == nil {
			t.Errorf("%s: the Player returned no error", name)
		}
	}

	broken := errors.New("the disk is full")
	got, err := upstream.Collect(t.Context(), record.NewRecorder(script.Reply{script.Say("a")}, failing{broken}), ask("hi"))
	if !errors.Is(err, broken) || len(got.Parts) != 1 {
		t.Errorf("got %v, %v", got.Parts, err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestInvalidRecordings(t *testing.T) {
	const request = "{\"request\":\"\"}\n{\"model\":\"demo\"}\n"
	for _, tt := range []struct{ name, text, want string }{
		{"no JSON", "a", "line 1: "},
		{"no request", `{"event":"close"}`, `line 1: want the beginning of a request`},
		{"no end", request + `{"event":"close"}` + "\n", "line 3: the last exchange has no end"},
		{"event", request + `{"event":"novel"}`, "line 3: event: want a kind that this version knows"},
		{"part", request + `{"event":"open","part":"novel"}`, "line 3: part: want a kind that this version knows"},
		{"no part", request + `{"event":"open"}`, "line 3: part: want a kind that this version knows"},
		{"text", request + `{"event":"text","text":5}`, "line 3: text: want a string"},
		{"number", request + `{"event":"text","block":"a"}`, "line 3: block: want an integer"},
		{"flag", request + `{"event":"open","part":"text","part.refusal":1}`, "line 3: part.refusal: want true or false"},
		{"base64", request + `{"event":"text","text.base64":"%"}`, "line 3: text.base64: want base64"},
	} {
		if _, err := record.NewPlayer(strings.NewReader(tt.text)); err == nil || !strings.HasPrefix(err.Error(), "record: "+tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	broken := errors.New("no such file")
	if _, err := record.NewPlayer(io.MultiReader(strings.NewReader(request), failingReader{broken})); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	// Events in the wrong order fail when they are played.
	if _, err := upstream.Collect(t.Context(), player(t, request+"{\"event\":\"close\"}\n{\"end\":\"complete\"}\n"), &upstream.Request{Model: "demo"}); err == nil {
		t.Error("got no error")
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// A recording of any text is read or refused, and what is read can be recorded and read again with
// the same result.
func FuzzPlayer(f *testing.F) {
	f.Add(recordedForFuzz(script.Reply{script.Think("Hm."), script.Say("a \xe6b"), script.Call("look", "{}")}))
	f.Add(recordedForFuzz(script.Reply{script.Cut()}))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := record.NewPlayer(strings.NewReader(text))
		if err != nil {
			return
		}
		var file strings.Builder
		first, err := upstream.Collect(t.Context(), record.NewRecorder(p, &file), ask("hi"))
		if err != nil {
			return
		}
		second, err := upstream.Collect(t.Context(), player(t, file.String()), ask("hi"))
		if diff := cmp.Diff(first, second); diff != "" || err != nil {
			t.Errorf("%v (-first +second):\n%s", err, diff)
		}
	})
}

func recordedForFuzz(up upstream.Upstream) string {
	var file strings.Builder
	_, _ = upstream.Collect(context.Background(), record.NewRecorder(up, &file), ask("hi"))
	return file.String()
}

// A Recorder and a Player pass the suite for upstreams.
func TestSuite(t *testing.T) {
	upstreamtest.Run(t, record.NewRecorder(echo.New(), io.Discard), &upstreamtest.Options{Model: "demo", Deterministic: true})
	text := ask("hi")
	upstreamtest.Run(t, player(t, recorded(t, script.Reply{script.Say("Hello.")}, text)), &upstreamtest.Options{Text: text, Long: text})
}
