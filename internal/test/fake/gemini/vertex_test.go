package gemini

import (
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
)

// TestVertex checks what only the cloud service accepts or rejects.
func TestVertex(t *testing.T) {
	const path = "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-3.8-flash:generateContent"
	tests := []struct{ name, path, body, rule, message string }{
		{"accepted", path, in(`"generationConfig":{"audioTimestamp":true},"labels":{"a":"b"}`), "", ""},
		{"other project", strings.Replace(path, "/p/", "/q/", 1), in(`"labels":{}`), "path", "Not found"},
		{"path of the vendor", "/v1beta/models/m:generateContent", talk(hi), "path", "Not found"},
		{"snake_case", path, `{"contents":[` + hi + `],"generation_config":{"top_k":3}}`, "", ""},
		{"no role", path, talk(`{"parts":[{"text":"hi"}]}`), "role", "Please use a valid role"},
		{"store", path, in(`"store":false`), "shape", `Unknown name "store"`},
		{"server-side tools", path, in(`"toolConfig":{"includeServerSideToolInvocations":true}`), "shape", `Unknown name "includeServerSideToolInvocations"`},
		{"file search", path, in(`"tools":[{"fileSearch":{}}]`), "shape", `Unknown name "fileSearch"`},
		{"built-in tool beside a function", path, in(`"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}]`), "built-in", "Multiple tools"},
		{"stored file", path, talk(turn("user", `{"fileData":{"mimeType":"image/png","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}}`)), "media", "Cannot fetch"},
		{"part metadata", path, talk(turn("user", `{"text":"x","partMetadata":{"a":1}}`)), "shape", `Unknown name "partMetadata"`},
		{"whole request to count", strings.Replace(path, ":generateContent", ":countTokens", 1), `{"generateContentRequest":` + talk(hi) + `}`, "shape", `Unknown name "generateContentRequest"`},
		{"count", strings.Replace(path, ":generateContent", ":countTokens", 1), in(`"systemInstruction":` + hi), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{Vertex: "p/locations/global", Key: "token"})
			res := fake.Post(s, tt.path, tt.body, "Authorization", "Bearer token")
			if body := fake.Read(t, res); (res.StatusCode == http.StatusOK) != (tt.rule == "") || !strings.Contains(body, strings.ReplaceAll(tt.message, `"`, `\"`)) {
				t.Errorf("status %d, body %s", res.StatusCode, body)
			}
			if got := s.Last().Rule; got != tt.rule {
				t.Errorf("rule %q, want %q", got, tt.rule)
			}
		})
	}
	s := NewHandler(Options{Vertex: "p/locations/global", Key: "token"})
	if res := fake.Post(s, path, talk(hi), "X-Goog-Api-Key", "token"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("API key: status %d", res.StatusCode)
	}
	s = NewHandler(Options{Vertex: "express", Key: "key"})
	if res := fake.Post(s, "/v1/publishers/google/models/m:generateContent", talk(hi), "X-Goog-Api-Key", "key"); res.StatusCode != http.StatusOK {
		t.Errorf("express: %s", fake.Read(t, res))
	}
}
