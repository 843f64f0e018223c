package crosstest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// expected is what tests expect of one format, and what its clients write in them.
type expected struct {
	// Requests.
	roots       []string                               // the handler's paths in a ServeMux
	turn        string                                 // a user turn with a %s for its parts
	modelTurn   string                                 // a turn of the model with a %s for its parts
	text        string                                 // a part with a %s for its text
	textTurn    string                                 // a user turn with a %s for its text
	parts       string                                 // the member of a turn that has its parts
	second      string                                 // the path of the parts of the second turn
	thoughts    func(stream bool, turns string) string // a request with a tool and with thinking
	key         string                                 // the header with the key
	wrongKey    int                                    // status
	wrongs      []string                               // headers with the keys of other formats
	queryKey    bool                                   // a key may be in the query
	refused     []refused
	served      map[string]func(*http.Request) // unusual requests that are accepted
	validate    func(body string) error        // parses and validates a request
	workloads   map[string]func() string
	allocations map[string]float64 // of validate

	// Responses.
	failures    map[upstream.Code]failure
	word        string                                                   // the member of an error that has the type or status name
	malformed   func(a *answer, doc, e map[string]any, id string) string // checks the members of an error that begins with e
	codedEvents bool                                                     // errors in a stream have a code in place of the word
	retryDetail bool                                                     // errors that clients retry have the delay in details
	bodyTimeout string                                                   // details of the error for a body that takes too long
	keyDetail   bool                                                     // errors of keys have a reason in details
	where       func(e errorObject) []string                             // paths of the violations in an error
	texts       map[string]string                                        // of errors and headers, by names in the tests
	modelErrors []modelError                                             // of the list of models, by its parameters
	events      string                                                   // Content-Type of the mode "streamed"
	deltas      []string                                                 // the texts of a stream whose upstream writes "ab" and "cd"
	own         [2]string                                                // a header of the vendor, which clients receive
	finished    []finishedResponse
	tested      func(document map[string]any) map[string]any // the members of a response that TestReplies compares
	outcomes    map[string]outcome                           // of finished responses of other vendors; nil: those of the responses
	reply       func(*replyCase) (whole, streamed string, lost []string)
	counts      func(*countCase) string // a token count, or "" if the request is not one of the format
	countExtra  string                  // members of a count
	emptyCount  string                  // the request of a count without turns
	dense       density
	named       []string // "METHOD path" with an @ for a name
	modelPath   string   // a path with an @ for the name of the model; empty: only bodies have it
	hostType    string   // a media type that only a host can allow; empty: that of an office document
	declares    string   // the member of a link that has its media type
	anyText     bool     // files may have any type of text
	keepsText   bool     // files of text stay base64
	inline      string   // a request with a file: %s for its media type and its base64 data
	nesting     string   // a value with which the objects of a stream in TestStreamReaderLimits have 7 levels
}

// An errorObject is the error of a response.
type errorObject struct {
	Message string
	Details []struct{ FieldViolations []struct{ Field string } }
}

// errorText returns the text of an error.
func (s wireFormat) errorText(name string) string {
	text, ok := s.texts[name]
	if !ok {
		panic(s.name + " has no text for " + strconv.Quote(name))
	}
	return text
}

// userTurn returns a user turn with a text, as clients usually write it.
func (s wireFormat) userTurn(text string) string { return fmt.Sprintf(s.textTurn, text) }

// formatOf returns the entry of a format.
func formatOf(f content.Format) wireFormat {
	for _, s := range wireFormats {
		if s.format == f {
			return s
		}
	}
	panic("no format " + f)
}

// others returns the other formats.
func (s wireFormat) others() (list []wireFormat) {
	for _, o := range wireFormats {
		if o.format != s.format {
			list = append(list, o)
		}
	}
	return list
}

// rejectedLoss is what follows the path of a loss for which a request is rejected.
const rejectedLoss = ": the request is rejected because of a loss: "

var expectedOfMessages = expected{
	roots:     []string{"/v1/"},
	turn:      `{"role":"user","content":[%s]}`,
	modelTurn: `{"role":"assistant","content":%s}`,
	text:      `{"type":"text","text":"%s"}`,
	textTurn:  `{"role":"user","content":"%s"}`,
	parts:     "content",
	second:    "messages.1.content.",
	thoughts: func(stream bool, turns string) string {
		return fmt.Sprintf(`{"model":"m","max_tokens":9000,"thinking":{"type":"adaptive"},"stream":%v,`+
			`"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[%s]}`, stream, turns)
	},
	key: "x-api-key", wrongs: []string{"x-goog-api-key", "api-key"}, wrongKey: 401,
	refused: refusedMessages,
	served: map[string]func(*http.Request){
		"prefix":     toPath("/ai/eu/v1/messages"),
		"no slash":   func(r *http.Request) { r.URL.Path = "messages" },
		"2023-01-01": header("anthropic-version", "2023-01-01"),
		"2026-10-21": header("anthropic-version", "2026-10-21"),
		"betas":      header("anthropic-beta", "made-up-2027-01-01, x", "y"),
		"betas at the limits": header("anthropic-beta", strings.Repeat(strings.Repeat("b", 128)+", ", 40),
			strings.Repeat(",a", 24)),
	},
	validate: func(body string) error {
		r, err := messages.ParseRequest([]byte(body))
		if err != nil {
			return err
		}
		return r.Validate(nil)
	},
	workloads: map[string]func() string{"small": workload.Small, "chat": workload.Chat, "agent": workload.Agent,
		"intl": workload.Intl, "image": workload.Image, "pdf": workload.PDF},
	allocations: map[string]float64{"small": 12, "chat": 300, "agent": 300, "intl": 300, "image": 300, "pdf": 20},
	failures: map[upstream.Code]failure{
		upstream.CodeInvalid:         {400, "invalid_request_error", ""},
		upstream.CodeUnauthenticated: {401, "authentication_error", ""},
		upstream.CodeBilling:         {402, "billing_error", ""},
		upstream.CodePermission:      {403, "permission_error", ""},
		upstream.CodeNotFound:        {404, "not_found_error", ""},
		upstream.CodeMethod:          {405, "invalid_request_error", ""},
		upstream.CodeConflict:        {409, "conflict_error", ""},
		upstream.CodeTooLarge:        {413, "request_too_large", ""},
		upstream.CodeRateLimit:       {429, "rate_limit_error", ""},
		upstream.CodeQuota:           {429, "rate_limit_error", ""},
		upstream.CodeInternal:        {500, "api_error", ""},
		upstream.CodeUnavailable:     {503, "api_error", ""},
		upstream.CodeTimeout:         {504, "timeout_error", ""},
		upstream.CodeOverloaded:      {529, "overloaded_error", ""},
		upstream.CodeUnsupported:     {400, "invalid_request_error", ""},
		upstream.CodeBadGateway:      {502, "api_error", ""},
		"unknown code":               {500, "api_error", ""},
	},
	texts: map[string]string{
		"a part":                     "messages.0.content.1: no",
		"secret":                     "Internal server error",
		"two violations":             "seed: Field required\ntop_k: is  odd ",
		"wrapped":                    "seed: b",
		"line break in a path":       "x y: b",
		"many violations end":        " more",
		"losses":                     "dropped top_k; degraded messages.0.content.0",
		"losses of a whole response": "; hint content.0",
		"rejected losses":            "messages.0.content.0" + rejectedLoss + "sent in another form\nstop_sequences" + rejectedLoss + "unsupported",
		"overloaded":                 "Overloaded",
		"unknown model":              "",
		"model in the path":          "model: nope",
		"cannot list":                "models: ",
		"count without turns":        "messages: Field required",
	},
	modelErrors: []modelError{
		{"limit", "?limit=0", "limit: Input should be greater than or equal to 1"},
		{"limit too large", "?limit=1001", "limit: Input should be less than or equal to 1000"},
		{"limit not a number", "?limit=x", "limit: Input should be a valid integer"},
		{"after_id and before_id", "?after_id=m1&before_id=m1", "after_id and before_id"},
		{"unknown after_id", "?after_id=m9", "after_id: unknown model"},
		{"lifecycle", "?lifecycle[]=dead", "lifecycle.0: "},
	},
	word: "type",
	malformed: func(_ *answer, doc, _ map[string]any, id string) string {
		if len(doc) != 3 || doc["type"] != "error" || doc["request_id"] != id {
			return "type or id"
		}
		return ""
	},
	bodyTimeout: "map[error_code:request_body_timeout]",
	where: func(e errorObject) (paths []string) {
		for line := range strings.SplitSeq(e.Message, "\n") {
			path, _, _ := strings.Cut(line, ": ")
			paths = append(paths, path)
		}
		return paths
	},
	deltas:   []string{`"ab"`, `"cd"`},
	events:   "text/event-stream; charset=utf-8",
	own:      [2]string{"anthropic-ratelimit-requests-limit", "5"},
	finished: ofMessages,
	tested:   testedMessage,
	reply: func(c *replyCase) (whole, streamed string, lost []string) {
		if c.messagesStreamed != "" {
			return c.messages, c.messagesStreamed, c.messagesLost
		}
		return c.messages, c.messages, c.messagesLost
	},
	counts:     func(c *countCase) string { return c.messages },
	emptyCount: `{"model":"m"}`,
	countExtra: `{"context_management":{"original_input_tokens":60}}`,
	dense:      denseMessages,
	named: []string{"POST /@/v1/messages", "POST /v1/projects/@/locations/l/publishers/anthropic/models/m:rawPredict",
		"POST /v1/projects/p/locations/l/publishers/anthropic/models/@:rawPredict", "POST /v1/projects/p/locations/l/publishers/anthropic/models/@:streamRawPredict",
		"GET /v1/models/@", "GET /v1/models/a/@", "POST /v1/unknown/@"},
	modelPath: "/v1/projects/p/locations/l/publishers/anthropic/models/@:rawPredict",
	inline:    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"%s","data":"%s"}}]}]}`,
	nesting:   "[[[[[]]]]]",
}

var denseMessages = density{
	user: func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + many(n, `{"type":"text","text":"a"}`) + `]}]}`
	},
	turns: func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[` + many(n, `{"role":"user","content":"a"}`) + `]}`
	},
	fixedTurns: true,
	inResult: func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` + many(n-3, `{"type":"text","text":"a"}`) + `]}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	},
	members: func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],` + numbers(n-4, `"m#":1`) + `}`
	},
	tools: func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[` + numbers(n, `{"name":"f#","input_schema":{"type":"object"}}`) + `]}`
	},
	schema: func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f","input_schema":{"type":"object","required":[` + numbers(n-5, `"m#"`) + `]}}]}`
	},
	state: func(id, list string) (call, result string, ok bool) {
		id, ok = stateInID(id, list)
		return `{"type":"tool_use","id":"` + id + `","name":"f","input":{}}`, `{"type":"tool_result","tool_use_id":"` + id + `"}`, ok
	},
	states: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[%s]},{"role":"user","content":[%s]}],` +
		`"tools":[{"name":"f","input_schema":{"type":"object"}}]}`,
}

var denseGenerate = density{
	user:  func(n int) string { return `{"contents":[{"parts":[` + many(n, `{"text":"a"}`) + `]}]}` },
	turns: func(n int) string { return `{"contents":[` + many(n, `{"parts":{"text":"a"}}`) + `]}` },
	inResult: func(n int) string {
		return `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"parts":[{"functionResponse":{"name":"f","response":{},"parts":[` +
			many(n-3, `{"fileData":{"mimeType":"image/png","fileUri":"gs://a/b"}}`) + `]}}]}]}`
	},
	members: func(n int) string {
		return `{"contents":[{"parts":[{"text":"a"}]}],` + numbers(n-2, `"m#":1`) + `}`
	},
	tools: func(n int) string {
		return `{"contents":[{"parts":[{"text":"a"}]}],"tools":[` + many(n, `{"googleSearch":{}}`) + `]}`
	},
	schema: func(n int) string {
		return `{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","required":[` + numbers(n-5, `"m#"`) + `]}}]}]}`
	},
	state: func(_, list string) (call, result string, ok bool) {
		sig, ok := envelope.EncodeBase64("messages", envelope.KindThinking, list)
		return `{"functionCall":{"name":"f"},"thoughtSignature":"` + sig + `"}`, `{"functionResponse":{"name":"f","response":{}}}`, ok
	},
	states: `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[%s]},{"parts":[%s]}]}`,
}

var expectedOfGenerate = expected{
	roots:     []string{"/v1beta/"},
	turn:      `{"role":"user","parts":[%s]}`,
	modelTurn: `{"role":"model","parts":%s}`,
	text:      `{"text":"%s"}`,
	textTurn:  `{"role":"user","parts":[{"text":"%s"}]}`,
	parts:     "parts",
	second:    "contents[1].parts[",
	thoughts: func(_ bool, turns string) string {
		return fmt.Sprintf(`{"tools":[{"functionDeclarations":[{"name":"f"}]}],`+
			`"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"contents":[%s]}`, turns)
	},
	key: "x-goog-api-key", wrongs: []string{"x-api-key", "api-key"}, wrongKey: 400, queryKey: true,
	refused: refusedGenerate,
	served: map[string]func(*http.Request){
		"timeout":           header("x-server-timeout", "2"),
		"very long timeout": header("x-server-timeout", "1e300"),
	},
	validate: func(body string) error {
		r, err := generatecontent.ParseRequest([]byte(body))
		if err != nil {
			return err
		}
		return r.Validate(nil)
	},
	workloads: map[string]func() string{"small": workload.GenerateSmall, "chat": workload.GenerateChat, "agent": workload.GenerateAgent,
		"intl": workload.GenerateIntl, "image": workload.GenerateImage, "pdf": workload.GeneratePDF},
	allocations: map[string]float64{"small": 4, "chat": 300, "agent": 90, "intl": 300, "image": 300, "pdf": 12},
	failures: map[upstream.Code]failure{
		upstream.CodeInvalid:         {400, "INVALID_ARGUMENT", ""},
		upstream.CodeUnauthenticated: {401, "UNAUTHENTICATED", ""},
		upstream.CodeBilling:         {402, "RESOURCE_EXHAUSTED", ""},
		upstream.CodePermission:      {403, "PERMISSION_DENIED", ""},
		upstream.CodeNotFound:        {404, "NOT_FOUND", ""},
		upstream.CodeMethod:          {405, "UNIMPLEMENTED", ""},
		upstream.CodeConflict:        {409, "ABORTED", ""},
		upstream.CodeTooLarge:        {400, "INVALID_ARGUMENT", ""},
		upstream.CodeRateLimit:       {429, "RESOURCE_EXHAUSTED", ""},
		upstream.CodeQuota:           {429, "RESOURCE_EXHAUSTED", ""},
		upstream.CodeInternal:        {500, "INTERNAL", ""},
		upstream.CodeUnavailable:     {503, "UNAVAILABLE", ""},
		upstream.CodeTimeout:         {504, "DEADLINE_EXCEEDED", ""},
		upstream.CodeOverloaded:      {503, "UNAVAILABLE", ""},
		upstream.CodeUnsupported:     {400, "FAILED_PRECONDITION", ""},
		upstream.CodeBadGateway:      {502, "UNAVAILABLE", ""},
		"unknown code":               {500, "INTERNAL", ""},
	},
	texts: map[string]string{
		"a part": "* GenerateContentRequest.contents[0].parts[1]: no\n",
		"secret": "An internal error has occurred. Please retry.",
		"two violations": "* GenerateContentRequest.generation_config.seed: Field required\n" +
			"* GenerateContentRequest.generation_config.top_k: is  odd \n",
		"wrapped":                    "* GenerateContentRequest.generation_config.seed: b\n",
		"line break in a path":       "* GenerateContentRequest.x y: b\n",
		"many violations end":        " more\n",
		"losses":                     "dropped generation_config.top_k; degraded contents[0].parts[1]; hint candidates[0].content.parts[0]",
		"losses of a whole response": "",
		"rejected losses": "* GenerateContentRequest.contents[0].parts[0]" + rejectedLoss + "sent in another form\n" +
			"* GenerateContentRequest.generation_config.stop_sequences" + rejectedLoss + "unsupported\n",
		"overloaded": "The model is overloaded.",
		"unknown model": "models/m is not found for API version v1beta, or is not supported for METHOD. " +
			"Call ListModels to see the list of available models and their supported methods.",
		"model in the path":   "models/nope is not found for API version v1beta, or is not supported for this method. Call ListModels",
		"cannot list":         "The models of this service",
		"count without turns": "* GenerateContentRequest.contents: contents is not specified",
	},
	modelErrors: []modelError{
		{"size", "?pageSize=-1", "page_size "},
		{"not a number", "?pageSize=x", `Invalid value at 'page_size' (TYPE_INT32), "x"`},
		{"token", "?pageToken=%21", "page_token "},
		{"token of another list", "?pageToken=bm9wZQ", "page_token "},
	},
	word: "status",
	malformed: func(a *answer, doc, e map[string]any, _ string) string {
		if code := fmt.Sprint(e["code"]); len(doc) != 1 || code != strconv.Itoa(a.status) && a.status != http.StatusOK || code == "0" {
			return "the code"
		}
		return ""
	},
	retryDetail: true, keyDetail: true,
	where: func(e errorObject) (paths []string) {
		for _, d := range e.Details {
			for _, v := range d.FieldViolations {
				paths = append(paths, v.Field)
			}
		}
		return paths
	},
	deltas:   []string{`"a"`, `"bc"`, `"d"`},
	events:   "text/event-stream",
	own:      [2]string{"x-gemini-service-tier", "flex"},
	finished: ofGeneration,
	tested:   testedGeneration,
	reply: func(c *replyCase) (whole, streamed string, lost []string) {
		return c.generate, c.generate, c.generateLost
	},
	counts:     func(c *countCase) string { return c.generate },
	emptyCount: `{}`,
	dense:      denseGenerate, declares: "mime_type",
	named: []string{"POST /v1beta/models/@:generateContent", "POST /v1beta/models/@:streamGenerateContent", "POST /v1beta/models/@:countTokens",
		"POST /@/models/m:generateContent", "POST /v1/projects/@/locations/l/publishers/google/models/m:generateContent",
		"POST /v1/projects/p/locations/l/publishers/@/models/m:generateContent", "POST /v1beta/tunedModels/@:generateContent",
		"GET /v1beta/models/@", "GET /v1beta/tunedModels/@", "POST /v1beta/unknown/@"},
	modelPath:  "/v1beta/models/@:countTokens",
	inline:     `{"contents":[{"parts":[{"inlineData":{"mimeType":"%s","data":"%s"}}]}]}`,
	countExtra: `{"totalTokens":1,"promptTokensDetails":[{"modality":"TEXT","tokenCount":57}]}`,
	nesting:    "[[[[]]]]",
}
