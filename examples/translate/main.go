// Translate says in one format what was said in another, and tells on standard
// error what got lost by that. Nothing is sent anywhere: it shows what a service
// with this front and that upstream would send, and what its client would see.
//
// A request, from the format of a front to that of any vendor:
//
//	go run ./examples/translate -from messages -to openai < request.json
//
// An answer that was recorded, from the format of any vendor to that of a front:
//
//	go run ./examples/translate -reply -from openai -to messages < reply.json
//	go run ./examples/translate -stream -from openai -to messages < events.txt
//
// Fronts are messages and generatecontent; vendors besides are openai (chat
// completions) and openai-responses. With -refuse, a request that loses as much
// is not translated. From a format to the same one everything is checked and
// then written as it came.
//
// It exits with 0 if all is well, 1 if what it read is no good, cannot be said or
// is refused, and 2 if it was not asked properly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// What run returns.
const (
	done   = 0
	failed = 1
	usage  = 2
)

// A task is what the command line asks for.
type task struct {
	from, to      string
	reply, stream bool
	model, url    string
	refuse        content.Severity

	in       io.Reader
	out, log io.Writer
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	t := task{in: stdin, out: stdout, log: stderr}
	if err := t.parse(args); errors.Is(err, flag.ErrHelp) {
		return done
	} else if err != nil {
		return usage
	}
	translate := t.request
	if t.reply || t.stream {
		translate = t.answer
	}
	if err := translate(ctx); err != nil {
		t.complain(err)
		return failed
	}
	return done
}

// severities are the words of -refuse.
var severities = map[string]content.Severity{
	"": 0, "hint": content.LossHint, "degraded": content.LossDegraded, "dropped": content.LossDropped,
}

func (t *task) parse(args []string) error {
	f := flag.NewFlagSet("translate", flag.ContinueOnError)
	f.SetOutput(t.log)
	f.StringVar(&t.from, "from", "", "the `format` of what is read: messages or generatecontent; of an answer, openai or openai-responses, too")
	f.StringVar(&t.to, "to", "", "the `format` of what is written: messages, generatecontent, openai or openai-responses; of an answer, the first two")
	f.BoolVar(&t.reply, "reply", false, "translate a whole answer, not a request")
	f.BoolVar(&t.stream, "stream", false, "translate a streamed answer, not a request")
	f.StringVar(&t.model, "model", "", "the `name` of the model to ask for, in place of the one that the request names")
	f.StringVar(&t.url, "url", "", "the base `URL` of the server that a request is meant for, which is not called; some formats have dialects")
	refuse := f.String("refuse", "", "the mildest `loss` that a request must not have: hint, degraded or dropped")
	if err := f.Parse(args); err != nil {
		return err // it has been printed
	}
	err := t.check(*refuse)
	if f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q: what is to be translated comes on standard input", f.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(t.log, "translate:", err)
	}
	return err
}

func (t *task) check(refuse string) error {
	fronts, all := slices.Sorted(maps.Keys(fronts)), slices.Sorted(maps.Keys(vendors))
	from, to := fronts, all
	answer := t.reply || t.stream
	if answer {
		from, to = to, from
	}
	var known bool
	switch t.refuse, known = severities[refuse]; {
	case !answer && slices.Contains(all, t.from) && !slices.Contains(from, t.from):
		return fmt.Errorf("-from: requests are not read in the format %q; want %s, or -reply or -stream for an answer", t.from, or(from))
	case answer && slices.Contains(all, t.to) && !slices.Contains(to, t.to):
		return fmt.Errorf("-to: answers are not written in the format %q; want %s", t.to, or(to))
	case !slices.Contains(from, t.from):
		return fmt.Errorf("-from: unknown format %q; want %s", t.from, or(from))
	case !slices.Contains(to, t.to):
		return fmt.Errorf("-to: unknown format %q; want %s", t.to, or(to))
	case t.reply && t.stream:
		return errors.New("-reply and -stream: an answer is the one or the other")
	case !known:
		return fmt.Errorf("-refuse: unknown loss %q; want hint, degraded or dropped", refuse)
	case answer && refuse != "":
		return errors.New("-refuse: only requests can be refused; what an answer loses is told")
	case answer && t.url != "":
		return errors.New("-url: only requests are meant for a server")
	}
	_, err := vendors[t.to](t.url, nil)
	if err != nil {
		return fmt.Errorf("-url: %w", err)
	}
	return nil
}

// or lists words as a sentence does.
func or(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// complain tells why nothing was translated, one fault a line.
func (t *task) complain(err error) {
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

// tell prints losses, with their paths as path says them. A hint that holds in many
// places is told once.
func (t *task) tell(losses []content.Loss, path func(string) string) {
	for _, l := range content.FoldHints(losses) {
		l.Path = path(l.Path)
		fmt.Fprintln(t.log, line(l.String()))
	}
}

// line returns a text as one line, even if it quotes something longer.
func line(s string) string { return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(s) }
