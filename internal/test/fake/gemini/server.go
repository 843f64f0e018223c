package gemini

import (
	"net/http"
	"slices"
	"strconv"
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
	// Models are the existing models without "models/"; nil accepts every name
	// and lists three.
	Models []string
	// TotalTokens is the result of countTokens; zero means 42.
	TotalTokens int
	// TrustSignatures disables the check of signatures, for bodies with
	// signatures of other origin. Missing signatures are still rejected.
	TrustSignatures bool
	// NoDummies rejects the two values that the vendor accepts instead of a
	// signature.
	NoDummies bool
	// KeepSignatures checks more than the vendor: each signature, in any turn
	// and on any part, must come from this fake and be on the part with which
	// it was sent.
	KeepSignatures bool
	// Vertex is the vendor's cloud service: other paths, which begin with
	// "projects/" and this project and location ("p/locations/global") or, if it
	// is "express", with "publishers/"; an OAuth token instead of a key, except
	// for express; a role in each content, and other members.
	Vertex string
	// Lenient accepts values that released clients send although the
	// documentation does not allow them: the role "tool", results of parallel
	// calls in separate contents, a turn of the model in several contents, as the
	// official chat returns a stream, and the foreign signature that LangChain
	// adds to calls without one.
	Lenient bool
}

const jsonType = "application/json; charset=UTF-8"

// A Server is a running fake. It is an http.Handler, safe for concurrent use.
type Server struct {
	*fake.Server
	opts   Options
	serial atomic.Uint32
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
	if opts.TotalTokens == 0 {
		opts.TotalTokens = 42
	}
	return &Server{Server: fake.NewServer(), opts: opts}
}

// A call is a request with its method.
type call struct {
	req             *fake.Request
	version, model  string // the model without "models/"
	method          string
	doc             *fake.Node // the GenerateContentRequest
	root            *fake.Node // the body
	sse             bool
	server          *Server
	family          family
	contents        []*fake.Node
	config, thought *fake.Node
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, done := s.Begin(r)
	defer done()
	id := s.serial.Add(1)
	w.Header().Set("Vary", "Origin, X-Origin, Referer")
	w.Header().Set("Server-Timing", "gfet4t7; dur=12")
	w.Header().Set("X-Gemini-Service-Tier", "standard")
	c, no := s.route(req)
	if no != nil {
		s.refuse(w, c, req, no)
		return
	}
	if c.method == "" {
		s.serveModels(w, c)
		return
	}
	for _, check := range []func(*call) *refusal{checkContent, parseBody, checkKey, checkModel, checkRules} {
		if no := check(c); no != nil {
			s.refuse(w, c, req, no)
			return
		}
	}
	if c.method == "countTokens" {
		s.Give(w, req, jsonType, map[string]any{
			"totalTokens":         s.opts.TotalTokens,
			"promptTokensDetails": []any{map[string]any{"modality": "TEXT", "tokenCount": s.opts.TotalTokens}},
		})
		return
	}
	s.serveAnswer(w, r, c, id)
}

func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request, c *call, id uint32) {
	turn := s.Next(c.req)
	stream := c.method == "streamGenerateContent"
	if st, failed := fake.StatusOf(turn, stream); failed {
		for k, v := range st.Header {
			w.Header().Set(k, v)
		}
		writeError(w, c, statusRefusal(st))
		s.End(c.req, fake.Whole)
		return
	}
	a := s.answer(c, id, turn)
	contentType, steps := jsonType, []fake.Step(nil)
	switch {
	case stream && c.sse:
		contentType, steps = "text/event-stream", a.stream()
	case stream:
		steps = a.array()
	default:
		steps = fake.WholeSteps(turn, a.whole())
	}
	fake.Play(w, r, contentType, steps, func(how string) { s.End(c.req, how) })
}

// route returns the model and method, generatecontent.md §1.
func (s *Server) route(req *fake.Request) (*call, *refusal) {
	c := &call{req: req, server: s, sse: req.Query.Get("alt") == "sse" || req.Query.Get("$alt") == "sse"}
	if where := fake.Marked(req, s.opts.Forbid); where != "" {
		return c, invalid("forbidden", "fake: "+where+" contains a value that is forbidden here")
	}
	version, rest, _ := strings.Cut(strings.TrimPrefix(req.Path, "/"), "/")
	c.version = version
	versions := []string{"v1", "v1beta", "v1alpha"}
	if s.opts.Vertex != "" {
		versions = []string{"v1", "v1beta1"}
	}
	if !slices.Contains(versions, version) {
		return c, &refusal{rule: "path", code: 404, status: "NOT_FOUND", message: "Not found"}
	}
	if no := checkQuery(req); no != nil {
		return c, no
	}
	method := http.MethodGet
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		rest, c.method = rest[:i], rest[i+1:]
		method = http.MethodPost
	}
	rest = s.cutPublisher(rest, c.method)
	name, isModel := strings.CutPrefix(rest, "models")
	c.model = strings.TrimPrefix(name, "/")
	switch {
	case !isModel || name != "" && name[0] != '/', !slices.Contains([]string{"", "generateContent", "streamGenerateContent", "countTokens"}, c.method):
		return c, &refusal{rule: "path", code: 404, status: "NOT_FOUND", message: "Not found"}
	case req.Method != method:
		return c, &refusal{rule: "method", code: 405, status: "INVALID_ARGUMENT", message: "Method not allowed"}
	case strings.Contains(c.model, "/") || c.method != "" && c.model == "":
		return c, invalid("model-name", "* GenerateContentRequest.model: unexpected model name format\n")
	}
	c.family = parseFamily(c.model)
	return c, nil
}

// cutPublisher removes the beginning of a Vertex path, generatecontent.md §1.2. It returns
// "" for another path. Lists of models have no project.
func (s *Server) cutPublisher(rest, method string) string {
	if s.opts.Vertex == "" {
		return rest
	}
	if s.opts.Vertex != express && method != "" {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "projects/"+s.opts.Vertex+"/"); !ok {
			return ""
		}
	}
	rest, ok := strings.CutPrefix(rest, "publishers/google/")
	if !ok {
		return ""
	}
	return rest
}

// express is the Vertex mode with an API key.
const express = "express"

// checkQuery is generatecontent.md §1.4.
func checkQuery(req *fake.Request) *refusal {
	known := strings.Fields("alt $alt key access_token oauth_token prettyPrint fields callback quotaUser uploadType upload_protocol $.xgafv")
	if req.Method == http.MethodGet {
		known = append(known, "pageSize", "pageToken")
	}
	for k := range req.Query {
		if !slices.Contains(known, k) {
			message := `Invalid JSON payload received. Unknown name "` + k + `": Cannot bind query parameter. Field '` + k + `' could not be found in request message.`
			return invalid("query", message)
		}
	}
	return nil
}

// checkContent checks the content type and size.
func checkContent(c *call) *refusal {
	kind, _, _ := strings.Cut(c.req.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != "application/json" {
		return invalid("content-type", "Invalid content type: "+kind)
	}
	if n := len(c.req.Body); n > 100<<20 {
		return invalid("size", "Request payload size exceeds the limit: 104857600 bytes.")
	}
	return nil
}

// checkKey is generatecontent.md §1.3. Like the vendor, it comes after the
// parser.
func checkKey(c *call) *refusal {
	if c.server.opts.Vertex != "" && c.server.opts.Vertex != express && c.req.Header.Get("Authorization") != "Bearer "+c.server.opts.Key {
		return &refusal{rule: "key", code: 401, status: "UNAUTHENTICATED", message: noToken}
	}
	keys := c.req.Header.Values("X-Goog-Api-Key")
	for _, v := range c.req.Header.Values("Authorization") {
		keys = append(keys, strings.TrimPrefix(v, "Bearer "))
	}
	for _, name := range []string{"key", "access_token", "oauth_token"} {
		keys = append(keys, c.req.Query[name]...)
	}
	if len(keys) == 0 || keys[0] == "" {
		return &refusal{rule: "key", code: 403, status: "PERMISSION_DENIED", message: noKey}
	}
	for _, k := range keys {
		// A client may send the key twice, but not two different keys.
		if k != keys[0] || c.server.opts.Key != "" && k != c.server.opts.Key {
			return &refusal{rule: "key", code: 400, status: "INVALID_ARGUMENT", message: badKey, details: badKeyDetails}
		}
	}
	return nil
}

func checkModel(c *call) *refusal {
	if known := c.server.opts.Models; known != nil && !slices.Contains(known, c.model) {
		message := "models/" + c.model + " is not found for API version " + c.version + ", or is not supported for " + c.method + ". Call ListModels to see the list of available models and their supported methods."
		return &refusal{rule: "model", code: 404, status: "NOT_FOUND", message: message}
	}
	return nil
}

// serveModels is generatecontent.md §1.7, with paging.
func (s *Server) serveModels(w http.ResponseWriter, c *call) {
	if no := checkKey(c); no != nil {
		s.refuse(w, c, c.req, no)
		return
	}
	models := s.opts.Models
	if models == nil {
		models = []string{"gemini-3.8-flash", "gemini-2.5-flash", "gemini-2.5-pro"}
	}
	if c.model != "" {
		if !slices.Contains(models, c.model) {
			c.method = "getModel"
			s.refuse(w, c, c.req, &refusal{rule: "model", code: 404, status: "NOT_FOUND", message: "models/" + c.model + " is not found for API version " + c.version})
			return
		}
		s.Give(w, c.req, jsonType, modelInfo(c.model))
		return
	}
	size, start := 50, 0
	if v := c.req.Query.Get("pageSize"); v != "" {
		size, _ = strconv.Atoi(v)
	}
	if v := c.req.Query.Get("pageToken"); v != "" {
		start = 1 + slices.Index(models, strings.TrimPrefix(v, "after-"))
		if start == 0 {
			s.refuse(w, c, c.req, invalid("query", "Invalid page token."))
			return
		}
	}
	if size <= 0 {
		size = 50
	}
	end := min(start+min(size, 1000), len(models))
	list, name := []any{}, "models"
	for _, m := range models[start:end] {
		if s.opts.Vertex != "" {
			list = append(list, map[string]any{"name": "publishers/google/models/" + m, "versionId": "default", "launchStage": "GA"})
		} else {
			list = append(list, modelInfo(m))
		}
	}
	if s.opts.Vertex != "" {
		name = "publisherModels"
	}
	answer := map[string]any{name: list}
	if end < len(models) {
		answer["nextPageToken"] = "after-" + models[end-1]
	}
	s.Give(w, c.req, jsonType, answer)
}

func modelInfo(name string) map[string]any {
	return map[string]any{
		"name": "models/" + name, "baseModelId": name, "version": "001", "displayName": "Fake " + name,
		"description": "A model of the fake", "inputTokenLimit": 1048576, "outputTokenLimit": 65536,
		"supportedGenerationMethods": []string{"generateContent", "countTokens"},
		"temperature":                1, "topP": 0.95, "topK": 64, "maxTemperature": 2, "thinking": true,
	}
}
