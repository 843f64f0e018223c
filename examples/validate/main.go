// Validate reads a request body from standard input and prints its violations,
// one per line:
//
//	$ echo '{"model":"m","messages":[]}' | go run ./examples/validate
//	max_tokens: Field required
//	messages: at least one message is required
//
// With -format it validates a request body of another format: generatecontent, openai (Chat
// Completions) or openai-responses. The exit code is 0 for a valid body, 1 for an invalid
// one, and 2 for an error such as an invalid flag. It sends nothing.
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
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Exit codes.
const (
	valid   = 0
	invalid = 1
	failed  = 2
)

const formats = "messages, generatecontent, openai or openai-responses"

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var opts messages.ValidateOptions
	var betas string
	f := flag.NewFlagSet("validate", flag.ContinueOnError)
	f.SetOutput(stderr)
	format := f.String("format", "messages", "the `format` of the body: "+formats)
	f.StringVar(&opts.Version, "version", "2023-06-01", "the anthropic-version `header` of a request of Messages")
	f.StringVar(&betas, "betas", "", "the anthropic-beta `header` of a request of Messages, separated by commas")
	f.BoolVar(&opts.Strict, "strict", false, "reject unknown members and kinds")
	f.BoolVar(&opts.Count, "count", false, "validate a body of count_tokens (Messages) or countTokens (generateContent)")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return valid
	} else if err != nil {
		return failed
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "validate: unexpected argument %q; the body is read from standard input\n", f.Arg(0))
		return failed
	}
	validate, ok := map[string]func([]byte, *messages.ValidateOptions) error{
		"messages": validateMessages, "generatecontent": validateGenerateContent,
		"openai": validateChatCompletions, "openai-responses": validateResponses,
	}[*format]
	switch {
	case !ok:
		fmt.Fprintf(stderr, "validate: -format: unknown format %q; want %s\n", *format, formats)
		return failed
	case opts.Count && strings.HasPrefix(*format, "openai"):
		fmt.Fprintln(stderr, "validate: -count: only for messages and generatecontent")
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
	parse := generatecontent.ParseRequest[[]byte]
	if opts.Count {
		parse = generatecontent.ParseCountRequest[[]byte]
	}
	r, err := parse(body)
	if r == nil {
		return err
	}
	return r.Validate(&generatecontent.ValidateOptions{Strict: opts.Strict, Count: opts.Count})
}

// validateChatCompletions returns the violations of a request body of Chat Completions.
func validateChatCompletions(body []byte, opts *messages.ValidateOptions) error {
	r, err := chatcompletions.ParseRequest(body)
	if r == nil {
		return err
	}
	return r.Validate(&chatcompletions.ValidateOptions{Strict: opts.Strict})
}

// validateResponses returns the violations of a request body of Responses.
func validateResponses(body []byte, opts *messages.ValidateOptions) error {
	r, err := responses.ParseRequest(body)
	if r == nil {
		return err
	}
	return r.Validate(&responses.ValidateOptions{Strict: opts.Strict})
}

// line returns a violation as one line.
func line(v *content.Violation) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(v.Error())
}
