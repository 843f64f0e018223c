package losscases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// A Server is a kind of server with a typical model.
type Server int

// The servers.
const (
	Messages Server = iota
	GenerateContent
	OpenAIChat
	OtherChat
	Responses
	OtherResponses

	// Servers is the number of servers.
	Servers
)

// names are the names of the servers.
var names = [Servers]string{
	Messages: "Messages", GenerateContent: "generateContent",
	OpenAIChat: "Chat Completions, OpenAI", OtherChat: "Chat Completions, others",
	Responses: "Responses", OtherResponses: "Responses, others",
}

// columns are the servers with a column on the page.
var columns = []Server{Messages, GenerateContent, OpenAIChat, OtherChat, Responses}

// models are the typical models.
var models = [Servers]string{
	Messages: "claude-sonnet-5", GenerateContent: "gemini-3.1-pro-preview",
	OpenAIChat: "gpt-5.2", OtherChat: "qwen3", Responses: "gpt-5.2", OtherResponses: "qwen3",
}

func (s Server) String() string { return names[s] }

// Format returns the format of a server.
func (s Server) Format() content.Format {
	switch s {
	case Messages:
		return messages.Format
	case GenerateContent:
		return generatecontent.Format
	case OpenAIChat, OtherChat:
		return openai.ChatFormat
	}
	return openai.ResponsesFormat
}

// open returns an adapter. It sends its requests to t.
func (s Server) open(c *Case, t http.RoundTripper) (upstream.Upstream, error) {
	d := c.Dialect
	client := &http.Client{Transport: t}
	const key = "k"
	other := cmp.Or(c.Host, "http://localhost/v1")
	switch s {
	case Messages:
		o := anthropic.Options{HTTPClient: client, Key: key, Platform: c.Platform}
		if c.Platform != "" {
			o.BaseURL = "http://localhost"
		}
		return anthropic.New(&o)
	case GenerateContent:
		return gemini.New(&gemini.Options{HTTPClient: client, Key: key})
	case OpenAIChat:
		return openai.New(&openai.Options{HTTPClient: client, Key: key, Dialect: d})
	case OtherChat:
		return openai.New(&openai.Options{HTTPClient: client, BaseURL: other, Dialect: d})
	case Responses:
		return openai.NewResponses(&openai.Options{HTTPClient: client, Key: key, Dialect: d})
	}
	return openai.NewResponses(&openai.Options{HTTPClient: client, BaseURL: other, Dialect: d})
}

// A rejection is a transport to a server that rejects members, and whatever is sent
// without them.
type rejection []string

func (r rejection) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	message := "no"
	for _, sentence := range r {
		name, text, _ := strings.Cut(sentence, ": ")
		if strings.Contains(string(body), `"`+name+`"`) {
			if message = text; text == "" {
				message = "Unsupported parameter: '" + name + "'."
			}
			break
		}
	}
	return &http.Response{
		StatusCode: http.StatusBadRequest, Request: req, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"error":{"message":%q}}`, message))),
	}, nil
}

// errSent is the error of a transport that must not be used.
var errSent = errors.New("a request was sent")

type noServer struct{}

func (noServer) RoundTrip(*http.Request) (*http.Response, error) { return nil, errSent }

// request returns the request of a case for a server.
func (c *Case) request(s Server) *upstream.Request {
	r := &upstream.Request{Model: models[s], Turns: []content.Turn{user(hello)}}
	if c.Model != "" {
		r.Model = c.Model
	}
	if c.Set != nil {
		c.Set(r)
	}
	return r
}

// Run returns the losses of a case at a server.
func (c *Case) Run(s Server) ([]content.Loss, error) {
	ctx := context.Background()
	var transport http.RoundTripper = noServer{}
	if len(c.Rejects) > 0 {
		transport = rejection(c.Rejects)
	}
	u, err := s.open(c, transport)
	if err != nil {
		return nil, err
	}
	if len(c.Rejects) > 0 {
		if _, err := upstream.Collect(ctx, u, c.request(s)); err == nil {
			return nil, errors.New("the server has not rejected the request")
		}
	}
	return upstream.Preflight(ctx, u, c.request(s))
}

// An outcome is what becomes of a feature: the severity of its most severe loss, or 0, or
// refused.
type outcome content.Severity

// refused is the outcome of a request that fails.
const refused = outcome(content.LossDropped + 1)

func (o outcome) String() string {
	switch o {
	case 0:
		return "kept"
	case refused:
		return "refused"
	}
	return content.Severity(o).String()
}

// A Result has the outcomes of all cases, and the rules that they met.
type Result struct {
	groups   []Group
	outcomes map[*Case]*[Servers]outcome
	met      [Servers][]*loss.Rule
	schemas  []*loss.Rule

	effective map[*Case]bool // conditions that a cell has
}

// Run runs all cases.
func Run(index *Index) (*Result, error) {
	r := &Result{groups: Groups(), outcomes: make(map[*Case]*[Servers]outcome), schemas: index.Declared("internal/schema"), effective: make(map[*Case]bool)}
	var errs []error
	for i := range r.groups {
		for j := range r.groups[i].Features {
			f := &r.groups[i].Features[j]
			for k := range f.Cases {
				c := &f.Cases[k]
				r.outcomes[c] = new([Servers]outcome)
				for s := range Servers {
					if !c.isTo(s) {
						continue
					}
					if err := r.run(index, f, c, s); err != nil {
						errs = append(errs, fmt.Errorf("%s, %q, case %d, to %s: %w", f.Name, c.When, k, names[s], err))
					}
				}
			}
		}
	}
	return r, errors.Join(errs...)
}

// run runs one case at a server.
func (r *Result) run(index *Index, f *Feature, c *Case, s Server) error {
	losses, err := c.Run(s)
	if list, _ := content.Violations(err); err != nil && len(list) == 0 {
		return err
	}
	worst := outcome(0)
	for _, l := range losses {
		rules := index.find(l)
		if len(rules) == 0 {
			return fmt.Errorf("no package declares a rule for the loss %q at %s", l.Reason, l.Path)
		}
		for _, rule := range rules {
			if !slices.Contains(r.met[s], rule) {
				r.met[s] = append(r.met[s], rule)
			}
			if rule.Feature == f.Name || rule.Feature == f.Also {
				worst = max(worst, outcome(l.Severity))
			}
		}
	}
	if err != nil {
		worst = refused
	}
	r.outcomes[c][s] = worst
	return nil
}
