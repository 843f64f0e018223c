// Websearch runs the web search of vendors in the host, so that any model has it: a client declares the
// search tool of its own format, and the model calls a function in its place.
//
//	go run ./examples/websearch
//
// It serves the built-in model in all formats on http://127.0.0.1:8080. The host writes a search as blocks of
// Messages. Handlers of the other formats make of them what their vendor sends: the web_search_call of Responses
// and the webSearchQueries of generateContent; Chat Completions has nothing for it, a loss.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

func main() {
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: polywire.NewHandler(&searcher{echo.New(), find}, nil), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// find is the search engine of the example. It returns pages as a JSON array of web_search_result blocks of
// Messages. Their encrypted_content, which clients return, is the text in base64.
func find(_ context.Context, query string) (string, error) {
	return sjson.Set(`[{"type":"web_search_result","url":"https://go.dev","title":"The Go Programming Language"}]`,
		"0.encrypted_content", base64.StdEncoding.EncodeToString([]byte("Results for "+query+".")))
}

const (
	function  = "web_search"
	maxRounds = 8 // requests to the model for one of the client
)

// A searcher is an Upstream that runs the searches of requests that declare a vendor's search tool.
type searcher struct {
	next upstream.Upstream
	find func(ctx context.Context, query string) (pages string, err error)
}

func (s *searcher) Unwrap() upstream.Upstream { return s.next }

func (s *searcher) Generate(ctx context.Context, client *upstream.Request, w *upstream.Writer) error {
	r := withFunction(client)
	if r == nil {
		return s.next.Generate(ctx, client, w)
	}
	var used content.Usage
	for round := range maxRounds {
		a := answer{w: w, first: round == 0, hidden: map[int]bool{}}
		if err := upstream.Run(ctx, s.next, r, &a); err != nil {
			return err
		}
		response := a.all.Response()
		used = used.Add(response.Usage)
		calls, results := 0, content.Turn{Role: content.RoleUser}
		for _, p := range response.Parts {
			call, ok := p.(*content.ToolUse)
			if ok {
				calls++
			}
			if !ok || call.Name != function {
				continue
			}
			pages, err := s.find(ctx, gjson.Get(call.Input, "query").Str)
			if err != nil {
				return &upstream.Error{Code: upstream.CodeBadGateway, Err: err}
			}
			id := "srvtoolu_" + rand.Text()
			if err := cmp.Or(
				w.Part(&content.ServerToolUse{Format: messages.Format, Kind: "server_tool_use", ID: id, Name: function, Input: call.Input}),
				w.Part(&content.ServerToolResult{Format: messages.Format, Kind: "web_search_tool_result", ID: id, Content: pages}),
			); err != nil {
				return err
			}
			results.Parts = append(results.Parts, result(call.ID, pages))
		}
		if calls == 0 || calls > len(results.Parts) { // the end, or calls for the client, who returns the blocks
			return cmp.Or(w.Usage(used), w.Stop(response.Stop))
		}
		r = r.Clone()
		r.Turns = append(r.Turns, content.Turn{Role: content.RoleAssistant, Parts: response.Parts}, results)
	}
	return &upstream.Error{Code: upstream.CodeInternal, Err: errors.New("the model still searches after too many requests")}
}

// An answer sends the events of one round to the client, without calls of the search, the usage and the stop.
type answer struct {
	w      *upstream.Writer
	first  bool
	hidden map[int]bool // blocks
	all    upstream.Collector
}

func (a *answer) Send(events []upstream.Event) error {
	if err := a.all.Send(events); err != nil {
		return err
	}
	events[0].Frame = nil // the events differ from the vendor's
	return a.w.Send(slices.DeleteFunc(events, func(e upstream.Event) bool {
		switch e.Kind {
		case upstream.EventOpen:
			call, ok := e.Part.(*content.ToolUse)
			a.hidden[e.Block] = ok && call.Name == function
		case upstream.EventUsage, upstream.EventStop:
			return true
		case upstream.EventStart:
			return !a.first
		case upstream.EventLoss, upstream.EventExtra: // of no block
			return false
		}
		return a.hidden[e.Block]
	}))
}

// result returns the result of a search for the model.
func result(id, pages string) content.Part {
	var b strings.Builder
	for _, p := range gjson.Parse(pages).Array() {
		text, _ := base64.StdEncoding.DecodeString(p.Get("encrypted_content").Str)
		fmt.Fprintf(&b, "%s\n%s\n%s\n\n", p.Get("title"), p.Get("url"), text)
	}
	return &content.ToolResult{ID: id, Name: function, Parts: []content.Part{&content.Text{Text: b.String()}}}
}

// withFunction returns a request with the function in place of the vendor's search tool, and with earlier
// searches as calls of it. It returns nil if the request declares no such tool.
func withFunction(r *upstream.Request) *upstream.Request {
	c := r.Clone()
	c.Tools = slices.DeleteFunc(c.Tools, func(t content.Tool) bool { return strings.HasPrefix(t.Kind, "web_search") || t.Kind == "googleSearch" })
	_, option := r.Extra.Get("web_search_options") // of Chat Completions
	if len(c.Tools) == len(r.Tools) && !option {
		return nil
	}
	if option {
		c.Extra.JSON, _ = sjson.Delete(c.Extra.JSON, "web_search_options")
	}
	c.Tools = append(c.Tools, content.Tool{Name: function, Description: "Searches the web.", Input: content.Schema{JSON: `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`}})
	c.Turns = nil
	for _, t := range r.Turns {
		turn := content.Turn{Role: t.Role, Extra: t.Extra}
		for _, p := range t.Parts {
			use, _ := p.(*content.ServerToolUse)
			found, _ := p.(*content.ServerToolResult)
			switch {
			case use != nil && use.Name == function:
				turn.Parts = append(turn.Parts, &content.ToolUse{ID: use.ID, Name: function, Input: use.Input})
			case found != nil && found.Kind == "web_search_tool_result":
				if len(turn.Parts) > 0 {
					c.Turns = append(c.Turns, turn)
				}
				c.Turns = append(c.Turns, content.Turn{Role: content.RoleUser, Parts: []content.Part{result(found.ID, found.Content)}})
				turn.Parts = nil
			default: // a web_search_call of Responses has no results
				turn.Parts = append(turn.Parts, p)
			}
		}
		if len(turn.Parts) > 0 || len(t.Parts) == 0 {
			c.Turns = append(c.Turns, turn)
		}
	}
	return c
}
