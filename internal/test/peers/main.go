// Peers compares Polywire's translation of requests and streams with that of other Go
// projects, in one run:
//
//	go run .
//
// It first checks what each project keeps, with readers of its own, and then measures all
// projects alternately. It prints Markdown tables, writes them into a document with -update
// and draws the ratios with -svg. Requests and streams are in memory; nothing is sent.
//
// # Projects
//
// A project is compared if a public package of a Go module reads a document of one of the
// formats and writes another format:
//
//   - github.com/maximhq/bifrost/core: a gateway with converters from and to its own schema.
//   - github.com/achetronic/adk-utils-go: models of Google's ADK, whose requests are those of
//     generateContent. They write requests with the vendors' SDKs.
//   - github.com/ollama/ollama/anthropic: Messages from and to Ollama's own chat format.
//
// The versions in go.mod are those that the module proxy served and that build with the Go
// release of this repository. They need not be the newest: Bifrost and adk-utils-go have
// later ones.
//
// These were looked at and are not compared:
//
//   - github.com/router-for-me/CLIProxyAPI, github.com/xibodev/llm-translate: the module proxy
//     did not serve the versions that were tried.
//   - github.com/songquanpeng/one-api, github.com/QuantumNous/new-api, github.com/labring/aiproxy,
//     github.com/looplj/axonhub, github.com/liuzl/ai, github.com/x5iu/claude-code-adapter,
//     github.com/Alcova-AI/adk-anthropic-go, the plugin ai-proxy of github.com/alibaba/higress,
//     github.com/vllm-project/semantic-router: the module proxy did not list their versions.
//   - github.com/envoyproxy/ai-gateway: the same, and its translators are internal.
//   - github.com/mozilla-ai/any-llm-go: reads and writes Chat Completions on the client's side,
//     which Polywire does not serve. The two have no route in common.
//   - github.com/tmc/langchaingo, github.com/cloudwego/eino, github.com/firebase/genkit: start from
//     types of their own, not from a document.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// A config holds the values of the flags.
type config struct {
	rounds int
	time   time.Duration
	only   string
	svg    string
	update string
}

// run checks, measures, and writes the tables to stdout and the names of tasks to stderr.
func run(args []string, stdout, stderr io.Writer) error {
	var c config
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&c.rounds, "rounds", 9, "`number` of measurements of each project and task; the tables show the fastest")
	f.DurationVar(&c.time, "time", 100*time.Millisecond, "`time` of one measurement, at least one translation")
	f.StringVar(&c.only, "only", "", "measure only tasks whose name contains this `text`")
	f.StringVar(&c.svg, "svg", "", "`file` for a drawing of the ratios")
	f.StringVar(&c.update, "update", "", "`file` in which the tables replace the text between the marks "+beginMark+" and "+endMark)
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.rounds < 1 || c.time <= 0 || f.NArg() > 0 {
		return errors.New("-rounds and -time must be positive, and there are no other arguments")
	}
	var list []*result
	for _, t := range tasks() {
		if !strings.Contains(t.name(), c.only) {
			continue
		}
		fmt.Fprintln(stderr, t.name())
		list = append(list, c.compare(t, contestants()))
	}
	if len(list) == 0 {
		return fmt.Errorf("-only: no task has a name that contains %q", c.only)
	}
	text := report(list, about(time.Now()))
	if _, err := io.WriteString(stdout, text); err != nil {
		return err
	}
	if c.svg != "" {
		if err := os.WriteFile(c.svg, []byte(plot(list)), 0o644); err != nil {
			return err
		}
	}
	if c.update == "" {
		return nil
	}
	return updateFile(c.update, text)
}

// Marks of the tables in a document.
const (
	beginMark = "<!-- peers: begin -->"
	endMark   = "<!-- peers: end -->"
)

// updateFile replaces the text between the marks in a file.
func updateFile(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), beginMark)
	_, after, found := strings.Cut(rest, endMark)
	if !ok || !found {
		return fmt.Errorf("-update: %s does not contain %s and %s", path, beginMark, endMark)
	}
	return os.WriteFile(path, []byte(before+beginMark+"\n\n"+text+"\n"+endMark+after), 0o644)
}
