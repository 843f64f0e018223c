package openai

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
)

// Options configures a [Server]. The zero value is the vendor itself and
// accepts any key and any model.
type Options struct {
	// Key is the only accepted key; empty accepts every key, but not a missing
	// one.
	Key string
	// Forbid lists strings that no request may contain in a header, the query
	// or the body: the keys and headers of clients that must not reach the
	// vendor.
	Forbid []string
	// Models are the existing models; nil accepts every name and lists three.
	Models []string
	// InputTokens is the result of the token count; zero means 42.
	InputTokens int
	// TrustSignatures disables the check of encrypted reasoning.
	TrustSignatures bool
	// Local makes the fake a compatible server: it needs no key, ignores
	// unknown members, has no rules for model families, accepts one system
	// message, which must come first with the role system, and uses max_tokens.
	Local bool
	// Lenient ignores unknown members as the vendor does where clients that it releases send
	// them: names of tool messages, members of a message in its text part, and
	// parallel_tool_calls and the tool choice "auto" without tools.
	Lenient bool
	// EchoReasoning is the field that each assistant message with calls must
	// return, as DeepSeek requires.
	EchoReasoning string
	// NoStreamOptions rejects stream_options, as some servers do.
	NoStreamOptions bool
	// ShortIDs rejects ids of tool calls other than nine letters and digits.
	ShortIDs bool
	// StrictRoles rejects messages of one role in a row, and a user directly after
	// a tool result, as chat templates of Mistral's models do.
	StrictRoles bool
	// Azure is "v1" or a version such as "2024-10-21" of Azure's API, which has other
	// paths, keys and errors, and adds the results of its filters. Names of models are
	// those of deployments: Deployments has their models; nil accepts every model as
	// its own deployment.
	Azure       string
	Deployments map[string]string
	// Quirks are deviations of a compatible server.
	Quirks Quirks
}

// Quirks are deviations of compatible servers in responses of Chat, openai.md
// §3.4.
type Quirks struct {
	Reasoning      string // name of the thinking field; empty omits thinking
	IndexZero      bool   // all calls have index 0 and are sent in one fragment each
	NoIndex        bool   // calls have no index and are sent in one fragment each
	WholeArgs      bool   // each call is sent in one fragment
	ObjectArgs     bool   // arguments are an object instead of a string
	NoIDs          bool   // calls have no id
	RepeatIDs      bool   // each fragment repeats id and name
	ContentList    bool   // content is a list of parts
	EmptyContent   bool   // content is "" with calls instead of null
	NoContent      bool   // no content member with calls
	RoleAlways     bool   // every chunk has the role
	FinishStop     bool   // responses with calls end with "stop"
	NoFinish       bool   // no finish_reason
	FinishEmpty    bool   // "finish_reason":"" in every chunk before the last
	UsageAlways    bool   // usage, as a running total, on every chunk
	UsageAtFinish  bool   // usage in the chunk with finish_reason
	UsageNever     bool   // no usage
	NoDone         bool   // no data: [DONE]
	Comments       bool   // comments between the events
	FilterFirst    bool   // a chunk without choices comes first, as on Azure
	NoMeta         bool   // no id, created, model or object
	NullError      bool   // "error":null in every chunk
	DeltaAfterStop bool   // an empty delta after the finish_reason
}

const jsonType = "application/json"

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
	if opts.InputTokens == 0 {
		opts.InputTokens = 42
	}
	if opts.Azure != "" {
		opts.Quirks.FilterFirst = true
	}
	return &Server{Server: fake.NewServer(), opts: opts}
}

// Base returns the base URL for the vendor's SDK, including the version
// segment.
func (s *Server) Base() string {
	switch s.opts.Azure {
	case "":
		return s.URL + "/v1"
	case "v1":
		return s.URL + "/openai/v1"
	}
	return s.URL
}

// An ask is a request whose shape is valid.
type ask struct {
	server *Server
	doc    *fake.Node
	model  family
	chat   bool
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, done := s.Begin(r)
	defer done()
	id := s.serial.Add(1)
	h := w.Header()
	h.Set("X-Request-Id", fmt.Sprintf("req_%08d", id))
	if s.opts.Azure != "" {
		h.Set("Apim-Request-Id", fmt.Sprintf("apim-%08d", id))
	}
	for _, kind := range []string{"Requests", "Tokens"} {
		h.Set("X-Ratelimit-Limit-"+kind, "1000")
		h.Set("X-Ratelimit-Remaining-"+kind, "999")
		h.Set("X-Ratelimit-Reset-"+kind, "6m0s")
	}
	if no := s.checkHTTP(req); no != nil {
		s.refuse(w, req, no)
		return
	}
	if req.Method == http.MethodGet {
		s.serveModels(w, req)
		return
	}
	a, no := s.parse(req)
	if no != nil {
		s.refuse(w, req, no)
		return
	}
	if strings.HasSuffix(req.Path, "/input_tokens") {
		s.Give(w, req, jsonType, map[string]any{"object": "response.input_tokens", "input_tokens": s.opts.InputTokens})
		return
	}
	s.serveAnswer(w, r, req, a, id)
}

func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request, req *fake.Request, a *ask, id uint32) {
	turn, stream := s.Next(req), a.doc.True("stream")
	if st, failed := fake.StatusOf(turn, stream); failed {
		for k, v := range st.Header {
			w.Header().Set(k, v)
		}
		writeError(w, statusRefusal(st))
		s.End(req, fake.Whole)
		return
	}
	an := s.answer(a, id, turn)
	contentType, steps := jsonType, []fake.Step(nil)
	switch {
	case stream && a.chat:
		contentType, steps = "text/event-stream; charset=utf-8", an.chatStream()
	case stream:
		contentType, steps = "text/event-stream; charset=utf-8", an.responseStream()
	case a.chat:
		steps = fake.WholeSteps(turn, an.chatWhole())
	default:
		steps = fake.WholeSteps(turn, an.responseWhole())
	}
	fake.Play(w, r, contentType, steps, func(how string) { s.End(req, how) })
}

// checkHTTP checks a request except for its body, openai.md §1.
func (s *Server) checkHTTP(req *fake.Request) *refusal {
	if where := fake.Marked(req, s.opts.Forbid); where != "" {
		return &refusal{rule: "forbidden", message: "fake: " + where + " contains a value that is forbidden here"}
	}
	path, ok := s.apiPath(req)
	get := path == "models" || strings.HasPrefix(path, "models/")
	post := slices.Contains([]string{"chat/completions", "responses", "responses/input_tokens"}, path)
	if !ok || !(get && req.Method == http.MethodGet || post && req.Method == http.MethodPost) {
		if s.opts.Azure != "" {
			return &refusal{rule: "path", status: 404, code: "404", message: "Resource not found", bare: true}
		}
		return &refusal{rule: "path", status: 404, message: "Invalid URL (" + req.Method + " " + req.Path + ")"}
	}
	if no := s.checkKey(req); no != nil {
		return no
	}
	kind, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	if post && strings.TrimSpace(kind) != "application/json" {
		return &refusal{rule: "content-type", message: "Unsupported content type: '" + kind + "'. This API method only accepts 'application/json' requests, but you specified the header 'Content-Type: " + kind + "'. Please try again with a supported content type."}
	}
	return nil
}

// apiPath returns the path behind the version segment. ok is false if the server has no such
// path.
func (s *Server) apiPath(req *fake.Request) (path string, ok bool) {
	switch s.opts.Azure {
	case "":
		return strings.CutPrefix(req.Path, "/v1/")
	case "v1":
		return strings.CutPrefix(req.Path, "/openai/v1/")
	}
	path, ok = strings.CutPrefix(req.Path, "/openai/")
	if deployment := s.deployment(req); deployment != "" {
		path = strings.TrimPrefix(path, "deployments/"+deployment+"/")
		ok = ok && path == "chat/completions"
	} else {
		ok = ok && path != "chat/completions"
	}
	return path, ok && slices.Equal(req.Query["api-version"], []string{s.opts.Azure})
}

// deployment returns the deployment in the path of Azure's dated API, or "".
func (s *Server) deployment(req *fake.Request) string {
	rest, ok := strings.CutPrefix(req.Path, "/openai/deployments/")
	if !ok || s.opts.Azure == "" || s.opts.Azure == "v1" {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// modelOf returns the model of a request.
func (s *Server) modelOf(req *fake.Request, doc *fake.Node) (string, *refusal) {
	name := cmp.Or(s.deployment(req), doc.Text("model"))
	if s.opts.Azure == "" || s.opts.Deployments == nil {
		return name, nil
	}
	model, ok := s.opts.Deployments[name]
	if !ok {
		return "", &refusal{rule: "model", status: 404, code: "DeploymentNotFound", message: "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.", bare: true}
	}
	return model, nil
}

// checkAzureKey checks that a request has an API key or a token, and not both.
func (s *Server) checkAzureKey(req *fake.Request) *refusal {
	keys, tokens := req.Header.Values("Api-Key"), req.Header.Values("Authorization")
	if len(keys)+len(tokens) == 1 {
		key, isToken := strings.CutPrefix(strings.Join(append(keys, tokens...), ""), "Bearer ")
		if isToken == (len(tokens) == 1) && key != "" && (s.opts.Key == "" || key == s.opts.Key) {
			return nil
		}
	}
	return &refusal{rule: "key", status: 401, code: "401", message: "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.", bare: true}
}

func (s *Server) checkKey(req *fake.Request) *refusal {
	if s.opts.Azure != "" {
		return s.checkAzureKey(req)
	}
	all := req.Header.Values("Authorization")
	switch {
	case len(all) == 0 && s.opts.Local && s.opts.Key == "":
		return nil
	case len(all) == 0:
		return &refusal{rule: "key", status: 401, message: "You didn't provide an API key."}
	}
	key, ok := strings.CutPrefix(all[0], "Bearer ")
	if !ok || key == "" || len(all) > 1 || s.opts.Key != "" && key != s.opts.Key {
		return &refusal{rule: "key", status: 401, code: "invalid_api_key", message: "Incorrect API key provided: sk-x***y."}
	}
	return nil
}

// parse reads and checks the body of a request. It returns the first broken
// rule.
func (s *Server) parse(req *fake.Request) (*ask, *refusal) {
	doc, err := fake.Parse(req.Body)
	if err != nil {
		return nil, &refusal{rule: "json", message: "We could not parse the JSON body of your request. " + err.Error()}
	}
	a := &ask{server: s, doc: doc, chat: strings.HasSuffix(req.Path, "/chat/completions")}
	shape, all := responseBody(), responseRules
	if a.chat {
		shape, all = chatBody(), chatRules
	}
	c := fake.Checker{}
	shape(&c, nil, doc)
	for _, p := range c.Problems {
		if p.What != fake.Unknown || !s.opts.Local && !s.opts.Lenient {
			return nil, shapeRefusal(p)
		}
	}
	model, no := s.modelOf(req, doc)
	if no != nil {
		return nil, no
	}
	a.model = parseFamily(model)
	if known := s.opts.Models; known != nil && !slices.Contains(known, a.model.name) {
		return nil, &refusal{rule: "model", status: 404, code: "model_not_found", message: "The model '" + a.model.name + "' does not exist or you do not have access to it."}
	}
	for _, r := range slices.Concat(commonRules, all) {
		if r.vendor && s.opts.Local {
			continue
		}
		if no := r.check(a); no != nil {
			no.rule = r.name
			return nil, no
		}
	}
	return a, nil
}

// serveModels serves the list of models in one page, openai.md §1.
func (s *Server) serveModels(w http.ResponseWriter, req *fake.Request) {
	models := s.opts.Models
	if models == nil {
		models = []string{"gpt-6.2-sol", "gpt-6-luna", "gpt-4.1"}
	}
	info := func(name string) map[string]any {
		return map[string]any{"id": name, "object": "model", "created": 1794873600, "owned_by": "system"}
	}
	if name, one := strings.CutPrefix(req.Path, "/v1/models/"); one {
		if !slices.Contains(models, name) {
			s.refuse(w, req, &refusal{rule: "model", status: 404, code: "model_not_found", message: "The model '" + name + "' does not exist or you do not have access to it."})
			return
		}
		s.Give(w, req, jsonType, info(name))
		return
	}
	data := []any{}
	for _, m := range models {
		data = append(data, info(m))
	}
	s.Give(w, req, jsonType, map[string]any{"object": "list", "data": data})
}
