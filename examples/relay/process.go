package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// buildGateway compiles the example gateway into a file.
func buildGateway(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, "github.com/polywire/polywire/examples/gateway")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the gateway: %w\n%s", err, out)
	}
	return nil
}

// configure writes a configuration of the gateway that sends requests to a server by the
// format of their model.
func configure(file, vendor string) error {
	return os.WriteFile(file, []byte(`{
	"upstreams": {
		"messages": {"adapter": "anthropic", "url": "`+vendor+`"},
		"gemini": {"adapter": "gemini", "url": "`+vendor+`"},
		"chat": {"adapter": "openai", "url": "`+vendor+`/v1"}
	},
	"routes": {"claude-*": "messages", "gemini-*": "gemini", "gpt-*": "chat"}
}`), 0o600)
}

// A process is a running relay.
type process struct {
	cmd *exec.Cmd
	url string
}

// start starts a program and reads its address from the first line of its output.
func start(ctx context.Context, path string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	where, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		p.stop()
		return nil, fmt.Errorf("%s did not start: its first line is %q", filepath.Base(path), strings.TrimSpace(line))
	}
	p.url = where
	return p, nil
}

// startPortkey starts Portkey's gateway at a free port and waits until it listens.
func startPortkey(ctx context.Context, script string) (*process, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().(*net.TCPAddr)
	l.Close()
	p := &process{cmd: exec.CommandContext(ctx, "node", script, "--headless", "--port="+strconv.Itoa(address.Port)), url: "http://" + address.String()}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if conn, err := net.Dial("tcp", address.String()); err == nil {
			conn.Close()
			return p, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.stop()
	return nil, errors.New("node does not listen after ten seconds")
}

// stop kills the process.
func (p *process) stop() {
	_ = p.cmd.Process.Kill() // an error means that it has ended
	_ = p.cmd.Wait()
}

// peakMemory returns the peak of the resident memory in bytes, or 0 if it is unknown.
func (p *process) peakMemory() int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// cpuTime returns the CPU time of the process, user and system, or 0 if it is unknown. It is
// the sum over the threads, which programs in Go keep.
func (p *process) cpuTime() (sum time.Duration) {
	tasks := "/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/task/"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return 0
	}
	for _, t := range threads {
		b, err := os.ReadFile(tasks + t.Name() + "/schedstat")
		if err != nil {
			continue
		}
		ns, _, _ := strings.Cut(string(b), " ")
		n, _ := strconv.ParseInt(ns, 10, 64)
		sum += time.Duration(n)
	}
	return sum
}

// gatewayGOGC is what the gateway sets unless the environment has GOGC, and so the proxy. The
// gateway lowers it while large bodies are in flight.
const gatewayGOGC = 400

// serveProxy runs the reverse proxy until ctx ends.
func serveProxy(ctx context.Context, to string, stdout io.Writer) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gatewayGOGC)
	}
	target, err := url.Parse(to)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1, // flush each write, as streams need
		Transport:     transport,
	}}
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	context.AfterFunc(ctx, func() { s.Close() })
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
