package polywire_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// A service that serves all formats.
func Example() {
	server := &http.Server{
		Addr:              "127.0.0.1:8080",
		Handler:           polywire.NewHandler(echo.New(), nil), // it limits bodies and responses
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
	}
	log.Fatal(server.ListenAndServe())
}

// A model is one function. It serves plain and streamed responses.
func Example_upstream() {
	reverse := upstream.Reads(upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
		for _, p := range req.LastParts() {
			t, ok := p.(*content.Text)
			if !ok {
				continue
			}
			words := strings.Fields(t.Text)
			for i := len(words) - 1; i >= 0; i-- {
				if err := w.Text(words[i] + " "); err != nil {
					return err // the client has left
				}
			}
		}
		return nil
	})) // what else a request has, Reads reports as losses

	req := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "home come"}}},
	}}
	for event, err := range upstream.Events(context.Background(), reverse, req) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Kind == upstream.EventText {
			fmt.Printf("%q\n", event.Text)
		}
	}
	// Output:
	// "come "
	// "home "
}

// Middleware that changes requests. The wrapped Upstream keeps its optional methods.
func Example_middleware() {
	brief := upstream.Edit(echo.New(), func(ctx context.Context, r *upstream.Request) (*upstream.Request, error) {
		r = r.Clone()
		r.System = append(r.System, &content.Text{Text: "Be brief."})
		return r, nil
	})

	reply, err := upstream.Collect(context.Background(), brief, &upstream.Request{Model: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	// Output:
	// echo of demo: 0 turns
	// system.0: text, 9 bytes, sha256 213c22ed7234, "Be brief."
}

// A service with several models.
func Example_mux() {
	brief := upstream.Edit(echo.New(), func(ctx context.Context, r *upstream.Request) (*upstream.Request, error) {
		r = r.Clone()
		r.System = append(r.System, &content.Text{Text: "Be brief."})
		return r, nil
	})

	var models upstream.Mux
	models.Handle("small", echo.New())
	models.HandleAs("fast-*", echo.New(), "*") // receives "fast-x" as "x"
	models.Handle("*", brief)

	for _, name := range []string{"small", "fast-x", "other"} {
		reply, err := upstream.Collect(context.Background(), &models, &upstream.Request{Model: name})
		if err != nil {
			log.Fatal(err)
		}
		first, _, _ := strings.Cut(reply.Parts[0].(*content.Text).Text, "\n")
		fmt.Println(first)
	}
	// Output:
	// echo of small: 0 turns
	// echo of x: 0 turns
	// echo of other: 0 turns
}

// A bucket allows one request per interval, and up to burst requests at once.
type bucket struct {
	interval time.Duration
	burst    int

	mu   sync.Mutex
	full time.Time // when burst requests are allowed again
}

// take counts a request. If it is not allowed, take returns how long to wait for one.
func (b *bucket) take(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	full := b.full
	if full.Before(now) {
		full = now
	}
	full = full.Add(b.interval)
	if wait := full.Sub(now) - time.Duration(b.burst)*b.interval; wait > 0 {
		return wait
	}
	b.full = full
	return 0
}

// Middleware that limits the rate of requests.
func Example_rateLimit() {
	h := messages.NewHandler(echo.New(), &messages.Options{HandlerOptions: upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)}})
	limit := &bucket{interval: time.Minute, burst: 2}
	limited := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait := limit.take(time.Now()); wait > 0 {
			h.WriteError(w, r, &upstream.Error{Code: upstream.CodeRateLimit, RetryAfter: wait})
			return
		}
		h.ServeHTTP(w, r)
	})

	for range 3 {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi."}]}`))
		r.Header.Set("anthropic-version", "2023-06-01")
		limited.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("retry-after") != "")
	}
	// Output:
	// 200 false
	// 200 false
	// 429 true
}

// Clients of two vendors use the models of one of them.
func Example_vendor() {
	up, err := gemini.New(&gemini.Options{Key: os.Getenv("GEMINI_API_KEY")})
	if err != nil {
		log.Fatal(err) // an option is invalid
	}
	m := messages.NewHandler(up, nil)        // for clients of Anthropic
	g := generatecontent.NewHandler(up, nil) // for clients of Google
	both := upstream.Handlers(g, m)          // on one mux
	fmt.Println(both.Match(httptest.NewRequest("POST", "/v1/messages", nil)))
	// Output: true
}

// A second server for a model, which is used if the first one fails, and a wrapper that
// keeps the optional methods of an Upstream.
func Example_failover() {
	limits := &upstream.FailoverOptions{FirstContent: 20 * time.Second}
	up := upstream.Failover([]upstream.Upstream{audited{echo.New()}, echo.New()}, limits)

	reply, err := upstream.Collect(context.Background(), up, &upstream.Request{
		Model: "echo",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "echo: say hello"}}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	models, err := upstream.Models(context.Background(), audited{echo.New()})
	fmt.Println(len(models) > 0, err)
	// Output:
	// request for echo
	// hello
	// true <nil>
}

type audited struct{ next upstream.Upstream }

func (a audited) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	fmt.Println("request for", r.Model)
	return a.next.Generate(ctx, r, w)
}

func (a audited) Unwrap() upstream.Upstream { return a.next }

// Several vendors with one name: the first one that can represent a request within
// RejectLoss receives it. Preflight reports losses without sending the request.
func Example_first() {
	claude, err := anthropic.New(&anthropic.Options{MapModel: func(string) string { return "claude-sonnet-5" }})
	if err != nil {
		log.Fatal(err)
	}
	gem, err := gemini.New(&gemini.Options{MapModel: func(string) string { return "gemini-3.5-pro" }})
	if err != nil {
		log.Fatal(err)
	}
	var models upstream.Mux
	models.Handle("claude", claude)
	models.Handle("smart", upstream.First(claude, gem))

	seed := int64(7)
	for _, name := range []string{"claude", "smart"} {
		losses, err := upstream.Preflight(context.Background(), &models, &upstream.Request{
			Model:      name,
			Turns:      []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hello."}}}},
			Seed:       &seed,
			RejectLoss: content.LossDropped, // in a service, handlers set it from HandlerOptions
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, len(losses))
		for _, l := range losses {
			fmt.Println(l.Severity, l.Path, "-", l.Reason)
		}
	}
	// Output:
	// claude 1
	// dropped seed - the server does not accept this seed, or any; equal requests may have different responses
	// smart 0
}

// Stored requests of Chat Completions as requests of Messages.
func Example_convert() {
	stored := []string{
		`{"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hello."}], "seed": 7}`,
		`{"model": "gpt-5.2", "messages": []}`,
	}

	up, err := anthropic.New(&anthropic.Options{MapModel: func(string) string { return "claude-sonnet-5" }})
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range stored {
		req, losses, err := chatcompletions.DecodeRequest([]byte(line), nil)
		if err != nil {
			fmt.Println(err) // the client's mistake
			continue
		}
		encoded, err := upstream.EncodeRequest(context.Background(), up, req)
		if err != nil || len(encoded.Placeholders) > 0 {
			fmt.Println("not translated:", content.MapPaths(err, req.Path), encoded.Placeholders) // files by id or link are not available
			continue
		}
		fmt.Println(encoded.Document)
		for _, l := range append(losses, encoded.Losses...) {
			fmt.Println(l.Severity, req.Path(l.Path), "-", l.Reason)
		}
	}
	// Output:
	// {"model":"claude-sonnet-5","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"Hello."}]}]}
	// dropped seed - the server does not accept this seed, or any; equal requests may have different responses
	// messages: Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.
}

// A model that is a function gets an optional operation from a wrapper.
func Example_countTokens() {
	n, err := upstream.CountTokens(context.Background(), counted{echo.New()}, &upstream.Request{
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Come home now."}}}},
	})
	fmt.Println(n.Tokens, err)
	// Output: 3 <nil>
}

// counted is a model whose tokens are words.
type counted struct{ upstream.Upstream }

func (c counted) Unwrap() upstream.Upstream { return c.Upstream }

func (counted) CountTokens(_ context.Context, r *upstream.Request) (n upstream.TokenCount, err error) {
	for _, text := range r.Texts() {
		n.Tokens += int64(len(strings.Fields(text)))
	}
	return n, nil
}

// An adapter is an upstream that sends requests to a server with the Messages format.
type adapter struct{ url string }

func (a *adapter) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	body, err := document(req, w)
	if err != nil {
		return err
	}
	post, err := http.NewRequestWithContext(ctx, "POST", a.url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return err
	}
	post.Header.Set("anthropic-version", "2023-06-01")
	for _, f := range req.Header { // the version and the betas of a Messages client
		post.Header.Set(f.Name, f.Value)
	}
	response, err := http.DefaultClient.Do(post)
	if err != nil {
		return &upstream.Error{Code: upstream.CodeUnavailable, Err: err}
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		return messages.DecodeError(response.StatusCode, response.Header, text)
	case req.Stream:
		return w.Frames(messages.NewStreamReader(response.Body, nil))
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return &upstream.Error{Code: upstream.CodeBadGateway, Err: err}
	}
	resp, err := messages.DecodeResponse(text, nil)
	if err != nil {
		return err
	}
	return w.Frame(resp.Frame)
}

// FormatOf makes handlers accept requests that only this format can represent.
func (a *adapter) FormatOf(context.Context, *upstream.Request) (content.Format, error) {
	return messages.Format, nil
}

// document returns the document to send.
func document(req *upstream.Request, w *upstream.Writer) (string, error) {
	if text, ok := upstream.WireOf(req, messages.Format); ok {
		return sjson.Set(text, "model", req.Model) // all other bytes stay
	}
	m, losses, violations := messages.RequestFromUpstream(req)
	if err := cmp.Or(w.Loss(losses), violations); err != nil {
		return "", err
	}
	if m.MaxTokens == nil {
		m.MaxTokens = new(int64(4096)) // the format requires it
	}
	text, err := m.AppendJSON(nil)
	return string(text), err
}

// An adapter for a server that has the Messages format. The server receives the bytes of
// a Messages client, and the client those of the server.
func Example_adapter() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Printf("the server receives %s\n", body)
		io.WriteString(w, `{"type":"message","role":"assistant","id":"msg_1","model":"big","content":[{ "type":"text", "text":"Hi." }],`+
			`"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3}}`)
	}))
	defer server.Close()
	up := upstream.Edit(&adapter{server.URL}, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		return r.WithModel("big"), nil
	})

	post := httptest.NewRequest("POST", "/v1/messages",
		strings.NewReader(`{ "model":"demo", "max_tokens":20, "messages":[{"role":"user","content":"Hello!"}] }`))
	post.Header.Set("anthropic-version", "2023-06-01")
	response := httptest.NewRecorder()
	messages.NewHandler(up, nil).ServeHTTP(response, post)
	fmt.Println("the client receives", response.Body)

	// A request of another format is converted.
	reply, err := upstream.Collect(context.Background(), up, &upstream.Request{
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hello!"}}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text, reply.Stop.Reason)
	// Output:
	// the server receives { "model":"big", "max_tokens":20, "messages":[{"role":"user","content":"Hello!"}] }
	// the client receives {"type":"message","role":"assistant","id":"msg_1","model":"big","content":[{ "type":"text", "text":"Hi." }],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3}}
	// the server receives {"model":"big","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"Hello!"}]}]}
	// Hi. end
}

// All formats on one port.
func ExampleNewHandler() {
	all := polywire.NewHandler(echo.New(), &upstream.HandlerOptions{Strict: true})

	for path, body := range map[string]string{
		"/v1beta/models/demo:generateContent": `{"contents": [{"parts": [{"text": "echo: say Ahoy"}]}]}`,
		"/v1/chat/completions":                `{"model": "demo", "messages": [{"role": "user", "content": "echo: say Ahoy"}]}`,
	} {
		w := httptest.NewRecorder()
		all.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
		fmt.Println(w.Code, strings.Contains(w.Body.String(), `"Ahoy"`))
	}
	// Output:
	// 200 true
	// 200 true
}

// Claude on Google Cloud, in Microsoft Foundry, and at an address with the vendor's paths.
func Example_claude() {
	token := func(context.Context) (string, error) { return os.Getenv("GOOGLE_ACCESS_TOKEN"), nil }
	google, err := anthropic.New(&anthropic.Options{
		Platform: anthropic.PlatformVertex,
		Project:  "my-project",
		Location: "global",
		KeyFunc:  token,
		MapModel: func(model string) string {
			if model == "claude-sonnet-4-5" {
				return "claude-sonnet-4-5@20250929"
			}
			return model
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	foundry, err := anthropic.New(&anthropic.Options{
		Platform: anthropic.PlatformFoundry,
		BaseURL:  "https://my-resource.services.ai.azure.com/anthropic",
		Key:      os.Getenv("ANTHROPIC_FOUNDRY_API_KEY"),
	})
	if err != nil {
		log.Fatal(err)
	}

	mantle, err := anthropic.New(&anthropic.Options{
		BaseURL: "https://bedrock-mantle.us-east-1.api.aws/anthropic",
		Key:     os.Getenv("AWS_BEARER_TOKEN_BEDROCK"),
	})
	if err != nil {
		log.Fatal(err)
	}

	_ = []upstream.Upstream{google, foundry, mantle} // see messages.NewHandler
}

// Links may refer to public hosts and to a file store of the service. File ids refer to
// files in a directory.
func Example_files() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "report.pdf"), []byte("%PDF-1.7"), 0o600); err != nil {
		log.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()

	store, err := fetch.New(&fetch.Options{
		AllowNames:    []string{"files.internal"},
		AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("10.1.2.0/24")},
	})
	if err != nil {
		log.Fatal(err)
	}
	h := messages.NewHandler(echo.New(), &messages.Options{HandlerOptions: upstream.HandlerOptions{
		Links:    store,
		Resolver: content.Files{FS: root.FS()}, // root is an *os.Root, or use os.DirFS
	}})

	for _, source := range []string{
		`{"type": "file", "file_id": "report.pdf"}`,
		`{"type": "file", "file_id": "../secret"}`,
		`{"type": "url", "url": "https://other.internal/report.pdf"}`,
	} {
		r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model": "demo", "max_tokens": 9, "messages": [
		  {"role": "user", "content": [{"type": "document", "source": `+source+`}]}]}`))
		r.Header.Set("anthropic-version", "2023-06-01")
		r.Header.Set("anthropic-beta", "files-api-2025-04-14")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 200
	// 400
	// 400
}

// Requests can be parsed and validated without HTTP.
func Example_validate() {
	body := `{"model": "demo", "max_tokens": "many", "messages": [
	  {"role": "user", "content": [{"type": "text", "text": ""}]}]}`

	req, err := messages.ParseRequest([]byte(body))
	if req != nil {
		err = req.Validate(nil) // includes the violations found by ParseRequest
	}
	violations, _ := content.Violations(err)
	for _, v := range violations {
		fmt.Println(v.Path, "-", v.Text)
	}
	// Output:
	// max_tokens - Input should be a valid integer
	// messages - text content blocks must be non-empty
}

// A proxy that refuses invalid requests with the vendor's own errors. Valid ones pass unchanged.
func ExampleNewValidator() {
	vendor := httptest.NewServer(polywire.NewHandler(echo.New(), nil)) // in place of the vendor
	defer vendor.Close()
	target, err := url.Parse(vendor.URL)
	if err != nil {
		log.Fatal(err)
	}

	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	valid := polywire.NewValidator(proxy, nil) // an http.Handler
	proxy.ErrorHandler = func(w http.ResponseWriter, r *http.Request, err error) {
		valid.WriteError(w, r, &upstream.Error{Code: upstream.CodeUnavailable, Err: err}) // in the client's format
	}

	service := httptest.NewServer(valid)
	defer service.Close()

	for _, body := range []string{
		`{"model": "demo", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello."}]}`,
		`{"model": "demo", "max_tokens": 64, "messages": [{"role": "user", "content": ""}]}`,
	} {
		request, _ := http.NewRequest("POST", service.URL+"/v1/messages", strings.NewReader(body))
		request.Header.Set("Anthropic-Version", "2023-06-01")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		document, _ := io.ReadAll(response.Body)
		response.Body.Close()
		fmt.Println(response.StatusCode, gjson.GetBytes(document, "{type,error.message}"))
	}
	// Output:
	// 200 {"type":"message"}
	// 400 {"type":"error","message":"messages.0: all messages must have non-empty content except for the optional final assistant message"}
}

// respond returns the response to a stored request of a client.
func respond(ctx context.Context, up upstream.Upstream, stored []byte) (status int, header http.Header, body []byte) {
	req, losses, err := messages.DecodeRequest(stored, nil)
	if err != nil {
		return messages.EncodeError(nil, err)
	}
	resp, err := upstream.Collect(ctx, up, req)
	losses = append(losses, resp.Losses...)
	if err != nil {
		return messages.EncodeError(req, err)
	}
	body, more := messages.EncodeResponse(req, resp)
	for _, l := range append(losses, more...) {
		l.Path = req.Path(l.Path) // in the client's document
		log.Print(l)
	}
	return http.StatusOK, nil, body
}

// A batch worker responds to stored requests and writes a line of JSON for each.
func Example_batch() {
	up := upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
		return w.Text("Hi.")
	})
	stored := []string{
		`{"model":"demo","max_tokens":20,"messages":[{"role":"user","content":"Hello!"}]}`,
		`{"model":"demo","messages":[]}`,
	}
	var out strings.Builder
	lines := json.NewEncoder(&out)
	for _, request := range stored {
		status, _, body := respond(context.Background(), up, []byte(request))
		if err := lines.Encode(map[string]any{"status": status, "response": json.RawMessage(body)}); err != nil {
			log.Fatal(err)
		}
	}
	for line := range strings.Lines(out.String()) {
		fmt.Println(gjson.Get(line, "status"), gjson.Get(line, "response.content.0.text").Str+gjson.Get(line, "response.error.message").Str)
	}
	// Output:
	// 200 Hi.
	// 400 max_tokens: Field required
	// messages: at least one message is required
}

// A recorded stream of Gemini, as the events that a client of Messages receives.
func Example_replay() {
	const recording = `data: {"responseId":"r-1","modelVersion":"gemini","candidates":[{"content":{"parts":[{"text":"Hi."}]},"finishReason":"STOP"}],` +
		`"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3}}` + "\n\n"
	recorded := generatecontent.NewStreamReader(strings.NewReader(recording), nil)
	var events strings.Builder
	w := messages.NewStreamWriter(&events, nil)
	if err := w.End(upstream.Run(context.Background(), upstream.Replay(recorded), &upstream.Request{}, w)); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(events.String()) {
		if strings.HasPrefix(line, "event: ") || strings.Contains(line, "Hi.") {
			fmt.Print(line)
		}
	}
	// Output:
	// event: message_start
	// event: content_block_start
	// event: content_block_delta
	// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi."}}
	// event: content_block_stop
	// event: message_delta
	// event: message_stop
}

// A socket is a WebSocket connection. Packages for WebSockets have such a type.
type socket interface {
	Read(context.Context) ([]byte, error)
	Write(context.Context, []byte) error
}

// bridge responds to each message of a socket, which is a Messages request, with the events
// of the response, each in a message.
func bridge(ctx context.Context, up upstream.Upstream, s socket) error {
	for {
		body, err := s.Read(ctx)
		if err != nil {
			return err // the client has left
		}
		req, _, err := messages.DecodeRequest(body, nil)
		w := messages.NewEventWriter(func(_, data string) error { return s.Write(ctx, []byte(data)) }, req)
		if err == nil {
			err = upstream.Run(ctx, up, req, w)
		}
		if err := w.End(err); err != nil {
			log.Print(err) // the client has received the error
		}
	}
}

// A script is a socket of a test.
type script struct{ requests, received []string }

func (s *script) Read(context.Context) ([]byte, error) {
	if len(s.requests) == 0 {
		return nil, io.EOF
	}
	request := s.requests[0]
	s.requests = s.requests[1:]
	return []byte(request), nil
}

func (s *script) Write(_ context.Context, message []byte) error {
	s.received = append(s.received, string(message))
	return nil
}

// A bridge from WebSockets to an Upstream.
func Example_webSocket() {
	s := &script{requests: []string{`{"model":"demo","max_tokens":20,"messages":[{"role":"user","content":"Hello!"}]}`}}
	hello := upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Hello")
		return w.Text(" there.")
	})
	_ = bridge(context.Background(), hello, s)
	for _, message := range s.received {
		fmt.Printf("%s %q\n", gjson.Get(message, "type"), gjson.Get(message, "delta.text"))
	}
	// Output:
	// message_start ""
	// content_block_start ""
	// content_block_delta "Hello"
	// content_block_delta " there."
	// content_block_stop ""
	// message_delta ""
	// message_stop ""
}

// Gemini at Google Cloud. The token is that of a service account: see the TokenSource of
// golang.org/x/oauth2/google, which caches and renews it.
func Example_googleCloud() {
	token := func(context.Context) (string, error) { return os.Getenv("GOOGLE_ACCESS_TOKEN"), nil }

	up, err := gemini.New(&gemini.Options{
		Project:  "my-project",
		Location: "europe-west4", // or "global", "eu", "us"
		KeyFunc:  token,
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/v1/", messages.NewHandler(up, nil))
}

// OpenAI's models at Azure, with a key. A token of Microsoft Entra ID is returned by
// KeyFunc.
func Example_azure() {
	up, err := openai.NewResponses(&openai.Options{
		BaseURL:     "https://my-resource.openai.azure.com/openai/v1",
		Key:         os.Getenv("AZURE_OPENAI_API_KEY"),
		Deployments: map[string]string{"gpt-5.2": "prod-chat"},
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/v1/", messages.NewHandler(up, nil))
}
