package crosstest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// These tests follow the state of a vendor, its signatures, through clients of the other
// format: from the vendor's response to the next request that it receives.

// A direction is a vendor and the format of its clients.
type direction struct {
	vendor, client wireFormat
	requests       []carriedRequest
	clients        []returning
	responses      []carriedResponse
	// wanted returns what the vendor must receive of a response, as received describes it.
	wanted func(t *testing.T, r *carried, c *returning) (parts, foreign []string)
}

var directions = []direction{
	{formatOf(generatecontent.Format), formatOf(messages.Format), messagesRequests, messagesClients, generateResponses, wantedByGenerate},
	{formatOf(messages.Format), formatOf(generatecontent.Format), generateRequests, generateClients, messagesResponses, wantedByMessages},
}

// A carriedRequest is the first request of a client. In Messages it decides where a response
// carries state.
type carriedRequest struct {
	name             string
	members, history string
	returnsBlocks    bool // state may be in blocks of thinking
	hideThinking     bool // the response has no thinking
}

// droppedBlock is the name of the request in whose history a block with state is missing.
const droppedBlock = "a block was dropped"

var messagesRequests = []carriedRequest{
	{name: droppedBlock, members: `"thinking":{"type":"adaptive"},`, history: `,{"role":"assistant","content":[` +
		`{"type":"tool_use","id":"toolu_pwblk_h","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_pwblk_h"}]}`},
	{name: "thinking requested", members: `"thinking":{"type":"adaptive"},`, returnsBlocks: true},
	{name: "thinking not requested", hideThinking: true},
}

var generateRequests = []carriedRequest{
	{name: "thoughts requested", members: `"generationConfig":{"thinkingConfig":{"includeThoughts":true}},`},
	{name: "thoughts not requested", hideThinking: true},
}

// request returns the mode with another body.
func (r *carriedRequest) request(s wireFormat, m mode) mode {
	if s.format == messages.Format {
		const tools = `"tools":[{"name":"f","input_schema":{"type":"object"}}],`
		m.body = strings.Replace(m.body, `"messages":[{"role":"user","content":"Hi"}`, tools+r.members+`"messages":[{"role":"user","content":"Hi"}`+r.history, 1)
		m.body = strings.Replace(m.body, `"max_tokens":64`, `"max_tokens":9000`, 1)
	} else {
		m.body = "{" + r.members + m.body[1:]
	}
	return m
}

// divisions are ways to divide the events of a response into batches: as the upstream does,
// or so many at a time.
var divisions = []int{0, 1, 3, 1 << 20}

// divided returns an upstream that sends the events of up in batches of n.
func divided(t *testing.T, up upstream.Upstream, n int) upstream.Upstream {
	if n == 0 {
		return up
	}
	var all []upstream.Event
	for e, err := range upstream.Events(t.Context(), up, &upstream.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for batch := range slices.Chunk(slices.Clone(all), n) {
			if err := w.Send(slices.Clone(batch)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pieces returns the parts of each chunk of a response, or all of them at once if it is not
// in chunks.
func (s wireFormat) pieces(t *testing.T, m mode, a *answer) (pieces [][]map[string]any) {
	t.Helper()
	chunks := &formattest.Chunks{List: []map[string]any{a.document}}
	var err error
	switch m.name {
	case "streamed":
		if s.format == generatecontent.Format {
			chunks, err = formattest.ReadEvents(a.body)
		}
	case "array":
		chunks, err = formattest.ReadArray(a.body)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks.List {
		list, _ := c["content"].([]any) // of Messages
		if candidates, ok := c["candidates"].([]any); ok {
			list, _ = candidates[0].(map[string]any)["content"].(map[string]any)["parts"].([]any)
		}
		var parts []map[string]any
		for _, p := range list {
			parts = append(parts, p.(map[string]any))
		}
		pieces = append(pieces, parts)
	}
	return pieces
}

// A returning client returns a response in the next request, as turns of parts.
type returning struct {
	name  string
	turns bool // each chunk is a turn
	apart bool // drops signatures of texts, and thinking after the last call
	mute  bool // also drops texts
	keep  func(parts []map[string]any) []map[string]any
}

func everything(parts []map[string]any) []map[string]any { return parts }

var messagesClients = []returning{
	{name: "all", keep: everything},
	{name: "without blank texts", keep: func(parts []map[string]any) []map[string]any {
		return keepIf(parts, func(p map[string]any) bool {
			text, ok := p["text"].(string)
			return !ok || strings.TrimSpace(text) != ""
		})
	}},
	{name: "each block in a turn", turns: true, keep: everything},
}

var generateClients = []returning{
	{name: "everything", keep: everything},
	{name: "pieces without empty texts", turns: true, keep: func(parts []map[string]any) []map[string]any {
		return keepIf(parts, func(p map[string]any) bool {
			if p["text"] == "" {
				delete(p, "text")
			}
			return len(p) > 0
		})
	}},
	{name: "the other alphabet of base64", turns: true, keep: func(parts []map[string]any) []map[string]any {
		for _, p := range parts {
			if sig, ok := p["thoughtSignature"].(string); ok {
				p["thoughtSignature"] = strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(sig)
			}
		}
		return parts
	}},
	{name: "no thoughts", keep: withoutThoughts},
	{name: "texts joined", keep: joinTexts},
	{name: "texts joined, no thoughts", keep: func(parts []map[string]any) []map[string]any { return joinTexts(withoutThoughts(parts)) }},
	{name: "texts split", keep: splitTexts},
	{name: "texts split, in pieces", turns: true, keep: splitTexts},
	{name: "signed calls, texts joined", apart: true, keep: func(parts []map[string]any) []map[string]any { return joinTexts(unsigned(withoutThoughts(parts))) }},
	{name: "signed calls", apart: true, keep: unsigned},
	{name: "calls", apart: true, mute: true, keep: func(parts []map[string]any) []map[string]any {
		return keepIf(parts, func(p map[string]any) bool { return p["functionCall"] != nil })
	}},
	{name: "no images", keep: func(parts []map[string]any) []map[string]any {
		return keepIf(parts, func(p map[string]any) bool { return p["inlineData"] == nil })
	}},
}

func keepIf(parts []map[string]any, keep func(p map[string]any) bool) []map[string]any {
	return slices.DeleteFunc(parts, func(p map[string]any) bool { return !keep(p) })
}

func withoutThoughts(parts []map[string]any) []map[string]any {
	return keepIf(parts, func(p map[string]any) bool { return p["thought"] != true })
}

func unsigned(parts []map[string]any) []map[string]any {
	return keepIf(parts, func(p map[string]any) bool {
		if p["functionCall"] == nil {
			delete(p, "thoughtSignature")
		}
		return p["text"] != "" || p["thoughtSignature"] != nil
	})
}

// joinTexts joins consecutive texts up to a signed one.
func joinTexts(parts []map[string]any) (list []map[string]any) {
	for _, p := range parts {
		if n := len(list); n > 0 && p["text"] != nil {
			old := list[n-1]
			if old["text"] != nil && old["thought"] == p["thought"] && old["thoughtSignature"] == nil {
				p["text"] = old["text"].(string) + p["text"].(string)
				list[n-1] = p
				continue
			}
		}
		list = append(list, p)
	}
	return list
}

// splitTexts splits texts into parts of one letter. The last part keeps the members.
func splitTexts(parts []map[string]any) (list []map[string]any) {
	for _, p := range parts {
		if text, ok := p["text"].(string); ok && p["thought"] == nil {
			letters := strings.Split(text, "")
			for i := range len(letters) - 1 {
				list = append(list, map[string]any{"text": letters[i]})
			}
			if len(letters) > 0 {
				p["text"] = letters[len(letters)-1]
			}
		}
		list = append(list, p)
	}
	return list
}

// history returns the turns that the client keeps of a response.
func (c *returning) history(s wireFormat, pieces [][]map[string]any) (turns []string) {
	var parts []map[string]any
	turn := func() {
		if parts = c.keep(parts); len(parts) > 0 {
			b, err := json.Marshal(parts)
			if err != nil {
				panic(err)
			}
			turns = append(turns, fmt.Sprintf(s.modelTurn, b))
		}
		parts = nil
	}
	for _, list := range pieces {
		for _, p := range list {
			parts = append(parts, maps.Clone(p))
			if c.turns && s.format == messages.Format {
				turn()
			}
		}
		if c.turns {
			turn()
		}
	}
	turn()
	return turns
}

// parse parses a conversation of a client.
func (s wireFormat) parse(t *testing.T, turns []string) *upstream.Request {
	t.Helper()
	list := strings.Join(turns, ",")
	if s.format == messages.Format {
		r, err := messages.ParseRequest([]byte(`{"model":"m","max_tokens":9,"messages":[` + list + `]}`))
		if err != nil {
			t.Fatalf("%v\n%.2000s", err, list)
		}
		return r.Upstream()
	}
	r, err := generatecontent.ParseRequest([]byte(`{"contents":[` + list + `]}`))
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, list)
	}
	return r.Upstream()
}

// A requested conversation is one that a vendor receives.
type requested struct {
	parts  []content.Part // of the assistant, with nil for turns of the user between them
	turns  []string       // of its document
	losses []content.Loss
}

func (r *requested) add(turn content.Turn) {
	if turn.Role == content.RoleAssistant {
		r.parts = append(r.parts, turn.Parts...)
	} else {
		r.parts = append(r.parts, nil)
	}
}

// requestOf converts a request to one of the vendor.
func (s wireFormat) requestOf(t *testing.T, n *upstream.Request) (r requested) {
	t.Helper()
	var doc []byte
	var err error
	if s.format == messages.Format {
		var to *messages.Request
		if to, r.losses, err = messages.RequestFromUpstream(n); err != nil {
			t.Fatal(err)
		}
		for _, turn := range to.Messages {
			r.add(turn)
		}
		nine := int64(9)
		to.MaxTokens = &nine
		doc, err = to.AppendJSON(nil)
	} else {
		var to *generatecontent.Request
		to, r.losses, _ = generatecontent.RequestFromUpstream(n)
		for _, turn := range to.Contents {
			r.add(turn)
		}
		doc, err = (&generatecontent.Request{Contents: to.Contents}).AppendJSON(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Messages, Contents []json.RawMessage }
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	for _, turn := range append(v.Messages, v.Contents...) {
		r.turns = append(r.turns, string(turn))
	}
	return r
}

// described describes texts, thinking and calls and their signatures, independent of how
// texts are split. It omits white space: some vendors reject texts of only white space.
func described(parts []content.Part) (list []string) {
	text := ""
	flush := func() {
		if text != "" {
			list = append(list, "text "+text)
		}
		text = ""
	}
	for _, p := range parts {
		if p == nil {
			flush()
			continue
		}
		sig := partfield.SignatureOf(p)
		if sig.Data == "" {
			sig = content.Signature{}
		}
		switch p := p.(type) {
		case *content.Text:
			text += strings.Join(strings.Fields(strings.ReplaceAll(p.Text, "\uFEFF", "")), "")
			if sig.Data != "" {
				flush()
				list = append(list, fmt.Sprintf("signature of the text %.200q", sig))
			}
		case *content.Thinking:
			flush()
			list = append(list, fmt.Sprintf("thought %.200q %d %.200q %d %q", p.Text, len(p.Text), sig, len(sig.Data), p.Redacted))
		case *content.ToolUse:
			flush()
			list = append(list, fmt.Sprintf("call %s %.200q %d", p.ID, sig, len(sig.Data)))
		}
	}
	flush()
	return list
}

// A carried response is one way in which a response reaches a client.
type carried struct {
	direction
	row     carriedResponse
	parts   []content.Part // of the vendor
	mode    mode
	request carriedRequest
	losses  []content.Loss
	pieces  [][]map[string]any
}

// check sends a response to the client and checks its losses, and what the vendor receives
// of it from each client that returns it once and twice in a conversation. What it receives
// must not change as the conversation continues.
func (d direction) check(t *testing.T, row carriedResponse, m mode, first carriedRequest, batch int) {
	t.Helper()
	reply, err := upstream.Collect(t.Context(), row.up, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	r := &carried{direction: d, row: row, parts: reply.Parts, mode: m, request: first}
	h := d.client.handler(divided(t, row.up, batch), upstream.HandlerOptions{OnDone: func(_ context.Context, report *upstream.Report) { r.losses = report.Losses }})
	q := first.request(d.client, m)
	a := d.client.ask(t, h, q)
	if a.word != "" {
		t.Fatalf("%d %.2000s", a.status, a.body)
	}
	notReturned := take(&r.losses, func(l content.Loss) bool {
		return lossplaces.Has([]content.Loss{l}, envelope.NotReturned.At("turns.1.parts.0.signature"))
	})
	if dropped := first.name == droppedBlock; notReturned != dropped {
		t.Errorf("%s: reported that a block was dropped: %v", first.name, notReturned)
	}
	r.pieces = d.client.pieces(t, m, a)
	user := d.client.userTurn("go")
	for i := range d.clients {
		c := &d.clients[i]
		want, foreign := d.wanted(t, r, c)
		turns := append(c.history(d.client, r.pieces), user)
		n := d.client.parse(t, append([]string{user}, turns...))
		once := d.vendor.requestOf(t, n)
		if diff := cmp.Diff(want, described(once.parts), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, %s, batches of %d, client returns %s (-want +got):\n%s\n%.3000v\n%v", m.name, first.name, batch, c.name, diff, r.pieces, r.losses)
		}
		if diff := cmp.Diff(foreign, foreignThinking(n), cmpopts.EquateEmpty()); diff != "" && first.returnsBlocks {
			t.Errorf("%s, %s, batches of %d, client returns %s: thinking of a third vendor (-want +got):\n%s", m.name, first.name, batch, c.name, diff)
		}
		for _, l := range once.losses {
			if l.Severity > content.LossHint && d.vendor.format == messages.Format && l.Reason != lower.ResultMissing.Reason && l.Reason != lower.FileMoved.Reason && !row.lossy() {
				t.Errorf("client returns %s: %v", c.name, l)
			}
		}
		twice := d.vendor.requestOf(t, d.client.parse(t, slices.Concat([]string{user}, turns, turns)))
		if len(twice.turns) < len(once.turns) || !slices.Equal(once.turns, twice.turns[:len(once.turns)]) {
			t.Errorf("client returns %s: the conversation begins anew:\n%s\n%s", c.name, once.turns, twice.turns)
		}
		if diff := cmp.Diff(slices.Concat(want, want), described(twice.parts), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("client returns %s twice (-want +got):\n%s", c.name, diff)
		}
	}
}

// each calls f for each way in which responses reach clients.
func (d direction) each(f func(m mode, first carriedRequest, batch int)) {
	for _, m := range d.client.modes {
		for _, first := range d.requests {
			for _, batch := range divisions {
				if m.stream || batch == 0 {
					f(m, first, batch)
				}
			}
		}
	}
}

// TestCarriedState checks that vendors receive their state again byte for byte, except what
// is reported.
func TestCarriedState(t *testing.T) {
	for _, d := range directions {
		for _, row := range d.responses {
			t.Run(d.vendor.name+"/"+row.name, func(t *testing.T) {
				d.each(func(m mode, first carriedRequest, batch int) { d.check(t, row, m, first, batch) })
			})
		}
	}
}

// FuzzCarriedState makes responses from bytes, as vendors do. For every way to send a
// response and for every client, the vendor receives its state again.
func FuzzCarriedState(f *testing.F) {
	for how := range byte(30) {
		for _, ops := range []string{"xxstspCdisqt", "ccSdqsqsTryLst", "cCdLstLeLt", "xsm tsCSm", "t eLs", "tsmp", "e", "ye", "Ce", "tske", "dtsqs", "ns", "ystsys", "rRdsRtsr", "d s",
			"t s tsC", "xC", "xdsiq", "xCC", "xtC", "rcRC", "rtRc", "xrCc", "xtxscC", "rtLxtTmXc", "xctuxrkctXt nT", "txmtxmcmxtuxT"} {
			f.Add([]byte(ops), "c2ln\"\n\\é+/8=", how)
		}
	}
	f.Fuzz(func(t *testing.T, ops []byte, data string, how byte) {
		if len(ops) > 40 || len(data) > 40 {
			return
		}
		d := directions[how%2]
		n := 0
		d.each(func(m mode, first carriedRequest, batch int) {
			if n == int(how/2) {
				d.check(t, carriedResponse{up: scripted(d.vendor.format, ops, strings.ToValidUTF8(data, "?"))}, m, first, batch)
			}
			n++
		})
	})
}

// take removes a loss from a list and reports whether it was there.
func take(list *[]content.Loss, is func(content.Loss) bool) bool {
	i := slices.IndexFunc(*list, is)
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// wantedByGenerate returns what a vendor of generateContent must receive of a response that
// a Messages client returns: all parts, with the signatures of thinking and tool calls. It
// checks that everything else is reported, and nothing more. foreign is the thinking of a
// third vendor.
func wantedByGenerate(t *testing.T, r *carried, _ *returning) (want, foreign []string) {
	t.Helper()
	rest := lossplaces.Of(r.losses)
	var parts []content.Part
	for i, p := range r.parts {
		path := fmt.Sprint("parts.", i)
		lost := func(s content.Severity) bool {
			return take(&rest, func(l content.Loss) bool { return l.Severity == s && l.Path == path })
		}
		must := func(s content.Severity) {
			if !lost(s) {
				t.Errorf("the loss of part %d is not reported: %v", i, r.losses)
			}
		}
		rule := func(of content.Loss) bool {
			return take(&rest, func(l content.Loss) bool { return l.String() == of.String() })
		}
		bare := partfield.WithSignature(p, content.Signature{})
		sig := partfield.SignatureOf(p)
		switch q := p.(type) {
		case *content.Text:
			if sig.Data != "" {
				must(content.LossHint)
			}
			p = bare
		case *content.ToolUse:
			late := rule(envelope.TooLate.At(path))
			if late && (!r.mode.stream || sig.Data == "") {
				t.Errorf("part %d is reported as too late", i)
			}
			large := len(sig.Data) > envelope.MaxSize
			if large && !rule(envelope.TooLarge.At(path)) || sig.Data != "" && sig.Format == "" && !rule(envelope.UnknownFormat.At(path)) {
				t.Errorf("the loss of the signature of part %d is not reported: %v", i, r.losses)
			}
			if late || large || sig.Format != r.vendor.format {
				p = bare
			}
		case *content.Thinking:
			switch {
			case sig.Format == thirdVendor || q.Redacted.Format == thirdVendor:
				if lost(content.LossDegraded) && r.request.returnsBlocks {
					t.Errorf("part %d is reported as lost: %v", i, r.losses)
				}
				foreign = append(foreign, described([]content.Part{q})...)
				continue
			case r.request.hideThinking:
				must(content.LossHint)
				rule(envelope.TooLarge.At(path)) // a stream may find that first
				continue
			case q.Redacted.Data != "": // its vendor does not need it
				must(content.LossHint)
				continue
			case len(sig.Data) > envelope.MaxSize:
				must(content.LossDegraded)
				p = bare
			}
		default:
			must(content.LossDropped)
			continue
		}
		parts = append(parts, p)
	}
	if len(rest) > 0 {
		t.Errorf("losses %v", rest)
	}
	for _, list := range r.pieces {
		for _, b := range list {
			if kind := b["type"]; r.request.hideThinking && kind != "text" && kind != "tool_use" || !r.request.returnsBlocks && kind == "redacted_thinking" {
				t.Errorf("a block of %v", kind)
			}
			if id, ok := b["id"].(string); ok && !codec.IsName(id) || b["signature"] == "" {
				t.Errorf("invalid id or signature: %v", b)
			}
		}
	}
	return described(parts), foreign
}

// wantedByMessages returns what a vendor of Messages must receive of a response that a
// client of generateContent returns: the thinking of each step, then its texts, then its
// call, without thinking at the end of the turn and without what the client drops.
func wantedByMessages(t *testing.T, r *carried, c *returning) (want, _ []string) {
	t.Helper()
	var all []content.Part
	for i, p := range r.parts {
		th, ok := p.(*content.Thinking)
		switch {
		case ok && th.Signature.Format != messages.Format && th.Redacted.Format != messages.Format, slices.Contains(r.row.gone, i):
		case ok:
			all = append(all, p)
		default:
			all = append(all, partfield.WithSignature(p, content.Signature{})) // only thinking is signed
		}
	}
	if r.request.hideThinking {
		r.losses = slices.DeleteFunc(slices.Clone(r.losses), func(l content.Loss) bool { return l.Reason == response.LossHiddenThinking.Reason })
		for _, p := range slices.Concat(r.pieces...) {
			if p["thought"] != nil {
				t.Errorf("thinking that the client did not request: %v", p)
			}
		}
	}
	if got := lossesOf(&upstream.Report{Losses: r.losses}); !slices.Equal(sorted(r.row.losses), got) && r.row.name != "" {
		t.Errorf("losses %v, want %v", got, r.row.losses)
	}
	for _, l := range r.losses {
		if r.row.name == "" && (strings.Contains(l.Reason, "signature") || strings.Contains(l.Reason, "thinking")) {
			t.Errorf("%v", l)
		}
	}
	list := described(all)
	last := -1
	for i, s := range list {
		if strings.HasPrefix(s, "call ") {
			last = i
		}
	}
	text := ""
	flush := func() {
		if text != "" {
			want = append(want, "text "+text)
		}
		text = ""
	}
	for i, s := range list {
		rest, isText := strings.CutPrefix(s, "text ")
		switch {
		case isText && c.mute, c.apart && i > last && strings.HasPrefix(s, "thought "):
		case isText:
			text += rest
		case strings.HasPrefix(s, "call "):
			flush()
			want = append(want, s)
		default:
			want = append(want, s)
		}
	}
	flush()
	for len(want) > 0 && strings.HasPrefix(want[len(want)-1], "thought ") {
		want = want[:len(want)-1]
	}
	return want, nil
}

// thirdVendor is a vendor of Responses, whose thinking may be in a conversation with another
// vendor.
const thirdVendor = content.Format("openai-responses")

func foreignThinking(n *upstream.Request) (list []string) {
	for _, turn := range n.Turns {
		for _, p := range turn.Parts {
			if th, ok := p.(*content.Thinking); ok && (th.Signature.Format == thirdVendor || th.Redacted.Format == thirdVendor) {
				list = append(list, described([]content.Part{p})...)
			}
		}
	}
	return list
}
