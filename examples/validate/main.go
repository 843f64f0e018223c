// Validate reads a request body from standard input and prints everything that
// is wrong with it, one violation a line:
//
//	$ echo '{"model":"m","messages":[]}' | go run ./examples/validate
//	max_tokens: Field required
//	messages: at least one message is required
//
// With -format generatecontent it judges a body of content generation. It exits
// with 0 if there is nothing to say, 1 if there is, and 2 if it was
// not asked properly. Nothing is sent anywhere.
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

// What run returns.
const (
	valid   = 0
	invalid = 1
	usage   = 2
)

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var rules messages.ValidateOptions
	var betas string
	f := flag.NewFlagSet("validate", flag.ContinueOnError)
	f.SetOutput(stderr)
	format := f.String("format", "messages", "the `format` of the body: messages or generatecontent")
	f.StringVar(&rules.Version, "version", "2023-06-01", "the anthropic-version `header` that the request has")
	f.StringVar(&betas, "betas", "", "the anthropic-beta `header` that the request has: a comma list")
	f.BoolVar(&rules.Strict, "strict", false, "refuse members and kinds that the format does not know")
	f.BoolVar(&rules.Count, "count", false, "judge the body of a count: count_tokens or countTokens")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return valid
	} else if err != nil {
		return usage
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "validate: unexpected argument %q: the body comes on standard input\n", f.Arg(0))
		return usage
	}
	for b := range strings.SplitSeq(betas, ",") {
		if b = strings.TrimSpace(b); b != "" {
			rules.Betas = append(rules.Betas, b)
		}
	}
	body, err := io.ReadAll(stdin)
	if err != nil {
		fmt.Fprintln(stderr, "validate: reading the body:", err)
		return usage
	}

	judge, known := map[string]func([]byte, *messages.ValidateOptions) error{
		"messages": judgeMessages, "generatecontent": judgeGenerateContent,
	}[*format]
	if !known {
		fmt.Fprintf(stderr, "validate: -format: unknown format %q; want messages or generatecontent\n", *format)
		return usage
	}
	list, more := content.Violations(judge(body, &rules))
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

// judgeMessages returns everything that is wrong with a body.
func judgeMessages(body []byte, rules *messages.ValidateOptions) error {
	r, err := messages.ParseRequest(body)
	if r == nil {
		return err // no JSON, so there is nothing to look at
	}
	return r.Validate(rules) // tells what parsing found, too
}

// judgeGenerateContent does the same for a body of content generation, which
// has neither versions nor betas.
func judgeGenerateContent(body []byte, rules *messages.ValidateOptions) error {
	parse := generatecontent.ParseRequest
	if rules.Count {
		parse = generatecontent.ParseCountRequest
	}
	r, err := parse(body)
	if r == nil {
		return err
	}
	return r.Validate(&generatecontent.ValidateOptions{Strict: rules.Strict, Count: rules.Count})
}

// line returns a violation as one line, even if it quotes something longer.
func line(v *content.Violation) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(v.Error())
}
