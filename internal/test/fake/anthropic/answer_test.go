package anthropic

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
)

// A seenBlock is a content block that a reader assembles from a stream or finds
// in a whole response.
type seenBlock struct {
	Type, Text, Thinking, Signature, Data, ID, Name string
	Input                                           json.RawMessage
	partial                                         string
}

type seenMessage struct {
	Content    []seenBlock
	StopReason string `json:"stop_reason"`
	Usage      map[string]any
	ended      bool
	failure    string
	pings      int
}

// A seenEvent is one event of a stream.
type seenEvent struct {
	Type         string
	Index        int
	Message      seenMessage
	ContentBlock seenBlock `json:"content_block"`
	Delta        struct {
		Type, Text, Thinking, Signature string
		PartialJSON                     string `json:"partial_json"`
		StopReason                      string `json:"stop_reason"`
	}
	Usage map[string]any
	Error struct{ Type string }
}

// readStream reads the vendor's stream. It is written from the reference only.
func readStream(t *testing.T, r io.Reader) seenMessage {
	t.Helper()
	var m seenMessage
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 1<<26)
	name := ""
	for scan.Scan() {
		line := scan.Text()
		if v, ok := strings.CutPrefix(line, "event: "); ok {
			name = v
			continue
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e seenEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		if e.Type != name {
			t.Errorf("event %q has type %q", name, e.Type)
		}
		switch e.Type {
		case "message_start":
			m.Usage = e.Message.Usage
		case "content_block_start":
			if e.Index != len(m.Content) {
				t.Errorf("block %d starts after %d blocks", e.Index, len(m.Content))
			}
			m.Content = append(m.Content, e.ContentBlock)
		case "content_block_delta":
			b := &m.Content[e.Index]
			b.Text += e.Delta.Text
			b.Thinking += e.Delta.Thinking
			b.Signature += e.Delta.Signature
			b.partial += e.Delta.PartialJSON
		case "content_block_stop":
			if b := &m.Content[e.Index]; b.partial != "" {
				b.Input, b.partial = json.RawMessage(b.partial), ""
			}
		case "message_delta":
			m.StopReason = e.Delta.StopReason
			for k, v := range e.Usage {
				m.Usage[k] = v
			}
		case "message_stop":
			m.ended = true
		case "ping":
			m.pings++
		case "error":
			m.failure = e.Error.Type
		}
	}
	return m
}

func streamed(model, messages string) string {
	return strings.Replace(chat(model, messages), `"tools"`, `"stream":true,"tools"`, 1)
}

// TestForms sends the same turn whole and streamed. An independent reader must
// find the same content.
func TestForms(t *testing.T) {
	turn := []fake.Piece{
		fake.Thinking("I wonder. Really, I do."), fake.Redacted("x"),
		fake.Text("Ünïcode text that is longer than one part."), fake.Ping{},
		fake.Together{fake.Call("t", `{"city":"Rome \"x\"","n":12345678901234567890}`), fake.Call("u", "")},
		fake.Usage{Input: 3, Output: 4, CacheRead: 5, CacheWrite: 6, Thinking: 7},
	}
	get := func(stream, think bool) seenMessage {
		s := NewHandler(Options{})
		s.Say(turn...)
		body := chat("claude-sonnet-4-5", strings.TrimSuffix(hi, ","))
		if think {
			body = strings.Replace(body, `"tools"`, `"thinking":{"type":"enabled","budget_tokens":1024},"tools"`, 1)
		}
		if stream {
			return readStream(t, s.post("/v1/messages", strings.Replace(body, `"tools"`, `"stream":true,"tools"`, 1)).Body)
		}
		var m seenMessage
		if err := json.NewDecoder(s.post("/v1/messages", body).Body).Decode(&m); err != nil {
			t.Fatal(err)
		}
		m.ended = true
		return m
	}
	whole, stream := get(false, true), get(true, true)
	if stream.pings != 2 {
		t.Errorf("%d pings, want the default one and that of the script", stream.pings)
	}
	stream.pings = 0
	if diff := cmp.Diff(whole, stream, cmp.AllowUnexported(seenMessage{}, seenBlock{})); diff != "" {
		t.Errorf("whole and streamed differ:\n%s", diff)
	}
	if whole.StopReason != "tool_use" || len(whole.Content) != 5 {
		t.Errorf("stop %q, %d blocks", whole.StopReason, len(whole.Content))
	}
	if silent := get(false, false); len(silent.Content) != 3 {
		t.Errorf("%d blocks without thinking, want 3", len(silent.Content))
	}
	want := map[string]float64{"input_tokens": 3, "output_tokens": 11, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 6}
	for k, v := range want {
		if whole.Usage[k] != v {
			t.Errorf("usage %s = %v, want %v", k, whole.Usage[k], v)
		}
	}
}

func TestOmittedThinking(t *testing.T) {
	s := NewHandler(Options{})
	s.Always(fake.Thinking("hidden"), fake.Text("x"))
	m := readStream(t, s.post("/v1/messages", streamed("claude-opus-5", strings.TrimSuffix(hi, ","))).Body)
	if b := m.Content[0]; b.Thinking != "" || b.Signature == "" {
		t.Errorf("thinking %q, signature %q; want only a signature", b.Thinking, b.Signature)
	}
}

// TestReplay sends a turn back unchanged, and with each change that the fake
// must detect.
func TestReplay(t *testing.T) {
	s := NewHandler(Options{KeepThinking: true})
	s.Say(fake.Thinking("first"), fake.Thinking("second"), fake.Redacted("r"), fake.ToolCall{ID: "a", Name: "t"})
	res, _ := io.ReadAll(s.post("/v1/messages", chat("claude-sonnet-4-6", strings.TrimSuffix(hi, ","))).Body)
	var m struct{ Content []json.RawMessage }
	if err := json.Unmarshal(res, &m); err != nil {
		t.Fatal(err)
	}
	b := make([]string, len(m.Content))
	for i, c := range m.Content {
		b[i] = string(c)
	}
	altered := func(i int, old, new string) string { return strings.Replace(b[i], old, new, 1) }
	tests := []struct {
		name, rule string
		blocks     []string
	}{
		{"unchanged", "", b},
		{"text altered", "thinking-modified", []string{altered(0, "first", "First"), b[1], b[2], b[3]}},
		{"order", "thinking-modified", []string{b[1], b[0], b[2], b[3]}},
		{"one block missing", "thinking-modified", []string{b[0], b[2], b[3]}},
		{"last thinking block missing", "thinking-modified", []string{b[0], b[1], b[3]}},
		{"signature altered", "signature", []string{altered(0, `"signature":"YW`, `"signature":"YX`), b[1], b[2], b[3]}},
		{"signature empty", "signature", []string{`{"type":"thinking","thinking":"first","signature":""}`, b[1], b[2], b[3]}},
		{"data altered", "signature", []string{b[0], b[1], altered(2, `"data":"YW`, `"data":"YX`), b[3]}},
		{"all thinking missing", "thinking-kept", []string{b[3]}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.post("/v1/messages", chat("claude-sonnet-4-6", hi+assistant(tt.blocks...)+","+user(res1)))
			if got := s.Last().Rule; got != tt.rule {
				t.Errorf("rule %q, want %q: %s", got, tt.rule, s.Last().Message)
			}
		})
	}
}

// disruptions lists what a client receives for each disruption, and the
// recorded end.
var disruptions = []struct {
	name, end string
	stream    bool
	turn      []fake.Piece
	want      func(res *http.Response, body string, err error) bool
}{
	{"status", fake.Whole, true, []fake.Piece{fake.Status{Code: 429, Header: map[string]string{"Retry-After": "7"}}}, func(res *http.Response, body string, err error) bool {
		return res.StatusCode == 429 && res.Header.Get("Retry-After") == "7" && strings.Contains(body, "rate_limit_error")
	}},
	{"error within the stream", fake.Whole, true, []fake.Piece{fake.Text("x"), fake.Status{Code: 529}}, func(res *http.Response, body string, err error) bool {
		return res.StatusCode == 200 && strings.HasSuffix(body, "\n\n") && strings.Contains(body, "event: error\ndata: {\"error\":{\"message\":\"Overloaded\"") && !strings.Contains(body, "message_stop")
	}},
	{"HTML", fake.Ended, false, []fake.Piece{fake.Reply{Code: 502, ContentType: "text/html", Body: "<html>"}}, func(res *http.Response, body string, err error) bool {
		return res.StatusCode == 502 && body == "<html>" && res.Header.Get("Content-Type") == "text/html"
	}},
	{"cut", fake.Aborted, true, []fake.Piece{fake.Text("x"), fake.Cut{}}, func(res *http.Response, body string, err error) bool {
		return err != nil && strings.Contains(body, "content_block_stop")
	}},
	{"cut document", fake.Aborted, false, []fake.Piece{fake.Text("x"), fake.Cut{}}, func(res *http.Response, body string, err error) bool {
		return err != nil && !json.Valid([]byte(body))
	}},
	{"cut within an event", fake.Aborted, true, []fake.Piece{fake.Text("x"), fake.CutEvent{}}, func(res *http.Response, body string, err error) bool {
		return err != nil && !strings.HasSuffix(body, "\n\n")
	}},
	{"early end", fake.Ended, true, []fake.Piece{fake.Text("x"), fake.End{}}, func(res *http.Response, body string, err error) bool {
		return err == nil && !strings.Contains(body, "message_stop")
	}},
	{"malformed", fake.Whole, false, []fake.Piece{fake.Malformed{}, fake.Text("x")}, func(res *http.Response, body string, err error) bool {
		return err == nil && !json.Valid([]byte(body))
	}},
	{"huge", fake.Whole, false, []fake.Piece{fake.Huge(1 << 20), fake.Text("x")}, func(res *http.Response, body string, err error) bool {
		return err == nil && len(body) > 1<<20 && json.Valid([]byte(body))
	}},
	{"content type", fake.Whole, true, []fake.Piece{fake.ContentType("text/plain"), fake.Chop(3), fake.Text("x")}, func(res *http.Response, body string, err error) bool {
		return err == nil && res.Header.Get("Content-Type") == "text/plain" && strings.Contains(body, "message_stop")
	}},
}

func TestDisruptions(t *testing.T) {
	body := streamed("m", strings.TrimSuffix(hi, ","))
	plain := chat("m", strings.TrimSuffix(hi, ","))
	for _, tt := range disruptions {
		t.Run(tt.name, func(t *testing.T) {
			s := New(t, Options{})
			s.Say(tt.turn...)
			send := plain
			if tt.stream {
				send = body
			}
			r, _ := http.NewRequest(http.MethodPost, s.URL+"/v1/messages", strings.NewReader(send))
			r.Header = http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if !tt.want(res, string(text), err) {
				t.Errorf("status %d, error %v:\n%.2000s", res.StatusCode, err, text)
			}
			s.Settle()
			if got := s.Last().End; got != tt.end {
				t.Errorf("ended %q, want %q", got, tt.end)
			}
		})
	}
}

func TestSilenceUntilGone(t *testing.T) {
	s := New(t, Options{})
	s.Say(fake.Text("x"), fake.Silence(0))
	r, _ := http.NewRequest(http.MethodPost, s.URL+"/v1/messages", strings.NewReader(streamed("m", strings.TrimSuffix(hi, ","))))
	r.Header = http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	s.Settle()
	if got := s.Last().End; got != fake.Gone {
		t.Errorf("ended %q, want %q", got, fake.Gone)
	}
}

func TestModels(t *testing.T) {
	s := New(t, Options{Models: []string{"a", "b", "c"}})
	var seen []string
	after := ""
	for range 5 {
		r, _ := http.NewRequest(http.MethodGet, s.URL+"/v1/models?limit=2"+after, nil)
		r.Header = http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Data    []struct{ ID string }
			HasMore bool   `json:"has_more"`
			LastID  string `json:"last_id"`
		}
		err = json.NewDecoder(res.Body).Decode(&page)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Data {
			seen = append(seen, d.ID)
		}
		if !page.HasMore {
			break
		}
		after = "&after_id=" + page.LastID
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, seen); diff != "" {
		t.Error(diff)
	}
}
