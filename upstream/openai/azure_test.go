package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond returns a response of Azure.
func respond(status int, header, body string) *http.Response {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if name, value, ok := strings.Cut(header, ": "); ok {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
	return w.Result()
}

// TestAzureRequest checks URLs, keys and models of requests to Azure.
func TestAzureRequest(t *testing.T) {
	token := func(context.Context) (string, error) { return "t", nil }
	prod := map[string]string{"gpt-5.2": "prod/chat 1"}
	tests := []struct {
		name            string
		o               openai.Options
		chat, responses string // the URLs
		model           string
		header          string
	}{
		{"v1", openai.Options{BaseURL: "https://r.openai.azure.com/openai/v1/", Key: "t"},
			"https://r.openai.azure.com/openai/v1/chat/completions", "https://r.openai.azure.com/openai/v1/responses", "gpt-5.2", "api-key: t"},
		{"v1, token", openai.Options{BaseURL: "https://r.services.ai.azure.com/openai/v1", KeyFunc: token, Deployments: prod},
			"https://r.services.ai.azure.com/openai/v1/chat/completions", "https://r.services.ai.azure.com/openai/v1/responses", "prod/chat 1", "Authorization: Bearer t"},
		{"v1 with a version", openai.Options{BaseURL: "https://r.openai.azure.com/openai/v1?api-version=preview", Key: "t"},
			"https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview", "https://r.openai.azure.com/openai/v1/responses?api-version=preview", "gpt-5.2", "api-key: t"},
		{"dated", openai.Options{BaseURL: "https://r.openai.azure.com", APIVersion: "2024-10-21", Key: "t"},
			"https://r.openai.azure.com/openai/deployments/gpt-5.2/chat/completions?api-version=2024-10-21", "https://r.openai.azure.com/openai/responses?api-version=2024-10-21", "gpt-5.2", "api-key: t"},
		{"dated, deployment", openai.Options{BaseURL: "https://r.cognitiveservices.azure.com/openai/", APIVersion: "2025-04-01-preview", KeyFunc: token, Deployments: prod},
			"https://r.cognitiveservices.azure.com/openai/deployments/prod%2Fchat%201/chat/completions?api-version=2025-04-01-preview",
			"https://r.cognitiveservices.azure.com/openai/responses?api-version=2025-04-01-preview", "prod/chat 1", "Authorization: Bearer t"},
		{"dated, gateway", openai.Options{BaseURL: "https://gateway.example/azure?tenant=1", APIVersion: "2024-10-21", Key: "t", KeyHeader: "Ocp-Apim-Subscription-Key"},
			"https://gateway.example/azure/openai/deployments/gpt-5.2/chat/completions?tenant=1&api-version=2024-10-21",
			"https://gateway.example/azure/openai/responses?tenant=1&api-version=2024-10-21", "gpt-5.2", "Ocp-Apim-Subscription-Key: t"},
		{"gateway", openai.Options{BaseURL: "https://gateway.example/openai/v1", Key: "t", Dialect: openai.Dialect{Kind: openai.ServerAzure}},
			"https://gateway.example/openai/v1/chat/completions", "https://gateway.example/openai/v1/responses", "gpt-5.2", "api-key: t"},
		{"other models of Azure", openai.Options{BaseURL: "https://r.services.ai.azure.com/models?api-version=2024-05-01-preview", Key: "t", Dialect: openai.Dialect{Kind: openai.ServerCompatible}},
			"https://r.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview", "https://r.services.ai.azure.com/models/responses?api-version=2024-05-01-preview", "gpt-5.2", "api-key: t"},
		{"OpenAI", openai.Options{Key: "t"}, "https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/responses", "gpt-5.2", "Authorization: Bearer t"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *http.Request
			var body string
			tt.o.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				text, err := io.ReadAll(r.Body)
				got, body = r, string(text)
				return respond(http.StatusTeapot, "", ""), err
			})}
			chat, err1 := openai.New(&tt.o)
			responses, err2 := openai.NewResponses(&tt.o)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			for want, up := range map[string]upstream.Upstream{tt.chat: chat, tt.responses: responses} {
				n := simpleRequest("gpt-5.2", "hi")
				half := 0.5
				n.Temperature = &half // the family of the model accepts it only without thinking
				n.Thinking.Mode = upstream.ThinkingAuto
				_, err := upstream.Collect(t.Context(), up, n)
				if err == nil {
					t.Error("no error")
				}
				if got.URL.String() != want {
					t.Errorf("URL %s, want %s", got.URL, want)
				}
				if model := gjson.Get(body, "model").Str; model != tt.model {
					t.Errorf("model %q, want %q", model, tt.model)
				}
				if gjson.Get(body, "temperature").Exists() {
					t.Errorf("the rules of the family are not applied: %s", body)
				}
				name, value, _ := strings.Cut(tt.header, ": ")
				if got.Header.Get(name) != value || name != "Authorization" && got.Header.Get("Authorization") != "" || name == "Authorization" && got.Header.Get("Api-Key") != "" {
					t.Errorf("headers %v, want %s", got.Header, tt.header)
				}
			}
		})
	}
}

// TestAzureModelNames checks that a deployment is one element of the path.
func TestAzureModelNames(t *testing.T) {
	c, err := openai.New(&openai.Options{BaseURL: "https://r.openai.azure.com", APIVersion: "2024-10-21", HTTPClient: &http.Client{
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			t.Errorf("sent to %s", r.URL)
			return nil, errors.New("sent")
		})}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", ".."} {
		_, err := upstream.Collect(t.Context(), c, simpleRequest(name, "hi"))
		var violation *content.Violation
		if !errors.As(err, &violation) || violation.Path != "model" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestAzureErrors checks errors that Azure returns before the model.
func TestAzureErrors(t *testing.T) {
	const denied = `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint. Key secret-key."}}`
	tests := []struct {
		name         string
		status       int
		header, body string
		code         upstream.Code
		text         string // part of the text for clients
		after        time.Duration
		refused      bool
	}{
		{"key", 401, "", denied, upstream.CodeBadGateway, "", 0, true},
		{"token", 401, "", `{"statusCode":401,"message":"Unauthorized. Access token is missing, invalid, audience is incorrect, or have expired."}`, upstream.CodeBadGateway, "", 0, true},
		{"role", 401, "", `{"error":{"code":"PermissionDenied","message":"The principal x lacks the required data action."}}`, upstream.CodeBadGateway, "", 0, true},
		{"deployment", 404, "", `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, upstream.CodeNotFound, "does not exist", 0, false},
		{"rate limit", 429, "Retry-After-Ms: 1500", `{"error":{"code":"429","message":"Requests have exceeded token rate limit. Please retry after 2 seconds. To increase your quota, see https://aka.ms/oai/quotaincrease."}}`,
			upstream.CodeRateLimit, "rate limit", 1500 * time.Millisecond, false},
		{"rate limit by name", 429, "Retry-After: 7", `{"error":{"code":"RateLimitReached","message":"Your requests have exceeded rate limit."}}`, upstream.CodeRateLimit, "rate limit", 7 * time.Second, false},
		{"version", 404, "", `{"error":{"code":"404","message":"Resource not found"}}`, upstream.CodeBadGateway, "", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := openai.Options{BaseURL: "https://r.openai.azure.com", APIVersion: "2024-10-21", Key: "secret-key", HTTPClient: &http.Client{
				Transport: roundTripper(func(*http.Request) (*http.Response, error) { return respond(tt.status, tt.header, tt.body), nil })}}
			chat, err1 := openai.New(&o)
			responses, err2 := openai.NewResponses(&o)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			for _, up := range []upstream.Upstream{chat, responses} {
				_, err := upstream.Collect(t.Context(), up, simpleRequest("gpt-4.1", "hi"))
				var e *upstream.Error
				if !errors.As(err, &e) {
					t.Fatal(err)
				}
				if e.Code != tt.code || e.RetryAfter != tt.after || e.KeyRefused != tt.refused || !strings.Contains(e.Text, tt.text) {
					t.Errorf("%+v, cause %v", e, e.Err)
				}
				if all := e.Error() + e.Text + e.Err.Error(); strings.Contains(all, "secret-key") || e.Details != nil && strings.Contains(e.Details.JSON, "secret-key") {
					t.Errorf("the key is in the error: %s", all)
				}
			}
		})
	}
}

// TestAzureNames checks that clients do not learn the names of the resource and of deployments,
// which the log has, but that names of models stay.
func TestAzureNames(t *testing.T) {
	const message = "The deployment prod-chat-eu of gpt-4.1 at acme-models.openai.azure.com for org-AbCdEfGh12345678 does not support x."
	o := openai.Options{BaseURL: "https://acme-models.openai.azure.com", APIVersion: "2024-10-21", Key: "secret-key", Organization: "acme-corp",
		Deployments: map[string]string{"m": "prod-chat-eu", "gpt-4.1-mini": "gpt-4.1"},
		HTTPClient: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return respond(400, "", `{"error":{"message":"`+message+`","type":"acme-corp"}}`), nil
		})}}
	chat, err := openai.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = upstream.Collect(t.Context(), chat, simpleRequest("m", "hi"))
	var e *upstream.Error
	const want = "The deployment [removed] of gpt-4.1 at [removed].openai.azure.com for [removed] does not support x."
	if !errors.As(err, &e) || e.Text != want || strings.Contains(e.Details.JSON, "acme") || strings.Contains(e.Details.JSON, "prod-chat") || !strings.Contains(e.Err.Error(), "prod-chat-eu") {
		t.Errorf("got %+v", e)
	}
}
