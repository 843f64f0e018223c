package crosstest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// TestErrorsHideURLSecrets checks that no error contains the user info or the
// query of a URL, in any member of a document.
func TestErrorsHideURLSecrets(t *testing.T) {
	up := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return nil })
	hosts := map[string]http.Handler{
		"/v1/messages":                     messages.NewHandler(up, nil),
		"/v1beta/models/m:generateContent": generatecontent.NewHandler(up, nil),
		"/v1/chat/completions":             chatcompletions.NewHandler(up, nil),
		"/v1/responses":                    responses.NewHandler(up, nil),
	}
	turn := func(parts string) string { return `{"contents":[{"role":"user","parts":[` + parts + `]}]}` }
	block := func(b string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + b + `]}]}`
	}
	chat := func(part string) string {
		return `{"model":"m","messages":[{"role":"user","content":[` + part + `]}]}`
	}
	input := func(part string) string {
		return `{"model":"m","input":[{"role":"user","content":[` + part + `]}]}`
	}
	for _, uri := range []string{
		"ftp://user:hunter2@h.example/a", "https://user:hunter2@h.example/a", "https://h.example/a?sig=hunter2", "ftp://h.example/a?sig=hunter2",
		"user:hunter2@h.example/a", "mailto:hunter2@h.example?a=hunter2", "h.example/a?sig=hunter2", "//h.example/a?sig=hunter2",
	} {
		uses := map[string][]string{
			"/v1beta/models/m:generateContent": {
				turn(`{"fileData":{"mimeType":"image/png","fileUri":"URI"}}`), turn(`{"functionResponse":{"name":"f","parts":[{"fileData":{"fileUri":"URI"}}]}}`),
			},
			"/v1/chat/completions": {
				chat(`{"type":"image_url","image_url":{"url":"URI"}}`), chat(`{"type":"file","file":{"file_data":"URI"}}`), chat(`{"type":"file","file":{"file_data":"URI","filename":"a.pdf"}}`),
			},
			"/v1/responses": {
				input(`{"type":"input_image","image_url":"URI"}`), input(`{"type":"input_file","file_url":"URI"}`), input(`{"type":"input_file","file_data":"URI","filename":"a.pdf"}`),
			},
			"/v1/messages": {
				block(`{"type":"image","source":{"type":"url","url":"URI"}}`), block(`{"type":"document","source":{"type":"url","url":"URI"}}`),
			},
		}
		if strings.Contains(uri, "//") { // in other members, only unambiguous URLs are recognized
			uses["/v1beta/models/m:generateContent"] = append(uses["/v1beta/models/m:generateContent"],
				turn(`{"fileData":"URI"}`), turn(`"URI"`), turn(`{"inlineData":{"mimeType":"image/png","data":"URI"}}`), turn(`{"inlineData":{"mimeType":"URI","data":"AAAA"}}`),
				turn(`{"fileData":{"mimeType":"URI","fileUri":"gs://a/b"}}`))
			uses["/v1/chat/completions"] = append(uses["/v1/chat/completions"],
				chat(`{"type":"URI"}`), chat(`{"type":"image_url","image_url":"URI"}`), chat(`{"type":"image_url","image_url":{"url":"data:URI;base64,AAAA"}}`), chat(`"URI"`),
				chat(`{"type":"input_audio","input_audio":{"data":"URI","format":"wav"}}`))
			uses["/v1/responses"] = append(uses["/v1/responses"],
				input(`{"type":"URI"}`), input(`{"type":"input_image","image_url":{"url":"URI"}}`), input(`{"type":"input_file","file_data":"data:URI;base64,AAAA"}`), input(`"URI"`),
				`{"model":"m","input":[{"type":"URI"}]}`)
			uses["/v1/messages"] = append(uses["/v1/messages"],
				block(`{"type":"image","source":{"type":"URI"}}`), block(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"URI"}}`),
				block(`{"type":"image","source":{"type":"base64","media_type":"URI","data":"AAAA"}}`), block(`{"type":"image","source":"URI"}`))
		}
		for path, bodies := range uses {
			for _, body := range bodies {
				body = strings.ReplaceAll(body, "URI", uri)
				r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
				r.Header.Set("Anthropic-Version", "2023-06-01")
				w := httptest.NewRecorder()
				hosts[path].ServeHTTP(w, r)
				if got := w.Body.String(); strings.Contains(got, "hunter2") || w.Code/100 == 5 {
					t.Errorf("%s: %d %s", body, w.Code, got)
				}
			}
		}
	}
}
