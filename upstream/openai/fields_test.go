package openai

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// A fieldCase is a request whose losses or document depend on a field of [Dialect], or on
// a field of an entry of servers.
type fieldCase struct {
	field     string // of Dialect; or of the entry of host, such as "seed" or "defaults.Efforts"
	host      string // an entry of servers; empty: a compatible server with the dialect
	dialect   Dialect
	responses bool // the Responses API
	change    func(*upstream.Request)

	// The losses with the field, and without it: those with another host, or with the
	// zero value of the field. If they are equal the documents differ.
	want, without []string
}

var fieldCases = []fieldCase{
	{field: "Kind", dialect: Dialect{Kind: ServerOpenAI}, change: func(r *upstream.Request) { r.TopK = new(int64(5)) }, want: []string{"dropped top_k"}},
	{field: "Efforts", dialect: Dialect{Efforts: []string{"low"}}, change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff}), want: []string{"degraded thinking.mode"}},
	{field: "Reasoning", dialect: Dialect{Reasoning: "reasoning"}, change: withThought},
	{field: "Thinking", dialect: Dialect{Thinking: chatcompletions.ThinkingObject}, change: thinkingWith(0.5), want: []string{"dropped temperature"}},
	{field: "ShortIDs", dialect: Dialect{ShortIDs: true}, change: withCall(resultOf("c1")), want: []string{"hint turns.1.parts.0.id"}},
	{field: "StrictRoles", dialect: Dialect{StrictRoles: true}, change: withCall(resultOf("c1"), textOf("a")), want: []string{"degraded turns.2"}},
	{field: "TextOnly", dialect: Dialect{TextOnly: true, DescribeUnreadable: true}, change: withUserParts(png), want: []string{"dropped turns.0.parts.1"}},
	{field: "Files", dialect: Dialect{Files: true, DescribeUnreadable: true}, change: withUserParts(&content.Document{Source: pdf}), without: []string{"dropped turns.0.parts.1"}},
	{field: "Links", dialect: Dialect{Links: true}, change: withLink},
	{field: "CacheControl", dialect: Dialect{CacheControl: true}, change: withUserParts(marked), without: []string{"hint turns.0.parts.1.cache"}},
	{field: "DescribeUnreadable", dialect: Dialect{DescribeUnreadable: true}, change: withUserParts(&content.Document{Source: pdf}), want: []string{"dropped turns.0.parts.1"}, without: []string{"error: turns.0.parts.1.source: the server does not accept files; send the text"}},

	{host: "api.deepseek.com", field: "defaults.Thinking", change: thinkingWith(0.5), want: []string{"dropped temperature"}},
	{host: "api.deepseek.com", field: "defaults.Efforts", change: thinkingOf(upstream.Thinking{Effort: "medium"}), want: []string{"degraded thinking.effort"}},
	{host: "api.deepseek.com", field: "phases", responses: true, change: withTurns(q, turnOf(content.RoleAssistant, textOf("a")), q)},
	{host: "api.mistral.ai", field: "defaults.ShortIDs", change: withCall(resultOf("c1")), want: []string{"hint turns.1.parts.0.id"}},
	{host: "api.mistral.ai", field: "defaults.Efforts", change: thinkingOf(upstream.Thinking{Effort: "low"}), want: []string{"degraded thinking.effort"}},
	{host: "api.mistral.ai", field: "seed", change: func(r *upstream.Request) { r.Seed = new(int64(7)) }},
	{host: "api.mistral.ai", field: "prefix", change: begun, without: []string{"degraded turns.1.parts.0"}},
	{host: "api.mistral.ai", field: "cacheKeys", change: func(*upstream.Request) {}},
	{host: "api.x.ai", field: "cacheKeys", responses: true, change: func(*upstream.Request) {}},
	{host: "openrouter.ai", field: "defaults.CacheControl", change: withUserParts(marked), without: []string{"hint turns.0.parts.1.cache"}},
}

// withoutCase are the fields that have no effect on requests.
var withoutCase = map[string]string{"ThinkTags": "for responses only", "apart": "for the usage of responses only"}

var marked = &content.Text{Text: "a", Cache: &content.Cache{}}

// withLink adds an image that the server may fetch.
func withLink(r *upstream.Request) {
	withUserParts(&content.Image{Source: &content.URL{URL: "https://files.example/a.png"}})(r)
	r.ForwardLinks = true
}

func thinkingWith(temperature float64) func(*upstream.Request) {
	return func(r *upstream.Request) {
		r.Temperature, r.Thinking = &temperature, upstream.Thinking{Mode: upstream.ThinkingAuto}
	}
}

// withThought adds a tool call with thinking.
func withThought(r *upstream.Request) {
	withCall(resultOf("c1"))(r)
	r.Turns[1].Parts = append([]content.Part{&content.Thinking{Text: "a"}}, r.Turns[1].Parts...)
}

// begun adds the beginning of a response.
func begun(r *upstream.Request) {
	r.Turns = append(r.Turns, turnOf(content.RoleAssistant, textOf("It is")))
}

// TestFields checks that each field of Dialect, and each field of an entry of servers, has
// a case, which a new server needs too.
func TestFields(t *testing.T) {
	missing := make(map[string]bool) // by host and field
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Dialect]()) {
		missing[" "+f.Name] = withoutCase[f.Name] == ""
	}
	for host, s := range servers {
		set := false
		v := reflect.ValueOf(s)
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.Name == "defaults" {
				for _, d := range reflect.VisibleFields(f.Type) {
					if !v.FieldByIndex(f.Index).FieldByIndex(d.Index).IsZero() {
						missing[host+" defaults."+d.Name], set = true, true
					}
				}
			} else if !v.FieldByIndex(f.Index).IsZero() {
				missing[host+" "+f.Name], set = withoutCase[f.Name] == "", true
			}
		}
		if !set {
			t.Errorf("%s: the entry sets no field", host)
		}
	}
	for _, c := range fieldCases {
		name := c.host + " " + c.field
		if _, ok := missing[name]; !ok {
			t.Errorf("%s: no such field is set", name)
		}
		missing[name] = false
		t.Run(name, func(t *testing.T) {
			other := c
			other.host = ""
			if c.host == "" {
				reflect.ValueOf(&other.dialect).Elem().FieldByName(c.field).SetZero()
			}
			losses, document := c.run(t)
			if diff := cmp.Diff(c.want, losses); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			otherLosses, otherDocument := other.run(t)
			if diff := cmp.Diff(c.without, otherLosses); diff != "" {
				t.Errorf("losses without the field (-want +got):\n%s", diff)
			}
			if cmp.Equal(losses, otherLosses) && document == otherDocument {
				t.Errorf("the field has no effect on %s", document)
			}
		})
	}
	for name, lacks := range missing {
		if lacks {
			t.Errorf("%s: fieldCases has no case for this field", name)
		}
	}
}

// run returns the losses of the request, or its error, and its document.
func (c *fieldCase) run(t *testing.T) (losses []string, document string) {
	t.Helper()
	o := Options{BaseURL: "http://localhost/v1", Dialect: c.dialect, Key: "k", HTTPClient: &http.Client{Transport: noNetwork{}}}
	if c.host != "" {
		o.BaseURL = "https://" + c.host + "/v1"
	}
	var up upstream.Upstream
	up, err := New(&o)
	if c.responses {
		up, err = NewResponses(&o)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &upstream.Request{Model: "m", Turns: []content.Turn{turnOf(content.RoleUser, textOf("q"))}}
	c.change(r)
	list, err := upstream.Preflight(context.Background(), up, r)
	if err != nil {
		return []string{"error: " + err.Error()}, ""
	}
	losses = append(losses, lossplaces.Names(list)...)
	encoded, err := upstream.EncodeRequest(context.Background(), up, r)
	if err != nil {
		t.Fatal(err)
	}
	return losses, encoded.Document
}

// noNetwork is a transport that sends nothing.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("a request was sent")
}
