package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// rejectingServer rejects each request with the first of its refusals whose mark is in
// the body. Each applies once.
func rejectingServer(t *testing.T, o openai.Options, refusals ...[2]string) (*openai.Client, *[]string) {
	t.Helper()
	var seen []string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, string(body))
		w.Header().Set("Content-Type", "application/json")
		for _, x := range refusals {
			if strings.Contains(string(body), x[0]) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, x[1])
				return
			}
		}
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(ts.Close)
	o.BaseURL, o.HTTPClient = ts.URL, ts.Client()
	c, err := openai.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c, &seen
}

// TestRefusedFields checks that a rejected field is omitted, reported, and remembered
// for the model.
func TestRefusedFields(t *testing.T) {
	half, seven := 0.5, int64(7)
	c, seen := rejectingServer(t, openai.Options{},
		[2]string{`"temperature"`, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.5 with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`},
		[2]string{`"max_tokens"`, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`},
		[2]string{`"top_k"`, `{"error":{"message":"Unrecognized request argument supplied: top_k","type":"invalid_request_error"}}`},
	)
	req := simpleRequest("m", "q")
	req.Temperature, req.MaxTokens, req.TopK = &half, &seven, &seven
	for round, want := range []int{4, 5} {
		reply, err := upstream.Collect(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		if len(*seen) != want {
			t.Errorf("round %d: %d requests, want %d", round, len(*seen), want)
		}
		var paths []string
		for _, l := range lossplaces.Of(reply.Losses) {
			paths = append(paths, l.Path)
		}
		slices.Sort(paths)
		if diff := cmp.Diff([]string{"temperature", "top_k"}, paths); diff != "" {
			t.Errorf("round %d: losses (-want +got):\n%s", round, diff)
		}
	}
	const last = `{"model":"m","messages":[{"role":"user","content":"q"}],"max_completion_tokens":7}`
	if got := (*seen)[4]; got != last {
		t.Errorf("sent %s, want %s", got, last)
	}
}

// TestSteppedDown checks that a rejected effort is replaced by the nearest other one and a limit by
// that of the server, that this is reported, and that it is remembered for the model.
func TestSteppedDown(t *testing.T) {
	tokens := int64(100000)
	const list = `{"error":{"message":"Unsupported value: 'max' is not supported with the 'm' model. Supported values are: 'low', 'high', and 'xhigh'.","type":"invalid_request_error","param":"reasoning_effort","code":"unsupported_value"}}`
	c, seen := rejectingServer(t, openai.Options{Dialect: openai.Dialect{Kind: openai.ServerOpenAI}},
		[2]string{`"reasoning_effort":"max"`, list},
		[2]string{`"reasoning_effort":"xhigh"`, `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.","type":"invalid_request_error","param":"reasoning_effort","code":"unsupported_value"}}`},
		[2]string{`100000`, `{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}`},
	)
	req := simpleRequest("m", "q")
	req.Thinking.Effort, req.MaxTokens = "max", &tokens
	for round, want := range []int{4, 5} {
		reply, err := upstream.Collect(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, l := range reply.Losses {
			paths = append(paths, l.Path)
		}
		slices.Sort(paths)
		if diff := cmp.Diff([]string{"max_tokens", "thinking.effort"}, paths); diff != "" || len(*seen) != want {
			t.Errorf("round %d: %d requests, want %d, losses (-want +got):\n%s", round, len(*seen), want, diff)
		}
	}
	const last = `"reasoning_effort":"high","max_completion_tokens":16384`
	if got := (*seen)[4]; !strings.Contains(got, last) {
		t.Errorf("sent %s, want %s", got, last)
	}
	req.Model = "other"
	if _, err := upstream.Collect(t.Context(), c, req); err != nil || !strings.Contains((*seen)[5], `"reasoning_effort":"max"`) {
		t.Errorf("%v; another model got %s", err, (*seen)[5])
	}
}

// TestRefusedCacheMembers checks that a server without the key and the lifetimes of prompt
// caches does not get them again, and that cache marks stay.
func TestRefusedCacheMembers(t *testing.T) {
	c, seen := rejectingServer(t, openai.Options{Dialect: openai.Dialect{Kind: openai.ServerOpenAI}},
		[2]string{`"prompt_cache_key"`, `{"error":{"message":"Unrecognized request argument supplied: prompt_cache_key","type":"invalid_request_error","param":null,"code":null}}`},
		[2]string{`"ttl"`, `{"error":{"message":"Invalid value: '12h'. Supported values are: '30m'.","type":"invalid_request_error","param":"messages[0].content[0].prompt_cache_breakpoint.ttl","code":"invalid_value"}}`},
	)
	req := simpleRequest("gpt-5.6", "q")
	req.System = []content.Part{&content.Text{Text: "s", Cache: &content.Cache{TTL: "1h"}}}
	for round, want := range []int{3, 4} {
		reply, err := upstream.Collect(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		if len(*seen) != want || len(reply.Losses) != 1 || reply.Losses[0].Path != "system.0.cache" {
			t.Errorf("round %d: %d requests, losses %v; want %d and one of the lifetime", round, len(*seen), reply.Losses, want)
		}
	}
	if !strings.Contains((*seen)[0], `"prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}`) {
		t.Errorf("sent first: %s", (*seen)[0])
	}
	const last = `{"model":"gpt-5.6","messages":[{"role":"developer","content":[{"type":"text","text":"s","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":"q"}]}`
	if got := (*seen)[3]; got != last {
		t.Errorf("sent %s, want %s", got, last)
	}
}

// A countingResolver counts how often it loads a file.
type countingResolver struct{ loads int }

func (r *countingResolver) Resolve(context.Context, content.Source) (content.Blob, error) {
	r.loads++
	return content.Blob{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}, nil
}

// TestRefusedFieldWithFile checks that files are loaded once, even if the request is sent
// again.
func TestRefusedFieldWithFile(t *testing.T) {
	half, files := 0.5, &countingResolver{}
	c, seen := rejectingServer(t, openai.Options{}, [2]string{`"temperature"`, `{"detail":[{"loc":["body","temperature"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]}`})
	req := simpleRequest("m", "q")
	req.Temperature, req.Resolver = &half, files
	req.Turns[0].Parts = append(req.Turns[0].Parts, &content.Image{Source: &content.URL{URL: "https://files.example/a.png"}})
	if _, err := upstream.Collect(t.Context(), c, req); err != nil {
		t.Fatal(err)
	}
	if len(*seen) != 2 || !strings.Contains((*seen)[1], "data:image/png;base64,") || files.loads != 1 {
		t.Errorf("loaded %d times for %d requests, the last %s", files.loads, len(*seen), (*seen)[len(*seen)-1])
	}
}

// TestRefusedLoss checks that a rejected loss ends the request.
func TestRefusedLoss(t *testing.T) {
	half := 0.5
	c, seen := rejectingServer(t, openai.Options{}, [2]string{`"temperature"`, `{"detail":[{"loc":["body","temperature"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]}`})
	req := simpleRequest("m", "q")
	req.Temperature, req.RejectLoss = &half, content.LossDropped
	_, err := upstream.Collect(t.Context(), c, req)
	if list, _ := content.Violations(err); len(list) != 1 || list[0].Path != "temperature" || len(*seen) != 1 {
		t.Errorf("%v after %d requests", err, len(*seen))
	}
}

// TestRefusedOtherwise checks that requests with other errors are not sent again, even
// if the text is similar.
func TestRefusedOtherwise(t *testing.T) {
	half := 0.5
	for name, body := range map[string]string{
		"invalid value":      `{"error":{"message":"temperature must be at most 0.1","type":"x","param":"temperature","code":null}}`,
		"value out of range": `{"error":{"message":"temperature must be non-negative, got -1.","type":"BadRequestError","param":"temperature","code":400}}`,
		"other field":        `{"error":{"message":"Invalid 'messages'.","param":"messages","code":"unsupported_value"}}`,
		"context exceeded":   `{"error":{"message":"maximum context length exceeded; lower temperature","code":null}}`,
		"no message":         ``,
	} {
		c, seen := rejectingServer(t, openai.Options{}, [2]string{`"model"`, body})
		req := simpleRequest("m", "q")
		req.Temperature = &half
		if _, err := upstream.Collect(t.Context(), c, req); err == nil || len(*seen) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, len(*seen))
		}
	}
}

// valueCases are rejections of values and messages, and the second request.
var valueCases = []struct {
	name, mark, refusal string
	options             openai.Options
	change              func(*upstream.Request)
	want                string // part of the second request
	absent              string
	path                string // of the loss
}{
	{"tools with thinking", `"reasoning_effort":"high"`, `{"error":{"message":"Function tools with reasoning_effort are not supported for x in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`,
		openai.Options{}, func(r *upstream.Request) { r.Tools, r.Thinking.Effort = weather, "high" }, `"reasoning_effort":"none"`, "", "thinking"},
	{"tools with default thinking", `}]}`, `{"error":{"message":"Function tools with reasoning_effort are not supported for x in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`,
		openai.Options{}, func(r *upstream.Request) { r.Tools = weather }, `"reasoning_effort":"none"`, "", "thinking"},
	{"tools with thinking, other text", `"reasoning_effort":"high"`, `{"error":{"message":"Function tools with reasoning_effort are not supported for x in /v1/chat/completions. Please use /v1/responses instead.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`,
		openai.Options{}, func(r *upstream.Request) { r.Tools, r.Thinking.Effort = weather, "high" }, `"reasoning_effort":"none"`, "", "thinking"},
	{"model without thinking", `"reasoning_effort"`, `{"error":{"message":"\"m\" does not support thinking","type":"api_error","param":null,"code":null}}`,
		openai.Options{}, func(r *upstream.Request) { r.Thinking.Effort = "high" }, "", `"reasoning_effort"`, "thinking"},
	{"long descriptions", strings.Repeat("x", 1025), `{"error":{"message":"Invalid 'tools[0].function.description': string too long.","type":"invalid_request_error","param":"tools[0].function.description","code":"string_above_max_length"}}`,
		openai.Options{}, func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Description: strings.Repeat("x", 1030)}}
		}, `"description":"` + strings.Repeat("x", 1024) + `"`, "", "tools.0.description"},
	{"stream_options", `"stream_options"`, `{"error":{"message":"Unrecognized request argument supplied: stream_options","param":"stream_options"}}`,
		openai.Options{}, func(r *upstream.Request) { r.Stream = true }, `"stream":true`, `"stream_options"`, "stream"},
	{"no padding", `"include_obfuscation"`, `{"error":{"message":"Unknown parameter: 'stream_options.include_obfuscation'.","type":"invalid_request_error","param":"stream_options.include_obfuscation","code":"unknown_parameter"}}`,
		openai.Options{Dialect: openai.Dialect{Kind: openai.ServerOpenAI}}, func(r *upstream.Request) { r.Stream = true }, `"stream_options":{"include_usage":true}`, `"include_obfuscation"`, ""},
	{"role developer", `"developer"`, `{"error":{"message":"Unexpected role: developer","param":"messages.[0].role"}}`,
		openai.Options{Dialect: openai.Dialect{Kind: openai.ServerOpenAI}}, func(r *upstream.Request) { r.Model, r.System = "gpt-5", []content.Part{&content.Text{Text: "s"}} },
		`"role":"system"`, `"developer"`, ""},
	{"short ids", `"toolu_1"`, `{"object":"error","message":"Tool call id was toolu_1 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_request_error","param":null,"code":"3280"}`,
		openai.Options{}, func(r *upstream.Request) {
			r.Turns = append(r.Turns, content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "toolu_1", Name: "weather"}}},
				content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "toolu_1"}}})
		}, `"tool_call_id":"`, "toolu_1", "turns.1.parts.0.id"},
	{"JSON object", `"json_object"`, `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`,
		openai.Options{}, func(r *upstream.Request) {
			r.Output.MediaType, r.Turns[0].Parts = "application/json", []content.Part{&content.Text{Text: "JSON!"}}
		},
		`"schema":{"type":"object"}`, `"json_object"`, ""},
	{"tool choice by name", `"tool_choice":{`, `{"detail":[{"loc":["body","tool_choice"],"msg":"Unexpected value; permitted: 'none', 'auto', 'required'","type":"x"}]}`,
		openai.Options{}, func(r *upstream.Request) {
			r.Tools, r.Choice = weather, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{weather[0].Name}}
		},
		`"tool_choice":"required"`, `"tool_choice":{`, "choice.names"},
	{"thinking switch", `"thinking":`, `{"error":{"message":"Unrecognized request argument supplied: thinking","type":"invalid_request_error"}}`,
		openai.Options{Dialect: openai.Dialect{Thinking: "thinking", Efforts: []string{}}}, func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingOff },
		"", `"thinking":`, "thinking.mode"},
	{"thinking of the client", `"reasoning_content":"a"`, `{"error":{"message":"'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]","type":"invalid_request_error"}}`,
		openai.Options{}, func(r *upstream.Request) {
			r.Turns = append(r.Turns, content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "a"}, &content.ToolUse{ID: "a", Name: "weather"}}},
				content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "a"}}})
		}, "", `"reasoning_content"`, "turns.1.parts.0"},
	{"required thinking", `"content":null,"tool_calls"`, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error","code":"invalid_request_error"}}`,
		openai.Options{}, func(r *upstream.Request) {
			r.Turns = append(r.Turns, content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "a", Name: "weather"}}},
				content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "a"}}})
		}, `"reasoning_content":""`, "", "turns.1.parts.0"},
}

// TestRefusedValues checks rejections of values and messages.
func TestRefusedValues(t *testing.T) {
	for _, test := range valueCases {
		t.Run(test.name, func(t *testing.T) {
			c, seen := rejectingServer(t, test.options, [2]string{test.mark, test.refusal})
			req := simpleRequest("m", "q")
			test.change(req)
			reply, err := upstream.Collect(t.Context(), c, req)
			if err != nil || len(*seen) != 2 {
				t.Fatalf("%v after %d requests: %s", err, len(*seen), *seen)
			}
			if got := (*seen)[1]; !strings.Contains(got, test.want) || test.absent != "" && strings.Contains(got, test.absent) {
				t.Errorf("sent %s", got)
			}
			reported := slices.ContainsFunc(lossplaces.Of(reply.Losses), func(l content.Loss) bool { return l.Path == test.path })
			if reported != (test.path != "") {
				t.Errorf("losses: %v", reply.Losses)
			}
		})
	}
}
