package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/polywire/polywire/upstream/script"
)

// A process is the program as a process of its own.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr bytes.Buffer // to be read after wait
}

// run starts the program at path.
func (p *process) run(t *testing.T, path string, args ...string) {
	t.Helper()
	p.cmd = exec.Command(path, append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("first line is %q (%v)", line, err)
	}
	p.url = url
}

// signal sends SIGTERM.
func (p *process) signal(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// dial opens a connection that is closed at the end of the test, and whose reads fail
// after a minute.
func (p *process) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	return c
}

// open sends a request and returns the response when its first bytes have arrived.
func (p *process) open(t *testing.T, path, body string) (*http.Response, *bufio.Reader) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	b := bufio.NewReader(resp.Body)
	if _, err := b.Peek(1); err != nil {
		t.Fatal(err)
	}
	return resp, b
}

// On SIGTERM the process ends with status 0. Responses that do not end within the grace
// time end with an error in the format of the client. Neither an upload that stops nor a
// client that reads nothing holds it up.
func TestProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	path := filepath.Join(t.TempDir(), "gateway")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	t.Run("nothing in flight", func(t *testing.T) {
		var p process
		p.run(t, path, "-log", "off")
		want(t, "plain", read(t, post(t, p.url, plain)), "Ahoy there.")
		p.signal(t)
		if err := p.cmd.Wait(); err != nil || p.stderr.Len() > 0 {
			t.Errorf("ended with %v, standard error %q", err, &p.stderr)
		}
	})

	t.Run("in flight", func(t *testing.T) {
		var p process
		slow := serveScript(t, script.Say("Ahoy "), script.Wait(time.Hour), script.Say("there."))
		p.run(t, path, "-grace", "100ms", "-config", writeConfig(t, `{
			"upstreams": {"a": {"adapter": "anthropic", "url": "`+slow+`"}, "b": {"adapter": "echo"}},
			"routes": {"*": ["a", "b"]}
		}`))
		_, messages := p.open(t, "/v1/messages", `{"model":"m","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"Hi."}]}`)
		const contents = `{"contents":[{"parts":[{"text":"Hi."}]}]}`
		_, events := p.open(t, "/v1beta/models/m:streamGenerateContent?alt=sse", contents)
		_, array := p.open(t, "/v1beta/models/m:streamGenerateContent", contents)
		upload := p.dial(t)
		beginBody(t, upload, 1000)
		_, _ = io.WriteString(upload, "{")
		const whole = `{"model":"m","max_tokens":64,"messages":[{"role":"user","content":"Hi."}]}`
		silent := p.dial(t)
		beginBody(t, silent, len(whole))
		_, _ = io.WriteString(silent, whole)
		p.signal(t)
		for name, tt := range map[string]struct {
			body     io.Reader
			want     []string
			unwanted string
			end      error // generateContent breaks the connection after the error
		}{
			"messages": {messages, []string{"Ahoy", "event: error\n", `"type":"api_error"`, "shutting down"}, "message_stop", nil},
			"events":   {events, []string{"Ahoy", "data: ", `"status":"UNAVAILABLE"`, "shutting down"}, "finishReason", io.ErrUnexpectedEOF},
			"array":    {array, []string{"Ahoy", `"status":"UNAVAILABLE"`, "shutting down", "]"}, "finishReason", io.ErrUnexpectedEOF},
		} {
			b, err := io.ReadAll(tt.body)
			want(t, name, string(b), tt.want...)
			if err != tt.end || strings.Contains(string(b), tt.unwanted) {
				t.Errorf("%s: %v: %s", name, err, b)
			}
		}
		for name, c := range map[string]net.Conn{"upload": upload, "silent upstream": silent} {
			b, err := io.ReadAll(c)
			if err != nil {
				t.Error(err)
			}
			want(t, name, string(b), "HTTP/1.1 503 ", `"type":"api_error"`, "shutting down")
		}
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("ended with %v", err)
		}
		want(t, "log", p.stderr.String(), `msg="shutting down"`, "error=unavailable")
	})

	t.Run("client that reads nothing", func(t *testing.T) {
		var p process
		p.run(t, path, "-grace", "100ms")
		c := p.dial(t)
		long := strings.Repeat("Ahoy there, you on the other side of this connection! ", 50_000)
		body := `{"contents":[{"parts":[{"text":"echo: say ` + long + `"}]}]}`
		_, _ = io.WriteString(c, "POST /v1beta/models/m:streamGenerateContent?alt=sse HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		p.signal(t)
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("ended with %v", err)
		}
	})

	t.Run("drain time", func(t *testing.T) {
		var p process
		p.run(t, path, "-drain", "1h")
		p.signal(t)
		for { // the process receives the signal some time later
			resp := get(t, p.url+"/readyz")
			if read(t, resp); resp.StatusCode == http.StatusServiceUnavailable {
				break
			}
		}
		want(t, "plain", read(t, post(t, p.url, plain)), "Ahoy there.")
		p.signal(t)
		if err := p.cmd.Wait(); err == nil || p.cmd.ProcessState.Exited() {
			t.Errorf("after a second signal it ended with %v", err)
		}
	})
}
