package crosstest

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/responses"
)

func responsesFiles(files []fileReference, bad bool) string {
	parts, role := "", "user"
	for _, f := range files {
		parts += responsesFile(f) + ","
	}
	if bad {
		role = "unknown"
	}
	return `{"model":"m","input":[{"role":"` + role + `","content":[` + parts + `{"type":"input_text","text":"q"}]}]}`
}

func responsesFile(f fileReference) string {
	switch {
	case f.id != "":
		return `{"type":"input_file","file_id":"` + f.id + `"}`
	case isImage(f):
		return `{"type":"input_image","image_url":"` + f.link + `"}`
	}
	return `{"type":"input_file","file_url":"` + f.link + `"}`
}

func responsesMember(f fileReference) string {
	switch {
	case f.id != "":
		return ".file_id"
	case isImage(f):
		return ".image_url"
	}
	return ".file_url"
}

func responsesPlace(i int, f fileReference) string {
	return "input[0].content[" + strconv.Itoa(i) + "]" + responsesMember(f)
}

func responsesResults(f fileReference) (body, place string) {
	return `{"model":"m","input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"},` + responsesFile(f) + `]}]}`, "input[2].output[1]" + responsesMember(f)
}

var refusedResponses = []refused{
	{name: "path", edit: toPath("/v1/nothing"), code: upstream.CodeNotFound, text: "there is nothing at this path; this handler serves POST /v1/responses"},
	{name: "path below", edit: toPath("/v1/responses/"), code: upstream.CodeNotFound},
	{name: "stored response", edit: toPath("/v1/responses/resp_1"), code: upstream.CodeNotFound, text: "responses are not stored, so they cannot be retrieved"},
	{name: "items of a stored response", edit: toPath("/v1/responses/resp_1/input_items"), code: upstream.CodeNotFound, text: "responses are not stored"},
	{name: "conversations", edit: toPath("/v1/conversations"), code: upstream.CodeNotFound},
	{name: "get", edit: func(r *http.Request) { r.Method = "GET" }, code: upstream.CodeMethod, text: "This HTTP method is not allowed here. Please use POST."},
	{name: "get of a count", edit: func(r *http.Request) { r.Method = "GET"; toPath("/v1/responses/input_tokens")(r) }, code: upstream.CodeMethod},
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
	{name: "deep", body: `{"model":"m","input":"a","x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, code: upstream.CodeInvalid},
	{name: "duplicate name", body: `{"model":"a","model":"b"}`, code: upstream.CodeInvalid},
	{name: "no model", body: `{"input":"a"}`, code: upstream.CodeInvalid, text: "Missing required parameter: 'model'."},
	{name: "long model", body: strings.Replace(smallResponses, `"model":"`, `"model":"`+strings.Repeat("m", 1024), 1), code: upstream.CodeInvalid, text: "Invalid 'model': "},
	{name: "wrong type", body: strings.Replace(smallResponses, "{", `{"top_p":"1",`, 1), code: upstream.CodeInvalid, text: "Invalid type for 'top_p': "},
	{name: "stream of wrong type", body: strings.Replace(smallResponses, "{", `{"stream":"yes",`, 1), code: upstream.CodeInvalid, text: "Invalid type for 'stream': "},
	{name: "previous response", body: strings.Replace(smallResponses, "{", `{"previous_response_id":"resp_1",`, 1), code: upstream.CodeInvalid},
	{name: "background", body: strings.Replace(smallResponses, "{", `{"background":true,`, 1), code: upstream.CodeInvalid},
	{name: "unknown item", body: `{"model":"m","input":[{"type":"item_reference","id":"rs_1"}]}`, code: upstream.CodeInvalid},
}

var expectedOfResponses = expected{
	roots:    []string{"/v1/responses", "/v1/responses/"},
	turn:     `{"role":"user","content":[%s]}`,
	text:     `{"type":"input_text","text":"%s"}`,
	textTurn: `{"role":"user","content":"%s"}`,
	parts:    "content",
	thoughts: func(stream bool, turns string) string {
		return fmt.Sprintf(`{"model":"m","include":["reasoning.encrypted_content"],"stream":%v,`+
			`"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}],"input":[%s]}`, stream, turns)
	},
	key: "api-key", wrongs: []string{"x-api-key", "x-goog-api-key"}, wrongKey: 401,
	refused: refusedResponses,
	served: map[string]func(*http.Request){
		"prefix":   toPath("/any/openai/v1/responses"),
		"no slash": func(r *http.Request) { r.URL.Path = "responses" },
		"azure":    toPath("/openai/responses?api-version=2025-04-01-preview"),
		"codex": func(r *http.Request) {
			header("originator", "codex_exec")(r)
			header("session-id", "s")(r)
			header("x-client-request-id", "not unique")(r)
			header("x-codex-turn-metadata", `{"a":1}`)(r)
		},
	},
	validate: func(body string) error {
		r, err := responses.ParseRequest([]byte(body))
		if err != nil {
			return err
		}
		return r.Validate(nil)
	},
	failures: failuresOfOpenAI,
	texts: map[string]string{
		"a part":                     "Invalid 'input[0].content[1]': no",
		"secret":                     "The server had an error while processing your request.",
		"two violations":             "Missing required parameter: 'seed'.\nInvalid 'top_k': is  odd ",
		"wrapped":                    "Invalid 'seed': b",
		"line break in a path":       "Invalid 'x y': b",
		"many violations end":        " more",
		"losses":                     "dropped top_k; degraded input[0].content",
		"losses of a whole response": "; hint output[0]",
		"rejected losses":            "Unsupported parameter: 'input[0].content'" + rejectedLoss + "sent in another form\nUnsupported parameter: 'stop_sequences'" + rejectedLoss + "unsupported",
		"overloaded":                 "The server is overloaded.",
		"unknown model":              "The model does not exist or you do not have access to it.",
		"model in the path":          "The model 'nope' does not exist or you do not have access to it.",
		"cannot list":                "The models of this service cannot be listed.",
		"count without turns":        "Missing required parameter: 'input'.",
	},
	word: "type", codedEvents: true, malformed: malformedOfResponses, where: whereOfOpenAI,
	deltas: []string{`"delta":"ab"`, `"delta":"cd"`},
	events: "text/event-stream; charset=utf-8",
	own:    [2]string{"x-ratelimit-limit-requests", "6"},
	reply:  responsesReply, tested: testedResponses, outcomes: responsesOutcomes,
	counts:     func(c *countCase) string { return c.responses },
	emptyCount: `{"model":"m"}`,
	countExtra: `{"input_tokens":1,"note":"n"}`,
	anyText:    true, keepsText: true,
	dense: density{
		statesBase: 8,
		user: func(n int) string {
			return `{"model":"m","input":[{"role":"user","content":[` + many(n, `{"type":"input_text","text":"a"}`) + `]}]}`
		},
		turns: func(n int) string { return `{"model":"m","input":[` + many(n, `{"role":"user","content":"a"}`) + `]}` },
		inResult: func(n int) string {
			return `{"model":"m","input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"t","name":"f","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"t","output":[` + many(n-3, `{"type":"input_text","text":"a"}`) + `]}]}`
		},
		members: func(n int) string {
			return `{"model":"m","input":[{"role":"user","content":"a"}],` + numbers(n-3, `"m#":1`) + `}`
		},
		tools: func(n int) string {
			return `{"model":"m","input":"a","tools":[` + numbers(n, `{"type":"function","name":"f#","parameters":{}}`) + `]}`
		},
		schema: func(n int) string {
			return `{"model":"m","input":"a","tools":[{"type":"function","name":"f","parameters":{"type":"object","required":[` + numbers(n-5, `"m#"`) + `]}}]}`
		},
		state: func(id, list string) (call, result string, ok bool) {
			id, ok = stateInID(id, list)
			return `{"type":"function_call","call_id":"` + id + `","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"` + id + `","output":"a"}`, ok
		},
		states: `{"model":"m","input":[{"role":"user","content":"a"},%s,%s]}`,
	},
	named: []string{"POST /@/v1/responses", "POST /v1/responses/@", "GET /v1/models/@", "GET /v1/models/a/@", "POST /v1/unknown/@"},
	// Office documents are accepted by default.
	hostType: "application/zip",
	inline:   `{"model":"m","input":[{"role":"user","content":[{"type":"input_file","filename":"f","file_data":"data:%s;base64,%s"}]}]}`,
	nesting:  "[[[[[[]]]]]]",
}

// malformedOfResponses checks an error object, or the error event of a stream, which always has a code.
func malformedOfResponses(a *answer, doc, e map[string]any, id string) string {
	if doc["event"] == nil {
		return malformedOfOpenAI(a, doc, e, id)
	}
	a.code, _ = e["code"].(string)
	a.word, a.coded = a.code, true
	return ""
}

// responsesReplies are the replies by the names of the cases. A message is the list of items
// without what all of them have, and finish is the reason of an incomplete response.
var responsesReplies = map[string]formatReply{
	"text":    {message: outputText(`one, \"two\"\n`)},
	"nothing": {},
	"citations": {message: outputText("They nest early") + "," + responsesCall("t1", "f", "{}") + "," +
		outputText("é and eat", `{"type":"url_citation","start_index":0,"end_index":9,"url":"https://a.example/h","title":"Herons"}`),
		lost: []string{"dropped parts.0", "dropped parts.2"}},
	// The request does not ask for reasoning, and no tool call carries the state.
	"thinking signed in Messages": {message: outputText("391"), lost: []string{"degraded parts.0", "degraded parts.1"}},
	"signed in generateContent": {message: outputText("391") + "," + responsesCall(signedID("fc-1", "CiQBc2lnLWE="), "f", `{"b":1.0,"a":12345678901234567890}`),
		lost: []string{"hint parts.0", "hint parts.1"}}, // the request does not ask for reasoning
	"parallel tool calls": {message: outputText("Both.") + "," + responsesCall("fc-1", "one", `{"city":"Lima"}`) + "," + responsesCall("fc-2", "two", "{}")},
	"image":               {message: outputText("Here:") + `,{"type":"image_generation_call","status":"completed","result":"iVBORw0KGgo="}`},
	"usage": {message: textResponses, usage: `{"input_tokens":138,"input_tokens_details":{"cached_tokens":100,"cache_write_tokens":25},` +
		`"output_tokens":47,"output_tokens_details":{"reasoning_tokens":40},"total_tokens":185}`, lost: []string{"hint usage"}},
	"malformed tool call":      {finish: tokenLimit, lost: []string{"dropped parts.0"}},
	"tool call without a name": {finish: tokenLimit, lost: []string{"dropped parts.0"}},
	"tool call with an invalid value": {finish: tokenLimit, streamed: incompleteCall("fc-1", "f", `{"a":x}`),
		lost: []string{"dropped parts.0"}},
	"truncated tool call":          {finish: tokenLimit, streamed: incompleteCall("fc-1", "f", `{"a":`), lost: []string{"dropped parts.0"}},
	"tool calls without arguments": {message: responsesCall("fc-0", "f", "{}") + "," + responsesCall("fc-1", "f", "{}") + "," + responsesCall("fc-2", "f", "{}")},
	"tool use stop without a call": {message: textIncomplete, finish: tokenLimit, lost: []string{"degraded stop"}},
	"blocked prompt":               {finish: "content_filter", lost: []string{"hint stop"}},

	"end":            {message: textResponses},
	"max_tokens":     {message: textIncomplete, finish: tokenLimit},
	"stop_sequence":  {message: textResponses, lost: []string{"hint stop"}},
	"context":        {message: textIncomplete, finish: tokenLimit},
	"pause":          {message: textIncomplete, finish: tokenLimit, lost: []string{"degraded stop"}},
	"refusal":        {message: textIncomplete, finish: "content_filter"},
	"safety":         {message: textIncomplete, finish: "content_filter"},
	"recitation":     {message: textIncomplete, finish: "content_filter"},
	"malformed call": {message: textIncomplete, finish: tokenLimit, lost: []string{"degraded stop"}},
	"compaction":     {message: textResponses, lost: []string{"degraded stop"}},
	"other":          {message: textIncomplete, finish: tokenLimit, lost: []string{"degraded stop"}},
}

const tokenLimit = "max_output_tokens"

var (
	textResponses  = outputText("a")
	textIncomplete = strings.Replace(textResponses, "completed", "incomplete", 1) // the last item of an incomplete response
)

func outputText(text string, annotations ...string) string {
	return `{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"` + text + `","annotations":[` +
		strings.Join(annotations, ",") + `]}]}`
}

func responsesCall(id, name, arguments string) string {
	return `{"type":"function_call","status":"completed","call_id":"` + id + `","name":"` + name + `","arguments":` + strconv.Quote(arguments) + `}`
}

func incompleteCall(id, name, arguments string) string {
	return strings.Replace(responsesCall(id, name, arguments), "completed", "incomplete", 1)
}

func responsesReply(c *replyCase) (whole, streamed string, lost []string) {
	r, ok := responsesReplies[c.name]
	if !ok {
		panic("no reply for " + c.name)
	}
	document := func(items string) string {
		status, details := "completed", "null"
		if r.finish != "" {
			status, details = "incomplete", `{"reason":"`+r.finish+`"}`
		}
		doc := `{"status":"` + status + `","incomplete_details":` + details + `,"output":[` + items + `]`
		if r.usage != "" {
			doc += `,"usage":` + r.usage
		}
		return doc + "}"
	}
	return document(r.message), document(cmp.Or(r.streamed, r.message)), r.lost
}

// testedResponses keeps the tested members of a response and of its items.
func testedResponses(m map[string]any) map[string]any {
	kept := map[string]any{}
	for _, name := range []string{"status", "incomplete_details", "output", "usage"} {
		kept[name] = m[name]
	}
	items, _ := m["output"].([]any)
	for _, x := range items {
		item := x.(map[string]any)
		for _, name := range []string{"id", "phase", "output_format"} {
			delete(item, name)
		}
		parts, _ := item["content"].([]any)
		for _, p := range parts {
			delete(p.(map[string]any), "logprobs")
		}
	}
	return kept
}

// responsesOutcomes are the outcomes of finished responses of other vendors.
var responsesOutcomes = map[string]outcome{
	"dropped and degraded citations":    {want: []string{`"Hi."`, `"completed"`}, not: []string{"url_citation"}, losses: []string{"dropped parts.0"}},
	"arguments other than an object":    {want: []string{`"max_output_tokens"}`}, not: []string{`"function_call"`}, losses: []string{"dropped parts.0"}},
	"tool call without a name":          {want: []string{`"max_output_tokens"}`}, not: []string{`"function_call"`}, losses: []string{"dropped parts.0"}},
	"refusal with an explanation":       {want: []string{`"content_filter"}`}, losses: []string{"hint stop"}},
	"refusal without an explanation":    {want: []string{`"content_filter"}`}},
	"service tier":                      {want: []string{`"service_tier":"priority"`}},
	"default values":                    {want: []string{`"service_tier":"default"`}},
	"extra members of usage":            {not: []string{"batch"}, losses: []string{"hint usage"}},
	"direct caller":                     {want: []string{`"function_call"`}},
	"extra members of the message":      {losses: []string{"dropped container", "hint context_management", "hint diagnostics"}},
	"unknown event and delta":           {losses: []string{"hint odd_event", "hint parts.0"}},
	"citation metadata":                 {losses: []string{"dropped citationMetadata"}},
	"URL context metadata":              {losses: []string{"dropped urlContextMetadata"}},
	"likelihoods":                       {losses: []string{"dropped logprobsResult", "hint avgLogprobs"}},
	"safety ratings and finish message": {losses: []string{"hint stop"}},
	"filter with an explanation":        {want: []string{`"content_filter"}`}, losses: []string{"hint stop"}},
	"continuation":                      {want: []string{`"status":"incomplete"`}, losses: []string{"degraded stop", "dropped continuationToken"}},
	"cited sources":                     {want: []string{`"url":"https://a.example/"`}, losses: []string{"hint parts.0"}},
	"citation of missing text":          {losses: []string{"dropped groundingMetadata"}},
	"sources without cited text":        {losses: []string{"dropped groundingMetadata"}},
	"sources without links":             {losses: []string{"dropped groundingMetadata"}},
	"search queries":                    {losses: []string{"hint groundingMetadata.webSearchQueries"}},
	"blocked prompt":                    {want: []string{`"content_filter"}`}, losses: []string{"hint stop"}},
}
