package polywire_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/upstream/echo"
)

// TestPrograms builds the programs of README.md, runs them, and uses them as a client does.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	vendor := httptest.NewServer(polywire.NewHandler(echo.New(), nil))
	defer vendor.Close()
	var programs []string
	for _, b := range blocks(pages(t)["README.md"], "go") {
		if strings.HasPrefix(b, "package ") {
			programs = append(programs, b)
		}
	}
	if len(programs) != 3 {
		t.Fatalf("README.md has %d programs, want 3", len(programs))
	}

	url := start(t, programs[0])
	if status, body := post(t, url, "Hello."); status != 200 || !strings.Contains(body, `"HELLO."`) {
		t.Errorf("serve: got %d %s", status, body)
	}

	dir := t.TempDir()
	write(t, filepath.Join(dir, "agent_test.go"), programs[1])
	write(t, filepath.Join(dir, "agent.go"), agent)
	if out, err := exec.Command("go", "test", filepath.Join(dir, "agent_test.go"), filepath.Join(dir, "agent.go")).CombinedOutput(); err != nil {
		t.Errorf("test: %v\n%s", err, out)
	}

	const public = `Scheme: "https", Host: "api.anthropic.com"`
	if !strings.Contains(programs[2], public) {
		t.Fatalf("the program does not have %s", public)
	}
	local := fmt.Sprintf(`Scheme: "http", Host: %q`, vendor.Listener.Addr())
	url = start(t, strings.Replace(programs[2], public, local, 1))
	if status, body := post(t, url, "Hello."); status != 200 || !strings.Contains(body, "echo of m") {
		t.Errorf("validate: got %d %s", status, body)
	}
	if status, body := post(t, url, ""); status != 400 || !strings.Contains(body, "invalid_request_error") {
		t.Errorf("validate: an invalid request: got %d %s", status, body)
	}
	vendor.Close()
	if status, body := post(t, url, "Hello."); status != 503 || !strings.Contains(body, "api_error") {
		t.Errorf("validate: without the vendor: got %d %s", status, body)
	}
}

// agent is an agent for the test in README.md. It does what a model with one tool asks for.
const agent = `package agent

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/tidwall/gjson"
)

func ask(url, question string) string {
	turns := fmt.Sprintf("{\"role\":\"user\",\"content\":%q}", question)
	for {
		body := fmt.Sprintf("{\"model\":\"m\",\"max_tokens\":99,\"messages\":[%s]}", turns)
		request, _ := http.NewRequest("POST", url+"/v1/messages", bytes.NewReader([]byte(body)))
		request.Header.Set("anthropic-version", "2023-06-01")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err.Error()
		}
		b, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if gjson.GetBytes(b, "stop_reason").Str != "tool_use" {
			return gjson.GetBytes(b, "content.0.text").Str
		}
		turns += fmt.Sprintf(",{\"role\":\"assistant\",\"content\":%s}", gjson.GetBytes(b, "content").Raw)
		id := gjson.GetBytes(b, "content.#(type==tool_use).id").Str
		turns += fmt.Sprintf(",{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":%q,\"content\":\"rain\"}]}", id)
	}
}
`

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start builds a program, runs it at a free port in place of 8080, and returns its address.
func start(t *testing.T, program string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	write(t, file, strings.Replace(program, "127.0.0.1:8080", address, 1))
	if out, err := exec.Command("go", "build", "-o", binary, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, program)
	}
	ctx, cancel := context.WithCancel(context.Background())
	run := exec.CommandContext(ctx, binary)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = run.Wait() })
	for range 1000 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "http://" + address
}

// post sends a request of Messages.
func post(t *testing.T, url, text string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequest("POST", url+"/v1/messages", strings.NewReader(`{"model":"m","max_tokens":200,"messages":[{"role":"user","content":"`+text+`"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Anthropic-Version", "2023-06-01")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(b)
}
