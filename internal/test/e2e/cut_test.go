package e2e

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream"
)

// A wire is a transport that sends the same bytes for every request, and then
// ends in good order or with a connection error.
type wire struct {
	kind  string
	bytes []byte
	end   error
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {w.kind}}, Request: r, ContentLength: -1,
		Body: io.NopCloser(io.MultiReader(bytes.NewReader(w.bytes), ending{w.end})),
	}, nil
}

type ending struct{ err error }

func (e ending) Read([]byte) (int, error) { return 0, e.err }

// A tape is a transport that records the responses of a vendor.
type tape struct {
	inner http.RoundTripper
	wire  wire
}

func (p *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := p.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	p.wire = wire{kind: res.Header.Get("Content-Type"), bytes: b}
	res.Body = io.NopCloser(bytes.NewReader(b))
	return res, err
}

// record returns the bytes of a vendor's response to a request of an endpoint.
func record(t *testing.T, f endpoint, b adapter, m mode, pieces ...fake.Piece) wire {
	t.Helper()
	_, vendor := b.start(t, vendor{})
	tr := &tape{inner: httpClient(t).Transport}
	up := b.at(t, vendorURL(vendor, b), &http.Client{Transport: tr})
	vendor.Say(pieces...)
	s := vendorResponse{think: thinks(f.client(), b), tools: true}
	if a := newGateway(f, up, upstream.HandlerOptions{}).ask(b.model, s.request(f), m); !a.Whole {
		t.Fatalf("the complete response is not accepted: status %d %s", a.Status, clip(a.Body))
	}
	return tr.wire
}

// complete returns how many bytes of a vendor's stream make the response
// complete: all of the event that ends it.
func complete(b adapter, stream string) int {
	mark := map[string]string{toClaude: `"type":"message_stop"}`, toGemini: `"finishReason"`, toChat: `"finish_reason":"`, toResp: `"response.completed"`}[b.name]
	at := strings.LastIndex(stream, mark)
	if at < 0 {
		return len(stream)
	}
	end := strings.IndexByte(stream[at:], '\n')
	if end < 0 {
		return len(stream)
	}
	return at + len(strings.TrimRight(stream[at:at+end], "\r"))
}

// TestCutAnywhere ends the vendor's stream after every byte, in good order and
// with a broken connection. The client must receive the format's error instead
// of an end, and only text that the vendor sent.
func TestCutAnywhere(t *testing.T) {
	each(t, cutAnywhere)
	eachOpenAI(t, cutAnywhere)
}

// cutAnywhere cuts streams and whole responses.
func cutAnywhere(t *testing.T, f endpoint, b adapter) {
	for _, m := range []mode{sse, whole} {
		full := record(t, f, b, m, fake.Thinking("Hm, so."), fake.Text(cutText), fake.Call("get_weather", cutArgs))
		if !strings.HasPrefix(full.kind, "text/event-stream") {
			full.kind = "application/json"
		}
		least := len(bytes.TrimRight(full.bytes, "\r\n ]"))
		if m == sse {
			least = complete(b, string(full.bytes))
		}
		synctest.Test(t, func(t *testing.T) { cutEverywhere(t, f, b, m, full, least) })
	}
}

// The text and the arguments of the response that is cut.
const (
	cutText = "Snow ☃ in Bergen."
	cutArgs = `{"city":"Bergen"}`
)

// cutEverywhere runs in a bubble, where the delays before errors take no time.
func cutEverywhere(t *testing.T, f endpoint, b adapter, m mode, full wire, least int) {
	net := &wire{kind: full.kind}
	g := newGateway(f, b.at(t, "http://vendor.example/v1", &http.Client{Transport: net}), upstream.HandlerOptions{})
	body := (&vendorResponse{think: thinks(f.client(), b), tools: true}).request(f)
	for n := 0; n < least; n++ {
		net.bytes, net.end = full.bytes[:n], io.EOF
		if n%5 == 0 {
			net.end = io.ErrUnexpectedEOF
		}
		a := g.ask(b.model, body, m)
		if a.Whole || a.Broken != "" || a.Err == nil {
			t.Fatalf("%s cut after %d of %d bytes (%v): whole %v, broken %q, error %+v\nvendor: …%s\nclient: %s", m, n, len(full.bytes), net.end,
				a.Whole, a.Broken, a.Err, full.bytes[max(0, n-80):n], clip(a.Body))
		}
		if !strings.HasPrefix(cutText, a.text("text")) {
			t.Fatalf("%s cut after %d: text %q", m, n, a.text("text"))
		}
		for _, c := range a.calls() {
			if f.name == "generatecontent" && c.Args != canonical([]byte(cutArgs)) {
				t.Fatalf("%s cut after %d: tool call with arguments %s", m, n, c.Args)
			}
		}
	}
}

func vendorURL(s *fake.Server, b adapter) string {
	if b.name == toChat || b.name == toResp {
		return s.URL + "/v1"
	}
	return s.URL
}
