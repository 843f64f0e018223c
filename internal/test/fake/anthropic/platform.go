package anthropic

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// A Platform is a cloud whose form of requests and limits a [Server] has: "vertex",
// "bedrock" or "foundry". The empty Platform is the vendor's API. The stream of Bedrock is
// one of server-sent events, as a transport makes it of the frames.
type Platform string

// Clouds.
const (
	Vertex  Platform = "vertex"
	Bedrock Platform = "bedrock"
	Foundry Platform = "foundry"
)

var (
	vertexPath  = regexp.MustCompile(`^/v1/projects/[a-z0-9-]+/locations/([a-z0-9-]+)/publishers/anthropic/models/([^/:]+):(rawPredict|streamRawPredict)$`)
	bedrockPath = regexp.MustCompile(`^/model/([A-Za-z0-9._%-]+)/(invoke|invoke-with-response-stream|count-tokens)$`)
)

// vendorForm returns a request of a platform in the form of the vendor's API, after checks of
// what only the platform requires.
func (s *Server) vendorForm(r *http.Request, req *fake.Request) (*fake.Request, *refusal) {
	api := *req
	api.Header = req.Header.Clone()
	switch s.opts.Platform {
	case Foundry:
		path, ok := strings.CutPrefix(req.Path, "/anthropic")
		if !ok || strings.HasPrefix(path, "/v1/models") {
			return nil, &refusal{rule: "path", status: http.StatusNotFound, message: "Resource not found"}
		}
		api.Path = path
		return &api, nil
	case Vertex:
		return &api, vertexForm(&api)
	case Bedrock:
		return &api, bedrockForm(r.URL.EscapedPath(), &api)
	}
	return &api, nil
}

func vertexForm(api *fake.Request) *refusal {
	m := vertexPath.FindStringSubmatch(api.Path)
	if m == nil {
		return &refusal{rule: "path", status: http.StatusNotFound, google: "NOT_FOUND", message: "Publisher Model was not found."}
	}
	if no := needsBearer(api.Header, "UNAUTHENTICATED"); no != nil {
		return no
	}
	count := m[2] == "count-tokens"
	doc, no := cloudBody(api.Body, "vertex-2023-10-16", !count)
	if no != nil {
		return no
	}
	switch stream := string(doc["stream"]) == "true"; {
	case stream != (m[3] == "streamRawPredict"):
		return &refusal{rule: "stream", message: "stream: must be true for streamRawPredict and false for rawPredict"}
	case len(api.Query) > 0:
		return &refusal{rule: "query", google: "INVALID_ARGUMENT", message: "Invalid JSON payload received. Unknown name"}
	}
	api.Path = "/v1/messages"
	if count {
		api.Path += "/count_tokens"
	} else {
		doc["model"] = quote(m[2])
	}
	return finish(api, doc, betaList(api.Header), vertexBetas, vertexTools)
}

func bedrockForm(path string, api *fake.Request) *refusal {
	m := bedrockPath.FindStringSubmatch(path)
	if m == nil {
		return &refusal{rule: "path", status: http.StatusNotFound, message: "The resource was not found."}
	}
	model, err := url.PathUnescape(m[1])
	if err != nil {
		return &refusal{rule: "path", message: err.Error()}
	}
	if no := needsBearer(api.Header, ""); no != nil {
		return no
	}
	if len(betaList(api.Header)) > 0 {
		return &refusal{rule: "beta", message: "fake: the betas are a header and not a member"}
	}
	count := m[2] == "count-tokens"
	if count {
		var wrapped struct {
			Input struct{ InvokeModel struct{ Body []byte } }
		}
		if err := json.Unmarshal(api.Body, &wrapped); err != nil {
			return &refusal{rule: "json", message: "Malformed input request"}
		}
		if strings.Contains(model, "/") || !strings.HasPrefix(model, "anthropic.") {
			return &refusal{rule: "model", message: "The provided model doesn't support counting tokens."}
		}
		api.Body = wrapped.Input.InvokeModel.Body
	}
	doc, no := cloudBody(api.Body, "bedrock-2023-05-31", true)
	if no != nil {
		return no
	}
	if doc["stream"] != nil {
		return &refusal{rule: "stream", message: "stream: Extra inputs are not permitted"}
	}
	var betas []string
	if raw := doc["anthropic_beta"]; raw != nil {
		if err := json.Unmarshal(raw, &betas); err != nil {
			return &refusal{rule: "beta", message: "anthropic_beta: Input should be a valid list"}
		}
		delete(doc, "anthropic_beta")
		api.Header.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	doc["model"] = quote(model)
	api.Path = "/v1/messages"
	switch {
	case count:
		if doc["max_tokens"] == nil {
			return &refusal{rule: "shape", message: "max_tokens: Field required"}
		}
		api.Path += "/count_tokens"
		delete(doc, "max_tokens")
	case m[2] == "invoke-with-response-stream":
		doc["stream"] = json.RawMessage("true")
	}
	return finish(api, doc, betas, bedrockBetas, bedrockTools)
}

// needsBearer checks the key.
func needsBearer(h http.Header, google string) *refusal {
	if len(h.Values("X-Api-Key")) > 0 || !strings.HasPrefix(h.Get("Authorization"), "Bearer ") {
		return &refusal{rule: "key", status: http.StatusUnauthorized, google: google, message: "Request is missing required authentication credential."}
	}
	return nil
}

// cloudBody returns the members of a document with a version.
func cloudBody(body []byte, version string, noModel bool) (map[string]json.RawMessage, *refusal) {
	if _, err := fake.Parse(body); err != nil { // also refuses a name that is repeated
		return nil, &refusal{rule: "json", message: "The request body is not valid JSON: " + err.Error()}
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, &refusal{rule: "json", message: "The request body is not valid JSON: " + err.Error()}
	}
	if got := string(doc["anthropic_version"]); got != strconv.Quote(version) && got != `"2026-10-21"` {
		return nil, &refusal{rule: "version", message: "anthropic_version: Input should be '" + version + "', not " + got}
	}
	if noModel && doc["model"] != nil {
		return nil, &refusal{rule: "shape", message: "model: Extra inputs are not permitted"}
	}
	return doc, nil
}

// finish checks what a cloud does not have, and sets the body of the vendor's form.
func finish(api *fake.Request, doc map[string]json.RawMessage, betas, known, tools []string) *refusal {
	for _, b := range betas {
		if !slices.Contains(known, b) {
			return &refusal{rule: "beta", message: "invalid beta flag: " + b}
		}
	}
	for _, name := range []string{"speed", "container", "mcp_servers", "inference_geo", "service_tier", "diagnostics", "thread", "fallbacks",
		"fallback_credit_token", "billing_policy", "anthropic_beta", "output_format", "cache_control"} {
		if doc[name] != nil {
			return &refusal{rule: "shape", message: name + ": Extra inputs are not permitted"}
		}
	}
	var list []struct{ Type string }
	_ = json.Unmarshal(doc["tools"], &list)
	for i, t := range list {
		if t.Type == "" || t.Type == "custom" {
			continue
		}
		if !slices.ContainsFunc(tools, func(p string) bool { return strings.HasPrefix(t.Type, p) }) {
			return &refusal{rule: "tool", message: "tools." + strconv.Itoa(i) + ": Input tag '" + t.Type + "' found using 'type' does not match any of the expected tags"}
		}
		if strings.HasPrefix(t.Type, "web_search_") && !slices.Contains(betas, "web-search-2025-03-05") ||
			strings.HasPrefix(t.Type, "tool_search_") && !slices.Contains(betas, "tool-search-tool-2025-10-19") {
			return &refusal{rule: "beta", message: "tools." + strconv.Itoa(i) + ": the tool " + t.Type + " needs a beta"}
		}
	}
	if where := linkIn(doc["messages"]); where != "" {
		return &refusal{rule: "source", message: "messages: " + where + " sources are not supported"}
	}
	// A name of the platform, as the vendor's API has it.
	var model string
	_ = json.Unmarshal(doc["model"], &model)
	if i := strings.LastIndex(model, "anthropic."); i >= 0 {
		model = model[i+len("anthropic."):]
	}
	model, _, _ = strings.Cut(strings.ReplaceAll(model, "@", "-"), "-v1")
	doc["model"] = quote(model)
	api.Header.Set("Anthropic-Version", "2023-06-01")
	if string(doc["anthropic_version"]) == `"2026-10-21"` {
		api.Header.Set("Anthropic-Version", "2026-10-21")
	}
	delete(doc, "anthropic_version")
	api.Header.Set("X-Api-Key", strings.TrimPrefix(api.Header.Get("Authorization"), "Bearer "))
	api.Header.Del("Authorization")
	if slices.Contains(betas, "tool-search-tool-2025-10-19") { // the vendor's API has no such beta
		api.Header.Set("Anthropic-Beta", strings.Join(slices.DeleteFunc(betas, func(b string) bool { return b == "tool-search-tool-2025-10-19" }), ","))
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return &refusal{rule: "json", message: err.Error()}
	}
	api.Body = body
	return nil
}

// linkIn returns "url" or "file" if a block in the JSON text has such a source.
func linkIn(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v)
	var find func(v any) string
	find = func(v any) string {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				if s := find(x); s != "" {
					return s
				}
			}
		case map[string]any:
			if kind := v["type"]; kind == "image" || kind == "document" {
				if s, ok := v["source"].(map[string]any); ok && (s["type"] == "url" || s["type"] == "file") {
					return s["type"].(string)
				}
			}
			return find(v["content"])
		}
		return ""
	}
	return find(v)
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s)
	return b
}

// The betas and tools of the clouds, as of November 2026.
var (
	vertexBetas = strings.Fields(`compact-2026-01-12 compact-2026-09-04 computer-use-2025-01-24 computer-use-2025-11-24
		context-1m-2025-08-07 context-management-2025-06-27 interleaved-thinking-2025-05-14
		thinking-binding-controls-2026-08-01 thinking-display-updates-2026-08-18 tool-search-tool-2025-10-19 web-search-2025-03-05`)
	bedrockBetas = strings.Fields(`compact-2026-01-12 computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07
		context-management-2025-06-27 effort-2025-11-24 fine-grained-tool-streaming-2025-05-14 interleaved-thinking-2025-05-14
		mid-conversation-output-config-2026-07-01 mid-conversation-tool-changes-2026-07-01
		thinking-binding-controls-2026-08-01 thinking-display-updates-2026-08-18 tool-search-tool-2025-10-19`)
	bedrockTools = []string{"bash_", "text_editor_", "memory_", "computer_", "tool_search_tool_"}
	vertexTools  = append([]string{"web_search_2025"}, bedrockTools...)
)
