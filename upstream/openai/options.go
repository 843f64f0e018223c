package openai

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/upstream"
)

// DefaultURL is where the vendor's own API is.
const DefaultURL = "https://api.openai.com/v1"

// The formats of this package, as signatures name them.
const (
	ChatFormat      content.Format = "openai-chat"
	ResponsesFormat content.Format = "openai-responses"
)

// Options configures a [Client] or a [Responses]. The zero value reaches the
// vendor's own API without a key.
type Options struct {
	// Name names the client in logs, errors and reports, to tell several apart:
	// see [upstream.Report] Upstream. Empty means "openai chat" for a [Client] and
	// "openai responses" for a [Responses].
	Name string

	// BaseURL is what "/chat/completions" and its like are appended to, with its
	// version segment, as the vendor's SDKs take it: "http://localhost:8000/v1".
	// Empty means DefaultURL. A query in it goes with every exchange.
	BaseURL string

	// Key is the host's key, shown as "Authorization: Bearer". KeyFunc, if not
	// nil, is asked for it before each exchange; it must be safe for concurrent
	// use. Only one of them may be set. A key that no header can hold, such as one
	// with a line break, is refused: by New, or with each request.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// KeyHeader, if not empty, is the header that shows the key, as it is, in
	// place of Authorization: "api-key" for Azure.
	KeyHeader string

	// Organization and Project go with every exchange if they are not empty.
	Organization, Project string

	// HTTPClient makes the exchanges; nil means one of the Client's own, which
	// goes through the proxy of the environment. Redirects are never followed.
	// A time-out of it cuts streams: waiting is bounded by who calls.
	HTTPClient *http.Client

	// Header goes with every exchange. Nothing of a client's own headers does.
	Header http.Header

	// Model maps the name of the model that was asked for to the one to ask;
	// nil asks for the same. It must be safe for concurrent use.
	Model func(string) string

	// Dialect says how the server differs from others. Its zero value is right
	// for most.
	Dialect Dialect

	// OutputLimits adds to the limits of output tokens that are known of OpenAI's
	// models, and
	// overrides them: by the model's name, or by the beginning of names up to a "-",
	// ".", ":" or "@". The longest entry that fits counts; 0 means no limit. A
	// request for more tokens is lowered to the limit and reported as a loss, unless
	// its document is sent unchanged. The map is copied.
	OutputLimits map[string]int64

	// Limits bounds what the server answers: Body is for one event of a stream
	// (32 MiB), Depth and Values are for JSON (256 and 1,000,000). Reply bounds
	// a whole answer (64 MiB). Zero fields stand for these defaults.
	Limits content.Limits
	Reply  int64
}

// A ServerKind says whose rules a server follows.
type ServerKind uint8

const (
	// KindByHost is KindVendor for hosts of the vendor's and of Azure, and
	// KindCompatible for all others.
	KindByHost ServerKind = iota

	// KindVendor refuses what it does not know, and has rules for each family
	// of its models.
	KindVendor

	// KindCompatible ignores what it does not know. It knows max_tokens, the
	// role "system" for the first message only, and images as data.
	KindCompatible
)

// A ThinkTags says what <think> and </think> in an answer's text mean.
type ThinkTags uint8

const (
	// ThinkTagsOff makes them text.
	ThinkTagsOff ThinkTags = iota

	// ThinkTagsLeading makes a thought of what stands between them, if the
	// answer begins with <think>.
	ThinkTagsLeading

	// ThinkTagsOpen is for templates that end in <think>: an answer begins with
	// a thought, and only what follows </think> is text. If the server is told
	// not to think, it is ThinkTagsLeading.
	ThinkTagsOpen
)

// A Dialect says how a server differs from others, as far as that does not show
// in its answers.
type Dialect struct {
	Kind ServerKind

	// Efforts are the values of reasoning_effort that the models take, in any
	// order, out of "none", "minimal", "low", "medium", "high", "xhigh" and
	// "max". Nil means those of the vendor's family that the model's name says,
	// and for other models none, low, medium and high. An empty list that is
	// not nil never sends an effort.
	Efforts []string

	// Reasoning is the member of assistant messages in which earlier thoughts
	// go back, "reasoning_content" or "reasoning"; "-" sends none. Empty sends
	// thoughts that led to calls back in the member that they came in, to
	// compatible servers. If it is given, all messages with calls have it.
	Reasoning string

	// ThinkTags is for servers that leave thoughts in the text. Chat
	// completions only.
	ThinkTags ThinkTags

	// Thinking is the member that turns thinking on and off on a compatible
	// server, beside the effort: "thinking", as DeepSeek has it, whose models take
	// no sampling parameters while they think; "chat_template_kwargs" for templates
	// that know enable_thinking or thinking, as vLLM passes them on; "-" for none.
	// Empty is "thinking" for DeepSeek's own host, and none for all others. Chat
	// completions only.
	Thinking string

	// ShortIDs says that ids of calls are nine letters and digits, as Mistral's
	// own host wants them, for which it need not be said; other servers are asked
	// again when they refuse an id for that. Chat completions only.
	ShortIDs bool

	// TextOnly says that the models read text only: other files refuse a
	// request, naming the part.
	TextOnly bool

	// Files says that a compatible server takes PDFs, and Links that it fetches
	// images by link. The vendor does both.
	Files, Links bool

	// DescribeUnreadable says that a file that the server does not take does not refuse the
	// request: in its place the model is told that there is a file which it cannot
	// read, and that is reported as dropped. An agent whose history has a PDF goes
	// on so, and may look for another way to read it.
	DescribeUnreadable bool
}

// server checks the options, puts in what the host is known for, and returns
// the server that they say. own is the client's format, name the default of Name.
func (o *Options) server(own content.Format, name string) (*adapter.Server, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	limits, faults := adapter.NewOutputLimits(o.OutputLimits)
	o.OutputLimits = limits
	faults = append(faults, o.Dialect.faults()...)
	o.Dialect.fit(o.host())
	return adapter.New(adapter.Config{
		Name: cmp.Or(o.Name, name), Base: o.BaseURL, Key: o.Key, KeyFunc: o.KeyFunc, KeyHeader: o.KeyHeader,
		Model: o.Model, Client: o.HTTPClient, Header: o.headers(),
		ForwardedHeaders: []string{"X-Generation-Id", "Retry-After", "Retry-After-Ms", "X-Ratelimit-"},
		Limits:           o.Limits, MaxResponse: o.Reply,
		Failure: func(status int, h http.Header, body []byte) *upstream.Error { return decodeError(own, status, h, body) },
	}, faults...)
}

// faults returns what is wrong with a dialect.
func (d *Dialect) faults() []string {
	var faults []string
	for _, e := range d.Efforts {
		if rank(e) < 0 {
			faults = append(faults, fmt.Sprintf("efforts: %q is none", e))
		}
	}
	switch d.Reasoning {
	case "", "-", "reasoning_content", "reasoning":
	default:
		faults = append(faults, fmt.Sprintf("reasoning: thoughts cannot go back as %q", d.Reasoning))
	}
	switch d.Thinking {
	case "", "-", switchThinking, switchTemplate:
	default:
		faults = append(faults, fmt.Sprintf("thinking: %q does not turn it on and off", d.Thinking))
	}
	if d.Kind > KindCompatible {
		faults = append(faults, fmt.Sprintf("kind: %d is none", d.Kind))
	}
	if d.ThinkTags > ThinkTagsOpen {
		faults = append(faults, fmt.Sprintf("think tags: %d are none", d.ThinkTags))
	}
	return faults
}

// headers returns what goes with every exchange.
func (o Options) headers() http.Header {
	h := o.Header.Clone()
	if h == nil {
		h = make(http.Header)
	}
	if o.Organization != "" {
		h.Set("OpenAI-Organization", o.Organization)
	}
	if o.Project != "" {
		h.Set("OpenAI-Project", o.Project)
	}
	return h
}

// vendor reports whether the server follows the vendor's own rules.
func (o Options) vendor() bool {
	switch o.Dialect.Kind {
	case KindVendor:
		return true
	case KindCompatible:
		return false
	}
	host := o.host()
	return o.BaseURL == "" || host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") ||
		strings.HasSuffix(host, ".openai.azure.com") || strings.HasSuffix(host, ".services.ai.azure.com")
}

// host returns the name of the host, empty if the URL is none.
func (o *Options) host() string {
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// The members that turn thinking on and off.
const (
	switchThinking = "thinking"
	switchTemplate = "chat_template_kwargs"
)

// fit puts in what a host is known for, where nothing else is said.
func (d *Dialect) fit(host string) {
	switch host {
	case "api.deepseek.com":
		if d.Thinking == "" {
			d.Thinking = switchThinking
		}
		if d.Efforts == nil {
			d.Efforts = []string{"none", "low", "high", "max"}
		}
	case "api.mistral.ai":
		d.ShortIDs = true
	}
}
