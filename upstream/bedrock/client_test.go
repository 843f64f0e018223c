package bedrock_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/leak"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/bedrock"
	"github.com/polywire/polywire/upstream/bedrock/internal/fakebedrock"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

const (
	region    = "eu-central-1"
	accessKey = "AKIDEXAMPLE000000000"
	secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	session   = "IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCXVzLWVhc3QtMSJHMEUCIQ=="
	apiKey    = "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t"
	model     = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
)

// credentials are the ones that the fake knows.
func credentials(secret string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secret, SessionToken: session}, nil
	})
}

// strict starts a strict fake of the service and returns a client for it.
func strict(t *testing.T, o bedrock.Options, fo fakebedrock.Options) (*anthropic.Client, *fakebedrock.Server) {
	t.Helper()
	fo.Region, fo.AccessKey, fo.SecretKey, fo.SessionToken = region, accessKey, secretKey, session
	f := fakebedrock.New(t, fo)
	o.Region = region
	o.BaseURL = f.URL + o.BaseURL
	if o.Credentials == nil && o.Key == "" && o.KeyFunc == nil {
		o.Credentials = credentials(secretKey)
	}
	c, err := bedrock.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c, f
}

func ask(text string) *upstream.Request {
	return &upstream.Request{Model: model, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}}}
}

// generate returns the text of a response.
func generate(c upstream.Upstream, req *upstream.Request) (string, error) {
	res, err := upstream.Collect(context.Background(), c, req)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range res.Parts {
		if t, ok := p.(*content.Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String(), nil
}

// TestSuite runs the conformance suite.
func TestSuite(t *testing.T) {
	c, f := strict(t, bedrock.Options{}, fakebedrock.Options{})
	f.Claude.Answer(scripted)
	call := ask("script call")
	call.Tools = []content.Tool{{Name: "weather", Input: content.Schema{JSON: `{"type":"object","properties":{"city":{"type":"string"}}}`}}}
	bad := ask("script text")
	bad.Turns[0].Parts = append(bad.Turns[0].Parts, &content.Media{Source: &content.Base64{MediaType: "audio/mpeg", Data: "aGk="}})
	think := ask("script think")
	think.Thinking.Mode = upstream.ThinkingAuto
	lossy := ask("script text")
	lossy.FrequencyPenalty = value(0.5)
	upstreamtest.Run(t, c, &upstreamtest.Options{
		Model: model, Text: ask("script text"), Long: ask("script long"), Silent: ask("script silent"),
		Call: call, Think: think, Lossy: lossy, Invalid: []*upstream.Request{bad}, Fail: []*upstream.Request{ask("script fail")},
		Marked:  func(mark string) *upstream.Request { return ask("script mark " + mark) },
		Skip:    []string{"count"}, // the fake counts to the same number always
		Secrets: []string{secretKey, session, strings.TrimPrefix(f.URL, "http://")},
	})
	if r := f.Refused(); len(r) > 0 {
		t.Errorf("the service refused %q", r)
	}
}

func value[T any](v T) *T { return &v }

// scripted returns the response that the last text of a request specifies.
func scripted(r fake.Request) []fake.Piece {
	var v struct {
		Messages []struct{ Content []struct{ Text string } }
	}
	_ = json.Unmarshal(r.Body, &v)
	text := ""
	if n := len(v.Messages); n > 0 && len(v.Messages[n-1].Content) > 0 {
		text = v.Messages[n-1].Content[0].Text
	}
	what, ok := strings.CutPrefix(text, "script ")
	if !ok {
		return []fake.Piece{fake.Text("It is a fine day.")}
	}
	switch mark, marked := strings.CutPrefix(what, "mark "); {
	case marked:
		return []fake.Piece{fake.Text("The word is " + mark + ".")}
	case what == "long":
		return []fake.Piece{fake.Text(strings.Repeat("one two three ", 2000))}
	case what == "silent":
		return []fake.Piece{fake.Silence(0)}
	case what == "call":
		return []fake.Piece{fake.Text("Let me look."), fake.Call("weather", `{"city":"Rome"}`), fake.Call("weather", `{"city":"Oslo"}`)}
	case what == "think":
		return []fake.Piece{fake.Thinking("Hm, what is it?"), fake.Text("This.")}
	case what == "fail":
		return []fake.Piece{fake.Status{Code: 529}}
	}
	return []fake.Piece{fake.Text("It is a fine day in the mountains, and no one is in a hurry.")}
}

// TestSignatures tests that the service accepts signatures and keys, whatever the request
// contains that signatures include.
func TestSignatures(t *testing.T) {
	traced := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("Traceparent", "00-1-2-3") // as instrumented transports do
		r.Header.Set("User-Agent", "other")
		return http.DefaultTransport.RoundTrip(r)
	})}
	for name, tt := range map[string]struct {
		model string
		opts  bedrock.Options
		fake  fakebedrock.Options
	}{
		"model":       {"anthropic.claude-sonnet-4-5-20250929-v1:0", bedrock.Options{}, fakebedrock.Options{}},
		"profile":     {"global.anthropic.claude-opus-4-6-v1", bedrock.Options{}, fakebedrock.Options{}},
		"ARN":         {"arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", bedrock.Options{}, fakebedrock.Options{}},
		"headers":     {model, bedrock.Options{Header: http.Header{"X-Amzn-Bedrock-Guardrailidentifier": {"  a  b "}, "X-Amz-Other": {"1", "2"}, "X-Amzn-Trace-Id": {"x"}}}, fakebedrock.Options{}},
		"query":       {model, bedrock.Options{BaseURL: "/?b=1&a=x%2Fy%20z"}, fakebedrock.Options{}},
		"transport":   {model, bedrock.Options{HTTPClient: traced, Header: http.Header{"Traceparent": {"00"}}}, fakebedrock.Options{}},
		"no timeout":  {model, bedrock.Options{HTTPClient: &http.Client{}}, fakebedrock.Options{}},
		"key":         {model, bedrock.Options{Key: apiKey}, fakebedrock.Options{Key: apiKey}},
		"key of func": {model, bedrock.Options{KeyFunc: func(context.Context) (string, error) { return apiKey, nil }}, fakebedrock.Options{Key: apiKey}},
		"mapped":      {"other", bedrock.Options{MapModel: func(string) string { return model }}, fakebedrock.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			c, f := strict(t, tt.opts, tt.fake)
			for _, stream := range []bool{false, true} {
				req := ask("Hi. “é”")
				req.Model, req.Stream = tt.model, stream
				if text, err := generate(c, req); err != nil || text != "Hello from the fake." {
					t.Errorf("stream %v: got %q, %v; the service refused %q", stream, text, err, f.Refused())
				}
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRefusedCredentials tests that an error about credentials is the host's, and contains
// no secret, although the service repeats the request in it.
func TestRefusedCredentials(t *testing.T) {
	for name, tt := range map[string]struct {
		opts bedrock.Options
		fake fakebedrock.Options
		log  string
	}{
		"secret": {bedrock.Options{Credentials: credentials("other-secret")}, fakebedrock.Options{}, "InvalidSignatureException"},
		"key":    {bedrock.Options{Key: "other-api-key-of-the-host"}, fakebedrock.Options{Key: apiKey}, "AccessDeniedException"},
	} {
		c, _ := strict(t, tt.opts, tt.fake)
		_, err := generate(c, ask("Hi."))
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != upstream.CodeBadGateway || !e.KeyRefused || e.Details != nil || e.Upstream != "bedrock" || e.UpstreamID == "" {
			t.Errorf("%s: got %#v", name, err)
			continue
		}
		text := fmt.Sprint(e.Text, e.Err)
		if !strings.Contains(text, tt.log) {
			t.Errorf("%s: got %q, want the name %q for the log", name, text, tt.log)
		}
		for _, secret := range []string{session, session[:20], "other-api-key", "Signature="} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q contains a secret", name, text)
			}
		}
	}
}

func TestNoCredentials(t *testing.T) {
	cause := errors.New("no role")
	fails := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, cause })
	c, f := strict(t, bedrock.Options{Credentials: fails}, fakebedrock.Options{})
	_, err := generate(c, ask("Hi."))
	var e *upstream.Error
	if !errors.As(err, &e) || e.Code != upstream.CodeInternal || !errors.Is(err, cause) || len(f.Refused()) > 0 {
		t.Errorf("got %v, want a CodeInternal with the cause", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	blocks := aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		cancel(cause)
		return aws.Credentials{}, context.Canceled
	})
	c, _ = strict(t, bedrock.Options{Credentials: blocks}, fakebedrock.Options{})
	if _, err := upstream.Collect(ctx, c, ask("Hi.")); !errors.Is(err, cause) || errors.As(err, &e) {
		t.Errorf("got %v, want the cause of the end of the context", err)
	}
}

// TestErrors tests the errors of the service, and that clients of the same format get no
// account in them.
func TestErrors(t *testing.T) {
	const secret = "arn:aws:iam::123456789012:user/host" // removed also where clients of the format get the text
	for _, tt := range []struct {
		status int
		name   string
		text   string
		code   upstream.Code
		public bool // clients get the text
		client int  // status for a client of Messages
	}{
		{429, "ThrottlingException", "Too many requests, please wait before trying again.", upstream.CodeRateLimit, true, 429},
		{400, "ServiceQuotaExceededException", "Your request exceeds the quota.", upstream.CodeRateLimit, true, 429},
		{400, "ValidationException", "messages.0: bad", upstream.CodeInvalid, true, 400},
		{400, "ValidationException", "Input is too long for requested model.", upstream.CodeInvalid, true, 400},
		{404, "ResourceNotFoundException", "Could not resolve the foundation model.", upstream.CodeNotFound, true, 404},
		{403, "AccessDeniedException", "User: " + secret + " is not authorized to perform: bedrock:InvokeModel", upstream.CodeBadGateway, false, 502},
		{403, "UnrecognizedClientException", secret, upstream.CodeBadGateway, false, 502},
		{403, "ExpiredTokenException", secret, upstream.CodeBadGateway, false, 502},
		{408, "ModelTimeoutException", secret, upstream.CodeTimeout, false, 504},
		{424, "ModelErrorException", secret, upstream.CodeUnavailable, false, 500},
		{429, "ModelNotReadyException", secret, upstream.CodeUnavailable, false, 503},
		{500, "InternalServerException", secret, upstream.CodeUnavailable, false, 500},
		{503, "ServiceUnavailableException", secret, upstream.CodeUnavailable, false, 503},
		{418, "NewException", secret, upstream.CodeBadGateway, false, 418},
		{400, "", "Malformed", upstream.CodeInvalid, true, 400},
	} {
		for _, stream := range []bool{false, true} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("X-Amzn-Requestid", "id-1")
				w.Header().Set("Retry-After", "7")
				fakebedrock.WriteError(w, tt.status, tt.name, tt.text)
			}))
			c, err := bedrock.New(&bedrock.Options{BaseURL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			req := ask("Hi.")
			req.Stream = stream
			_, err = generate(c, req)
			var e *upstream.Error
			if !errors.As(err, &e) || e.Code != tt.code || e.UpstreamID != "id-1" {
				t.Errorf("%s: got %#v, want %s", tt.name, err, tt.code)
				continue
			}
			if want := map[bool]string{true: tt.text}[tt.public]; want != "" && e.Text != want {
				t.Errorf("%s: got the text %q, want %q", tt.name, e.Text, want)
			}
			if retry := tt.code == upstream.CodeRateLimit || tt.code == upstream.CodeUnavailable; (e.RetryAfter != 0) != retry {
				t.Errorf("%s: got a RetryAfter of %v", tt.name, e.RetryAfter)
			}
			if !strings.Contains(fmt.Sprint(e.Err), tt.name) || !strings.Contains(fmt.Sprint(e.Err), tt.text[:5]) {
				t.Errorf("%s: the log has %q", tt.name, e.Err)
			}
			w := post(messages.NewHandler(c, nil), "/v1/messages", fmt.Sprintf(`{"model":%q,"max_tokens":9,"stream":%v,"messages":[{"role":"user","content":"Hi."}]}`, model, stream))
			shown := strings.ReplaceAll(tt.text, secret, "arn:aws:iam::[removed]")
			if w.Code != tt.client || strings.Contains(w.Body.String(), shown) != (tt.public || tt.client >= 500 && tt.client != 502 || tt.client == 418) || strings.Contains(w.Body.String(), "123456789012") {
				t.Errorf("%s: the client got %d %s, want %d", tt.name, w.Code, w.Body, tt.client)
			}
			server.Close()
		}
	}
}

// post sends a body to a handler of Messages or generateContent.
func post(h http.Handler, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestCuts tests that a stream that is cut anywhere is an error, in any way that it arrives.
func TestCuts(t *testing.T) {
	size := 0
	for cut := 1; size == 0; cut++ {
		c, _ := strict(t, bedrock.Options{}, fakebedrock.Options{Cut: cut, Chop: cut%5*50 + 1})
		req := ask("Hi.")
		req.Stream = true
		switch text, err := generate(c, req); {
		case err == nil && text == "Hello from the fake." && cut > 800:
			size = cut
		case err == nil:
			t.Fatalf("cut before byte %d: got %q without an error", cut, text)
		case !isCode(err, upstream.CodeBadGateway):
			t.Fatalf("cut before byte %d: got %v", cut, err)
		}
	}
	t.Logf("a stream of %d bytes", size-1)
}

func isCode(err error, code upstream.Code) bool {
	var e *upstream.Error
	return errors.As(err, &e) && e.Code == code
}

// TestStreamExceptions tests errors within a stream, for clients of both formats.
func TestStreamExceptions(t *testing.T) {
	for status, want := range map[int]string{400: "validationException", 429: "throttlingException", 500: "internalServerException", 529: "serviceUnavailableException"} {
		for name, kinds := range map[string][2]string{
			"/v1/messages": {`event: error`, map[int]string{400: "invalid_request_error", 429: "rate_limit_error", 500: "api_error", 529: "api_error"}[status]},
			"/v1beta/models/" + model + ":streamGenerateContent?alt=sse": {`"error"`, map[int]string{400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "UNAVAILABLE", 529: "UNAVAILABLE"}[status]},
		} {
			c, f := strict(t, bedrock.Options{}, fakebedrock.Options{})
			f.Claude.Say(fake.Text("One two three."), fake.Status{Code: status, Message: "about " + want})
			w := post(both(c), name, body(name, "Hi.", true))
			if s := w.Body.String(); w.Code != 200 || !strings.Contains(s, "One two") || !strings.Contains(s, kinds[0]) || !strings.Contains(s, kinds[1]) {
				t.Errorf("%s at %s: got %d %s, want %s", want, name, w.Code, s, kinds)
			}
		}
	}
}

// both returns a handler of both formats.
func both(up upstream.Upstream) http.Handler {
	m, g := messages.NewHandler(up, nil), generatecontent.NewHandler(up, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.Match(r) {
			m.ServeHTTP(w, r)
			return
		}
		g.ServeHTTP(w, r)
	})
}

// body returns a request in the format of a path.
func body(path, text string, stream bool) string {
	if strings.HasPrefix(path, "/v1beta") {
		return fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":%q}]}]}`, text)
	}
	return fmt.Sprintf(`{"model":%q,"max_tokens":500,"stream":%v,"messages":[{"role":"user","content":%q}]}`, model, stream, text)
}

// TestHandlers tests a tool loop with thinking, whose signatures the fake checks, in both
// formats.
func TestHandlers(t *testing.T) {
	for _, stream := range []bool{false, true} {
		c, f := strict(t, bedrock.Options{}, fakebedrock.Options{})
		f.Claude.Say(fake.Thinking("Where?"), fake.Call("weather", `{"city":"Rome"}`))
		f.Claude.Say(fake.Text("Sunny."))
		tools := `"tools":[{"name":"weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}],"thinking":{"type":"enabled","budget_tokens":1024},"max_tokens":4096`
		first := fmt.Sprintf(`{"model":%q,"stream":%v,%s,"messages":[{"role":"user","content":"Hi."}]}`, model, stream, tools)
		w := post(both(c), "/v1/messages", first)
		f2, err := messages.DecodeResponse([]byte(wholeMessage(t, w, stream)), nil)
		if err != nil || len(f2.Parts) == 0 {
			t.Fatalf("got %d %s: %v", w.Code, w.Body, err)
		}
		var message struct{ Content json.RawMessage }
		if err := json.Unmarshal([]byte(wholeMessage(t, w, stream)), &message); err != nil {
			t.Fatal(err)
		}
		var blocks []struct{ Type, ID string }
		if err := json.Unmarshal(message.Content, &blocks); err != nil || len(blocks) != 2 || blocks[0].Type != "thinking" {
			t.Fatalf("got %s", message.Content)
		}
		w = post(both(c), "/v1/messages", fmt.Sprintf(`{"model":%q,"stream":%v,%s,"messages":[{"role":"user","content":"Hi."},{"role":"assistant","content":%s},{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"sun"}]}]}`,
			model, stream, tools, message.Content, blocks[1].ID))
		if !strings.Contains(strings.ReplaceAll(w.Body.String(), "\n", ""), "Sunny") && !strings.Contains(w.Body.String(), "unny") {
			t.Errorf("got %d %s; the service refused %q", w.Code, w.Body, f.Refused())
		}

		path := "/v1beta/models/" + model + ":generateContent"
		if stream {
			path = "/v1beta/models/" + model + ":streamGenerateContent?alt=sse"
		}
		f.Claude.Say(fake.Text("Of course."))
		if w := post(both(c), path, body(path, "Hi.", stream)); w.Code != 200 || !strings.Contains(w.Body.String(), "course") {
			t.Errorf("%s: got %d %s; the service refused %q", path, w.Code, w.Body, f.Refused())
		}
	}
}

// wholeMessage returns the message of a response as a document, without the metrics of the
// stream.
func wholeMessage(t *testing.T, w *httptest.ResponseRecorder, stream bool) string {
	t.Helper()
	if !stream {
		return w.Body.String()
	}
	type object = map[string]any
	var message object
	var blocks []object
	for line := range strings.Lines(w.Body.String()) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type         string
			Message      object
			ContentBlock object `json:"content_block"`
			Delta        struct {
				Thinking, Signature, Text string
				PartialJSON               string `json:"partial_json"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "message_start":
			message = e.Message
		case "content_block_start":
			e.ContentBlock["partial"] = ""
			blocks = append(blocks, e.ContentBlock)
		case "content_block_delta":
			b := blocks[len(blocks)-1]
			for name, more := range map[string]string{"thinking": e.Delta.Thinking, "signature": e.Delta.Signature, "text": e.Delta.Text, "partial": e.Delta.PartialJSON} {
				if more != "" {
					old, _ := b[name].(string)
					b[name] = old + more
				}
			}
		}
	}
	for _, b := range blocks {
		if p, _ := b["partial"].(string); p != "" {
			b["input"] = json.RawMessage(p)
		}
		delete(b, "partial")
	}
	message["content"] = blocks
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNew tests the errors of New.
func TestNew(t *testing.T) {
	for name, tt := range map[string]struct {
		opts *bedrock.Options
		want []string // in the error; nil means none
	}{
		"none":        {nil, []string{"bedrock: Region: ", "Credentials: "}},
		"region":      {&bedrock.Options{Region: "eu-central-1.example.com/", Key: "k"}, []string{"Region: must have only"}},
		"both":        {&bedrock.Options{Region: region, Key: "k", Credentials: credentials("x")}, []string{"only one of"}},
		"both keys":   {&bedrock.Options{Region: region, Key: "k", KeyFunc: func(context.Context) (string, error) { return "", nil }}, []string{"only one of"}},
		"no region":   {&bedrock.Options{BaseURL: "http://127.0.0.1", Credentials: credentials("x")}, []string{"Region: "}},
		"all":         {&bedrock.Options{Name: "aws", BaseURL: "ftp://x", Credentials: credentials("x"), MaxTokens: -1}, []string{"aws: Region: ", "BaseURL: ", "MaxTokens: "}},
		"key":         {&bedrock.Options{Region: region, Key: "k"}, nil},
		"credentials": {&bedrock.Options{Region: region, Credentials: credentials("x")}, nil},
		"gateway":     {&bedrock.Options{BaseURL: "http://127.0.0.1"}, nil},
	} {
		c, err := bedrock.New(tt.opts)
		if (c != nil) != (tt.want == nil) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: got %v, %v", name, c, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "bedrock: ")+strings.Count(err.Error(), "aws: ") != 1 {
				t.Errorf("%s: got %q, want %q", name, err, want)
			}
		}
	}
}

// TestOptions tests that there is an option for each of package anthropic that makes sense
// here.
func TestOptions(t *testing.T) {
	own, theirs := reflect.TypeFor[bedrock.Options](), reflect.TypeFor[anthropic.Options]()
	for _, f := range reflect.VisibleFields(theirs) {
		if slices.Contains([]string{"Platform", "Project", "Location", "Bearer"}, f.Name) {
			continue
		}
		if g, ok := own.FieldByName(f.Name); !ok || g.Type != f.Type {
			t.Errorf("Options has no field %s of the type %v", f.Name, f.Type)
		}
	}
}

func TestCountTokens(t *testing.T) {
	c, f := strict(t, bedrock.Options{}, fakebedrock.Options{})
	n, err := c.CountTokens(context.Background(), ask("Hi."))
	if err != nil || n.Tokens != 42 || n.Estimated {
		t.Errorf("got %+v, %v; the service refused %q", n, err, f.Refused())
	}
}

// TestStreamLosses tests that a stream without content that is lost has no losses.
func TestStreamLosses(t *testing.T) {
	c, _ := strict(t, bedrock.Options{}, fakebedrock.Options{})
	req := ask("Hi.")
	req.Stream = true
	if res, err := upstream.Collect(context.Background(), c, req); err != nil || len(res.Losses) > 0 {
		t.Errorf("got %v, %v", res.Losses, err)
	}
}

// TestQuotedCredentials tests that no key reaches a client or the log if a server quotes all
// of them, although the request does not contain the secret access key.
func TestQuotedCredentials(t *testing.T) {
	for _, status := range []int{400, 404, 429, 500} {
		for _, stream := range []bool{false, true} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-Amzn-Errortype", "ValidationException")
				w.WriteHeader(status)
				_ = json.NewEncoder(w).Encode(map[string]string{"message": fmt.Sprintf("got id %s, secret %s, token %s and %s", accessKey, secretKey, session, r.Header.Get("Authorization"))})
			}))
			c, err := bedrock.New(&bedrock.Options{Region: region, BaseURL: s.URL, Credentials: credentials(secretKey)})
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			h := messages.NewHandler(c, &messages.Options{HandlerOptions: upstream.HandlerOptions{
				Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			}})
			w := post(h, "/v1/messages", body("/v1/messages", "Hi.", stream))
			all := fmt.Sprint(w.Header(), w.Body, log.String())
			for _, secret := range []string{accessKey, secretKey, session, "wJalr", "IQoJb3"} {
				if strings.Contains(all, secret) {
					t.Errorf("%d: %q is in %s", status, secret, all)
				}
			}
			if !strings.Contains(all, "got id [removed], secret") {
				t.Errorf("%d: the rest of the message is missing in %s", status, all)
			}
			s.Close()
		}
	}
}

// TestProviders tests that a provider that panics, fails with its keys in the error, or has no
// keys makes the request fail before it is sent, and nothing else.
func TestProviders(t *testing.T) {
	for name, tt := range map[string]struct {
		retrieve func() (aws.Credentials, error)
		cause    string
	}{
		"panic": {func() (aws.Credentials, error) { panic("no role") }, "the CredentialsProvider panicked: no role"},
		"empty": {func() (aws.Credentials, error) { return aws.Credentials{}, nil }, "no access key id"},
		"id":    {func() (aws.Credentials, error) { return aws.Credentials{AccessKeyID: accessKey}, nil }, "no secret access key"},
		"error with keys": {func() (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, errors.New(accessKey + " with " + secretKey + " has expired")
		}, "[removed] with [removed] has expired"},
	} {
		c, f := strict(t, bedrock.Options{Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return tt.retrieve() })}, fakebedrock.Options{})
		for range 2 {
			_, err := generate(c, ask("Hi."))
			var e *upstream.Error
			if !errors.As(err, &e) || e.Code != upstream.CodeInternal || e.Text != "" || !strings.Contains(e.Err.Error(), tt.cause) || strings.Contains(e.Err.Error(), accessKey) {
				t.Errorf("%s: got %v, want a CodeInternal with %q", name, err, tt.cause)
			}
		}
		if n := len(f.Refused()); n > 0 {
			t.Errorf("%s: %d requests were sent", name, n)
		}
	}
}

// TestHeaderBesideKey tests that a header with credentials is not accepted beside those of the
// options.
func TestHeaderBesideKey(t *testing.T) {
	own := http.Header{"Authorization": {"Bearer x"}}
	for want, o := range map[string]bedrock.Options{
		`bedrock: Header: "Authorization" may not be set, because the key is sent in it`:       {Region: region, Key: apiKey, Header: own},
		`bedrock: Header: "Authorization" may not be set, because the signature is sent in it`: {Region: region, Credentials: credentials(secretKey), Header: own},
	} {
		if _, err := bedrock.New(&o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
