// Try sends requests to a running gateway as a new user would: a plain request, a
// streamed one, and a bad one. It is curl for machines that have none.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: try URL")
	}
	for _, t := range []struct {
		name, body  string
		status      int
		contentType string
		want        []string
	}{
		{
			"plain", `{"model":"m","max_tokens":64,"messages":[{"role":"user","content":"echo: say Ahoy there."}]}`,
			200, "application/json", []string{`"type":"message"`, `"text":"Ahoy there."`, `"stop_reason":"end_turn"`},
		},
		{
			"streamed", `{"model":"m","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"echo: say Ahoy there."}]}`,
			200, "text/event-stream", []string{"event: message_start\n", `"text":"Ahoy `, "event: message_stop\n"},
		},
		{
			"bad", `{"model":"m","messages":[{"role":"user","content":"Hi."}]}`,
			400, "application/json", []string{`"type":"invalid_request_error"`, "max_tokens: Field required"},
		},
	} {
		if err := try(os.Args[1], t.body, t.status, t.contentType, t.want); err != nil {
			log.Fatalf("%s: %v", t.name, err)
		}
		fmt.Println(t.name, "request: as it should be")
	}
}

func try(url, body string, status int, contentType string, want []string) error {
	req, err := http.NewRequest(http.MethodPost, url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	req.Header.Set("content-type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != status || !strings.HasPrefix(resp.Header.Get("content-type"), contentType) {
		return fmt.Errorf("got %d %s, want %d %s:\n%s", resp.StatusCode, resp.Header.Get("content-type"), status, contentType, got)
	}
	for _, w := range want {
		if !strings.Contains(string(got), w) {
			return fmt.Errorf("no %q in:\n%s", w, got)
		}
	}
	return nil
}
