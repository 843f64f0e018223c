// Validate reads a request body from standard input and prints its violations,
// one per line:
//
//	$ echo '{"model":"m","messages":[]}' | go run ./examples/validate
//	max_tokens: Field required
//	messages: at least one message is required
//
// With -format generatecontent it validates a request body of generateContent. The
// exit code is 0 for a valid body, 1 for an invalid one, and 2 for an error such as an
// invalid flag. It sends nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Exit codes.
const (
	valid   = 0
	invalid = 1
	failed  = 2
)

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var opts messages.ValidateOptions
	var betas string
	f := flag.NewFlagSet("validate", flag.ContinueOnError)
	f.SetOutput(stderr)
	format := f.String("format", "messages", "the `format` of the body: messages or generatecontent")
	f.StringVar(&opts.Version, "version", "2023-06-01", "the anthropic-version `header` of the request")
	f.StringVar(&betas, "betas", "", "the anthropic-beta `header` of the request, separated by commas")
	f.BoolVar(&opts.Strict, "strict", false, "reject unknown members and kinds")
	f.BoolVar(&opts.Count, "count", false, "validate a body of count_tokens or countTokens")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return valid
	} else if err != nil {
		return failed
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "validate: unexpected argument %q; the body is read from standard input\n", f.Arg(0))
		return failed
	}
	for b := range strings.SplitSeq(betas, ",") {
		if b = strings.TrimSpace(b); b != "" {
			opts.Betas = append(opts.Betas, b)
		}
	}
	body, err := io.ReadAll(stdin)
	if err != nil {
		fmt.Fprintln(stderr, "validate: reading the body:", err)
		return failed
	}

	validate, ok := map[string]func([]byte, *messages.ValidateOptions) error{
		"messages": validateMessages, "generatecontent": validateGenerateContent,
	}[*format]
	if !ok {
		fmt.Fprintf(stderr, "validate: -format: unknown format %q; want messages or generatecontent\n", *format)
		return failed
	}
	list, more := content.Violations(validate(body, &opts))
	for _, v := range list {
		fmt.Fprintln(stdout, line(v))
	}
	if more > 0 {
		fmt.Fprintf(stdout, "and %d more\n", more)
	}
	if len(list) > 0 {
		return invalid
	}
	return valid
}

// validateMessages returns the violations of a request body of Messages.
func validateMessages(body []byte, opts *messages.ValidateOptions) error {
	r, err := messages.ParseRequest(body)
	if r == nil {
		return err // not valid JSON
	}
	return r.Validate(opts) // includes the violations of ParseRequest
}

// validateGenerateContent returns the violations of a request body of generateContent
// or countTokens.
func validateGenerateContent(body []byte, opts *messages.ValidateOptions) error {
	parse := generatecontent.ParseRequest
	if opts.Count {
		parse = generatecontent.ParseCountRequest
	}
	r, err := parse(body)
	if r == nil {
		return err
	}
	return r.Validate(&generatecontent.ValidateOptions{Strict: opts.Strict, Count: opts.Count})
}

// line returns a violation as one line.
func line(v *content.Violation) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(v.Error())
}
