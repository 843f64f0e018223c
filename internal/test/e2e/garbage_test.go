package e2e

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A randomFiller fills values with anything that a program can put into them:
// zero values, nil pointers of every kind, unknown types of parts, and strings
// of all formats in the wrong places.
type randomFiller struct{ *rand.Rand }

// An oddPart and an oddSource have types that Polywire does not know.
type (
	oddPart   struct{ content.Part }
	oddSource struct{ content.Source }
)

var (
	rubbishParts   = append(slices.Clip(formattest.PartKinds), content.Part(oddPart{}))
	rubbishSources = append(slices.Clip(formattest.SourceKinds), content.Source(oddSource{}))
	rubbishWords   = strings.Split("|a| |\x00|\xff|é\r\nX: y|messages|generatecontent|openai-chat|openai-responses|user|assistant|system|"+
		"{}|{|[]|null|true|-1e999|{\"a\":1,\"a\":2}|{\"$ref\":\"#\"}|{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\"}}}|"+
		"image/png|application/pdf|text/plain|iVBORw0KGgo=|!!|https://example.com/a?x=1|http://u:p@[::1]:99999/|file_1|any|none|auto|validated|budget|off|low|full|omitted|"+
		"web_search|googleSearch|function|call_1|p|nabc|{\"type\":\"web_search_call\",\"id\":\"a\"}|{\"id\":\"rs\",\"encrypted_content\":\"x\"}|"+
		"[{\"text\":\"a\",\"signature\":\"b\",\"back\":5,\"past\":3,\"first\":true},{\"redacted\":\"x\"}]", "|")
	rubbishNumbers = []int64{0, 1, -1, 7, 1000, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}
	rubbishFloats  = []float64{0, 1, -1, 0.5, 1e308, math.NaN(), math.Inf(1)}
)

func (r randomFiller) randomWord() string { return rubbishWords[r.IntN(len(rubbishWords))] }

func (r randomFiller) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*document.Document]() && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem(), depth)
		}
	case reflect.Struct:
		if s, ok := v.Addr().Interface().(*content.Signature); ok && r.IntN(3) == 0 {
			*s = content.Signature{Format: content.Format(r.randomWord()), Data: r.randomWord()}
			if r.IntN(2) == 0 {
				s.Data = envelope.EncodeThinking([]*content.Thinking{{Text: s.Data, Signature: *s}})
			}
			return
		}
		for i := range v.NumField() {
			if r.IntN(4) > 0 {
				r.fill(v.Field(i), depth)
			}
		}
	case reflect.Slice:
		if n := r.IntN(4); depth < 4 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				r.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Interface:
		r.fillUnion(v, depth)
	case reflect.String:
		v.SetString(r.randomWord())
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(rubbishNumbers[r.IntN(len(rubbishNumbers))])
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(5)))
	case reflect.Float64:
		v.SetFloat(rubbishFloats[r.IntN(len(rubbishFloats))])
	}
}

func (r randomFiller) fillUnion(v reflect.Value, depth int) {
	var kind any
	switch v.Type() {
	case reflect.TypeFor[content.Part]():
		kind = rubbishParts[r.IntN(len(rubbishParts))]
	case reflect.TypeFor[content.Source]():
		kind = rubbishSources[r.IntN(len(rubbishSources))]
	default:
		return // a Resolver
	}
	t := reflect.TypeOf(kind)
	switch {
	case r.IntN(12) == 0: // nil
	case t.Kind() != reflect.Pointer:
		v.Set(reflect.ValueOf(kind))
	case r.IntN(12) == 0:
		v.Set(reflect.Zero(t)) // a nil pointer
	default:
		p := reflect.New(t.Elem())
		r.fill(p.Elem(), depth+1)
		v.Set(p)
	}
}

// refusal is a transport that rejects requests because of one member after another, so that
// adapters send them again in other forms.
type refusal struct {
	requests int
	invalid  string // a document that is not valid JSON
}

func (f *refusal) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if doc, err := io.ReadAll(r.Body); err != nil || !json.Valid(doc) {
			f.invalid = string(doc)
		}
		_ = r.Body.Close()
	}
	members := strings.Fields("temperature tool_choice reasoning_effort stop thinking include max_tokens developer stream_options response_format")
	f.requests++
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"error":{"message":"json_schema: unsupported parameter","param":"` + members[f.requests%len(members)] + `"}}`)),
	}, nil
}

// randomFiles is a resolver with files of any kind.
type randomFiles struct{ randomFiller }

func (r randomFiles) Resolve(context.Context, content.Source) (content.Blob, error) {
	if r.IntN(3) == 0 {
		return content.Blob{}, content.ErrUnresolved
	}
	return content.Blob{MediaType: r.randomWord(), Data: []byte(r.randomWord())}, nil
}

// TestGarbage passes random values to everything that encodes a request or a
// response. Nothing may panic: an invalid value is an error or a loss.
func TestGarbage(t *testing.T) {
	seeds := uint64(4000)
	if testing.Short() {
		seeds = 400
	}
	server := new(refusal)
	c := &http.Client{Transport: server}
	ups := []upstream.Upstream{anthropicAt(t, "http://localhost", c), geminiAt(t, "http://localhost", c),
		chatAt(t, "http://localhost", c), responsesAt(t, "http://localhost", c)}
	for _, name := range []string{"vertex claude", "bedrock claude", "foundry claude", "vertex gemini"} {
		ups = append(ups, clouds[name].at(t, "http://localhost", c))
	}
	models := []string{"", "m", "../x", "claude-opus-4-5", "gemini-3-pro", "gemini-2.5-flash", "gpt-5", "o3"}
	for seed := range seeds {
		r := randomFiller{rand.New(rand.NewPCG(seed, 1))}
		n := new(upstream.Request)
		r.fill(reflect.ValueOf(n).Elem(), 0)
		n.Model, n.RejectLoss = models[r.IntN(len(models))], 0
		if r.IntN(2) == 0 {
			n.Resolver = randomFiles{r}
		}
		catchPanic(t, seed, func() {
			for _, up := range ups {
				_, _ = upstream.Preflight(t.Context(), up, n)
				_, _ = upstream.CountTokens(t.Context(), up, n)
				if _, err := upstream.Collect(t.Context(), up, n); err == nil {
					t.Errorf("seed %d: got a response", seed)
				}
				if server.invalid != "" {
					t.Errorf("seed %d: sent a document that is not valid JSON: %s", seed, server.invalid)
					server.invalid = ""
				}
			}
			m, _, _ := messages.RequestFromUpstream(n)
			_, _ = m.Validate(nil), m.Upstream()
			g, _, _ := generatecontent.RequestFromUpstream(n)
			_, _ = g.Validate(nil), g.Upstream()
			_, _ = upstream.EstimateTokens(n), n.Clone()
		})
	}
}

// TestGarbageResponses has upstreams send random events. Handlers recover from
// panics, so the test looks at their error texts.
func TestGarbageResponses(t *testing.T) {
	for seed := range uint64(2000) {
		r := randomFiller{rand.New(rand.NewPCG(seed, 2))}
		var events []upstream.Event
		for range 1 + r.IntN(10) {
			var e upstream.Event
			r.fill(reflect.ValueOf(&e).Elem(), 0)
			e.Kind, e.Block, e.Frame = upstream.EventKind(r.IntN(14)), r.IntN(3), nil
			if r.IntN(3) > 0 {
				e.Candidate = 0
			}
			events = append(events, e)
		}
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for _, e := range slices.Clone(events) {
				if err := w.Frame(&upstream.Frame{Format: messages.Format, Data: "{}", Events: []upstream.Event{e}}); err != nil {
					return err
				}
			}
			return nil
		})
		for _, f := range endpoints {
			members := `"contents":[{"role":"user","parts":[{"text":"a"}]}]`
			if f.name == "messages" {
				members = `"messages":[{"role":"user","content":"a"}]`
			}
			for _, m := range f.modes {
				var failed error
				h := f.handler(up, upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler), OnDone: func(_ context.Context, r *upstream.Report) { failed = r.Err }})
				h.ServeHTTP(httptest.NewRecorder(), f.request("m", members, m))
				if failed != nil && strings.Contains(failed.Error(), "panic") {
					t.Errorf("seed %d, %s %s: %v", seed, f.name, m, failed)
				}
			}
		}
	}
}

// TestGarbageReplies makes replies of random values.
func TestGarbageReplies(t *testing.T) {
	for seed := range uint64(4000) {
		r := randomFiller{rand.New(rand.NewPCG(seed, 3))}
		var reply upstream.Response
		r.fill(reflect.ValueOf(&reply).Elem(), 0)
		catchPanic(t, seed, func() {
			for _, encode := range []func(*upstream.Request, *upstream.Response) ([]byte, []content.Loss){
				messages.EncodeResponse, generatecontent.EncodeResponse, chatcompletions.EncodeResponse, responses.EncodeResponse,
			} {
				if doc, _ := encode(nil, &reply); !json.Valid(doc) {
					t.Errorf("seed %d: not valid: %s", seed, doc)
				}
			}
		})
	}
}

// catchPanic calls f and fails the test if it panics.
func catchPanic(t *testing.T, seed uint64, f func()) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("seed %d: panic: %v\n%s", seed, v, debug.Stack())
		}
	}()
	f()
}
