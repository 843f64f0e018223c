package bedrock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream/anthropic"
)

// Options configures a client. Without a BaseURL, Region and one of Credentials, Key and
// KeyFunc are required. With a BaseURL, Region is required only for Credentials, and requests
// without Credentials and a key are not signed.
type Options struct {
	// Region is the region of the endpoint and of signatures, such as "eu-central-1".
	Region string

	// Credentials sign requests with Signature Version 4. They are those of an
	// aws.Config, for example of the one that package config of the cloud's SDK loads.
	// They are kept until they expire, and then retrieved again. A panic of the provider is an
	// internal error. However, a provider in an aws.CredentialsCache of the program must not
	// panic, because that cache calls it on a goroutine of its own.
	Credentials aws.CredentialsProvider

	// Key is an API key of the service, sent as "Authorization: Bearer". KeyFunc, if
	// not nil, is called for the key before each request; it must be safe for
	// concurrent use. Only one of Credentials, Key and KeyFunc may be set.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// BaseURL is the URL of an endpoint, to which "/model/…/invoke" is appended: that of
	// a VPC, of another partition, or of a gateway. The default is
	// https://bedrock-runtime.{Region}.amazonaws.com.
	BaseURL string

	// Name identifies the client in logs, errors and [upstream.Report]. The default is
	// "bedrock".
	Name string

	// Header is added to every request: for example X-Amzn-Bedrock-GuardrailIdentifier
	// and X-Amzn-Bedrock-GuardrailVersion. Signatures include the headers that begin
	// with "X-Amz". It must not have an Authorization header beside Credentials or a key.
	Header http.Header

	// MapModel maps the model of a request to the id of a model or of an inference
	// profile, or to an ARN. It must be safe for concurrent use. If it is nil, models
	// are sent unchanged.
	MapModel func(string) string

	// HTTPClient, AllowBeta, CacheMarks, MaxTokens, OutputLimits, Limits, MaxResponse and
	// SchemaCache are those of [anthropic.Options]. The Transport of HTTPClient sends signed
	// requests.
	HTTPClient   *http.Client
	AllowBeta    func(string) bool
	CacheMarks   bool
	MaxTokens    int64
	OutputLimits map[string]int64
	Limits       content.Limits
	MaxResponse  int64
	SchemaCache  int64
}

// New returns a client. It copies opts. If options are invalid, it returns one error that
// lists all of them on one line.
func New(opts *Options) (*anthropic.Client, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Name = cmp.Or(o.Name, "bedrock")
	problems := o.problems()
	if o.BaseURL == "" {
		o.BaseURL = "https://bedrock-runtime." + cmp.Or(o.Region, "invalid") + ".amazonaws.com"
	}
	client, err := anthropic.New(&anthropic.Options{
		Platform: anthropic.PlatformBedrock, Name: o.Name, BaseURL: o.BaseURL, Key: o.Key, KeyFunc: o.KeyFunc, Bearer: true, Header: o.Header,
		HTTPClient: o.httpClient(), MapModel: o.MapModel, AllowBeta: o.AllowBeta, CacheMarks: o.CacheMarks, MaxTokens: o.MaxTokens, OutputLimits: o.OutputLimits,
		Limits: o.Limits, MaxResponse: o.MaxResponse, SchemaCache: o.SchemaCache,
	})
	if len(problems) == 0 {
		return client, err
	}
	text := o.Name + ": " + strings.Join(problems, "; ")
	if err != nil {
		text += "; " + strings.TrimPrefix(err.Error(), o.Name+": ")
	}
	return nil, errors.New(text)
}

// problems returns what is wrong with the options that [anthropic.New] does not check. It
// makes the region one that a URL may contain.
func (o *Options) problems() []string {
	var problems []string
	if strings.Trim(o.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		problems = append(problems, "Region: must have only lower-case letters, digits and hyphens")
		o.Region = ""
	} else if o.Region == "" && (o.BaseURL == "" || o.Credentials != nil) {
		problems = append(problems, "Region: is required for the endpoint and for signatures")
	}
	for name := range o.Header {
		if http.CanonicalHeaderKey(name) == "Authorization" && o.Credentials != nil {
			problems = append(problems, fmt.Sprintf("Header: %q may not be set, because the signature is sent in it", name))
		}
	}
	switch hasKey := o.Key != "" || o.KeyFunc != nil; {
	case o.Credentials != nil && hasKey:
		problems = append(problems, "Credentials: only one of Credentials, Key and KeyFunc may be set")
	case o.Credentials == nil && !hasKey && o.BaseURL == "":
		problems = append(problems, "Credentials: one of Credentials, Key and KeyFunc is required")
	}
	return problems
}

// httpClient returns a copy of HTTPClient that signs requests and translates responses.
func (o *Options) httpClient() *http.Client {
	t := &transport{region: o.Region, credentials: o.Credentials, signer: v4.NewSigner(), limit: o.Limits.Body}
	if _, cached := o.Credentials.(*aws.CredentialsCache); o.Credentials != nil && !cached {
		t.credentials = aws.NewCredentialsCache(provider{o.Credentials})
	}
	c := http.Client{Transport: newTransport()}
	if o.HTTPClient != nil {
		c = *o.HTTPClient
	}
	if t.base = c.Transport; t.base == nil {
		t.base = http.DefaultTransport
	}
	c.Transport = t
	return &c
}

// newTransport returns a transport for servers that may take minutes to respond: the
// caller bounds the time.
func newTransport() http.RoundTripper {
	d, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t := d.Clone()
	t.MaxIdleConnsPerHost = 64
	t.MaxResponseHeaderBytes = 64 << 10
	t.WriteBufferSize = 32 << 10 // with the default of 4 KB, a request of an agent takes 90 writes
	t.ReadBufferSize = 16 << 10
	t.DisableCompression = true // compression delays the events of a stream
	return t
}
