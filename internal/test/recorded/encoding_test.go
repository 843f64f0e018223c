package recorded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// A destination is a model behind an adapter. The list has one for each set of
// rules by which requests are encoded.
type destination struct {
	name   string
	format content.Format
	model  string
	make   func(*http.Client) (upstream.Upstream, error)
}

var destinations = []destination{
	chatDestination("chat of OpenAI", "", "gpt-4o", openai.Dialect{}),
	chatDestination("chat of OpenAI, thinking", "", "gpt-5.6", openai.Dialect{}),
	chatDestination("compatible chat", localServer, "some-model", openai.Dialect{}),
	chatDestination("compatible chat, text only", localServer, "some-model", openai.Dialect{TextOnly: true, DescribeUnreadable: true}),
	chatDestination("compatible chat, files", localServer, "some-model", openai.Dialect{Files: true, Links: true}),
	chatDestination("compatible chat, thinking returned", localServer, "some-model", openai.Dialect{Reasoning: "reasoning_content"}),
	chatDestination("chat of DeepSeek", "https://api.deepseek.com/v1", "deepseek-chat", openai.Dialect{}),
	chatDestination("chat of Mistral", "https://api.mistral.ai/v1", "mistral-large-latest", openai.Dialect{}),
	chatDestination("chat of OpenRouter", "https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", openai.Dialect{}),
	responsesDestination("responses of OpenAI", "", "gpt-5.2"),
	responsesDestination("responses of OpenAI, cache marks", "", "gpt-5.6"),
	responsesDestination("compatible responses", localServer, "some-model"),
	claudeDestination("claude-3-5-haiku-20241022"),
	claudeDestination("claude-sonnet-4-5"),
	claudeDestination("claude-opus-5-5"),
	claudeDestination("some-model"),
	bedrockDestination("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
	geminiDestination("gemini-2.5-flash"),
	geminiDestination("gemini-3-pro-preview"),
	geminiDestination("some-model"),
}

// localServer is the address of a compatible server that nothing is sent to.
const localServer = "http://localhost:8000/v1"

func chatDestination(name, base, model string, d openai.Dialect) destination {
	return destination{name, formatChat, model, func(c *http.Client) (upstream.Upstream, error) {
		return openai.New(&openai.Options{BaseURL: base, HTTPClient: c, Dialect: d})
	}}
}

func responsesDestination(name, base, model string) destination {
	return destination{name, formatResponses, model, func(c *http.Client) (upstream.Upstream, error) {
		return openai.NewResponses(&openai.Options{BaseURL: base, HTTPClient: c})
	}}
}

func claudeDestination(model string) destination {
	return destination{"messages, " + model, formatMessages, model, func(c *http.Client) (upstream.Upstream, error) {
		return anthropic.New(&anthropic.Options{HTTPClient: c})
	}}
}

func bedrockDestination(model string) destination {
	return destination{"messages of Bedrock, " + model, formatMessages, model, func(c *http.Client) (upstream.Upstream, error) {
		return anthropic.New(&anthropic.Options{HTTPClient: c, Platform: anthropic.PlatformBedrock, BaseURL: "http://localhost"})
	}}
}

func geminiDestination(model string) destination {
	return destination{"generateContent, " + model, formatGenerate, model, func(c *http.Client) (upstream.Upstream, error) {
		return gemini.New(&gemini.Options{HTTPClient: c})
	}}
}

// A host resolves links and file ids by their names, and counts.
type host struct{ loaded atomic.Int64 }

// Resolve implements [content.Resolver].
func (h *host) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	h.loaded.Add(1)
	var name string
	switch s := s.(type) {
	case *content.URL:
		name, _, _ = strings.Cut(s.URL, "?")
	case *content.File:
		name = s.ID
	}
	switch {
	case strings.HasSuffix(name, ".pdf"):
		return content.Blob{MediaType: "application/pdf", Data: []byte("%PDF-1.4\n")}, nil
	case strings.HasSuffix(name, ".txt"):
		return content.Blob{MediaType: "text/plain", Data: []byte("A text.")}, nil
	case strings.HasSuffix(name, ".gone"):
		return content.Blob{}, errors.New("there is no such file")
	case len(name)%4 == 0: // an id of the vendor
		return content.Blob{}, content.ErrUnresolved
	}
	return content.Blob{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}, nil
}

// An encoding is what an adapter makes of a request.
type encoding struct {
	preflight, generate []content.Loss
	preflightErr        error
	err                 error // nil if a request was sent
	body                string
}

// encodeFor calls Preflight and Generate. It returns an error if Preflight sends or
// loads anything, or if Generate reports a loss after it has sent the request.
func encodeFor(up upstream.Upstream, sent *capture, n *upstream.Request) (*encoding, error) {
	var e encoding
	resolver := n.Resolver.(*host)
	before := resolver.loaded.Load()
	sent.body = nil
	e.preflight, e.preflightErr = upstream.Preflight(context.Background(), up, n)
	if sent.body != nil || resolver.loaded.Load() != before {
		return nil, errors.New("Preflight sends a request or loads a file")
	}
	var late []content.Loss
	err := upstream.Run(context.Background(), up, n, upstream.SinkFunc(func(events []upstream.Event) error {
		for _, ev := range events {
			switch {
			case ev.Loss == nil:
			case sent.body != nil:
				late = append(late, *ev.Loss)
			default:
				e.generate = append(e.generate, *ev.Loss)
			}
		}
		return nil
	}))
	switch {
	case late != nil:
		return nil, fmt.Errorf("reported after the request was sent: %v", late)
	case sent.body != nil:
		e.body = string(sent.body)
	case err == nil:
		return nil, errors.New("neither a request nor an error")
	default:
		e.err = err
	}
	return &e, nil
}

// sortedLosses returns a sorted copy of a list.
func sortedLosses(list []content.Loss) []content.Loss {
	return slices.SortedFunc(slices.Values(lossplaces.Of(list)), func(a, b content.Loss) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason), cmp.Compare(a.Severity, b.Severity))
	})
}

// sameReports checks that Preflight and Generate report the same losses, in any order.
// Generate may also report losses of files that it has loaded.
func (e *encoding) sameReports(n *upstream.Request) error {
	linked := filePaths(n)
	if len(linked) == 0 && fmt.Sprint(e.preflightErr) != fmt.Sprint(e.err) {
		return fmt.Errorf("Preflight returns the error %v, Generate %v", e.preflightErr, e.err)
	}
	if e.err != nil {
		return nil
	}
	generate := slices.DeleteFunc(lossplaces.Of(e.generate), func(l content.Loss) bool {
		return !lossplaces.Has(e.preflight, l) && slices.ContainsFunc(linked, func(p string) bool { return strings.HasPrefix(l.Path+".", p) })
	})
	if d := gocmp.Diff(sortedLosses(e.preflight), sortedLosses(generate)); d != "" {
		return fmt.Errorf("Preflight reports (-) other losses than Generate (+):\n%s", d)
	}
	return nil
}

// filePaths returns the paths of the parts that have a linked or stored file, each
// with a dot at its end.
func filePaths(n *upstream.Request) (paths []string) {
	var walk func(path string, list []content.Part)
	source := func(path string, s content.Source) {
		switch s := s.(type) {
		case *content.URL, *content.File:
			paths = append(paths, path+".")
		case *content.Parts:
			walk(path+".source.parts", s.Parts)
		}
	}
	walk = func(path string, list []content.Part) {
		for i, p := range list {
			path := fmt.Sprint(path, ".", i)
			switch p := p.(type) {
			case *content.Image:
				source(path, p.Source)
			case *content.Document:
				source(path, p.Source)
			case *content.Media:
				source(path, p.Source)
			case *content.ToolResult:
				walk(path+".parts", p.Parts)
			}
		}
	}
	walk("system", n.System)
	for i, t := range n.Turns {
		walk(fmt.Sprint("turns.", i, ".parts"), t.Parts)
	}
	return paths
}

// encoder returns the adapter of a destination and what it sends.
func (d *destination) encoder() (upstream.Upstream, *capture, error) {
	sent := new(capture)
	up, err := d.make(&http.Client{Transport: sent})
	return up, sent, err
}

// checkReports is check 8.
func checkReports(d destination, n *upstream.Request) error {
	up, sent, err := d.encoder()
	if err != nil {
		return err
	}
	n = n.WithModel(d.model)
	e, err := encodeFor(up, sent, n)
	if err != nil {
		return err
	}
	if err := e.sameDocument(up, n); err != nil {
		return err
	}
	return e.sameReports(n)
}

// sameDocument checks that EncodeRequest returns the document that Generate sends, unless
// that depends on files.
func (e *encoding) sameDocument(up upstream.Upstream, n *upstream.Request) error {
	before := n.Resolver.(*host).loaded.Load()
	encoded, err := upstream.EncodeRequest(context.Background(), up, n)
	switch {
	case n.Resolver.(*host).loaded.Load() != before:
		return errors.New("EncodeRequest loads a file")
	case len(filePaths(n)) > 0:
		return nil
	case fmt.Sprint(err) != fmt.Sprint(e.err):
		return fmt.Errorf("EncodeRequest returns the error %v, Generate %v", err, e.err)
	case err == nil && encoded.Document != e.body:
		return fmt.Errorf("EncodeRequest returns\n%s\nGenerate sends\n%s", encoded.Document, e.body)
	}
	return nil
}

// checkTwice is check 9.
func checkTwice(d destination, n *upstream.Request) error {
	before := n.Clone()
	var first *encoding
	for range 2 {
		up, sent, err := d.encoder()
		if err != nil {
			return err
		}
		e, err := encodeFor(up, sent, n.WithModel(d.model))
		switch {
		case err != nil:
			return err
		case first == nil:
			first = e
		case e.body != first.body:
			return fmt.Errorf("once\n%s\nand then\n%s", first.body, e.body)
		case !reflect.DeepEqual(e.generate, first.generate), !reflect.DeepEqual(e.preflight, first.preflight):
			return fmt.Errorf("once the losses\n%v\nand then\n%v", first.generate, e.generate)
		}
	}
	if after := n.Clone(); !reflect.DeepEqual(before, after) {
		return fmt.Errorf("the request was changed:\n%s", gocmp.Diff(before, after))
	}
	return nil
}

// checkLinks is check 11.
func checkLinks(d destination, n *upstream.Request) error {
	if n.ForwardLinks || len(filePaths(n)) == 0 {
		return nil
	}
	inline, err := n.Inline(context.Background(), nil)
	if err != nil {
		return nil // the request fails
	}
	up, sent, err := d.encoder()
	if err != nil {
		return err
	}
	resolver := n.Resolver.(*host)
	before := resolver.loaded.Load()
	got, err := encodeFor(up, sent, n.WithModel(d.model))
	if err != nil {
		return err
	}
	if resolver.loaded.Load() == before {
		return nil // the server reads no such files
	}
	want, err := encodeFor(up, sent, inline.WithModel(d.model))
	if err != nil {
		return err
	}
	switch {
	case (got.err == nil) != (want.err == nil):
		return fmt.Errorf("the error is %v; with the files in the request it is %v", got.err, want.err)
	case got.err != nil:
		return nil
	case got.body != want.body:
		return fmt.Errorf("the document is\n%s\nwith the files in the request it is\n%s", got.body, want.body)
	}
	for _, l := range lossplaces.Of(want.generate) {
		if !lossplaces.Has(got.generate, l) {
			return fmt.Errorf("a loss is reported only with the files in the request: %v", l)
		}
	}
	return nil
}

// forms returns a request in the forms in which it reaches adapters: as its client
// sent it, with and without links, without its headers, as hosts make requests, and
// with changes.
func forms(n *upstream.Request, changes string) []*upstream.Request {
	n.Resolver = new(host)
	list := []*upstream.Request{n, hostMade(n, changes)}
	if len(filePaths(n)) > 0 {
		c := *n
		c.ForwardLinks = true
		list = append(list, &c)
	}
	if n.Header != nil {
		c := *n
		c.Header = nil
		list = append(list, &c)
	}
	return list
}

// asSent parses a recorded request. It returns nil for requests that are not valid;
// check 1 reports those.
func asSent(r *record) *upstream.Request {
	d, err := parseRequest(r.format, r.Request, false)
	if err != nil || validate(r.format, r.Request, r.rules(false)) != nil {
		return nil
	}
	n := d.Upstream()
	if r.format == formatMessages {
		n.Header = []upstream.HeaderField{{Name: "anthropic-version", Value: "2023-06-01"}}
	}
	return n
}

func TestEncodings(t *testing.T) {
	eachRecord(t, translated, func(t *testing.T, r *record) {
		n := asSent(r)
		if n == nil {
			return
		}
		seed := fnv.New64()
		_, _ = io.WriteString(seed, r.ID)
		list := forms(n, randomChanges(seed.Sum64()))
		for _, d := range destinations {
			for _, p := range encodingChecks {
				check(t, r, p.name+", "+d.name, func() error {
					for _, n := range list {
						if err := p.check(d, n); err != nil {
							return err
						}
					}
					return nil
				})
			}
		}
	})
}

// encodingChecks are the checks of single requests. Check 9 is the first, since the
// others could change the request, too.
var encodingChecks = []struct {
	name  string
	check func(destination, *upstream.Request) error
}{
	{"9 encoded twice", checkTwice},
	{"8 losses of Preflight", checkReports},
	{"11 linked files", checkLinks},
}

// TestConcurrentEncodings checks that goroutines can share a request and an adapter.
func TestConcurrentEncodings(t *testing.T) {
	agent := asSent(&record{&formattest.Record{Request: workload.Agent()}, formatMessages})
	list := []*upstream.Request{hostMade(agent, "")}
	for i := range fuzzDocuments {
		list = append(list, fuzzed(uint(i), ""))
	}
	for _, n := range list {
		for _, d := range destinations {
			up, err := d.make(&http.Client{Transport: bodyError{}})
			if err != nil {
				t.Fatal(err)
			}
			n := n.WithModel(d.model)
			send := func() string {
				err := upstream.Run(t.Context(), up, n, upstream.SinkFunc(func([]upstream.Event) error { return nil }))
				if sent := sentBody(""); errors.As(err, &sent) {
					return string(sent)
				}
				return fmt.Sprint("nothing was sent: ", err)
			}
			want := send()
			var wait sync.WaitGroup
			for range 3 {
				wait.Go(func() {
					if got := send(); got != want {
						t.Errorf("%s: once\n%s\nand then\n%s", d.name, clip(want, 1000), clip(got, 1000))
					}
				})
			}
			wait.Wait()
		}
	}
}

// A bodyError is a transport that returns the body of each request as an error.
type bodyError struct{}

type sentBody string

func (sentBody) Error() string { return "the test sends nothing" }

// RoundTrip implements [http.RoundTripper].
func (bodyError) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent capture
	if _, err := sent.RoundTrip(r); !errors.Is(err, errNotSent) {
		return nil, err
	}
	return nil, sentBody(sent.body)
}
