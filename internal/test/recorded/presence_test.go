package recorded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// A state is how an object has a member.
type state string

const (
	absent   state = "absent"
	null     state = "null"
	empty    state = "empty" // an empty text, list or object, or false
	hasValue state = "value"
)

func stateOf(v any) state {
	switch v := v.(type) {
	case nil:
		return null
	case bool:
		if !v {
			return empty
		}
	case string:
		if v == "" {
			return empty
		}
	case []any:
		if len(v) == 0 {
			return empty
		}
	case object:
		if len(v) == 0 {
			return empty
		}
	}
	return hasValue
}

// A seen is what recordings of the vendor's own hosts show of one kind of object.
type seen struct {
	objects int
	members map[string]map[state]int // without absent
}

func (s *seen) has(name string, st state) bool {
	if st != absent {
		return s.members[name][st] > 0
	}
	present := 0
	for _, n := range s.members[name] {
		present += n
	}
	return present < s.objects
}

// vendorHost reports whether a host is one of the vendor of a format.
func vendorHost(format content.Format, host string) bool {
	if format == formatMessages {
		return host == "api.anthropic.com"
	}
	return host == "generativelanguage.googleapis.com" || strings.HasSuffix(host, "aiplatform.googleapis.com")
}

// kinds are the objects that vendors write, by format and name.
var kinds struct {
	sync.Once
	of map[content.Format]map[string]*seen
}

func recordedKinds(t *testing.T) map[content.Format]map[string]*seen {
	recordings := corpus(t)
	kinds.Do(func() {
		kinds.of = make(map[content.Format]map[string]*seen)
		for _, format := range []content.Format{formatMessages, formatGenerate} {
			list := make(map[string]*seen)
			for _, r := range recordings[format] {
				if !vendorHost(format, r.Host) {
					continue
				}
				endpoint := r.Endpoint
				if r.generates() {
					endpoint = ""
				}
				eachObject(format, endpoint, r.accepted(), r.Response, func(kind string, o object) {
					s := list[kind]
					if s == nil {
						s = &seen{members: make(map[string]map[state]int)}
						list[kind] = s
					}
					s.objects++
					for name, v := range o {
						if s.members[name] == nil {
							s.members[name] = make(map[state]int)
						}
						s.members[name][stateOf(v)]++
					}
				})
			}
			kinds.of[format] = list
		}
	})
	return kinds.of
}

// eachObject calls f for every object of a response except those in free JSON. The name of a
// kind of object has its place, and its type if it has one. Streams and whole responses are
// different places. endpoint is empty for the response of a model.
func eachObject(format content.Format, endpoint string, accepted bool, body string, f func(kind string, o object)) {
	place, stream := "response", "chunk"
	if format == formatMessages {
		stream = "event"
	}
	switch {
	case !accepted:
		place = "error"
	case endpoint != "":
		place = endpoint
	}
	if v := parseJSON(body); v != nil {
		if _, list := v.([]any); list {
			place = stream
		}
		walkObjects(format, place, v, f)
		return
	}
	for _, e := range splitEvents(body) {
		v := parseJSON(e.data)
		if o, _ := v.(object); o["error"] != nil {
			walkObjects(format, "error", v, f)
			continue
		}
		walkObjects(format, stream, v, f)
	}
}

func walkObjects(format content.Format, place string, v any, f func(kind string, o object)) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			walkObjects(format, place, x, f)
		}
	case object:
		kind := place + tagOf(format, place, v)
		f(kind, v)
		for name, x := range v {
			if !freeJSON[name] {
				walkObjects(format, kind+"."+name, x, f)
			}
		}
	}
}

// tagOf returns the type of an object, in parentheses, or "".
func tagOf(format content.Format, place string, o object) string {
	if format == formatMessages {
		if s, ok := o["type"].(string); ok && !strings.HasPrefix(place, "error") {
			return "(" + s + ")"
		}
		return ""
	}
	switch {
	case !strings.HasSuffix(place, ".parts"):
		return ""
	case o["thought"] == true:
		return "(thought)"
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if name != "thoughtSignature" && name != "thought" && name != "mediaResolution" && name != "videoMetadata" {
			return "(" + name + ")"
		}
	}
	return "()"
}

// unrecorded are the members that handlers write although no recording of the vendor shows
// them so.
var unrecorded = []struct {
	format       content.Format
	kind, member string // an empty member means the kind of object
	state        state
	reason       string
}{
	{formatMessages, "event(content_block_delta).delta(citations_delta)", "", "", "no recorded stream has citations"},
	{formatMessages, "event(content_block_delta).delta(citations_delta).citation(web_search_result_location)", "", "", "the same"},
	{formatMessages, webCitation, "cited_text", empty, "other vendors do not send the text of the source, and clients require the member"},
	{formatMessages, webCitation, "encrypted_index", empty, "only this vendor has it, and clients require the member"},
	{formatMessages, "event(message_delta).usage", "cache_creation", hasValue, "the upstream counts only at the end, after message_start"},
	{formatMessages, "event(message_delta).usage.cache_creation", "", "", "the same"},
	{formatMessages, "event(message_delta).delta", "stop_sequence", hasValue, "recorded whole responses have it"},
	{formatMessages, "event(message_delta).delta.stop_details(refusal)", "category", null, "other vendors do not name it; SDKs have null"},
	{formatMessages, "event(message_delta).delta.stop_details(refusal)", "explanation", null, "the upstream may have none; SDKs have null"},
	{formatMessages, "event(message_delta).delta.stop_details(refusal)", "recommended_model", absent, "no other model is known to be better"},
	{formatMessages, "response(message).stop_details(refusal)", "category", null, "other vendors do not name it; SDKs have null"},
	{formatMessages, "response(message).stop_details(refusal)", "explanation", null, "the upstream may have none; SDKs have null"},
	{formatMessages, "response(message).stop_details(refusal)", "recommended_model", absent, "no other model is known to be better"},
	{formatMessages, "response(message).content(code_execution_tool_result).content(code_execution_result)", "stdout", empty, "the code of another vendor failed, or has no output"},
	{formatMessages, "response(message).content(code_execution_tool_result).content(code_execution_result)", "stderr", hasValue, "recorded runs did not fail"},
	{formatMessages, "event(content_block_start).content_block(code_execution_tool_result).content(code_execution_result)", "stdout", empty, "the code of another vendor failed, or has no output"},
	{formatMessages, "event(content_block_start).content_block(code_execution_tool_result).content(code_execution_result)", "stderr", hasValue, "recorded runs did not fail"},
	{formatMessages, "models", "has_more", hasValue, "the only recorded list has one page"},
	{formatMessages, "models.data(model)", "capabilities", null, "the upstream does not state them; SDKs have null"},
	{formatMessages, "models.data(model)", "max_input_tokens", null, "the upstream does not state it; SDKs have null"},
	{formatMessages, "models.data(model)", "max_tokens", null, "the upstream does not state it; SDKs have null"},

	{formatGenerate, "response", "usageMetadata", absent, "the upstream does not count"},
	{formatGenerate, "chunk", "usageMetadata", absent, "the upstream has not counted yet"},
	{formatGenerate, "chunk.usageMetadata", "cachedContentTokenCount", hasValue, "recorded whole responses have it"},
	{formatGenerate, "response.candidates.logprobsResult.chosenCandidates", "tokenId", absent, "other vendors have no ids of tokens; SDKs allow none"},
	{formatGenerate, "response.candidates.logprobsResult", "topCandidates", absent, "the client did not ask for them"},
	{formatGenerate, "chunk.candidates.content.parts(codeExecutionResult).codeExecutionResult", "id", hasValue, "recorded whole responses have it"},
	{formatGenerate, "chunk.candidates.content.parts(codeExecutionResult).codeExecutionResult", "output", absent, "recorded whole responses lack it if there is none"},
	{formatGenerate, "chunk.candidates.content.parts(executableCode).executableCode", "id", hasValue, "the same"},
	{formatGenerate, "chunk.candidates", "avgLogprobs", hasValue, "recorded whole responses have it"},
	{formatGenerate, "chunk.candidates", "logprobsResult", hasValue, "the same"},
	{formatGenerate, "chunk.candidates.logprobsResult", "", "", "the same"},
	{formatGenerate, "chunk.candidates.logprobsResult.chosenCandidates", "", "", "the same"},
	{formatGenerate, "response.candidates.content.parts(text)", "text", empty, "it carries state in its signature, as in recorded streams"},
	{formatGenerate, "response.candidates.content.parts(inlineData)", "", "", "no recorded model sends files"},
	{formatGenerate, "response.candidates.content.parts(inlineData).inlineData", "", "", "the same"},
	{formatGenerate, "chunk.candidates.content.parts(inlineData)", "", "", "the same"},
	{formatGenerate, "chunk.candidates.content.parts(inlineData).inlineData", "", "", "the same"},
	{formatGenerate, "response.candidates.groundingMetadata.groundingSupports.segment", "partIndex", hasValue, "recorded responses with citations have one text"},
	{formatGenerate, "chunk.candidates.groundingMetadata.groundingSupports.segment", "partIndex", hasValue, "the same"},
	{formatGenerate, "chunk.candidates.groundingMetadata.groundingSupports.segment", "text", absent, "streams do not keep their text"},
	{formatGenerate, "response" + retrieved, "title", hasValue, "the source has a title and is in no store of this vendor"},
	{formatGenerate, "response" + retrieved, "text", absent, "the same"},
	{formatGenerate, "response" + retrieved, "fileSearchStore", absent, "the same"},
	{formatGenerate, "chunk" + retrieved, "title", hasValue, "the same"},
	{formatGenerate, "chunk" + retrieved, "text", absent, "the same"},
	{formatGenerate, "chunk" + retrieved, "fileSearchStore", absent, "the same"},
	{formatGenerate, "chunk" + retrieved, "customMetadata", absent, "the same"},
	{formatGenerate, "error.error.details.violations", "quotaMetric", hasValue, "the vendor's type has it; the only recorded violation was shortened"},
	{formatGenerate, "count", "promptTokensDetails", absent, "the upstream counts all modalities together"},
	{formatGenerate, "models", "nextPageToken", absent, "the only recorded list continues"},
	{formatGenerate, "models.models", "version", absent, "the upstream does not state it"},
	{formatGenerate, "models.models", "description", absent, "the same"},
	{formatGenerate, "models.models", "inputTokenLimit", absent, "the same"},
	{formatGenerate, "models.models", "outputTokenLimit", absent, "the same"},
}

const (
	webCitation = "response(message).content(text).citations(web_search_result_location)"
	retrieved   = ".candidates.groundingMetadata.groundingChunks.retrievedContext"
)

func isException(format content.Format, kind, member string, st state) bool {
	for _, x := range unrecorded {
		if x.format == format && x.kind == kind && x.member == member && x.state == st {
			return true
		}
	}
	return false
}

// notRecorded returns what a response of a handler has that no recording shows.
func notRecorded(all map[content.Format]map[string]*seen, format content.Format, endpoint string, status int, body string) []string {
	found := make(map[string]bool)
	add := func(kind, member string, st state, text string) {
		if !isException(format, kind, member, st) {
			found[text] = true
		}
	}
	eachObject(format, endpoint, status == http.StatusOK, body, func(kind string, o object) {
		s := all[format][kind]
		if s == nil {
			add(kind, "", "", "no recording has "+kind)
			return
		}
		for name, v := range o {
			if st := stateOf(v); !s.has(name, st) {
				add(kind, name, st, fmt.Sprintf("%s: %s is never %s", kind, name, st))
			}
		}
		for name := range s.members {
			if _, ok := o[name]; !ok && !s.has(name, absent) {
				add(kind, name, absent, fmt.Sprintf("%s: %s is never absent", kind, name))
			}
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// reencoded returns an upstream whose responses handlers encode anew, also those of the
// vendor of their format. stream is how its vendor responds.
func reencoded(up upstream.Upstream, stream bool) upstream.Upstream {
	up = upstream.Tap(up, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
		return upstream.SinkFunc(func(events []upstream.Event) error {
			for i := range events {
				events[i].Frame = nil
			}
			return to.Send(events)
		}), nil
	})
	return upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		c := r.Clone()
		c.Stream = stream
		return c, nil
	})
}

// TestPresence checks that handlers write what the vendor's own hosts send: for every kind of
// object the members that recordings have, each absent, null, empty or with a value as there.
// Types of SDKs allow more, but clients depend on what they have met.
func TestPresence(t *testing.T) {
	all := recordedKinds(t)
	eachRecord(t, generated, func(t *testing.T, r *record) {
		want, err := readAnswer(r.format, r.Response, r.Events())
		if err != nil || want.several {
			return
		}
		up, _, release, err := replay(r)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		up = reencoded(up, r.streamed())
		for _, to := range []content.Format{formatMessages, formatGenerate} {
			for _, d := range []delivery{whole, eventStream} {
				if to == r.format && (!vendorHost(to, r.Host) || r.streamed() != (d == eventStream)) {
					continue // members of the host, or of the other delivery, pass
				}
				check(t, r, "4m members through "+string(to)+", "+map[delivery]string{whole: "whole", eventStream: "stream"}[d], func() error {
					got, err := send(to, up, simple(to, r.model(), d, true))
					if err != nil {
						return err
					}
					if list := notRecorded(all, to, "", got.status, got.body); list != nil {
						return errors.New(strings.Join(list, "\n"))
					}
					return nil
				})
			}
		}
	})
}

// scripted are responses that recordings do not have, or not in each format.
var scripted = map[string]upstream.Func{
	"nothing": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Stop(upstream.Stop{Reason: content.StopEnd})
	},
	"text": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Text("a") },
	"all counts": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		return w.Usage(content.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, CacheWrite1h: 4, Output: 5, Thinking: 6, ToolPrompt: 7})
	},
	"thinking and calls": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("t")
		_ = w.ToolCall("a", "f").Input(`{"x":1}`)
		_ = w.ToolCall("", "g").Close()
		_ = w.Usage(content.Usage{Input: 1, Output: 2})
		return w.Stop(upstream.Stop{Reason: content.StopToolUse})
	},
	"stop sequence": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		_ = w.Usage(content.Usage{Input: 1, Output: 2})
		return w.Stop(upstream.Stop{Reason: content.StopSequence, Sequence: "END"})
	},
	"refusal": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Usage(content.Usage{Input: 1, Output: 2})
		return w.Stop(upstream.Stop{Reason: content.StopRefusal, Message: "No."})
	},
	"no reason": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		return w.Stop(upstream.Stop{Reason: content.StopSafety})
	},
	"citation": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		_ = w.Cite(content.Citation{Kind: content.CiteWeb, URL: "https://a.example"})
		return w.Usage(content.Usage{Input: 1, Output: 2})
	},
	"image": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}})
		return w.Usage(content.Usage{Input: 1, Output: 2})
	},
}

// TestScriptedPresence is [TestPresence] for what few recordings have: scripted responses,
// errors, counts and lists of models.
func TestScriptedPresence(t *testing.T) {
	all := recordedKinds(t)
	for _, format := range []content.Format{formatMessages, formatGenerate} {
		expect := func(t *testing.T, endpoint string, status int, body string) {
			t.Helper()
			for _, text := range notRecorded(all, format, endpoint, status, body) {
				t.Errorf("%s\n%s", text, clip(body, 600))
			}
		}
		run := func(name string, up upstream.Upstream) {
			for _, d := range []delivery{whole, eventStream} {
				t.Run(fmt.Sprintf("%s/%s/%v", format, name, d), func(t *testing.T) {
					got, err := send(format, up, simple(format, "m", d, true))
					if err != nil {
						t.Fatal(err)
					}
					expect(t, "", got.status, got.body)
				})
			}
		}
		for name, up := range scripted {
			run(name, up)
		}
		for _, code := range []upstream.Code{upstream.CodeInvalid, upstream.CodeUnauthenticated, upstream.CodeBilling, upstream.CodePermission,
			upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeInternal, upstream.CodeUnavailable,
			upstream.CodeTimeout, upstream.CodeOverloaded, upstream.CodeUnsupported, upstream.CodeBadGateway} {
			err := &upstream.Error{Code: code, RetryAfter: time.Second}
			run(string(code), upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return err }))
			run(string(code)+" after content", upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				_ = w.Text("a")
				_ = w.Usage(content.Usage{Input: 1, Output: 2})
				return err
			}))
		}
		able := &formattest.Able{
			Count: func(context.Context, *upstream.Request) (upstream.TokenCount, error) {
				return upstream.TokenCount{Tokens: 3}, nil
			},
			List: func(context.Context) ([]upstream.Model, error) {
				return []upstream.Model{{ID: "m"}, {ID: "n", Name: "N", Description: "d", MaxInput: 1, MaxOutput: 2, Thinking: true, Created: time.Unix(1, 0)}}, nil
			},
		}
		t.Run(string(format)+"/count", func(t *testing.T) {
			q := simple(format, "m", whole, false)
			if format == formatMessages {
				q.path += "/count_tokens"
				q.body = `{"model":"m","messages":[{"role":"user","content":"?"}]}`
			} else {
				q.path = strings.Replace(q.path, ":generateContent", ":countTokens", 1)
			}
			got, err := send(format, able, q)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, "count", got.status, got.body)
		})
		t.Run(string(format)+"/models", func(t *testing.T) {
			path := map[content.Format]string{formatMessages: "/v1/models?limit=1", formatGenerate: "/v1beta/models?pageSize=1"}[format]
			for _, path := range []string{path, strings.TrimSuffix(path, "1") + "2"} {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Header.Set("anthropic-version", "2023-06-01")
				w := httptest.NewRecorder()
				newHandler(format, able, new(upstream.Report)).ServeHTTP(w, r)
				expect(t, "models", w.Code, w.Body.String())
			}
		})
	}
}
