package bedrock

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/polywire/polywire/upstream/bedrock/internal/fakebedrock"
)

// documents are the events of a stream, one of them with line breaks between its values.
var documents = []string{
	`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude","usage":{"input_tokens":3,"output_tokens":1}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Good morning \n—"}}`,
	"{\"index\":0,\r\n\"type\":\"content_block_stop\"}",
	`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`,
	`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":3}}`,
}

// events are documents as server-sent events.
var events = []string{
	"event: message_start\ndata: " + documents[0] + "\n\n",
	"event: content_block_start\ndata: " + documents[1] + "\n\n",
	"event: content_block_delta\ndata: " + documents[2] + "\n\n",
	"data: {\"index\":0,\ndata: \ndata: \"type\":\"content_block_stop\"}\n\n",
	"event: message_delta\ndata: " + documents[4] + "\n\n",
	"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
}

// stream returns the frames of documents, and the offsets at which they end.
func stream() (text []byte, ends []int) {
	for _, d := range documents {
		text = append(text, fakebedrock.Chunk(d)...)
		ends = append(ends, len(text))
	}
	return text, ends
}

func newReader(r io.Reader) *frameReader { return newFrameReader(io.NopCloser(r), 0) }

func TestFrames(t *testing.T) {
	text, _ := stream()
	want := strings.Join(events, "")
	for name, r := range map[string]io.Reader{
		"at once":     bytes.NewReader(text),
		"bytes":       iotest.OneByteReader(bytes.NewReader(text)),
		"with an EOF": iotest.DataErrReader(bytes.NewReader(text)),
	} {
		got, err := io.ReadAll(newReader(r))
		if string(got) != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if err := iotest.TestReader(newReader(bytes.NewReader(text)), []byte(want)); err != nil {
		t.Error(err)
	}
}

// TestFramesAtOnce tests that a frame is read before the next one arrives, and that those
// that are there are read together.
func TestFramesAtOnce(t *testing.T) {
	text, ends := stream()
	in, out := io.Pipe()
	defer in.Close()
	go func() {
		_, _ = out.Write(text[:ends[0]])
		_, _ = out.Write(text[ends[0] : ends[2]+20])
		_, _ = out.Write(text[ends[2]+20:])
	}()
	r := newReader(in)
	buf := make([]byte, 4<<10)
	for _, want := range []string{events[0], events[1] + events[2], strings.Join(events[3:], "")} {
		n, err := r.Read(buf)
		if string(buf[:n]) != want || err != nil {
			t.Errorf("got %q, %v, want %q", buf[:n], err, want)
		}
	}
}

// TestFramesCut tests that a cut within a frame is an error, behind the events before it.
func TestFramesCut(t *testing.T) {
	text, ends := stream()
	for n := range len(text) {
		whole := 0
		for whole < len(ends) && ends[whole] <= n {
			whole++
		}
		want, wantErr := strings.Join(events[:whole], ""), error(io.ErrUnexpectedEOF)
		if n == 0 || whole > 0 && ends[whole-1] == n {
			wantErr = nil // the reader of Messages finds that the end of the message is missing
		}
		got, err := io.ReadAll(newReader(bytes.NewReader(text[:n])))
		if string(got) != want || !errors.Is(err, wantErr) {
			t.Fatalf("cut at %d of %d: got %q, %v, want %q, %v", n, len(text), got, err, want, wantErr)
		}
	}
}

// TestFramesCorrupt tests that a change of any byte is an error.
func TestFramesCorrupt(t *testing.T) {
	text, _ := stream()
	want := strings.Join(events, "")
	for i := range text {
		bad := bytes.Clone(text)
		bad[i] ^= 0x10
		got, err := io.ReadAll(newReader(bytes.NewReader(bad)))
		if err == nil || !strings.HasPrefix(want, string(got)) {
			t.Fatalf("byte %d: got %q, %v, want an error", i, got, err)
		}
	}
}

func TestFrameErrors(t *testing.T) {
	large := fakebedrock.Chunk(`{"a":"` + strings.Repeat("x", 300<<10) + `"}`)
	for name, tt := range map[string]struct {
		frame []byte
		want  string // in the error; empty means none
	}{
		"size":          {large, "has 409"},
		"headers":       {fakebedrock.Frame("{}", "a", strings.Repeat("x", 30<<10), "b", strings.Repeat("x", 30<<10), "c", strings.Repeat("x", 30<<10)), "and 92"},
		"lengths":       {[]byte("\x00\x00\x00\x10\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"), "contradict"},
		"empty":         {make([]byte, 16), "contradict"},
		"no type":       {fakebedrock.Frame("{}"), `unknown type ""`},
		"type":          {fakebedrock.Frame("{}", ":message-type", "other"), `unknown type "other"`},
		"event":         {fakebedrock.Frame("{}", ":message-type", "event", ":event-type", "initial-response"), ""},
		"no JSON":       {fakebedrock.Frame("{", ":message-type", "event", ":event-type", "chunk"), "JSON"},
		"no base64":     {fakebedrock.Frame(`{"bytes":"?"}`, ":message-type", "event", ":event-type", "chunk"), "base64"},
		"not a string":  {fakebedrock.Frame(`{"bytes":{}}`, ":message-type", "event", ":event-type", "chunk"), "base64"},
		"other members": {fakebedrock.Frame(`{"x":[1],"bytes":"","p":"abc"}`, ":message-type", "event", ":event-type", "chunk"), ""},
	} {
		r := newFrameReader(io.NopCloser(bytes.NewReader(tt.frame)), 64<<10)
		_, err := io.ReadAll(r)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// TestStreamErrors tests the errors that end a stream, in any place.
func TestStreamErrors(t *testing.T) {
	_, ends := stream()
	for _, tt := range []struct {
		frame      []byte
		kind, text string
		code       string
	}{
		{fakebedrock.Exception("internalServerException", "a"), "api_error", "a", "InternalServerException"},
		{fakebedrock.Exception("modelStreamErrorException", "b"), "api_error", "b", "ModelStreamErrorException"},
		{fakebedrock.Exception("modelTimeoutException", "c"), "timeout_error", "c", "ModelTimeoutException"},
		{fakebedrock.Exception("serviceUnavailableException", "d"), "api_error", "d", "ServiceUnavailableException"},
		{fakebedrock.Exception("throttlingException", "e\n\u2028"), "rate_limit_error", "e\n\u2028", "ThrottlingException"},
		{fakebedrock.Exception("validationException", "f"), "invalid_request_error", "f", "ValidationException"},
		{fakebedrock.Exception("newException", ""), "api_error", "newException", "newException"},
		{fakebedrock.Frame("", ":message-type", "exception", ":exception-type", "throttlingException"), "rate_limit_error", "throttlingException", "ThrottlingException"},
		{fakebedrock.Frame("", ":message-type", "error", ":error-code", "InternalFailure", ":error-message", "g"), "api_error", "g", "InternalFailure"},
		{fakebedrock.Frame("", ":message-type", "error"), "api_error", "The service returned an error", ""},
	} {
		for n := range len(ends) + 1 {
			var text []byte
			for _, d := range documents[:n] {
				text = append(text, fakebedrock.Chunk(d)...)
			}
			text = append(text, tt.frame...)
			text = append(text, fakebedrock.Chunk(documents[0])...) // not read
			got, err := io.ReadAll(newReader(bytes.NewReader(text)))
			if err != nil {
				t.Fatal(err)
			}
			last, ok := strings.CutPrefix(string(got), strings.Join(events[:n], "")+"event: error\ndata: ")
			var d struct {
				Type  string
				Error struct {
					Type, Message string
					Details       struct {
						Code string `json:"error_code"`
					}
				}
			}
			if !ok || json.Unmarshal([]byte(last), &d) != nil || d.Type != "error" || d.Error.Type != tt.kind || d.Error.Message != tt.text || d.Error.Details.Code != tt.code {
				t.Errorf("after %d events: got %q, want %s %s", n, last, tt.kind, tt.text)
			}
		}
	}
}

func TestMetrics(t *testing.T) {
	for document, want := range map[string]string{
		`{"type":"message_stop"}`: `{"type":"message_stop"}`,
		`{"type":"message_stop","a":{"b": 1},"amazon-bedrock-invocationMetrics":{}}`: `{"a":{"b":1},"type":"message_stop"}`,
		`{"type":"message_stop","amazon-bedrock-invocationMetrics":`:                 `{"type":"message_stop","amazon-bedrock-invocationMetrics":`,
	} {
		if got := string(withoutMetrics([]byte(document))); got != want {
			t.Errorf("%s became %s, want %s", document, got, want)
		}
	}
}

// FuzzFrames compares the reader with package eventstream.
func FuzzFrames(f *testing.F) {
	text, ends := stream()
	f.Add(text, 1)
	f.Add(text[:ends[2]-3], 7)
	f.Add(append(text[:ends[1]:ends[1]], fakebedrock.Exception("throttlingException", "Slow down.")...), 100)
	f.Add(fakebedrock.Frame(`{"bytes":"e30="}`, ":message-type", "event", ":event-type", "chunk", "x", "y"), 3)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		want, complete := decoded(text)
		r := newReader(bytes.NewReader(text))
		var got []byte
		buf := make([]byte, min(max(size, 1), 64<<10))
		var err error
		for err == nil {
			var n int
			n, err = r.Read(buf)
			got = append(got, buf[:n]...)
		}
		if complete && (err != io.EOF || string(got) != want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		if !complete && err == io.EOF || !strings.HasPrefix(want, string(got)) {
			t.Errorf("got %q, %v, want an error after %q", got, err, want)
		}
	})
}

// decoded returns the events of a stream without the reader. complete is false if a frame
// is invalid or cut.
func decoded(text []byte) (sse string, complete bool) {
	in := bytes.NewReader(text)
	var b strings.Builder
	for in.Len() > 0 {
		m, err := eventstream.NewDecoder().Decode(in, nil)
		if err != nil {
			return b.String(), false
		}
		kind := m.Headers.Get(":message-type")
		switch {
		case kind == nil:
			return b.String(), false
		case kind == eventstream.StringValue("exception"), kind == eventstream.StringValue("error"):
			doc, _ := appendEvent(nil, &m) // TestStreamErrors has its form
			return b.String() + string(doc), true
		case kind != eventstream.StringValue("event"):
			return b.String(), false
		case m.Headers.Get(":event-type") != eventstream.StringValue("chunk"):
			continue
		}
		var chunk struct{ Bytes *string }
		if err := json.Unmarshal(m.Payload, &chunk); err != nil {
			return b.String(), false
		}
		if chunk.Bytes == nil {
			chunk.Bytes = new(string)
		}
		doc, err := base64.StdEncoding.DecodeString(*chunk.Bytes)
		if err != nil {
			return b.String(), false
		}
		name := eventName(doc)
		if name == "message_stop" {
			doc = withoutMetrics(doc)
		}
		if name != "" {
			fmt.Fprintf(&b, "event: %s\n", name)
		}
		for line := range strings.SplitSeq(strings.ReplaceAll(string(doc), "\r", "\n"), "\n") {
			fmt.Fprintf(&b, "data: %s\n", line)
		}
		b.WriteString("\n")
	}
	return b.String(), true
}

func BenchmarkFrames(b *testing.B) {
	frame := fakebedrock.Chunk(documents[2])
	text := bytes.Repeat(frame, 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	buf := make([]byte, 16<<10)
	for b.Loop() {
		r := newReader(bytes.NewReader(text))
		for {
			if _, err := r.Read(buf); err != nil {
				break
			}
		}
	}
}

// TestBodyHash tests that hashing a body does not copy it.
func TestBodyHash(t *testing.T) {
	text := strings.Repeat("x", 8<<20)
	r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	hash, err := bodyHash(r)
	if sum := sha256.Sum256([]byte(text)); err != nil || hash != hex.EncodeToString(sum[:]) {
		t.Errorf("got %s, %v", hash, err)
	}
	if n := testing.AllocsPerRun(5, func() { _, _ = bodyHash(r) }); n > 10 {
		t.Errorf("hashing allocates %v times", n)
	}
	if sent, _ := io.ReadAll(r.Body); len(sent) != len(text) {
		t.Errorf("the body has %d bytes after it was hashed", len(sent))
	}
	r.GetBody = nil
	if _, err := bodyHash(r); err == nil {
		t.Error("no error for a body that can be read only once")
	}
	r.Body = http.NoBody
	if hash, err := bodyHash(r); err != nil || hash != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("no body: got %s, %v", hash, err)
	}
}

// BenchmarkEvents measures the other direction.
func BenchmarkEvents(b *testing.B) {
	o := &responseWriter{w: discard{}}
	o.Header().Set("Content-Type", "text/event-stream")
	o.WriteHeader(http.StatusOK)
	event := []byte(events[2])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := o.Write(event); err != nil {
			b.Fatal(err)
		}
	}
}

// A discard is an [http.ResponseWriter] that keeps nothing.
type discard struct{}

var noHeader = make(http.Header)

func (discard) Header() http.Header         { return noHeader }
func (discard) WriteHeader(int)             {}
func (discard) Write(p []byte) (int, error) { return len(p), nil }
