package anthropic

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
)

// Options configures a [Server]. The zero value accepts any key and any model.
type Options struct {
	// Key is the only accepted key; empty accepts every key, but not a missing
	// one.
	Key string
	// Forbid lists strings that no request may contain in a header, the query
	// or the body: the keys and headers of clients that must not reach the
	// vendor.
	Forbid []string
	// Models are the existing models, newest first; nil accepts every name and
	// lists three.
	Models []string
	// MaxTokens is the maximum of max_tokens for all models; zero means 128000.
	MaxTokens int
	// InputTokens is the result of count_tokens; zero means 42.
	InputTokens int
	// TrustSignatures disables the check of signatures, for bodies with
	// signatures of other origin.
	TrustSignatures bool
	// KeepThinking rejects a request whose open tool loop lacks thinking that
	// this fake sent. The vendor does so in manual mode only.
	KeepThinking bool
	// Platform is the cloud whose form of requests the fake has.
	Platform Platform
}

const jsonType = "application/json"

// A Server is a running fake. It is an http.Handler, safe for concurrent use.
type Server struct {
	*fake.Server
	opts    Options
	serial  atomic.Uint32
	thought thoughts
}

// New starts a fake on a loopback address. It stops at the end of the test.
func New(t testing.TB, opts Options) *Server {
	t.Helper()
	s := NewHandler(opts)
	s.Listen(t, s)
	return s
}

// NewHandler returns a fake without a listener, for use in other servers.
func NewHandler(opts Options) *Server {
	if opts.MaxTokens == 0 {
		opts.MaxTokens = 128000
	}
	if opts.InputTokens == 0 {
		opts.InputTokens = 42
	}
	return &Server{Server: fake.NewServer(), opts: opts}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, done := s.Begin(r)
	defer done()
	id := s.serial.Add(1)
	vendorHeaders(w.Header(), id)
	api, no := s.vendorForm(r, req)
	if no == nil {
		no = s.checkHTTP(api)
	}
	if no != nil {
		s.refuse(w, req, id, no)
		return
	}
	switch {
	case strings.HasPrefix(api.Path, "/v1/models"):
		s.serveModels(w, req, id)
	case api.Path == "/v1/messages":
		s.serveMessage(w, r, req, api, id)
	default:
		s.serveCount(w, req, api, id)
	}
}

// vendorHeaders sets the headers of messages.md §1.3.
func vendorHeaders(h http.Header, id uint32) {
	h.Set("Request-Id", requestID(id))
	h.Set("Anthropic-Organization-Id", "0f0e0d0c-0000-4000-8000-000000000001")
	for _, kind := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		h.Set("Anthropic-Ratelimit-"+kind+"-Limit", "1000")
		h.Set("Anthropic-Ratelimit-"+kind+"-Remaining", "999")
		h.Set("Anthropic-Ratelimit-"+kind+"-Reset", "2026-11-21T09:00:00Z")
	}
}

func requestID(id uint32) string { return fmt.Sprintf("req_%08d", id) }

func (s *Server) serveMessage(w http.ResponseWriter, r *http.Request, req, api *fake.Request, id uint32) {
	a, no := s.parse(api, false)
	if no != nil {
		s.refuse(w, req, id, no)
		return
	}
	turn := s.Next(req)
	stream := a.doc.True("stream")
	if st, failed := fake.StatusOf(turn, stream); failed {
		for k, v := range st.Header {
			w.Header().Set(k, v)
		}
		writeError(w, id, statusRefusal(st))
		s.End(req, fake.Whole)
		return
	}
	contentType, steps := jsonType, []fake.Step(nil)
	if stream {
		contentType, steps = "text/event-stream; charset=utf-8", s.stream(a, id, turn)
	} else {
		steps = s.whole(a, id, turn)
	}
	fake.Play(w, r, contentType, steps, func(how string) { s.End(req, how) })
}

func (s *Server) serveCount(w http.ResponseWriter, req, api *fake.Request, id uint32) {
	a, no := s.parse(api, true)
	if no != nil {
		s.refuse(w, req, id, no)
		return
	}
	answer := map[string]any{"input_tokens": s.opts.InputTokens}
	if a.betas("context-management-2025-06-27") {
		answer["context_management"] = map[string]any{"original_input_tokens": s.opts.InputTokens}
	}
	if s.opts.Platform == Bedrock {
		answer = map[string]any{"inputTokens": s.opts.InputTokens}
	}
	s.Give(w, req, jsonType, answer)
}

// parse reads and checks the body of a request. It returns the first broken
// rule.
func (s *Server) parse(req *fake.Request, count bool) (*ask, *refusal) {
	doc, err := fake.Parse(req.Body)
	if err != nil {
		return nil, &refusal{rule: "json", message: "The request body is not valid JSON: " + err.Error()}
	}
	a := &ask{server: s, doc: doc, count: count, version: req.Header.Get("Anthropic-Version"), betas: betaSet(req.Header)}
	if no := a.checkShape(); no != nil {
		return nil, no
	}
	a.model = parseModel(doc.Text("model"))
	a.turns = merge(doc.List("messages"))
	for _, r := range rules() {
		if message := r.check(a); message != "" {
			return nil, &refusal{rule: r.name, message: message, status: r.status}
		}
	}
	return a, nil
}

// serveModels is messages.md §1.1, with paging.
func (s *Server) serveModels(w http.ResponseWriter, req *fake.Request, id uint32) {
	models := s.opts.Models
	if models == nil {
		models = []string{"claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5"}
	}
	if name, one := strings.CutPrefix(req.Path, "/v1/models/"); one {
		if !slices.Contains(models, name) {
			s.refuse(w, req, id, &refusal{rule: "model", status: http.StatusNotFound, message: "model: " + name})
			return
		}
		s.Give(w, req, jsonType, modelInfo(name))
		return
	}
	page, more, no := pageOf(models, req)
	if no != nil {
		s.refuse(w, req, id, no)
		return
	}
	answer := map[string]any{"data": []any{}, "has_more": more, "first_id": nil, "last_id": nil}
	data := []any{}
	for _, m := range page {
		data = append(data, modelInfo(m))
	}
	answer["data"] = data
	if len(page) > 0 {
		answer["first_id"], answer["last_id"] = page[0], page[len(page)-1]
	}
	s.Give(w, req, jsonType, answer)
}

// pageOf returns the page of models that the query requests.
func pageOf(models []string, req *fake.Request) (page []string, more bool, no *refusal) {
	limit := 20
	if v := req.Query.Get("limit"); v != "" {
		if n, err := fmt.Sscan(v, &limit); n != 1 || err != nil || limit < 1 || limit > 1000 {
			return nil, false, &refusal{rule: "query", message: "limit: Input should be between 1 and 1000"}
		}
	}
	for k := range req.Query {
		if !slices.Contains([]string{"limit", "after_id", "before_id", "lifecycle[]", "beta"}, k) {
			return nil, false, &refusal{rule: "query", message: k + ": Extra inputs are not permitted"}
		}
	}
	if after := req.Query.Get("after_id"); after != "" {
		i := slices.Index(models, after)
		if i < 0 {
			return nil, false, &refusal{rule: "query", message: "after_id: no such model"}
		}
		models = models[i+1:]
	}
	if before := req.Query.Get("before_id"); before != "" {
		i := slices.Index(models, before)
		if i < 0 {
			return nil, false, &refusal{rule: "query", message: "before_id: no such model"}
		}
		return models[max(0, i-limit):i], i > limit, nil
	}
	return models[:min(limit, len(models))], len(models) > limit, nil
}

func modelInfo(name string) map[string]any {
	return map[string]any{
		"id": name, "type": "model", "display_name": "Fake " + name, "created_at": "2026-09-01T00:00:00Z",
		"lifecycle": "active", "line": nil, "max_input_tokens": 200000, "max_tokens": 64000,
		"deprecated_at": nil, "retires_at": nil, "capabilities": nil,
	}
}
