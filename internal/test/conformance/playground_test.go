package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/internal/test/workload"
)

// noBrowser is the other reason for which a test may be skipped.
const noBrowser = "no browser is installed"

// browsers are the programs that the test of the page can use.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// TestPlayground tests the page of examples/playground in a browser: see ts/playground.mjs. If
// the environment variable SCREENSHOTS names a directory, it writes screenshots there.
func TestPlayground(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(noNode)
	}
	browser := findBrowser()
	if browser == "" {
		t.Skip(noBrowser)
	}
	for _, p := range []string{"playwright-core", "axe-core"} {
		if _, err := os.Stat("ts/node_modules/" + p); err != nil {
			t.Fatalf("%s is not installed: run npm ci in internal/test/conformance/ts", p)
		}
	}
	url := startPlayground(t)
	config := map[string]any{
		"url":         url,
		"browser":     browser,
		"large":       workload.Agent(),
		"streams":     translatedStreams(t, url),
		"screenshots": screenshotDirectory(t),
	}
	for _, r := range runPage(t, node, config) {
		t.Run(r.Name, func(t *testing.T) {
			for _, line := range r.Log {
				t.Log(line)
			}
			if r.Error != "" {
				t.Error(r.Error)
			}
		})
	}
}

// findBrowser returns the path of a browser, or "".
func findBrowser() string {
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// buildExample builds an example and returns the path of the program.
func buildExample(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./examples/"+name)
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building examples/%s: %v\n%s", name, err, out)
	}
	return path
}

// startPlayground starts examples/playground and returns its address.
func startPlayground(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(buildExample(t, "playground"), "-listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Error("playground:", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		t.Fatalf("playground: %q, %v", line, err)
	}
	return url
}

// translatedStreams returns the sample of a stream as examples/translate prints it, by format.
func translatedStreams(t *testing.T, url string) map[string]string {
	t.Helper()
	resp, err := http.Get(url + "/api/samples")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Samples []struct{ ID, Format, Text string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	translate := buildExample(t, "translate")
	streams := map[string]string{}
	for _, s := range list.Samples {
		if s.ID != "stream" {
			continue
		}
		for _, to := range []string{"messages", "generatecontent"} {
			cmd := exec.Command(translate, "-stream", "-from", s.Format, "-to", to)
			cmd.Stdin = strings.NewReader(s.Text)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			streams[to] = string(out)
		}
	}
	return streams
}

// screenshotDirectory returns the directory for screenshots, or "".
func screenshotDirectory(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return ""
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A pageResult is the result of one test in the browser.
type pageResult struct {
	Name, Error string
	Log         []string
}

// runPage runs the tests in the browser and returns their results.
func runPage(t *testing.T, node string, config map[string]any) []pageResult {
	t.Helper()
	in, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "playground.mjs")
	cmd.Dir = "ts"
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = struct{ io.Writer }{os.Stderr} // a pipe: see startDriver
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("playground.mjs: %v", err)
	}
	var results []pageResult
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var r pageResult
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		t.Error("playground.mjs has run no test")
	}
	return results
}
