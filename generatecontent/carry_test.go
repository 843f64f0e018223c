package generatecontent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

const other = content.Format("messages")

func otherSign(data string) content.Signature { return content.Signature{Format: other, Data: data} }

// carried lists responses of another vendor, with the losses of their signatures.
var carried = []struct {
	name   string
	up     upstream.Func
	losses []string
}{
	{name: "thought, text, calls", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Let me")
		_ = w.Thinking(" \"see\"\né\u2028.")
		_ = w.Signature(otherSign("EqQBCk+/=="))
		_ = w.Text("Both ")
		_ = w.Text("漢.")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "look", Input: `{"k":1}`})
		return w.Part(&content.ToolUse{ID: "b", Name: "look", Input: `{}`})
	}},
	{name: "interleaved", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("one")
		_ = w.Signature(otherSign("1"))
		_ = w.Part(&content.Thinking{Redacted: otherSign("hidden")})
		_ = w.Text("first")
		_ = w.Part(&content.Thinking{Signature: otherSign("2")})
		_ = w.Text("second")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
		_ = w.Thinking("three")
		_ = w.Signature(otherSign("3"))
		c := w.ToolCall("b", "f")
		d := w.ToolCall("c", "f")
		_ = c.Input(`{"a":`)
		_ = d.Input(`{}`)
		_ = c.Input(`1}`)
		_ = c.Close()
		_ = d.Close()
		_ = w.Part(&content.Thinking{Text: "four", Signature: otherSign("4")})
		return w.Text("end")
	}},
	{name: "without a call", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Hm")
		_ = w.Signature(otherSign("sig"))
		_ = w.Text("Hello")
		return w.Stop(upstream.Stop{Reason: content.StopEnd})
	}},
	{name: "nothing but a thought", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Signature: otherSign("sig")})
		return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
	}},
	{name: "other parts signed", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Hello")
		_ = w.Signature(otherSign("text"))
		_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: png}, Signature: otherSign("image")})
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`, Signature: otherSign("call")})
	}},
	{name: "unsigned, and signed by the vendor", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("unsigned")
		_ = w.Part(&content.Text{Text: "a"})
		_ = w.Part(&content.Thinking{Text: "own", Signature: signed("c2ln")})
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
	}},
	{name: "signed late", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		sig := otherSign("late")
		return w.Send([]upstream.Event{
			{Kind: upstream.EventOpen, Block: 0, Part: &content.Thinking{}}, {Kind: upstream.EventText, Block: 0, Text: "Hm"},
			{Kind: upstream.EventClose, Block: 0},
			{Kind: upstream.EventOpen, Block: 1, Part: &content.Text{}}, {Kind: upstream.EventText, Block: 1, Text: "Hi"},
			{Kind: upstream.EventSignature, Block: 0, Signature: &sig},
			{Kind: upstream.EventClose, Block: 1},
			{Kind: upstream.EventOpen, Block: 2, Part: &content.ToolUse{ID: "a", Name: "f"}}, {Kind: upstream.EventClose, Block: 2},
		})
	}},
	{name: "long", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for range 1000 {
			_ = w.Thinking(strings.Repeat("all work ", 100))
		}
		_ = w.Signature(otherSign(strings.Repeat("QUJD", 100_000)))
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
	}},
	{name: "too long", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Text: "small", Signature: otherSign("1")})
		for range 5 {
			_ = w.Thinking(strings.Repeat("x", 1<<20))
		}
		_ = w.Signature(otherSign("2"))
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
		_ = w.Part(&content.Thinking{Text: "again", Signature: otherSign("3")})
		_ = w.Part(&content.ToolUse{ID: "b", Name: "f", Input: `{}`})
		return w.Part(&content.Text{Text: "t", Signature: otherSign(strings.Repeat("x", envelope.MaxSize+1))})
	}, losses: []string{"degraded parts.1", "degraded parts.5"}},
	{name: "of two vendors", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Text: "one", Signature: otherSign("1")})
		_ = w.Part(&content.Thinking{Text: "two", Signature: content.Signature{Format: "third", Data: "2"}})
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
	}, losses: []string{"degraded parts.1"}},
	{name: "unknown format", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Text: "one", Signature: content.Signature{Data: "1"}})
		_ = w.Part(&content.Thinking{Redacted: content.Signature{Data: "1"}})
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`, Signature: content.Signature{Data: "1"}})
	}, losses: []string{"hint parts.0", "hint parts.1", "hint parts.2"}},
}

// clients lists the ways in which clients return the chunks of a response as contents.
var clients = []struct {
	name  string
	calls bool // only calls are returned signed, and no thinking
	turns func(pieces []any) []any
}{
	{"everything in one turn", false, func(pieces []any) []any {
		var parts []any
		for _, p := range pieces {
			parts = append(parts, p.([]any)...)
		}
		return []any{parts}
	}},
	{"each piece a turn, bytes decoded and encoded, empty texts left out", false, func(pieces []any) []any {
		return eachPart(pieces, func(p map[string]any) map[string]any {
			if p["text"] == "" {
				delete(p, "text")
			}
			if sig, ok := p["thoughtSignature"].(string); ok {
				b, err := base64.StdEncoding.DecodeString(sig)
				if err != nil {
					panic(err) // as users would see the error
				}
				p["thoughtSignature"] = base64.StdEncoding.EncodeToString(b)
			}
			return p
		})
	}},
	{"the other alphabet", false, func(pieces []any) []any {
		return eachPart(pieces, func(p map[string]any) map[string]any {
			if sig, ok := p["thoughtSignature"].(string); ok {
				p["thoughtSignature"] = strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(sig)
			}
			return p
		})
	}},
	{"no thoughts, signed calls only", true, func(pieces []any) []any {
		return eachPart(pieces, func(p map[string]any) map[string]any {
			if p["thought"] == true || p["text"] == "" {
				return nil
			}
			if p["functionCall"] == nil {
				delete(p, "thoughtSignature")
			}
			return p
		})
	}},
}

// eachPart returns a turn for each chunk, with the result of change.
func eachPart(pieces []any, change func(map[string]any) map[string]any) (turns []any) {
	for _, list := range pieces {
		var parts []any
		for _, p := range list.([]any) {
			m := map[string]any{}
			for name, v := range p.(map[string]any) {
				m[name] = v
			}
			if m = change(m); len(m) > 0 {
				parts = append(parts, m)
			}
		}
		if len(parts) > 0 {
			turns = append(turns, parts)
		}
	}
	return turns
}

// partsOf returns the parts of each chunk.
func partsOf(h *formattest.Chunks) (list []any) {
	for _, p := range h.List {
		for _, c := range p["candidates"].([]any) {
			if parts, ok := c.(map[string]any)["content"].(map[string]any)["parts"]; ok {
				list = append(list, parts)
			}
		}
	}
	return list
}

// given joins the model's turns that a client returns.
func given(t *testing.T, turns []any) (parts []content.Part) {
	t.Helper()
	contents := []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "go"}}}}
	for _, turn := range turns {
		contents = append(contents, map[string]any{"role": "model", "parts": turn})
	}
	doc, err := json.Marshal(map[string]any{"contents": contents})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRequest(doc)
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, doc)
	}
	n := r.Upstream()
	for i, turn := range n.Turns[1:] {
		if len(turn.Parts) != len(r.Contents[i+1].Parts) {
			t.Errorf("turn %d has %d parts instead of %d", i+1, len(turn.Parts), len(r.Contents[i+1].Parts))
		}
		parts = append(parts, turn.Parts...)
	}
	return parts
}

// recalled describes parts, with the thinking that they carry. It lists the
// thinking of each step first, then the letters of its texts and its other parts.
// It omits thinking that no vendor has signed.
func recalled(parts []content.Part) (list []string) {
	own := func(s content.Signature) string {
		if s.Data == "" || s.Format == Format {
			return ""
		}
		return fmt.Sprintf(" signed %s %.20q %d", s.Format, s.Data, len(s.Data))
	}
	thought := func(p *content.Thinking) string {
		return fmt.Sprintf("thought %.40q %d%s%s", p.Text, len(p.Text), own(p.Signature), own(p.Redacted))
	}
	var rest []string // of the step
	for _, p := range parts {
		sig := partfield.SignatureOf(p)
		if states, ok := envelope.DecodeThinking(sig.Format, sig.Data); ok && sig.Format != Format {
			sig = content.Signature{}
			for _, s := range states {
				list = append(list, thought(s.Thinking))
			}
		}
		switch p := p.(type) {
		case *content.Text:
			for i := range len(p.Text) {
				rest = append(rest, p.Text[i:i+1])
			}
			if s := own(sig); s != "" {
				rest = append(rest, "text"+s)
			}
		case *content.Thinking:
			if own(p.Signature)+own(p.Redacted) != "" {
				list = append(list, thought(p))
			}
		case *content.ToolUse:
			list, rest = append(append(list, rest...), "call "+p.ID+own(sig)), nil
		default:
			rest = append(rest, fmt.Sprintf("%T%s", p, own(sig)))
		}
	}
	return append(list, rest...)
}

// onlyCalls returns the parts that a client returns if it keeps only calls.
func onlyCalls(list []string) []string {
	last := len(list)
	for last > 0 && !strings.HasPrefix(list[last-1], "call ") {
		last--
	}
	var left []string
	for i, s := range list {
		switch {
		case i >= last && strings.HasPrefix(s, "thought "), strings.HasPrefix(s, "text signed"):
			continue
		case strings.HasPrefix(s, "*"):
			s, _, _ = strings.Cut(s, " ")
		}
		left = append(left, s)
	}
	return left
}

func TestCarried(t *testing.T) {
	for _, tt := range carried {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := upstream.Collect(t.Context(), tt.up, &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			want := recalled(reply.Parts)
			switch tt.name { // thinking that is dropped
			case "too long":
				want = want[2:]
				want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, "text signed") })
			case "of two vendors":
				want = slices.Delete(want, 1, 2)
			case "unknown format":
				want = []string{"call a"}
			}
			check := func(t *testing.T, pieces []any, lost []content.Loss) {
				t.Helper()
				for _, client := range clients {
					want := want
					if client.calls {
						want = onlyCalls(want)
					}
					got := recalled(given(t, client.turns(pieces)))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s (-want +got):\n%s", client.name, diff)
					}
				}
				checkLosses(t, tt.losses, lost)
			}
			res, lost := ResponseFromUpstream(reply)
			doc, err := res.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := formattest.DecodeObject(doc)
			if err != nil {
				t.Fatal(err)
			}
			check(t, partsOf(&formattest.Chunks{List: []map[string]any{m}}), lost)
			var all []upstream.Event
			for e, err := range upstream.Events(t.Context(), tt.up, &upstream.Request{}) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, e)
			}
			for _, f := range []framing{inEvents, inArray} {
				for _, n := range []int{1, 3, len(all)} {
					stream, lost := encode(f, all, n)
					mustHear(t, f, stream) // it is a complete response
					h, _ := receive(f, stream)
					check(t, partsOf(h), lost)
				}
			}
		})
	}
}

// encode encodes events in batches of n.
func encode(f framing, all []upstream.Event, n int) (stream string, lost []content.Loss) {
	s := newStream(f, "r-1", "asked")
	var out []byte
	for batch := range slices.Chunk(slices.Clone(all), n) {
		out = s.Events(out, batch)
		lost = append(lost, s.Losses()...)
	}
	out = s.End(out, nil)
	return string(out), append(lost, s.Losses()...)
}

// TestCarriedBytes checks the bytes of a stream with carried state.
func TestCarriedBytes(t *testing.T) {
	stream, _ := drive(t, inEvents, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Hm")
		_ = w.Signature(otherSign("s1"))
		_ = w.Text("Hi")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
		_ = w.Part(&content.ToolUse{ID: "b", Name: "f", Input: `{}`})
		_ = w.Part(&content.Thinking{Redacted: otherSign("s2")})
		return w.Text("é")
	})
	sealed := func(data string) string {
		s, _ := envelope.EncodeBase64(other, envelope.KindThinking, data)
		return s
	}
	piece := func(parts, stop string) string {
		return `data: {"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + stop + `,"index":0}],"modelVersion":"asked","responseId":"r-1"}` + "\r\n\r\n"
	}
	want := piece(`{"text":"Hm","thought":true}`, "") + piece(`{"text":"Hi"}`, "") +
		piece(`{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"`+sealed(`[{"text":"Hm","signature":"s1"}]`)+`"}`, "") +
		piece(`{"functionCall":{"id":"b","name":"f","args":{}}}`, "") + piece(`{"text":"é"}`, "") +
		piece(`{"text":"","thoughtSignature":"`+sealed(`[{"redacted":"s2"}]`)+`"}`, `,"finishReason":"STOP"`)
	if diff := cmp.Diff(want, stream); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCarriedCandidates(t *testing.T) {
	one, two := otherSign("1"), otherSign("2")
	stream, lost := drive(t, inEvents, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Send([]upstream.Event{
			{Kind: upstream.EventOpen, Block: 0, Part: &content.Thinking{}}, {Kind: upstream.EventOpen, Block: 1, Candidate: 1, Part: &content.Thinking{}},
			{Kind: upstream.EventText, Block: 0, Text: "a"}, {Kind: upstream.EventText, Block: 1, Candidate: 1, Text: "b"},
			{Kind: upstream.EventSignature, Block: 1, Candidate: 1, Signature: &two}, {Kind: upstream.EventSignature, Block: 0, Signature: &one},
			{Kind: upstream.EventClose, Block: 0}, {Kind: upstream.EventClose, Block: 1, Candidate: 1},
			{Kind: upstream.EventOpen, Block: 2, Candidate: 1, Part: &content.ToolUse{ID: "c", Name: "f"}}, {Kind: upstream.EventClose, Block: 2, Candidate: 1},
		})
	})
	_, res := mustHear(t, inEvents, stream)
	for i, want := range [][]string{{`thought "a" 1 signed messages "1" 1`}, {`thought "b" 1 signed messages "2" 1`, "call c"}} {
		parts := res["candidates"].([]any)[i].(map[string]any)["content"].(map[string]any)["parts"]
		if diff := cmp.Diff(want, recalled(given(t, []any{parts}))); diff != "" {
			t.Errorf("candidate %d (-want +got):\n%s", i, diff)
		}
	}
	if len(lost) > 0 {
		t.Error(lost)
	}
}

// TestDamagedEnvelopes checks signatures that the client returned changed.
func TestDamagedEnvelopes(t *testing.T) {
	good, _ := envelope.EncodeBase64(other, envelope.KindThinking, `[{"text":"a","signature":"b"}]`)
	own, _ := envelope.EncodeBase64(Format, envelope.KindPart, "c2ln")
	wrong, _ := envelope.EncodeBase64(other, envelope.KindNextText, "x")
	bad := good[:len(good)-8] + "AAAA" + good[len(good)-4:]
	body := fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[`+
		`{"functionCall":{"name":"f"},"thoughtSignature":%q},{"text":"b","thoughtSignature":%q},{"text":"c","thoughtSignature":%q},`+
		`{"text":"d","thoughtSignature":%q},{"text":"e","thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`,
		bad, own, wrong, good)
	want := []content.Signature{{Data: bad}, signed("c2ln"), {Data: wrong}, otherSign(`[{"text":"a","signature":"b"}]`), signed("c2ln")}
	wantLosses := []content.Loss{envelope.Damaged.At("turns.1.parts.0.signature"), envelope.Damaged.At("turns.1.parts.2.signature")}

	r, err := ParseRequestString(body)
	if err != nil {
		t.Fatal(err)
	}
	n := r.Upstream()
	var got []content.Signature
	for _, p := range n.Turns[1].Parts {
		got = append(got, partfield.SignatureOf(p))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if snapshot.DocumentOf(n, Format) != nil {
		t.Error("the document is passed on")
	}
	if _, losses, err := DecodeRequest([]byte(body), nil); err != nil || !slices.Equal(losses, wantLosses) {
		t.Errorf("DecodeRequest: %v, %v", losses, err)
	}
	if n.Turns[1].Parts[4] != r.Contents[1].Parts[4] || &n.Turns[2].Parts[0] != &r.Contents[2].Parts[0] || !envelope.IsEnvelopeBase64(partfield.SignatureOf(r.Contents[1].Parts[0]).Data) {
		t.Error("more was copied than had to be, or the request itself changed")
	}
	for _, refuse := range []content.Severity{0, content.LossDropped} {
		var report *upstream.Report
		var asked *upstream.Request
		h := NewHandler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
			asked = r
			return w.Text("x")
		}), &Options{HandlerOptions: upstream.HandlerOptions{RejectLoss: refuse, OnDone: func(_ context.Context, r *upstream.Report) { report = r }}})
		for _, path := range []string{"generateContent", "streamGenerateContent?alt=sse"} {
			w := httptest.NewRecorder()
			asked = nil
			h.ServeHTTP(w, post("/v1beta/models/m:"+path, body))
			if diff := cmp.Diff(wantLosses, report.Losses); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			switch {
			case refuse != 0 && (w.Code != 400 || asked != nil):
				t.Errorf("not refused: %d %s", w.Code, w.Body)
			case refuse == 0 && (w.Code != 200 || snapshot.DocumentOf(asked, Format) != nil || !strings.HasPrefix(w.Header().Get("Polywire-Loss"), "dropped contents")):
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		}
	}
}

// TestUnsignedCalls checks that the first call of a response is signed if clients expect a
// signature because of the model's name, and that such a signature is removed when it is
// returned.
func TestUnsignedCalls(t *testing.T) {
	for model, signs := range map[string]bool{
		"gemini-3-pro-preview": true, "gemini-3.1-flash": true, "Gemini-10-pro": true, "google/gemini-3-flash": true, "gemini-flash-latest": true,
		"gemini-2.5-pro": false, "gemini-pro": false, "gpt-6.2": false, "my-gemini-3": false,
	} {
		for _, method := range []string{"generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"} {
			for _, vendor := range []content.Format{"openai-chat", Format} {
				var asked *upstream.Request
				h := NewHandler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
					asked = r
					for _, id := range []string{"a", "b"} {
						events := []upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: id, Name: "f", Input: "{}"}}, {Kind: upstream.EventClose}}
						if err := w.Frame(&upstream.Frame{Format: vendor, Events: events}); err != nil {
							return err
						}
					}
					return w.Stop(upstream.Stop{Reason: content.StopToolUse, Format: vendor, RawReason: "STOP"})
				}), nil)
				ask := func(body string) string {
					w := httptest.NewRecorder()
					r := httptest.NewRequest("POST", "/v1beta/models/"+model+":"+method, strings.NewReader(body))
					r.Header.Set("Content-Type", "application/json")
					h.ServeHTTP(w, r)
					if w.Code != 200 {
						t.Fatalf("%d %s", w.Code, w.Body)
					}
					return w.Body.String()
				}
				const tools = `"tools":[{"functionDeclarations":[{"name":"f"}]}],`
				got := ask(`{` + tools + `"contents":[{"role":"user","parts":[{"text":"a"}]}]}`)
				want := 0
				if signs && vendor != Format {
					want = 1
				}
				first, _, _ := strings.Cut(got, `"id":"b"`)
				if strings.Count(got, "thoughtSignature") != want || strings.Count(first, `"thoughtSignature":"`+envelope.UnsignedBase64+`"`) != want {
					t.Errorf("%s %s over %s: %s", model, method, vendor, got)
				}
				ask(fmt.Sprintf(`{%s"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"},"thoughtSignature":%q}]},`+
					`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{}}}]}]}`, tools, envelope.UnsignedBase64))
				if sig := asked.Turns[1].Parts[0].(*content.ToolUse).Signature; sig != (content.Signature{}) {
					t.Errorf("the signature came back as %v", sig)
				}
			}
		}
	}
}

// TestCarriedMemory checks that the memory for thinking is limited.
func TestCarriedMemory(t *testing.T) {
	s := newStream(inEvents, "r-1", "m")
	var out []byte
	text := strings.Repeat("x", 1<<10)
	for n := range 20_000 {
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventOpen, Block: n, Part: &content.Thinking{}}})
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventText, Block: n, Text: text}})
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventClose, Block: n}})
		if k, _ := s.progress[0].state.Size(); k > len(s.closed)+1 {
			t.Fatalf("%d thoughts are kept", k)
		}
	}
	if s.stateBudget < envelope.MaxSize-8<<10 {
		t.Errorf("there is room for %d bytes more", s.stateBudget)
	}
}

// TestSignedMemory checks that the memory for signed thinking is limited if no call
// carries it, and that the limit is reported.
func TestSignedMemory(t *testing.T) {
	for size, many := range map[int]int{1: 20_000, 1 << 10: 10_000, 1 << 20: 20} {
		for _, p := range []*content.Thinking{
			{Signature: otherSign(strings.Repeat("s", size))},
			{Redacted: otherSign(strings.Repeat("s", size))},
			{Signature: otherSign("s"), Extra: &content.Extra{Format: other, JSON: `{"a":"` + strings.Repeat("x", size) + `"}`}},
		} {
			s := newStream(inEvents, "r-1", "m")
			var out []byte
			for n := range many {
				out = s.Events(out[:0], []upstream.Event{
					{Kind: upstream.EventOpen, Block: n, Part: &content.Thinking{Redacted: p.Redacted, Extra: p.Extra}},
					{Kind: upstream.EventText, Block: n, Text: "t"},
					{Kind: upstream.EventSignature, Block: n, Signature: &p.Signature},
					{Kind: upstream.EventClose, Block: n}})
				if n%500 != 0 && many > 20 {
					continue
				}
				if _, kept := s.progress[0].state.Size(); kept > envelope.MaxSize+size || s.stateBudget < 0 || s.stateBudget > envelope.MaxSize {
					t.Fatalf("%d thoughts of %d bytes: %d bytes are kept, with room for %d more", n, size, kept, s.stateBudget)
				}
			}
			_ = s.Losses()
			_ = s.Events(out[:0], []upstream.Event{
				{Kind: upstream.EventOpen, Block: many, Part: &content.ToolUse{ID: "c", Name: "f", Input: "{}"}},
				{Kind: upstream.EventClose, Block: many}})
			lost := s.Losses()
			if !slices.ContainsFunc(lost, func(l content.Loss) bool { return l.Reason == envelope.TooLarge.Reason }) {
				t.Errorf("thoughts of %d bytes: %v", size, lost)
			}
			if s.stateBudget != envelope.MaxSize || s.progress[0].state.NeedsCarrier() {
				t.Errorf("thoughts of %d bytes: room for %d bytes behind the call", size, s.stateBudget)
			}
		}
	}
}
