package crosstest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// expected is what tests expect of one format, and what its clients write in them.
type expected struct {
	// Requests.
	root        string                                 // the handler's path in a ServeMux
	turn        string                                 // a user turn with a %s for its parts
	modelTurn   string                                 // a turn of the model with a %s for its parts
	text        string                                 // a part with a %s for its text
	textTurn    string                                 // a user turn with a %s for its text
	parts       string                                 // the member of a turn that has its parts
	second      string                                 // the path of the parts of the second turn
	thoughts    func(stream bool, turns string) string // a request with a tool and with thinking
	key, wrong  string                                 // the header with the key, and that of another format
	wrongKey    int                                    // status
	refused     []refused
	served      map[string]func(*http.Request) // unusual requests that are accepted
	validate    func(body string) error        // parses and validates a request
	workloads   map[string]func() string
	allocations map[string]float64 // of validate

	// Responses.
	failures    map[upstream.Code]failure
	texts       map[string]string // of errors and headers, by names in the tests
	modelErrors []modelError      // of the list of models, by its parameters
	events      string            // Content-Type of the mode "streamed"
	deltas      []string          // the texts of a stream whose upstream writes "ab" and "cd"
	own         [2]string         // a header of the vendor, which clients receive
	finished    []finishedResponse
	reply       func(*replyCase) (whole, streamed string, lost []string)
	counts      func(*countCase) string // a token count, or "" if the request is not one of the format
	countExtra  string                  // members of a count
	emptyCount  string                  // the request of a count without turns
	nesting     string                  // a value with which the objects of a stream in TestStreamReaderLimits have 7 levels
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
	root:      "/v1/",
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
	key: "x-api-key", wrong: "x-goog-api-key", wrongKey: 401,
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
		r, err := messages.ParseRequestString(body)
		if err != nil {
			return err
		}
		return r.Validate(nil)
	},
	workloads: map[string]func() string{"small": workload.Small, "chat": workload.Chat, "agent": workload.Agent,
		"intl": workload.Intl, "image": workload.Image, "pdf": workload.PDF},
	allocations: map[string]float64{"small": 12, "chat": 300, "agent": 300, "intl": 300, "image": 300, "pdf": 20},
	failures: map[upstream.Code]failure{
		upstream.CodeInvalid:         {400, "invalid_request_error"},
		upstream.CodeUnauthenticated: {401, "authentication_error"},
		upstream.CodeBilling:         {402, "billing_error"},
		upstream.CodePermission:      {403, "permission_error"},
		upstream.CodeNotFound:        {404, "not_found_error"},
		upstream.CodeMethod:          {405, "invalid_request_error"},
		upstream.CodeConflict:        {409, "conflict_error"},
		upstream.CodeTooLarge:        {413, "request_too_large"},
		upstream.CodeRateLimit:       {429, "rate_limit_error"},
		upstream.CodeQuota:           {429, "rate_limit_error"},
		upstream.CodeInternal:        {500, "api_error"},
		upstream.CodeUnavailable:     {503, "api_error"},
		upstream.CodeTimeout:         {504, "timeout_error"},
		upstream.CodeOverloaded:      {529, "overloaded_error"},
		upstream.CodeUnsupported:     {400, "invalid_request_error"},
		upstream.CodeBadGateway:      {502, "api_error"},
		"unknown code":               {500, "api_error"},
	},
	texts: map[string]string{
		"a part":               "messages.0.content.1: no",
		"secret":               "Internal server error",
		"two violations":       "seed: Field required\ntop_k: is  odd ",
		"wrapped":              "seed: b",
		"line break in a path": "x y: b",
		"many violations end":  " more",
		"losses":               "dropped top_k; degraded messages.0.content.0",
		"rejected losses":      "messages.0.content.0" + rejectedLoss + "sent in another form\nstop_sequences" + rejectedLoss + "unsupported",
		"overloaded":           "Overloaded",
		"unknown model":        "",
		"model in the path":    "model: nope",
		"cannot list":          "models: ",
		"count without turns":  "messages: Field required",
	},
	modelErrors: []modelError{
		{"limit", "?limit=0", "limit: Input should be greater than or equal to 1"},
		{"limit too large", "?limit=1001", "limit: Input should be less than or equal to 1000"},
		{"limit not a number", "?limit=x", "limit: Input should be a valid integer"},
		{"after_id and before_id", "?after_id=m1&before_id=m1", "after_id and before_id"},
		{"unknown after_id", "?after_id=m9", "after_id: unknown model"},
		{"lifecycle", "?lifecycle[]=dead", "lifecycle.0: "},
	},
	deltas:   []string{`"ab"`, `"cd"`},
	events:   "text/event-stream; charset=utf-8",
	own:      [2]string{"anthropic-ratelimit-requests-limit", "5"},
	finished: ofMessages,
	reply: func(c *replyCase) (whole, streamed string, lost []string) {
		if c.messagesStreamed != "" {
			return c.messages, c.messagesStreamed, c.messagesLost
		}
		return c.messages, c.messages, c.messagesLost
	},
	counts:     func(c *countCase) string { return c.messages },
	emptyCount: `{"model":"m"}`,
	countExtra: `{"context_management":{"original_input_tokens":60}}`,
	nesting:    "[[[[[]]]]]",
}

var expectedOfGenerate = expected{
	root:      "/v1beta/",
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
	key: "x-goog-api-key", wrong: "x-api-key", wrongKey: 400,
	refused: refusedGenerate,
	served: map[string]func(*http.Request){
		"timeout":           header("x-server-timeout", "2"),
		"very long timeout": header("x-server-timeout", "1e300"),
	},
	validate: func(body string) error {
		r, err := generatecontent.ParseRequestString(body)
		if err != nil {
			return err
		}
		return r.Validate(nil)
	},
	workloads: map[string]func() string{"small": workload.GenerateSmall, "chat": workload.GenerateChat, "agent": workload.GenerateAgent,
		"intl": workload.GenerateIntl, "image": workload.GenerateImage, "pdf": workload.GeneratePDF},
	allocations: map[string]float64{"small": 4, "chat": 300, "agent": 90, "intl": 300, "image": 300, "pdf": 12},
	failures: map[upstream.Code]failure{
		upstream.CodeInvalid:         {400, "INVALID_ARGUMENT"},
		upstream.CodeUnauthenticated: {401, "UNAUTHENTICATED"},
		upstream.CodeBilling:         {402, "RESOURCE_EXHAUSTED"},
		upstream.CodePermission:      {403, "PERMISSION_DENIED"},
		upstream.CodeNotFound:        {404, "NOT_FOUND"},
		upstream.CodeMethod:          {405, "UNIMPLEMENTED"},
		upstream.CodeConflict:        {409, "ABORTED"},
		upstream.CodeTooLarge:        {400, "INVALID_ARGUMENT"},
		upstream.CodeRateLimit:       {429, "RESOURCE_EXHAUSTED"},
		upstream.CodeQuota:           {429, "RESOURCE_EXHAUSTED"},
		upstream.CodeInternal:        {500, "INTERNAL"},
		upstream.CodeUnavailable:     {503, "UNAVAILABLE"},
		upstream.CodeTimeout:         {504, "DEADLINE_EXCEEDED"},
		upstream.CodeOverloaded:      {503, "UNAVAILABLE"},
		upstream.CodeUnsupported:     {400, "FAILED_PRECONDITION"},
		upstream.CodeBadGateway:      {502, "UNAVAILABLE"},
		"unknown code":               {500, "INTERNAL"},
	},
	texts: map[string]string{
		"a part": "* GenerateContentRequest.contents[0].parts[1]: no\n",
		"secret": "An internal error has occurred. Please retry.",
		"two violations": "* GenerateContentRequest.generation_config.seed: Field required\n" +
			"* GenerateContentRequest.generation_config.top_k: is  odd \n",
		"wrapped":              "* GenerateContentRequest.generation_config.seed: b\n",
		"line break in a path": "* GenerateContentRequest.x y: b\n",
		"many violations end":  " more\n",
		"losses":               "dropped generation_config.top_k; degraded contents[0].parts[1]; hint candidates[0].content.parts[0]",
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
	deltas:   []string{`"a"`, `"bc"`, `"d"`},
	events:   "text/event-stream",
	own:      [2]string{"x-gemini-service-tier", "flex"},
	finished: ofGeneration,
	reply: func(c *replyCase) (whole, streamed string, lost []string) {
		return c.generate, c.generate, c.generateLost
	},
	counts:     func(c *countCase) string { return c.generate },
	emptyCount: `{}`,
	countExtra: `{"totalTokens":1,"promptTokensDetails":[{"modality":"TEXT","tokenCount":57}]}`,
	nesting:    "[[[[]]]]",
}
