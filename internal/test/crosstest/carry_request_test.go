package crosstest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// TestCarriedConversation returns everything through the handlers, with results of tools,
// and checks the document of the vendor's next request: the wire references define where a
// vendor requires its state.
func TestCarriedConversation(t *testing.T) {
	const sig = "EqQBCkYIBxgCKkA+/w=="
	responses := map[string]upstream.Func{
		"messages": func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
			_ = w.Thinking("Let me ")
			_ = w.Thinking("see: é\u2028.")
			_ = w.Signature(claudeSig(sig))
			_ = w.Part(&content.Thinking{Redacted: claudeSig("b3BhcXVl")})
			_ = w.Text("Both ")
			_ = w.Text("of them.")
			_ = w.Part(&content.ToolUse{ID: fmt.Sprint("toolu_a", len(r.Turns)), Name: "f", Input: `{"at":1}`})
			return w.Part(&content.ToolUse{ID: fmt.Sprint("toolu_b", len(r.Turns)), Name: "f", Input: `{"at":2}`})
		},
		"generatecontent": func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
			_ = w.Thinking("Let me see.")
			_ = w.Text("Both.")
			c := w.ToolCall(fmt.Sprint("fc-a", len(r.Turns)), "f")
			_ = w.Signature(googleSig("CiQB+/8=")) // before the arguments
			_ = c.Input(`{"at":1}`)
			_ = c.Close()
			return w.Part(&content.ToolUse{ID: fmt.Sprint("fc-b", len(r.Turns)), Name: "f", Input: `{"at":2}`})
		},
	}
	vendorTurns := map[string]string{
		"messages": `{"role":"assistant","content":[{"type":"thinking","thinking":"Let me see: é\u2028.","signature":"` + sig + `"},` +
			`{"type":"redacted_thinking","data":"b3BhcXVl"},{"type":"text","text":"Both of them."},` +
			`{"type":"tool_use","id":"toolu_aN","name":"f","input":{"at":1}},{"type":"tool_use","id":"toolu_bN","name":"f","input":{"at":2}}]}`,
		"generatecontent": `{"role":"model","parts":[{"text":"Both."},{"functionCall":{"id":"fc-aN","name":"f","args":{"at":1}},"thoughtSignature":"CiQB+/8="},` +
			`{"functionCall":{"id":"fc-bN","name":"f","args":{"at":2}}}]}`,
	}
	for _, d := range directions {
		for i := range d.clients {
			c := &d.clients[i]
			if c.mute || strings.Contains(c.name, "split") || c.turns && d.client.format == messages.Format {
				continue // the turns of the vendor are others
			}
			for _, strict := range []bool{false, true} {
				t.Run(d.vendor.name+"/"+c.name, func(t *testing.T) { d.converse(t, c, strict, responses[d.vendor.name], vendorTurns[d.vendor.name]) })
			}
		}
	}
}

// converse runs a conversation of four turns of the assistant.
func (d direction) converse(t *testing.T, c *returning, strict bool, up upstream.Func, vendorTurn string) {
	var asked *upstream.Request
	h := d.client.handler(upstream.Func(func(c context.Context, r *upstream.Request, w *upstream.Writer) error {
		asked = r
		return up(c, r, w)
	}), upstream.HandlerOptions{Strict: strict})
	turns := []string{d.client.userTurn("go")}
	var wanted []string // of the vendor
	for n := range 4 {
		m := d.client.modes[n%len(d.client.modes)]
		m.body = d.client.thoughts(m.stream, strings.Join(turns, ","))
		a := d.client.ask(t, h, m)
		if a.status != 200 || a.header.Get("Polywire-Loss") != "" {
			t.Fatalf("%d %q %s", a.status, a.header, a.body)
		}
		if n > 0 && snapshot.DocumentOf(asked, d.client.format) != nil {
			t.Error("a document with carried state is forwarded")
		}
		to := d.vendor.requestOf(t, asked)
		for _, l := range lossplaces.Of(to.losses) {
			if strings.HasPrefix(l.Path, "turns.") && l.Severity > content.LossHint {
				t.Errorf("lost: %v", l)
			}
		}
		var got []any
		for _, turn := range to.turns {
			if m := object(t, turn); m["role"] == "assistant" || m["role"] == "model" {
				got = append(got, joined(m, d.vendor.parts))
			}
		}
		var want []any
		for _, turn := range wanted {
			want = append(want, object(t, turn))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("turns of the assistant (-want +got):\n%s", diff)
		}
		wanted = append(wanted, strings.ReplaceAll(vendorTurn, "N", fmt.Sprint(len(asked.Turns))))
		pieces := d.client.pieces(t, m, a)
		var results []string
		for _, list := range pieces {
			for _, p := range list {
				if call, ok := p["functionCall"].(map[string]any); ok {
					results = append(results, fmt.Sprintf(`{"functionResponse":{"id":%q,"name":"f","response":{"output":"1"}}}`, call["id"]))
				} else if p["type"] == "tool_use" {
					results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"1"}`, p["id"]))
				}
			}
		}
		turns = append(append(turns, c.history(d.client, pieces)...), fmt.Sprintf(d.client.turn, strings.Join(results, ",")))
	}
}

// joined joins consecutive texts of a turn, since clients may split them, and omits thinking
// of generateContent, which the vendor ignores.
func joined(turn map[string]any, parts string) map[string]any {
	var list []any
	for _, x := range turn[parts].([]any) {
		m := x.(map[string]any)
		if m["thought"] != nil {
			continue
		}
		if last := len(list) - 1; last >= 0 && m["text"] != nil {
			if before := list[last].(map[string]any); before["text"] != nil {
				before["text"] = fmt.Sprint(before["text"], m["text"])
				continue
			}
		}
		list = append(list, x)
	}
	turn[parts] = list
	return turn
}

// decodedState describes the state of another vendor that the parts of a request have.
func decodedState(parts []content.Part) (list []string) {
	for _, p := range parts {
		sig := partfield.SignatureOf(p)
		if states, ok := envelope.DecodeThinking(sig.Format, sig.Data); ok && sig.Format != generatecontent.Format {
			for _, s := range states {
				list = append(list, fmt.Sprintf("%q %s", s.Text, s.Signature.Data))
			}
		} else if sig.Data != "" {
			list = append(list, fmt.Sprintf("%T %s %s", p, sig.Format, sig.Data))
		}
	}
	return list
}

// TestCarriedByEachPart checks that a client of generateContent returns the state of each
// candidate, and of any part.
func TestCarriedByEachPart(t *testing.T) {
	second := func(e upstream.Event) upstream.Event { e.Candidate = 1; return e }
	for name, tt := range map[string]struct {
		up   upstream.Func
		want [][]string // of each candidate
	}{
		"candidates": {sends(opened(0, &content.Thinking{}), second(opened(1, &content.Thinking{})), delta(0, "a"), second(delta(1, "b")),
			second(signedBlock(1, claudeSig("2"))), signedBlock(0, claudeSig("1")), closed(0), second(closed(1)),
			second(opened(2, &content.ToolUse{ID: "c", Name: "f"})), second(closed(2))), [][]string{{`"a" 1`}, {`"b" 2`}}},
		"other parts": {generate(func(w *upstream.Writer) error {
			_ = w.Text("Hello.")
			_ = w.Signature(claudeSig("text"))
			_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: pngData}, Signature: claudeSig("image")})
			return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`, Signature: claudeSig("call")})
		}), [][]string{{"*content.Text messages text", "*content.Image messages image", "*content.ToolUse messages call"}}},
		"thinking before a signed call": {generate(func(w *upstream.Writer) error {
			_ = w.Part(&content.Thinking{Text: "Hm", Signature: claudeSig("1")})
			return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`, Signature: claudeSig("call")})
		}), [][]string{{`"Hm" 1`, "*content.ToolUse messages call"}}},
		"thinking and the end in one batch": {sends(opened(0, &content.Thinking{}), delta(0, "Hm"), signedBlock(0, claudeSig("1")), closed(0),
			upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}}), [][]string{{`"Hm" 1`}}},
	} {
		s := formatOf(generatecontent.Format)
		for _, m := range s.modes {
			var report *upstream.Report
			a := s.ask(t, s.handler(tt.up, upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}), m)
			for i, want := range tt.want {
				var parts any
				for _, c := range a.document["candidates"].([]any) {
					if c := c.(map[string]any); fmt.Sprint(c["index"]) == fmt.Sprint(i) {
						parts = c["content"].(map[string]any)["parts"]
					}
				}
				b, err := json.Marshal(map[string]any{"role": "model", "parts": parts})
				if err != nil {
					t.Fatal(err)
				}
				n := s.parse(t, []string{string(b)})
				if diff := cmp.Diff(want, decodedState(n.Turns[0].Parts)); diff != "" || len(report.Losses) > 0 {
					t.Errorf("%s %s, candidate %d: %v (-want +got):\n%s", name, m.name, i, report.Losses, diff)
				}
			}
		}
	}
}

// A damagedRequest is a conversation whose client has altered some state.
type damagedRequest struct {
	body   string
	want   []content.Signature     // of the parts of the second turn
	lost   []int                   // parts whose loss is reported
	intact int                     // a part without carried state
	same   []int                   // turns without carried state
	place  string                  // of the first loss, as the client reads it
	hasRaw func(content.Part) bool // whether a part of the format's own request has carried state
	decode func(body string) (n *upstream.Request, given [][]content.Part, losses []content.Loss, err error)
}

func damagedRequests() map[string]damagedRequest {
	google := func(k envelope.Kind, data string) string {
		s, _ := envelope.Encode(generatecontent.Format, k, data)
		return s
	}
	good, own := google(envelope.KindPart, "Z29vZA=="), ""
	own, _ = envelope.Encode(messages.Format, envelope.KindPart, "b3du")
	redacted := strings.Replace(good, ".s", ".n", 1)
	inMessages := damagedRequest{
		body: fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[`+
			`{"type":"thinking","thinking":"1","signature":%q},{"type":"thinking","thinking":"2","signature":%q},`+
			`{"type":"redacted_thinking","data":%q},{"type":"thinking","thinking":"3","signature":%q},`+
			`{"type":"thinking","thinking":"4","signature":"plain"},{"type":"thinking","thinking":"5","signature":%q},{"type":"text","text":"b"}]},`+
			`{"role":"user","content":"c"}]}`, good, good[:len(good)-1], redacted, google(envelope.KindThinking, "[]"), own),
		same: []int{0, 2}, place: "messages.1.content.", hasRaw: isEnveloped,
		want: []content.Signature{googleSig("Z29vZA=="), {Data: good[:len(good)-1]}, {Data: redacted}, {Data: google(envelope.KindThinking, "[]")},
			claudeSig("plain"), claudeSig("b3du"), {}},
		lost: []int{1, 2, 3}, intact: 4,
		decode: func(body string) (*upstream.Request, [][]content.Part, []content.Loss, error) {
			r, err := messages.ParseRequest([]byte(body))
			if err != nil {
				return nil, nil, nil, err
			}
			var given [][]content.Part
			for _, turn := range r.Messages {
				given = append(given, turn.Parts)
			}
			_, losses, err := messages.DecodeRequest([]byte(body), nil)
			return r.Upstream(), given, losses, err
		},
	}
	good, _ = envelope.EncodeBase64(messages.Format, envelope.KindThinking, `[{"text":"a","signature":"b"}]`)
	own, _ = envelope.EncodeBase64(generatecontent.Format, envelope.KindPart, "c2ln")
	wrong, _ := envelope.EncodeBase64(messages.Format, envelope.KindCall, "x")
	bad := good[:len(good)-8] + "AAAA" + good[len(good)-4:]
	inGenerate := damagedRequest{
		body: fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[`+
			`{"functionCall":{"name":"f"},"thoughtSignature":%q},{"text":"b","thoughtSignature":%q},{"text":"c","thoughtSignature":%q},`+
			`{"text":"d","thoughtSignature":%q},{"text":"e","thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`,
			bad, own, wrong, good),
		same: []int{0, 2}, place: "contents[1].parts[", hasRaw: isEnveloped,
		want: []content.Signature{{Data: bad}, googleSig("c2ln"), {Data: wrong}, claudeSig(`[{"text":"a","signature":"b"}]`), googleSig("c2ln")},
		lost: []int{0, 2}, intact: 4,
		decode: func(body string) (*upstream.Request, [][]content.Part, []content.Loss, error) {
			r, err := generatecontent.ParseRequest([]byte(body))
			if err != nil {
				return nil, nil, nil, err
			}
			var given [][]content.Part
			for _, turn := range r.Contents {
				given = append(given, turn.Parts)
			}
			_, losses, err := generatecontent.DecodeRequest([]byte(body), nil)
			return r.Upstream(), given, losses, err
		},
	}
	id := signedID("fc-1", "Z29vZA==")
	inChat := damagedRequest{
		body: fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[`+
			`{"id":%[1]q,"type":"function","function":{"name":"f","arguments":"{}"}},{"id":%[2]q,"type":"function","function":{"name":"f","arguments":"{}"}}]},`+
			`{"role":"tool","tool_call_id":%[1]q,"content":"1"},{"role":"tool","tool_call_id":%[2]q,"content":"2"},{"role":"user","content":"c"}]}`, id, id[:len(id)-1]),
		same: []int{0, 3}, place: "messages[1].tool_calls[1].id", hasRaw: hasStateInID,
		want: []content.Signature{{}, googleSig("Z29vZA=="), {}},
		lost: []int{2}, intact: 0,
		decode: func(body string) (*upstream.Request, [][]content.Part, []content.Loss, error) {
			r, err := chatcompletions.ParseRequest([]byte(body))
			if err != nil {
				return nil, nil, nil, err
			}
			var given [][]content.Part
			for _, turn := range r.Messages {
				given = append(given, turn.Parts)
			}
			_, losses, err := chatcompletions.DecodeRequest([]byte(body), nil)
			return r.Upstream(), given, losses, err
		},
	}
	state, _ := envelope.Encode(messages.Format, envelope.KindThinking, `[{"signature":"b3Bh"}]`)
	inResponses := damagedRequest{
		body: fmt.Sprintf(`{"model":"m","input":[{"role":"user","content":"a"},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"1"}],"encrypted_content":%q},`+
			`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":%q},{"role":"assistant","content":"b"},{"type":"function_call","call_id":%[3]q,"name":"f","arguments":"{}"},`+
			`{"type":"function_call","call_id":%[4]q,"name":"f","arguments":"{}"},{"type":"function_call_output","call_id":%[3]q,"output":"1"},`+
			`{"type":"function_call_output","call_id":%[4]q,"output":"2"}]}`, state, state[:len(state)-1], id, id[:len(id)-1]),
		place: "input[2].encrypted_content", hasRaw: hasStateInID,
		want: []content.Signature{claudeSig("b3Bh"), {Data: state[:len(state)-1]}, {}, googleSig("Z29vZA=="), {}},
		lost: []int{1, 4}, intact: 2,
		decode: func(body string) (*upstream.Request, [][]content.Part, []content.Loss, error) {
			r, err := responses.ParseRequest([]byte(body))
			if err != nil {
				return nil, nil, nil, err
			}
			given := make([][]content.Part, 2)
			for _, item := range r.Input[1:6] {
				given[1] = append(given[1], item.Parts...)
			}
			_, losses, err := responses.DecodeRequest([]byte(body), nil)
			return r.Upstream(), given, losses, err
		},
	}
	return map[string]damagedRequest{"messages": inMessages, "generatecontent": inGenerate, "chatcompletions": inChat, "responses": inResponses}
}

func isEnveloped(p content.Part) bool {
	sig := stateOf(p)
	return envelope.IsEnvelope(sig.Data) || envelope.IsEnvelopeBase64(sig.Data)
}

func hasStateInID(p content.Part) bool {
	use, ok := p.(*content.ToolUse)
	return ok && strings.HasPrefix(use.ID, "toolu_pwsig_")
}

// stateOf returns the signature of a part, or the data of redacted thinking.
func stateOf(p content.Part) content.Signature {
	if th, ok := p.(*content.Thinking); ok && th.Redacted.Data != "" {
		return th.Redacted
	}
	return partfield.SignatureOf(p)
}

// TestDamagedState checks state that the client returned changed: it goes to no vendor, and
// its loss is reported wherever the request goes. Everything else is kept, uncopied.
func TestDamagedState(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		d := damagedRequests()[s.name]
		var lost []content.Loss
		for _, i := range d.lost {
			lost = append(lost, envelope.Damaged.At(fmt.Sprintf("turns.1.parts.%d.signature", i)))
		}
		n, given, losses, err := d.decode(d.body)
		if diff := cmp.Diff(lost, lossplaces.Of(losses)); diff != "" || err != nil {
			t.Fatalf("%v, losses of the decoded request (-want +got):\n%s", err, diff)
		}
		var got []content.Signature
		for _, p := range n.Turns[1].Parts {
			got = append(got, stateOf(p))
		}
		if diff := cmp.Diff(d.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if snapshot.DocumentOf(n, s.format) != nil {
			t.Error("the document is forwarded")
		}
		if n.Turns[1].Parts[d.intact] != given[1][d.intact] {
			t.Error("an unchanged part was copied")
		}
		for _, i := range d.same {
			if &n.Turns[i].Parts[0] != &given[i][0] {
				t.Errorf("turn %d was copied", i)
			}
		}
		if !slices.ContainsFunc(given[1], d.hasRaw) {
			t.Error("the request itself was changed")
		}

		for _, reject := range []content.Severity{0, content.LossHint, content.LossDropped} {
			modes := s.modes
			if reject == 0 && s.count != "" { // nothing is lost in a count
				modes = append(modes[:len(modes):len(modes)], mode{path: s.count})
			}
			for _, m := range modes {
				var report *upstream.Report
				var heard []content.Loss
				var asked *upstream.Request
				h := s.handler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
					asked = r
					return w.Text("x")
				}), upstream.HandlerOptions{RejectLoss: reject,
					OnDone: func(_ context.Context, r *upstream.Report) { report = r },
					OnLoss: func(_ context.Context, l []content.Loss) { heard = append(heard, l...) }})
				m.body = d.body
				if m.stream {
					_, m.body = s.streamed(s.path, m.body)
				}
				if m.path == s.count {
					m.body = strings.Replace(m.body, `"max_tokens":9,`, "", 1)
				}
				a := s.ask(t, h, m)
				if diff := cmp.Diff([][]content.Loss{lost, lost}, [][]content.Loss{lossplaces.Of(report.Losses), lossplaces.Of(heard)}); diff != "" {
					t.Errorf("report and OnLoss (-want +got):\n%s", diff)
				}
				place := d.place
				switch {
				case reject != 0 && (a.status != 400 || asked != nil || !strings.Contains(a.message, place)):
					t.Errorf("%s: rejecting %v: %d %s", m.path, reject, a.status, a.body)
				case reject == 0 && (a.status != 200 || !strings.HasPrefix(a.header.Get("Polywire-Loss"), "dropped "+place)):
					t.Errorf("%s: %d %v %s", m.path, a.status, a.header, a.body)
				case reject == 0 && m.path != s.count && snapshot.DocumentOf(asked, s.format) != nil:
					t.Error("the handler forwards the document")
				}
			}
		}
	})
}
