package e2e

import (
	"bytes"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// hostErrors are responses that only the host can prevent: the URL is wrong, or a proxy has
// responded. The contents of the pages are those of well-known servers.
var hostErrors = []struct {
	name, header, body string
	status             int
}{
	{"404 as text", "text/plain", "404 page not found\n", 404},
	{"404 as a page", "text/html", "<html><title>404 Not Found</title><center>nginx</center></html>", 404},
	{"404 of another format", "application/json", `{"message":"no Route matched with those values"}`, 404},
	{"404 without a body", "", "", 404},
	{"405", "text/plain", "Method Not Allowed", 405},
	{"301", "text/html", "<html>moved</html>", 301},
	{"302", "text/html", "<html>moved</html>", 302},
	{"307", "", "", 307},
	{"400 as a page", "text/html", "<html>The plain HTTP request was sent to HTTPS port</html>", 400},
	{"400 as text", "text/plain", "Client sent an HTTP request to an HTTPS server.\n", 400},
	{"403 as a page", "text/html", "<html>Attention Required!</html>", 403},
	{"407", "text/html", "<html>proxy</html>", 407},
	{"409 as a page", "text/html", "<html>conflict</html>", 409},
	{"413 as a page", "text/html", "<html>413 Request Entity Too Large</html>", 413},
	{"415", "text/plain", "", 415},
	{"421", "text/plain", "", 421},
	{"422 as text", "text/plain", "no", 422},
	{"426", "text/plain", "Upgrade Required", 426},
	{"431", "text/plain", "", 431},
	{"200 as a page", "text/html", "<html>It works!</html>", 200},
	{"200 as text", "text/plain", "It works!", 200},
}

// TestHostErrors checks that a mistake of the host is not reported as the client's, that the
// log has its cause with the URL, and that the next upstream responds.
func TestHostErrors(t *testing.T) {
	all := maps.Clone(clouds)
	for _, b := range adapters {
		all[b.name] = b
	}
	for name, b := range all {
		t.Run(name, func(t *testing.T) {
			var now int
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", hostErrors[now].header)
				w.Header().Set("Location", "https://user:secret@other.example/v2?key=secret")
				w.WriteHeader(hostErrors[now].status)
				_, _ = io.WriteString(w, hostErrors[now].body)
			}))
			defer s.Close()
			up := b.at(t, s.URL+"/base", httpClient(t))
			for _, f := range endpoints {
				var log bytes.Buffer
				logger := slog.New(slog.NewTextHandler(&log, nil))
				g := newGateway(f, up, upstream.HandlerOptions{Logger: logger})
				over := newGateway(f, upstream.Failover([]upstream.Upstream{up, echo.New()}, nil), upstream.HandlerOptions{Logger: logger})
				for i, e := range hostErrors {
					now = i
					for _, m := range f.modes {
						log.Reset()
						a := g.ask(b.model, (&vendorResponse{}).request(f), m)
						if a.Status != 502 || a.Err == nil || leaks(a) != "" {
							t.Errorf("%s, %s, %s: status %d: %s", f.name, e.name, m, a.Status, clip(a.Body))
						}
						line := log.String()
						if !strings.Contains(line, "level=ERROR") || strings.Contains(line, "secret") {
							t.Errorf("%s, %s, %s: the log is %q", f.name, e.name, m, line)
						}
						if e.header != "text/plain" && e.status < 400 && e.status != 200 && !strings.Contains(line, "redirects to https://other.example/v2") {
							t.Errorf("%s, %s, %s: the log is %q, want the URL of the redirect", f.name, e.name, m, line)
						}
						if (e.status != 200 || e.header == "text/html") && !strings.Contains(line, "requested URL "+s.URL+"/base/") {
							t.Errorf("%s, %s, %s: the log is %q, want the URL", f.name, e.name, m, line)
						}
						if a := over.ask(b.model, (&vendorResponse{}).request(f), m); a.Status != 200 || !a.Whole {
							t.Errorf("%s, %s, %s: the next upstream was not used: %d %s", f.name, e.name, m, a.Status, clip(a.Body))
						}
					}
				}
			}
		})
	}
}

// modelErrors are the errors of vendors and servers for a model that they do not have. The
// name of the model is NAME.
var modelErrors = map[string]map[string]struct {
	status int
	body   string
}{
	"anthropic": {
		"vendor": {404, `{"type":"error","error":{"type":"not_found_error","message":"model: NAME"}}`},
	},
	toGemini: {
		"vendor": {404, `{"error":{"code":404,"message":"models/NAME is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}`},
		"form":   {400, `{"error":{"code":400,"message":"* GenerateContentRequest.model: unexpected model name format","status":"INVALID_ARGUMENT"}}`},
	},
	toChat: {
		"vendor":     {404, "{\"error\":{\"message\":\"The model `NAME` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}"},
		"DeepSeek":   {400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`},
		"OpenRouter": {400, `{"error":{"message":"NAME is not a valid model ID","code":400}}`},
		"Ollama":     {404, `{"error":{"message":"model 'NAME' not found","type":"not_found_error","param":null,"code":null}}`},
		"Azure":      {404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`},
	},
	toResp: {
		"vendor": {400, `{"error":{"message":"The requested model 'NAME' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`},
	},
}

// TestUnknownModel checks that the error for a model is the client's if it has requested the
// model by this name, and the host's if the host maps another name to it.
func TestUnknownModel(t *testing.T) {
	each(t, func(t *testing.T, f endpoint, b adapter) {
		for name, e := range modelErrors[b.name] {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(e.status)
				_, _ = io.WriteString(w, strings.ReplaceAll(e.body, "NAME", "m-real"))
			}))
			up := b.at(t, s.URL, httpClient(t))
			renamed := new(upstream.Mux)
			renamed.HandleAs("m-alias", up, "m-real")
			prefixed := new(upstream.Mux)
			prefixed.HandleAs("vendor/*", up, "*")
			for i, tt := range []struct {
				up     upstream.Upstream
				model  string
				client bool // the error is the client's
			}{
				{up, "m-real", true},
				{prefixed, "vendor/m-real", true},
				{renamed, "m-alias", false},
			} {
				if i == 1 && f.name != "messages" {
					continue // a slash is not part of a name in the path
				}
				var log bytes.Buffer
				options := upstream.HandlerOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}
				a := newGateway(f, tt.up, options).ask(tt.model, (&vendorResponse{}).request(f), whole)
				if (a.Status == 404 || a.Status == 400) != tt.client || (a.Status == 502) == tt.client {
					t.Errorf("%s, %s: status %d: %s", name, tt.model, a.Status, clip(a.Body))
				}
				if tt.client != strings.Contains(a.Body, "odel") && strings.Contains(e.body, "odel") || !tt.client && strings.Contains(a.Body, "m-real") {
					t.Errorf("%s, %s: %s", name, tt.model, clip(a.Body))
				}
				if strings.Contains(log.String(), "level=ERROR") == tt.client {
					t.Errorf("%s, %s: the log is %q", name, tt.model, log.String())
				}
				next := newGateway(f, upstream.Failover([]upstream.Upstream{tt.up, echo.New()}, nil), options)
				if a := next.ask(tt.model, (&vendorResponse{}).request(f), whole); (a.Status == 200) == tt.client {
					t.Errorf("%s, %s over Failover: status %d", name, tt.model, a.Status)
				}
			}
			s.Close()
		}
	})
}

// TestModelErrors checks that clients receive the sentence about invalid output of the model,
// with a status that they retry, and that Failover does not call another upstream for it. The
// error is that of Groq, before a stream and within one.
func TestModelErrors(t *testing.T) {
	const sentence = "parameters for tool f did not match schema: missing properties: name"
	const body = `{"error":{"message":"` + sentence + `","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=f{}>"}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/stream") {
			_, _ = io.WriteString(w, "data: "+body+"\n\n")
			return
		}
		w.WriteHeader(400)
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()
	for _, path := range []string{"", "/stream"} {
		up := upstream.Failover([]upstream.Upstream{chatAt(t, s.URL+path, httpClient(t)), echo.New()}, nil)
		for _, f := range endpoints {
			g := newGateway(f, up, upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
			for _, m := range f.modes {
				a := g.ask("m", (&vendorResponse{}).request(f), m)
				if a.Status != 500 || a.Err == nil || a.Err.Message != sentence || strings.Contains(a.Body, "<function") {
					t.Errorf("%s, %s, %q: status %d: %s", f.name, m, path, a.Status, clip(a.Body))
				}
			}
		}
	}
}
