package anthropic

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// checkHTTP checks a request except for its body: messages.md §1.
func (s *Server) checkHTTP(req *fake.Request) *refusal {
	if where := fake.Marked(req, s.opts.Forbid); where != "" {
		return &refusal{rule: "forbidden", message: "fake: " + where + " contains a value that is forbidden here"}
	}
	checks := []func(*Server, *fake.Request) *refusal{checkRoute, checkKey, checkVersion, checkBetas, checkContent}
	for _, check := range checks {
		if no := check(s, req); no != nil {
			return no
		}
	}
	return nil
}

func checkRoute(_ *Server, req *fake.Request) *refusal {
	method := http.MethodPost
	switch {
	case req.Path == "/v1/messages", req.Path == "/v1/messages/count_tokens":
	case req.Path == "/v1/models", strings.HasPrefix(req.Path, "/v1/models/"):
		method = http.MethodGet
	default:
		return &refusal{rule: "path", status: http.StatusNotFound, message: "Not found"}
	}
	if req.Method != method {
		return &refusal{rule: "method", status: http.StatusMethodNotAllowed, message: "Method Not Allowed"}
	}
	return nil
}

// checkKey is messages.md §1.2: either form of the key, and 401 with two texts.
func checkKey(s *Server, req *fake.Request) *refusal {
	keys := req.Header.Values("X-Api-Key")
	for _, v := range req.Header.Values("Authorization") {
		bearer, ok := strings.CutPrefix(v, "Bearer ")
		if !ok {
			return &refusal{rule: "key", status: http.StatusUnauthorized, message: "invalid bearer token"}
		}
		keys = append(keys, bearer)
	}
	switch {
	case len(keys) == 0 || keys[0] == "":
		return &refusal{rule: "key", status: http.StatusUnauthorized, message: "x-api-key header is required"}
	case len(keys) > 1:
		// A request with two keys carries the key of a foreign client.
		return &refusal{rule: "key", status: http.StatusUnauthorized, message: "invalid x-api-key"}
	case s.opts.Key != "" && keys[0] != s.opts.Key:
		return &refusal{rule: "key", status: http.StatusUnauthorized, message: "invalid x-api-key"}
	}
	return nil
}

func checkVersion(_ *Server, req *fake.Request) *refusal {
	switch values := req.Header.Values("Anthropic-Version"); {
	case len(values) == 0:
		return &refusal{rule: "version", message: "anthropic-version: header is required"}
	case len(values) > 1 || !slices.Contains([]string{"2023-06-01", "2026-10-21"}, values[0]):
		return &refusal{rule: "version", message: "anthropic-version: " + strings.Join(values, ", ") + " is not a valid version"}
	}
	return nil
}

func checkBetas(_ *Server, req *fake.Request) *refusal {
	for _, b := range betaList(req.Header) {
		if !slices.Contains(knownBetas, b) {
			return &refusal{rule: "beta", message: "Unexpected value(s) `" + b + "` for the `anthropic-beta` header. Please consult our documentation at platform.claude.com/docs or try again without the header."}
		}
	}
	return nil
}

func checkContent(_ *Server, req *fake.Request) *refusal {
	if req.Method == http.MethodGet {
		return nil
	}
	if enc := req.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return &refusal{rule: "encoding", message: "content-encoding " + enc + " is not supported", details: `{"error_code":"request_body_encoding_unsupported"}`}
	}
	kind, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return &refusal{rule: "content-type", message: "content-type: must be application/json"}
	}
	if cs := params["charset"]; cs != "" && !slices.Contains([]string{"utf-8", "iso-8859-1", "us-ascii"}, strings.ToLower(cs)) {
		return &refusal{rule: "content-type", message: "charset " + cs + " is not supported", details: `{"error_code":"unsupported_charset"}`}
	}
	if len(req.Body) > 32<<20 {
		return &refusal{rule: "size", status: http.StatusRequestEntityTooLarge, message: defaultMessages[413]}
	}
	return nil
}

func betaList(h http.Header) []string {
	var out []string
	for _, line := range h.Values("Anthropic-Beta") {
		for b := range strings.SplitSeq(line, ",") {
			if b = strings.TrimSpace(b); b != "" {
				out = append(out, b)
			}
		}
	}
	return out
}

// betaSet returns a function that reports whether a request enables a beta; the
// name may end with "*".
func betaSet(h http.Header) func(string) bool {
	on := betaList(h)
	return func(name string) bool {
		prefix, wild := strings.CutSuffix(name, "*")
		return slices.ContainsFunc(on, func(b string) bool {
			return b == name || wild && strings.HasPrefix(b, prefix)
		})
	}
}

// knownBetas are the betas of messages.md §1.2, those that SDK helpers add
// automatically, and those of the vendor's own client in agents.md §1.
var knownBetas = strings.Fields(`
message-batches-2024-09-24 prompt-caching-2024-07-31 computer-use-2024-10-22 computer-use-2025-01-24
computer-use-2025-11-24 pdfs-2024-09-25 token-counting-2024-11-01 token-efficient-tools-2025-02-19
output-128k-2025-02-19 output-300k-2026-03-24 files-api-2025-04-14 mcp-client-2025-04-04
mcp-client-2025-11-20 mcp-client-2026-09-15 dev-full-thinking-2025-05-14 interleaved-thinking-2025-05-14
code-execution-2025-05-22 extended-cache-ttl-2025-04-11 context-1m-2025-08-07 context-management-2025-06-27
model-context-window-exceeded-2025-08-26 skills-2025-10-02 structured-outputs-2025-11-13 fast-mode-2026-02-01
advanced-tool-use-2025-11-20 compact-2026-01-12 compact-2026-09-04 advisor-tool-2026-03-01 task-budgets-2026-03-13 cache-diagnosis-2026-04-07
thinking-token-count-2026-05-13 thinking-display-updates-2026-08-18 thinking-binding-controls-2026-08-01
server-side-fallback-2026-06-01 server-side-fallback-2026-07-01 fallback-credit-2026-06-01
fallback-credit-2026-07-01 mid-conversation-tool-changes-2026-07-01 mid-conversation-output-config-2026-07-01
mid-conversation-system-clear-at-2026-08-21 inline-tools-2026-09-15 message-threads-2026-08-12
user-profiles-2026-03-24 user-profiles-2026-08-18 user-profiles-2026-09-04 user-profiles-billing-2026-10-01
fine-grained-tool-streaming-2025-05-14 structured-outputs-2025-12-15 oauth-2025-04-20
claude-code-20250219 prompt-caching-scope-2026-01-05 mid-conversation-system-2026-04-07 effort-2025-11-24
web-search-2025-03-05 web-fetch-2025-09-10`)
