package crosstest

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// failuresOfOpenAI are the errors of both formats of OpenAI's clients.
var failuresOfOpenAI = map[upstream.Code]failure{
	upstream.CodeInvalid:         {400, "invalid_request_error", ""},
	upstream.CodeUnauthenticated: {401, "invalid_request_error", "invalid_api_key"},
	upstream.CodeBilling:         {402, "insufficient_quota", "billing_hard_limit_reached"},
	upstream.CodePermission:      {403, "invalid_request_error", "insufficient_permissions"},
	upstream.CodeNotFound:        {404, "invalid_request_error", "model_not_found"},
	upstream.CodeMethod:          {405, "invalid_request_error", "method_not_supported"},
	upstream.CodeConflict:        {409, "invalid_request_error", "conflict"},
	upstream.CodeTooLarge:        {413, "invalid_request_error", "request_too_large"},
	upstream.CodeRateLimit:       {429, "rate_limit_error", "rate_limit_exceeded"},
	upstream.CodeQuota:           {429, "insufficient_quota", "insufficient_quota"},
	upstream.CodeInternal:        {500, "server_error", ""},
	upstream.CodeUnavailable:     {503, "server_error", "service_unavailable"},
	upstream.CodeTimeout:         {504, "server_error", "timeout"},
	upstream.CodeOverloaded:      {503, "service_unavailable_error", "server_is_overloaded"},
	upstream.CodeUnsupported:     {400, "invalid_request_error", "unsupported_parameter"},
	upstream.CodeBadGateway:      {502, "server_error", "bad_gateway"},
	"unknown code":               {500, "server_error", ""},
}

// malformedOfOpenAI checks an error object of both formats.
func malformedOfOpenAI(a *answer, doc, e map[string]any, _ string) string {
	for _, name := range []string{"message", "type", "param", "code"} {
		if v, ok := e[name]; !ok || v == "" {
			return name
		}
	}
	_, outer := doc["error"] // else doc is the error of an event
	if a.code, _ = e["code"].(string); outer && len(doc) != 1 || len(e) != 4 {
		return "other members"
	}
	return ""
}

var quoted = regexp.MustCompile(`'[^']+'`)

// whereOfOpenAI returns the first quoted text of each line of a message.
func whereOfOpenAI(e errorObject) (paths []string) {
	for line := range strings.SplitSeq(e.Message, "\n") {
		paths = append(paths, strings.Trim(quoted.FindString(line), "'"))
	}
	return paths
}

var keysOfOpenAI = [4]struct {
	failure
	text string
}{{}, {failure{401, "invalid_request_error", ""}, "You didn't provide an API key."},
	{failure{401, "invalid_request_error", ""}, "Incorrect API key provided"},
	{failure{401, "invalid_request_error", ""}, "authorization and api-key hold different keys"}}

// chatFiles returns a request with files. Chat Completions has links to images. A link in
// file_data is an extension of compatible servers.
func chatFiles(files []fileReference, bad bool) string {
	parts, role := "", "user"
	for _, f := range files {
		switch {
		case f.id != "":
			parts += `{"type":"file","file":{"file_id":"` + f.id + `"}},`
		case isImage(f):
			parts += `{"type":"image_url","image_url":{"url":"` + f.link + `"}},`
		default:
			parts += `{"type":"file","file":{"file_data":"` + f.link + `"}},`
		}
	}
	if bad {
		role = "unknown"
	}
	return `{"model":"m","messages":[{"role":"` + role + `","content":[` + parts + `{"type":"text","text":"q"}]}]}`
}

func chatPlace(i int, f fileReference) string {
	end := ".file.file_data"
	switch {
	case f.id != "":
		end = ".file.file_id"
	case isImage(f):
		end = ".image_url.url"
	}
	return "messages[0].content[" + strconv.Itoa(i) + "]" + end
}

func isImage(f fileReference) bool { return strings.HasPrefix(f.mediaType, "image/") }

var refusedChat = []refused{
	{name: "path", edit: toPath("/v1/nothing"), code: upstream.CodeNotFound, text: "Unknown request URL: POST /v1/nothing."},
	{name: "path below", edit: toPath("/v1/chat/completions/"), code: upstream.CodeNotFound, text: "Unknown request URL"},
	{name: "stored completion", edit: toPath("/v1/chat/completions/chatcmpl_1"), code: upstream.CodeNotFound, text: "Unknown request URL"},
	{name: "legacy completions", edit: toPath("/v1/completions"), code: upstream.CodeNotFound, text: "Unknown request URL"},
	{name: "another word", edit: toPath("/v1/xchat/completions"), code: upstream.CodeNotFound, text: "Unknown request URL"},
	{name: "embeddings", edit: toPath("/v1/embeddings"), code: upstream.CodeNotFound, text: "Unknown request URL"},
	{name: "get", edit: func(r *http.Request) { r.Method = "GET" }, code: upstream.CodeMethod, text: "This HTTP method is not allowed here. Please use POST."},
	{name: "options", edit: func(r *http.Request) { r.Method = "OPTIONS" }, code: upstream.CodeMethod},
	{name: "post to the models", edit: toPath("/v1/models"), code: upstream.CodeMethod, text: "This HTTP method is not allowed here. Please use GET."},
	{name: "form", edit: header("content-type", "application/x-www-form-urlencoded"), code: upstream.CodeInvalid, text: "content-type must be application/json"},
	{name: "text", edit: header("content-type", "text/plain"), code: upstream.CodeInvalid, text: "content-type must be application/json"},
	{name: "charset", edit: header("content-type", "application/json; charset=utf-16"), code: upstream.CodeInvalid, text: "The charset"},
	{name: "gzip", edit: header("content-encoding", "gzip"), code: upstream.CodeInvalid, text: "Compressed request bodies"},
	{name: "too long", edit: func(r *http.Request) { r.ContentLength = 50<<20 + 1 }, code: upstream.CodeTooLarge, text: "The request exceeds the maximum size of 52428800 bytes."},
	{name: "invalid JSON", body: `{"model":`, code: upstream.CodeInvalid, text: "We could not parse the JSON body of your request: "},
	{name: "empty", body: ` `, code: upstream.CodeInvalid, text: "We could not parse the JSON body of your request: "},
	{name: "not an object", body: `[]`, code: upstream.CodeInvalid},
	{name: "deep", body: `{"model":"m","messages":[],"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, code: upstream.CodeInvalid},
	{name: "duplicate name", body: `{"model":"a","model":"b"}`, code: upstream.CodeInvalid},
	{name: "no model", body: smallChat[:1] + smallChat[len(`{"model":"m",`):], code: upstream.CodeInvalid, text: "Missing required parameter: 'model'."},
	{name: "no messages", body: `{"model":"m"}`, code: upstream.CodeInvalid, text: "Missing required parameter: 'messages'."},
	{name: "long model", body: strings.Replace(smallChat, `"model":"`, `"model":"`+strings.Repeat("m", 1024), 1), code: upstream.CodeInvalid, text: "Invalid 'model': "},
	{name: "wrong type", body: strings.Replace(smallChat, "{", `{"n":"1",`, 1), code: upstream.CodeInvalid, text: "Invalid type for 'n': "},
	{name: "stream of wrong type", body: strings.Replace(smallChat, "{", `{"stream":"yes",`, 1), code: upstream.CodeInvalid, text: "Invalid type for 'stream': "},
}

var expectedOfChat = expected{
	roots:     []string{"/v1/chat/"},
	turn:      `{"role":"user","content":[%s]}`,
	modelTurn: `{"role":"assistant","content":%s}`,
	text:      `{"type":"text","text":"%s"}`,
	textTurn:  `{"role":"user","content":"%s"}`,
	parts:     "content",
	second:    "messages[1].content[",
	thoughts: func(stream bool, turns string) string {
		return fmt.Sprintf(`{"model":"m","reasoning_effort":"medium","stream":%v,`+
			`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"messages":[%s]}`, stream, turns)
	},
	key: "api-key", wrongs: []string{"x-api-key", "x-goog-api-key"}, wrongKey: 401,
	refused: refusedChat,
	served: map[string]func(*http.Request){
		"prefix":     toPath("/any/openai/v1/chat/completions"),
		"no slash":   func(r *http.Request) { r.URL.Path = "chat/completions" },
		"deployment": toPath("/openai/deployments/m/chat/completions?api-version=2024-10-21"),
		"organization": func(r *http.Request) {
			header("openai-organization", "org")(r)
			header("openai-project", "proj")(r)
		},
	},
	validate: func(body string) error {
		r, err := chatcompletions.ParseRequest([]byte(body))
		if err != nil {
			return err
		}
		return r.Validate(nil)
	},
	workloads: map[string]func() string{"small": workload.CompletionsSmall, "chat": workload.CompletionsChat, "agent": workload.CompletionsAgent,
		"image": workload.CompletionsImage, "pdf": workload.CompletionsPDF},
	allocations: map[string]float64{"small": 12, "chat": 300, "agent": 300, "image": 300, "pdf": 20},
	failures:    failuresOfOpenAI,
	texts: map[string]string{
		"a part":                     "Invalid 'messages[0].content[1]': no",
		"secret":                     "The server had an error while processing your request.",
		"two violations":             "Missing required parameter: 'seed'.\nInvalid 'top_k': is  odd ",
		"wrapped":                    "Invalid 'seed': b",
		"line break in a path":       "Invalid 'x y': b",
		"many violations end":        " more",
		"losses":                     "dropped top_k; degraded messages[0].content",
		"losses of a whole response": "; hint choices[0].message",
		"rejected losses":            "Unsupported parameter: 'messages[0].content'" + rejectedLoss + "sent in another form\nUnsupported parameter: 'stop'" + rejectedLoss + "unsupported",
		"overloaded":                 "The server is overloaded.",
		"unknown model":              "The model does not exist or you do not have access to it.",
		"model in the path":          "The model 'nope' does not exist or you do not have access to it.",
		"cannot list":                "The models of this service cannot be listed.",
	},
	word: "type", malformed: malformedOfOpenAI, where: whereOfOpenAI,
	deltas: []string{`"content":"ab"`, `"content":"cd"`},
	events: "text/event-stream; charset=utf-8",
	own:    [2]string{"x-ratelimit-limit-requests", "6"},
	reply:  chatReply, tested: testedChat, outcomes: chatOutcomes,
	anyText: true, keepsText: true,
	dense: density{
		statesBase: 8,
		user: func(n int) string {
			return `{"model":"m","messages":[{"role":"user","content":[` + many(n, `{"type":"text","text":"a"}`) + `]}]}`
		},
		turns: func(n int) string {
			return `{"model":"m","messages":[` + many(n, `{"role":"user","content":"a"}`) + `]}`
		},
		inResult: func(n int) string {
			return `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"t","content":[` + many(n-3, `{"type":"text","text":"a"}`) + `]}]}`
		},
		members: func(n int) string {
			return `{"model":"m","messages":[{"role":"user","content":"a"}],` + numbers(n-3, `"m#":1`) + `}`
		},
		tools: func(n int) string {
			return `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[` + numbers(n, `{"type":"function","function":{"name":"f#"}}`) + `]}`
		},
		schema: func(n int) string {
			return `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","required":[` +
				numbers(n-5, `"m#"`) + `]}}}]}`
		},
		state: func(id, list string) (call, result string, ok bool) {
			id, ok = stateInID(id, list)
			return `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"{}"}}`, `{"role":"tool","tool_call_id":"` + id + `","content":"a"}`, ok
		},
		states: `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[%s]},%s]}`,
	},
	named: []string{"POST /@/v1/chat/completions", "POST /openai/deployments/@/x/chat/completions", "POST /openai/deployments/@/chat/completions",
		"GET /v1/models/@", "GET /v1/models/a/@", "POST /v1/unknown/@"},
	modelPath: "/openai/deployments/@/chat/completions",
	inline:    `{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:%s;base64,%s"}}]}]}`,
	nesting:   "[[[]]]",
}

// A formatReply is what clients of a format receive for a [replyCase].
type formatReply struct {
	message  string // the members of the message without null or empty ones
	finish   string // "stop" if empty
	usage    string // of a whole response; streams have one for clients that ask for it
	streamed string // the message of a stream, if it differs
	lost     []string
}

func textCalls(text string, calls ...string) string {
	content := ""
	if text != "" {
		content = `"content":"` + text + `",`
	}
	return content + `"tool_calls":[` + strings.Join(calls, ",") + `]`
}

func chatCall(id, name, arguments string) string {
	return `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":` + strconv.Quote(arguments) + `}}`
}

const textChat = `"content":"a"`

// chatReplies are the replies by the names of the cases.
var chatReplies = map[string]formatReply{
	"text":    {message: `"content":"one, \"two\"\n"`},
	"nothing": {},
	// Citations have links, and the characters of the content that they are about.
	"citations": {message: textCalls("They nest earlyé and eat", chatCall("t1", "f", "{}")) +
		`,"annotations":[{"type":"url_citation","url_citation":{"start_index":15,"end_index":24,"url":"https://a.example/h","title":"Herons"}}]`,
		finish: "tool_calls", lost: []string{"dropped parts.0", "dropped parts.2", "hint parts.2"}},
	// Without a tool call nothing carries the state.
	"thinking signed in Messages": {message: `"reasoning_content":"Hm, yes","content":"391"`, lost: []string{"degraded parts.0", "degraded parts.1"}},
	"signed in generateContent": {message: `"reasoning_content":"Split it.",` +
		textCalls("391", chatCall(signedID("fc-1", "CiQBc2lnLWE="), "f", `{"b":1.0,"a":12345678901234567890}`)),
		finish: "tool_calls", lost: []string{"hint parts.1"}},
	"parallel tool calls": {message: textCalls("Both.", chatCall("fc-1", "one", `{"city":"Lima"}`), chatCall("fc-2", "two", "{}")), finish: "tool_calls"},
	// Images are an extension of compatible servers.
	"image": {message: `"content":"Here:","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]`, lost: []string{"degraded parts.1"}},
	"usage": {message: textChat, usage: `{"prompt_tokens":138,"completion_tokens":47,"total_tokens":185,` +
		`"prompt_tokens_details":{"cached_tokens":100,"cache_write_tokens":25},"completion_tokens_details":{"reasoning_tokens":40}}`, lost: []string{"hint usage"}},
	"malformed tool call":      {finish: "length", lost: []string{"dropped parts.0"}},
	"tool call without a name": {finish: "length", lost: []string{"dropped parts.0"}},
	"tool call with an invalid value": {finish: "length", streamed: textCalls("", chatCall("fc-1", "f", `{"a":x}`)),
		lost: []string{"dropped parts.0"}},
	"truncated tool call": {finish: "length", streamed: textCalls("", chatCall("fc-1", "f", `{"a":`)), lost: []string{"dropped parts.0"}},
	"tool calls without arguments": {message: textCalls("", chatCall("fc-0", "f", "{}"), chatCall("fc-1", "f", "{}"), chatCall("fc-2", "f", "{}")),
		finish: "tool_calls"},
	"tool use stop without a call": {message: textChat, finish: "length", lost: []string{"degraded stop"}},
	"blocked prompt":               {finish: "content_filter", lost: []string{"hint stop"}},

	"end":            {message: textChat},
	"max_tokens":     {message: textChat, finish: "length"},
	"stop_sequence":  {message: textChat, lost: []string{"hint stop"}},
	"context":        {message: textChat, finish: "length"},
	"pause":          {message: textChat, finish: "length", lost: []string{"degraded stop"}},
	"refusal":        {message: textChat, finish: "content_filter"},
	"safety":         {message: textChat, finish: "content_filter"},
	"recitation":     {message: textChat, finish: "content_filter"},
	"malformed call": {message: textChat, finish: "length", lost: []string{"degraded stop"}},
	"compaction":     {message: textChat, lost: []string{"degraded stop"}},
	"other":          {message: textChat, finish: "length", lost: []string{"degraded stop"}},
}

func chatReply(c *replyCase) (whole, streamed string, lost []string) {
	r, ok := chatReplies[c.name]
	if !ok {
		panic("no reply for " + c.name)
	}
	document := func(message string) string {
		if message != "" {
			message = "," + message
		}
		return `{"choices":[{"index":0,"message":{"role":"assistant"` + message + `},"finish_reason":"` + cmp.Or(r.finish, "stop") + `"}]`
	}
	whole, streamed = document(r.message), document(cmp.Or(r.streamed, r.message))
	if r.usage != "" {
		whole += `,"usage":` + r.usage
	}
	return whole + "}", streamed + "}", r.lost
}

// testedChat keeps the tested members of a response.
func testedChat(m map[string]any) map[string]any {
	list, _ := m["choices"].([]any)
	for _, c := range list {
		c := c.(map[string]any)
		formattest.NormalChatMessage(c["message"].(map[string]any))
		delete(c, "logprobs")
	}
	kept := map[string]any{"choices": m["choices"]}
	if m["usage"] != nil {
		kept["usage"] = m["usage"]
	}
	return kept
}

// chatOutcomes are the outcomes of finished responses of other vendors.
var chatOutcomes = map[string]outcome{
	"dropped and degraded citations":    {want: []string{`"Hi."`, `"stop"`}, not: []string{"url_citation"}, losses: []string{"dropped parts.0"}},
	"arguments other than an object":    {want: []string{`"finish_reason":"length"`}, not: []string{`"tool_calls"`}, losses: []string{"dropped parts.0"}},
	"tool call without a name":          {want: []string{`"finish_reason":"length"`}, not: []string{`"tool_calls"`}, losses: []string{"dropped parts.0"}},
	"refusal with an explanation":       {want: []string{`"finish_reason":"content_filter"`}, losses: []string{"hint stop"}},
	"refusal without an explanation":    {want: []string{`"finish_reason":"content_filter"`}},
	"service tier":                      {want: []string{`"service_tier":"priority"`}},
	"default values":                    {want: []string{`"service_tier":"default"`}},
	"extra members of usage":            {not: []string{"batch"}, losses: []string{"hint usage"}},
	"direct caller":                     {want: []string{`"tool_calls"`}},
	"extra members of the message":      {losses: []string{"dropped container", "hint context_management", "hint diagnostics"}},
	"unknown event and delta":           {losses: []string{"hint odd_event", "hint parts.0"}},
	"citation metadata":                 {losses: []string{"dropped citationMetadata"}},
	"URL context metadata":              {losses: []string{"dropped urlContextMetadata"}},
	"likelihoods":                       {losses: []string{"dropped logprobsResult", "hint avgLogprobs"}},
	"safety ratings and finish message": {losses: []string{"hint stop"}},
	"filter with an explanation":        {want: []string{`"finish_reason":"content_filter"`}, losses: []string{"hint stop"}},
	"continuation":                      {want: []string{`"finish_reason":"length"`}, losses: []string{"degraded stop", "dropped continuationToken"}},
	"cited sources":                     {want: []string{`"url":"https://a.example/"`}, losses: []string{"hint parts.0"}},
	"citation of missing text":          {losses: []string{"dropped groundingMetadata"}},
	"sources without cited text":        {losses: []string{"dropped groundingMetadata"}},
	"sources without links":             {losses: []string{"dropped groundingMetadata"}},
	"search queries":                    {losses: []string{"hint groundingMetadata.webSearchQueries"}},
	"blocked prompt":                    {want: []string{`"finish_reason":"content_filter"`}, losses: []string{"hint stop"}},
}
