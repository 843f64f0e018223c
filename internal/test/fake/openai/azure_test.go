package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
)

// TestAzure checks paths, keys and deployments of Azure.
func TestAzure(t *testing.T) {
	const (
		dated = "/openai/deployments/prod/chat/completions?api-version=2024-10-21"
		body  = `{"model":"any","messages":[{"role":"user","content":"hi"}]}`
	)
	key := []string{"Api-Key", "k"}
	tests := []struct {
		name, version, path string
		header              []string
		rule, message       string
	}{
		{"v1", "v1", "/openai/v1/chat/completions", key, "model", "DeploymentNotFound"}, // the deployment is in the body
		{"path of the vendor", "v1", "/v1/chat/completions", key, "path", "Resource not found"},
		{"dated", "2024-10-21", dated, key, "", "content_filter_results"},
		{"token", "2024-10-21", dated, []string{"Authorization", "Bearer k"}, "", ""},
		{"key as a token", "2024-10-21", dated, []string{"Authorization", "k"}, "key", "Access denied"},
		{"key and token", "2024-10-21", dated, append([]string{"Authorization", "Bearer k"}, key...), "key", "Access denied"},
		{"wrong key", "2024-10-21", dated, []string{"Api-Key", "x"}, "key", "Access denied"},
		{"no version", "2024-10-21", strings.TrimSuffix(dated, "?api-version=2024-10-21"), key, "path", "Resource not found"},
		{"no deployment", "2024-10-21", "/openai/chat/completions?api-version=2024-10-21", key, "path", "Resource not found"},
		{"other deployment", "2024-10-21", strings.Replace(dated, "prod", "test", 1), key, "model", "DeploymentNotFound"},
		{"Responses with a deployment", "2024-10-21", "/openai/deployments/prod/responses?api-version=2024-10-21", key, "path", "Resource not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{Azure: tt.version, Key: "k", Deployments: map[string]string{"prod": "gpt-4.1"}})
			res := fake.Post(s, tt.path, body, tt.header...)
			if text := fake.Read(t, res); (res.StatusCode == http.StatusOK) != (tt.rule == "") || !strings.Contains(text, tt.message) {
				t.Errorf("status %d: %s", res.StatusCode, text)
			}
			if got := s.Last().Rule; got != tt.rule {
				t.Errorf("rule %q, want %q", got, tt.rule)
			}
		})
	}
}
