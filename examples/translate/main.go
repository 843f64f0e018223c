// Translate converts a request or a response from one format to another, and prints the
// losses on standard error. It sends nothing. The output is what an adapter would send to
// a server, or what a handler would send to a client.
//
// A request, from the format of a client to that of a server:
//
//	go run ./examples/translate -from messages -to openai < request.json
//
// A recorded response, from the format of a server to that of a client:
//
//	go run ./examples/translate -reply -from openai -to messages < reply.json
//	go run ./examples/translate -stream -from openai -to messages < events.txt
//
// Many requests, one on each line. Each becomes a row of the output with the request, its losses and
// its errors. Progress goes to standard error. With -output the rows are appended to a file. If a run
// is interrupted, the same command continues it:
//
//	go run ./examples/translate -jsonl -from messages -to openai -output rows.jsonl < requests.jsonl
//
// The formats are messages, generatecontent, openai (Chat Completions) and openai-responses.
// With -refuse, a request with such a loss is not translated. Between equal formats the
// input is checked and then written unchanged.
//
// The exit status is 0 for success, 1 if the input is invalid, cannot be represented or is
// refused, and 2 for wrong usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/examples/internal/format"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit statuses.
const (
	done   = 0
	failed = 1
	usage  = 2
)

// A task holds the values of the flags.
type task struct {
	from, to      string
	reply, stream bool
	jsonl         bool
	summary       bool
	output        string // file, or empty
	model, url    string
	refuse        content.Severity

	in       io.Reader
	out, log io.Writer
}

// run executes the command and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	t := task{in: stdin, out: stdout, log: stderr}
	if err := t.parse(args); errors.Is(err, flag.ErrHelp) {
		return done
	} else if err != nil {
		return usage
	}
	translate := t.request
	if t.reply || t.stream {
		translate = t.response
	} else if t.jsonl {
		translate = t.rows
	}
	if err := translate(ctx); err != nil {
		t.printError(err)
		return failed
	}
	return done
}

// severities are the values of -refuse.
var severities = map[string]content.Severity{
	"": 0, "hint": content.LossHint, "degraded": content.LossDegraded, "dropped": content.LossDropped,
}

// parse reads the command line and prints errors to t.log.
func (t *task) parse(args []string) error {
	formats := joinOr(format.Names())
	f := flag.NewFlagSet("translate", flag.ContinueOnError)
	f.SetOutput(t.log)
	f.StringVar(&t.from, "from", "", "`format` of the input: "+formats)
	f.StringVar(&t.to, "to", "", "`format` of the output: "+formats)
	f.BoolVar(&t.reply, "reply", false, "translate a whole response instead of a request")
	f.BoolVar(&t.stream, "stream", false, "translate a streamed response instead of a request")
	f.BoolVar(&t.jsonl, "jsonl", false, "translate a request on each line")
	f.BoolVar(&t.summary, "summary", false, "with -jsonl: at the end, print to standard error in how many rows each loss occurs")
	f.StringVar(&t.output, "output", "", "with -jsonl: `file` to which the rows are appended, instead of standard output; lines of the input that have a row there are skipped")
	f.StringVar(&t.model, "model", "", "`name` of the model to use instead of the one that the request names")
	f.StringVar(&t.url, "url", "", "base `URL` of the server for which the request is written; it is not contacted, but some formats depend on the server")
	refuse := f.String("refuse", "", "least `severity` of a loss that refuses a request: hint, degraded or dropped")
	if err := f.Parse(args); err != nil {
		return err // Parse has printed it
	}
	err := t.check(*refuse)
	if f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q: the input is read from standard input", f.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(t.log, "translate:", err)
	}
	return err
}

// check returns an error if a value is invalid.
func (t *task) check(refuse string) error {
	names := format.Names()
	response := t.reply || t.stream
	var known bool
	switch t.refuse, known = severities[refuse]; {
	case !slices.Contains(names, t.from):
		return fmt.Errorf("-from: unknown format %q; want %s", t.from, joinOr(names))
	case !slices.Contains(names, t.to):
		return fmt.Errorf("-to: unknown format %q; want %s", t.to, joinOr(names))
	case t.reply && t.stream:
		return errors.New("-reply and -stream: want only one of them")
	case t.jsonl && response:
		return errors.New("-jsonl: only for requests")
	case (t.output != "" || t.summary) && !t.jsonl:
		return errors.New("-output and -summary: only with -jsonl")
	case !known:
		return fmt.Errorf("-refuse: unknown severity %q; want hint, degraded or dropped", refuse)
	case response && refuse != "":
		return errors.New("-refuse: only requests can be refused")
	case response && t.url != "":
		return errors.New("-url: only for requests")
	}
	_, err := format.ByName(t.to).NewUpstream(t.url, "", nil)
	if err != nil {
		return fmt.Errorf("-url: %w", err)
	}
	return nil
}

// joinOr returns words as a list in a sentence, such as "a, b or c".
func joinOr(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// printError prints an error, or its violations one per line.
func (t *task) printError(err error) {
	list, more := content.Violations(err)
	for _, v := range list {
		fmt.Fprintln(t.log, line(v.Error()))
	}
	if more > 0 {
		fmt.Fprintf(t.log, "and %d more\n", more)
	}
	if len(list) == 0 {
		fmt.Fprintln(t.log, "translate:", line(err.Error()))
	}
}

// printLosses prints losses, one per line, with paths converted by path.
func (t *task) printLosses(losses []content.Loss, path func(string) string) {
	for _, l := range losses {
		l.Path = path(l.Path)
		fmt.Fprintln(t.log, line(l.String()))
	}
}

// line returns s with its line breaks escaped.
func line(s string) string { return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(s) }
