// Statements counts the distinct statements of this module that a small request executes: one
// request of a Messages client, streamed by a Gemini server in two events. A first request, which
// is not counted, builds the tables of the formats. Run it with
//
//	go run -cover -covermode=atomic -coverpkg=github.com/polywire/polywire/... ./.ci/statements
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/coverage"
	"strings"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream/gemini"
)

func main() {
	log.SetFlags(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]},"index":0}],"modelVersion":"m","responseId":"i"}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":" you"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":2,"totalTokenCount":4},"modelVersion":"m","responseId":"i"}

`)
	}))
	defer server.Close()
	up, err := gemini.New(&gemini.Options{BaseURL: server.URL, Key: "key"})
	check(err)
	h := messages.NewHandler(up, nil)
	request(h)
	check(coverage.ClearCounters())
	request(h)

	dir, err := os.MkdirTemp("", "statements")
	check(err)
	defer os.RemoveAll(dir)
	check(coverage.WriteMetaDir(dir))
	check(coverage.WriteCountersDir(dir))
	profile := filepath.Join(dir, "profile")
	out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+profile).CombinedOutput()
	if err != nil {
		log.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(profile)
	check(err)
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.Contains(s.Text(), "/.ci/") {
			continue
		}
		var statements, count int
		_, counts, _ := strings.Cut(s.Text(), " ") // after the file and the position
		if _, err := fmt.Sscan(counts, &statements, &count); err == nil && count > 0 {
			n += statements
		}
	}
	fmt.Printf("%d statements\n", n)
}

// request sends the request of a client to h.
func request(h http.Handler) {
	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(
		`{"model":"m","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`))
	r.Header.Set("anthropic-version", "2023-06-01")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "message_stop") {
		log.Fatalf("the response is incomplete: %s", w.Body)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
