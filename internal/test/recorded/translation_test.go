package recorded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	fakeanthropic "github.com/polywire/polywire/internal/test/fake/anthropic"
	fakegemini "github.com/polywire/polywire/internal/test/fake/gemini"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// targets are the formats that requests are translated to, with a model for each.
var targets = []struct {
	format content.Format
	model  string
	newer  string // a model with other rules
	small  string // a model with fewer features, or of another server
}{
	{formatMessages, "claude-sonnet-4-5", "claude-opus-4-8", "claude-3-haiku-20240307"},
	{formatGenerate, "gemini-2.5-flash", "gemini-3-pro-preview", "gemini-2.0-flash"},
	{formatChat, "gpt-4.1", "gpt-5.2", "o3-mini"},
	{formatResponses, "gpt-5.2", "gpt-4.1", "o4-mini"},
}

// A translation is a request in another format.
type translation struct {
	source document
	body   string
	losses []content.Loss
}

// reported are the places of the source at which losses were reported.
func (t *translation) reported() []string {
	var paths []string
	for _, l := range t.losses {
		for path := range l.Places() {
			paths = append(paths, plainPath(t.source.Path(path)))
		}
	}
	return paths
}

// translate writes a request for a model of another format. Links stay links.
func translate(d document, format content.Format, model string) (*translation, error) {
	var sent capture
	up, err := newAdapter(format, "", &sent)
	if err != nil {
		return nil, err
	}
	return translateFor(up, &sent, d, model)
}

// translateFor writes a request for the server of an adapter, which sends to sent.
func translateFor(up upstream.Upstream, sent *capture, d document, model string) (*translation, error) {
	n := d.Upstream().WithModel(model)
	n.ForwardLinks = true
	losses, err := upstream.Preflight(context.Background(), up, n)
	if err != nil {
		return nil, err
	}
	err = upstream.Run(context.Background(), up, n, upstream.SinkFunc(func([]upstream.Event) error { return nil }))
	if sent.body == nil {
		return nil, fmt.Errorf("no request was sent: %w", err)
	}
	return &translation{d, string(sent.body), losses}, nil
}

// capture is a transport that keeps a request and fails.
type capture struct{ body []byte }

var errNotSent = errors.New("the test sends nothing")

// RoundTrip implements [http.RoundTripper].
func (c *capture) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.body = b
	return nil, errNotSent
}

// translated selects the requests that are translated: those that are valid by
// their own rules. Check 1 reports the others.
func translated(r *record) bool {
	return r.asked() && r.accepted() && r.generates()
}

func TestTranslations(t *testing.T) {
	eachRecord(t, translated, func(t *testing.T, r *record) {
		d, err := parseRequest(r.format, r.Request, false)
		if err != nil || validate(r.format, r.Request, r.rules(false)) != nil {
			return
		}
		n := d.Upstream()
		source := parseJSON(r.Request)
		for _, target := range targets {
			if target.format == r.format {
				continue
			}
			got, err := translate(d, target.format, target.model)
			check(t, r, "5 translated to "+string(target.format), func() error {
				if err != nil {
					return refusedFile(source, d, err)
				}
				return validTarget(target.format, got.body)
			})
			for _, model := range []string{target.model, target.newer} {
				check(t, r, "5f accepted by the fake of "+string(target.format)+", "+model, func() error {
					if err != nil {
						return errIncomparable
					}
					return acceptedByFake(n, target.format, model)
				})
			}
			check(t, r, "6 nothing dropped silently towards "+string(target.format), func() error {
				if err != nil {
					return errIncomparable
				}
				return nothingSilent(source, got)
			})
		}
	})
}

// refusedFile accepts an error if everything that is rejected is a file, or
// state that another vendor stores.
func refusedFile(source any, d document, err error) error {
	list, _ := content.Violations(err)
	if len(list) == 0 {
		return err
	}
	for _, v := range list {
		path := d.Path(v.Path)
		switch plainName(path) {
		case "cachedcontent", "thread", "continuationtoken":
			continue
		}
		if !holdsFile(follow(source, path)) {
			return fmt.Errorf("refused: %s: %w", path, err)
		}
	}
	return nil
}

// holdsFile reports whether a value is or has a file.
func holdsFile(v any) bool {
	o, ok := v.(object)
	if !ok {
		return false
	}
	for _, name := range []string{"source", "inlineData", "inline_data", "fileData", "file_data", "media_type", "mimeType", "mime_type", "file_id", "fileUri", "file_uri", "url", "data"} {
		if o[name] != nil {
			return true
		}
	}
	return false
}

// pathStep is one step of a path in a format: .name or [0].
var pathStep = regexp.MustCompile(`[^.\[\]]+`)

// follow returns the deepest value at a path that is an object; names are tried
// in both of the spellings that generateContent allows.
func follow(v any, path string) any {
	last := v
	for _, step := range pathStep.FindAllString(path, -1) {
		switch x := v.(type) {
		case object:
			v = member(x, step)
		case []any:
			i := 0
			if _, err := fmt.Sscanf(step, "%d", &i); err != nil || i >= len(x) {
				return last
			}
			v = x[i]
		}
		if _, ok := v.(object); ok {
			last = v
		}
	}
	return last
}

// member returns a member by its name in either spelling.
func member(o object, name string) any {
	if v, ok := o[name]; ok {
		return v
	}
	for k, v := range o {
		if plainName(k) == plainName(name) {
			return v
		}
	}
	return nil
}

// plainName removes the differences between spellings such as maxTokens and
// max_tokens.
func plainName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// validTarget checks a translated request by the rules of its format.
func validTarget(format content.Format, body string) error {
	v, err := decodeJSON(body)
	if err != nil {
		return err
	}
	switch format {
	case formatMessages, formatGenerate:
		return validate(format, body, messages.ValidateOptions{AllowFiles: true, Strict: true})
	case formatChat:
		return validChat(v)
	default:
		return validResponses(v)
	}
}

var openaiName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// openCalls pairs tool calls with their results.
type openCalls map[string]bool

func (o openCalls) call(id, name, arguments string) error {
	switch {
	case id == "" || o[id]:
		return fmt.Errorf("the call's id %q is empty or in use", id)
	case !openaiName.MatchString(name):
		return fmt.Errorf("the name %q is invalid", name)
	}
	if _, err := decodeJSON(arguments); err != nil {
		return fmt.Errorf("the arguments: %w", err)
	}
	o[id] = true
	return nil
}

func (o openCalls) result(id string) error {
	if !o[id] {
		return fmt.Errorf("a result of no open call %q", id)
	}
	delete(o, id)
	return nil
}

// validChat checks what Chat Completions demand of messages and tools.
func validChat(v any) error {
	open := make(openCalls)
	list := listAt(v, "messages")
	if len(list) == 0 {
		return errors.New("no messages")
	}
	for i, m := range list {
		fail := func(err error) error { return fmt.Errorf("messages.%d: %w", i, err) }
		role := stringAt(m, "role")
		if role != "tool" && len(open) > 0 {
			return fail(fmt.Errorf("calls without results before it: %v", open))
		}
		if err := contentParts(at(m, "content")); err != nil {
			return fail(err)
		}
		switch role {
		case "assistant":
			for _, c := range listAt(m, "tool_calls") {
				if err := open.call(stringAt(c, "id"), stringAt(c, "function", "name"), stringAt(c, "function", "arguments")); err != nil {
					return fail(err)
				}
			}
			if at(m, "content") == nil && at(m, "tool_calls") == nil && at(m, "refusal") == nil && at(m, "audio") == nil {
				return fail(errors.New("an assistant message without content"))
			}
		case "tool":
			if err := open.result(stringAt(m, "tool_call_id")); err != nil {
				return fail(err)
			}
		case "user", "system", "developer":
			if at(m, "content") == nil {
				return fail(errors.New("no content"))
			}
		default:
			return fail(fmt.Errorf("the role is %q", role))
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results at the end: %v", open)
	}
	return validTools(listAt(v, "tools"), func(t any) (string, any) {
		return stringAt(t, "function", "name"), at(t, "function", "parameters")
	})
}

// contentParts checks that a content is a text or a list of parts with a type.
func contentParts(v any) error {
	switch v := v.(type) {
	case nil, string:
		return nil
	case []any:
		if len(v) == 0 {
			return errors.New("an empty list as content")
		}
		for i, p := range v {
			if stringAt(p, "type") == "" {
				return fmt.Errorf("content.%d has no type", i)
			}
		}
		return nil
	}
	return fmt.Errorf("the content is a %T", v)
}

// validResponses checks what responses demand of items and tools.
func validResponses(v any) error {
	open := make(openCalls)
	used := make(openCalls)
	for i, item := range listAt(v, "input") {
		var err error
		switch stringAt(item, "type") {
		case "function_call":
			id := stringAt(item, "call_id")
			if err = open.call(id, stringAt(item, "name"), stringAt(item, "arguments")); err == nil && used[id] {
				err = fmt.Errorf("the call's id %q was used before", id)
			}
			used[id] = true
		case "function_call_output":
			err = open.result(stringAt(item, "call_id"))
		case "message", "":
			if stringAt(item, "role") == "" {
				err = errors.New("a message without a role")
			} else {
				err = contentParts(at(item, "content"))
			}
		}
		if err != nil {
			return fmt.Errorf("input.%d: %w", i, err)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results at the end: %v", open)
	}
	return validTools(listAt(v, "tools"), func(t any) (string, any) {
		if stringAt(t, "type") != "function" {
			return "", nil
		}
		return stringAt(t, "name"), at(t, "parameters")
	})
}

// validTools checks names and schemas of functions. Tools without a name are
// the vendor's own.
func validTools(tools []any, function func(any) (name string, parameters any)) error {
	seen := make(map[string]bool)
	for i, t := range tools {
		name, parameters := function(t)
		if name == "" {
			continue
		}
		if !openaiName.MatchString(name) || seen[name] {
			return fmt.Errorf("tools.%d: the name %q is invalid or was used before", i, name)
		}
		seen[name] = true
		if parameters != nil && stringAt(parameters, "type") != "object" {
			return fmt.Errorf("tools.%d: the parameters are not an object: %s", i, clip(encodeJSON(parameters), 200))
		}
	}
	return nil
}

// acceptedByFake sends a request to the strict fake of a vendor.
func acceptedByFake(n *upstream.Request, format content.Format, model string) error {
	var server interface {
		http.Handler
		Last() fake.Request
	}
	switch format {
	case formatMessages:
		server = fakeanthropic.NewHandler(fakeanthropic.Options{TrustSignatures: true})
	case formatGenerate:
		server = fakegemini.NewHandler(fakegemini.Options{TrustSignatures: true})
	default:
		server = fakeopenai.NewHandler(fakeopenai.Options{TrustSignatures: true})
	}
	key := ""
	up, err := newAdapter(format, key, inProcess{server})
	if err != nil {
		return err
	}
	n = n.WithModel(model)
	n.ForwardLinks = true
	_, err = upstream.Collect(context.Background(), up, n)
	last := server.Last()
	if last.Rule == "" {
		return nil
	}
	return fmt.Errorf("rule %q: %s (%w)\n%s", last.Rule, last.Message, describeError(err), clip(string(last.Body), 300))
}

// inProcess is a transport that calls a handler, with a key that any fake accepts.
type inProcess struct{ http.Handler }

// RoundTrip implements [http.RoundTripper].
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Header.Get("Authorization") == "" && r.Header.Get("anthropic-version") == "" {
		r.Header.Set("Authorization", "Bearer k")
	}
	r.Header.Set("x-api-key", "k")
	r.Header.Set("x-goog-api-key", "k")
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	t.ServeHTTP(w, r)
	res := w.Result()
	res.Request = r
	return res, nil
}
