//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/polywire/polywire/upstream/script"
)

// untilLine reads the log until a line contains text, and returns that line.
func untilLine(t *testing.T, log *bufio.Reader, text string) string {
	t.Helper()
	for {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("no line of the log contains %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			return line
		}
	}
}

// begin starts the program at path and returns its address and its log.
func begin(t *testing.T, cmd *exec.Cmd) (url string, log *bufio.Reader) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("first line is %q (%v)", line, err)
	}
	return url, bufio.NewReader(stderr)
}

// stop ends the program with SIGTERM, which is the only way in which it ends.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// freeAddress returns an address on which nothing listens, outside of the ports that a system
// gives to listeners of port 0 and to connections. Otherwise another program could have it
// by the time that it is used.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no free port from 10000 to 29999")
	return ""
}

// SIGHUP reads the file of -config again and ends nothing: responses that have begun are
// completed by the upstreams with which they began.
func TestHangup(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	path := filepath.Join(t.TempDir(), "gateway")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hangUp := func(t *testing.T, cmd *exec.Cmd) {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("with -config", func(t *testing.T) {
		slow := serveScript(t, script.Say("Ahoy "), script.Wait(2*time.Second), script.Say("there."))
		file := writeConfig(t, `{"upstreams": {"first": {"adapter": "anthropic", "url": "`+slow+`"}}}`)
		cmd := exec.Command(path, "-listen", "127.0.0.1:0", "-config", file)
		url, log := begin(t, cmd)
		ready := func(names ...string) {
			t.Helper()
			want(t, "/readyz", read(t, get(t, url+"/readyz")), names...)
		}
		ready(`"name":"first"`)

		// This response ends after the configuration was changed.
		p := process{cmd: cmd, url: url}
		_, stream := p.open(t, "/v1/messages", `{"model":"m","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"Hi."}]}`)

		if err := os.WriteFile(file, []byte(`{"upstreams": {"second": {"adapter": "echo"}, "third": {"adapter": "echo"}}, "routes": {"n*": "second", "o": "third"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		hangUp(t, cmd)
		untilLine(t, log, "the configuration was reloaded")
		ready(`"name":"second"`, `"name":"third"`)
		resp := post(t, url, plain) // the model has no route any more
		want(t, "a model without a route", resp.Status+read(t, resp), "404", "not_found_error")
		resp = post(t, url, strings.Replace(plain, "claude-demo", "n", 1))
		want(t, "a model with a route", resp.Status+read(t, resp), "200", "Ahoy there.")

		if err := os.WriteFile(file, []byte(`{"upstreams": {"second": {"adapter": "claude"}}, "routes": {"*": "third"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		hangUp(t, cmd)
		line := untilLine(t, log, "the configuration was not changed")
		want(t, "log", line, "level=ERROR", "upstreams.second.adapter: unknown name", `there is no upstream`)
		ready(`"name":"second"`, `"name":"third"`)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		hangUp(t, cmd)
		want(t, "log", untilLine(t, log, "the configuration was not changed"), "no such file")

		b, err := io.ReadAll(stream)
		want(t, "stream", string(b), "Ahoy ", "there.", "event: message_stop\n")
		if err != nil || strings.Contains(string(b), "event: error") {
			t.Errorf("stream: %v: %s", err, b)
		}
		go io.Copy(io.Discard, log)
		stop(t, cmd)
	})

	t.Run("without -config", func(t *testing.T) {
		cmd := exec.Command(path, "-listen", "127.0.0.1:0")
		url, log := begin(t, cmd)
		hangUp(t, cmd)
		untilLine(t, log, "there is nothing to reload")
		resp := post(t, url, plain)
		want(t, "plain", resp.Status+read(t, resp), "200", "Ahoy there.")
		go io.Copy(io.Discard, log)
		stop(t, cmd)
	})

	// The reader of the log and of the address ends, as at the end of a pipe.
	t.Run("closed output", func(t *testing.T) {
		cmd := exec.Command(path, "-listen", "127.0.0.1:0")
		outRead, outWrite, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = outWrite, outWrite
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		outWrite.Close()
		line, err := bufio.NewReader(outRead).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		outRead.Close()
		url := strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
		for range 2 { // each is logged
			resp := post(t, url, plain)
			want(t, "plain", resp.Status+read(t, resp), "200", "Ahoy there.")
		}
		hangUp(t, cmd)
		stop(t, cmd)
	})

	// A shell starts the program with nohup, without standard input, output and error,
	// and without an environment.
	t.Run("bare environment", func(t *testing.T) {
		l := freeAddress(t)
		cmd := exec.Command("/bin/sh", "-c", `umask 777; cd /; trap '' HUP; exec "$0" -listen "$1" <&- >&- 2>&-`, path, l)
		cmd.Env = []string{}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		for tries := 0; ; tries++ { // there is no output that shows the start
			if tries == 3000 {
				t.Fatal("the gateway does not start")
			}
			if resp, err := http.Get("http://" + l + "/healthz"); err == nil {
				resp.Body.Close()
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		hangUp(t, cmd)
		resp := post(t, "http://"+l, plain)
		want(t, "plain", resp.Status+read(t, resp), "200", "Ahoy there.")
		stop(t, cmd)
	})
}
