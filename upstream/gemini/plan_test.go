package gemini

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// A store resolves the files a and b, and every link.
type store struct{ asked []string }

func (s *store) Resolve(_ context.Context, src content.Source) (content.Blob, error) {
	const png = "\x89PNG\r\n\x1a\n"
	switch src := src.(type) {
	case *content.URL:
		s.asked = append(s.asked, src.URL)
		return content.Blob{MediaType: "image/png", Data: []byte(png)}, nil
	case *content.File:
		s.asked = append(s.asked, src.ID)
		switch src.ID {
		case "a":
			return content.Blob{MediaType: "image/png", Data: []byte(png)}, nil
		case "nameless":
			return content.Blob{Data: []byte(png)}, nil
		case "shapeless":
			return content.Blob{Data: []byte("?")}, nil
		}
	}
	return content.Blob{}, content.ErrUnresolved
}

// bodyOf returns the document of a request, the losses before files were loaded, and
// the error.
func bodyOf(t *testing.T, n *upstream.Request) (body string, losses []content.Loss, err error) {
	t.Helper()
	c, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := c.plan(n)
	if p.Err != nil {
		return "", p.Losses, p.Err
	}
	if s, ok := n.Resolver.(*store); ok && len(s.asked) > 0 {
		t.Errorf("%q was loaded before the losses were reported", s.asked)
	}
	losses = p.Losses
	if _, err := p.Load(t.Context()); err != nil {
		return "", losses, err
	}
	b, err := p.body()
	if err != nil {
		return "", losses, err
	}
	text, err := io.ReadAll(b.Reader())
	if err != nil || int64(len(text)) != b.Len() {
		t.Fatalf("%d bytes of %d: %v", len(text), b.Len(), err)
	}
	return string(text), losses, nil
}

func withParts(parts ...content.Part) *upstream.Request {
	return &upstream.Request{Model: "gemini-3.8-flash", Turns: []content.Turn{{Role: content.RoleUser, Parts: parts}}, Resolver: &store{}}
}

func anImage(s content.Source) content.Part { return &content.Image{Source: s} }

const inline = `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}`

func TestFiles(t *testing.T) {
	const stored = "https://generativelanguage.googleapis.com/v1beta/files/x"
	link := anImage(&content.URL{URL: "https://a.example/x"})
	passed := withParts(link)
	passed.ForwardLinks = true
	result := func(p content.Part) *upstream.Request {
		n := withParts(&content.ToolResult{ID: "1", Name: "f", Parts: []content.Part{p}})
		call := &content.ToolUse{ID: "1", Name: "f", Signature: content.Signature{Format: generatecontent.Format, Data: "AA=="}}
		n.Turns = append([]content.Turn{{Role: content.RoleAssistant, Parts: []content.Part{call}}}, n.Turns...)
		return n
	}
	document := &content.Document{Source: &content.Parts{Parts: []content.Part{anImage(&content.File{ID: "b"})}}}
	for _, tt := range []struct {
		name, want string
		from       *upstream.Request
		losses     int
	}{
		{"link", inline, withParts(link), 0},
		{"forwarded link", `{"fileData":{"mimeType":"image/jpeg","fileUri":"https://a.example/x"}}`, passed, 1},
		{"file", inline, withParts(anImage(&content.File{ID: "a"})), 0},
		{"file without a type", inline, withParts(anImage(&content.File{ID: "nameless"})), 0},
		{"file of the vendor", `{"fileData":{"fileUri":"` + stored + `"}}`, withParts(anImage(&content.File{ID: stored})), 0},
		{"in a result", `{"functionResponse":{"id":"1","name":"f","response":{},"parts":[` + inline + `]}}`, result(anImage(&content.File{ID: "a"})), 0},

		{"unknown file", "turns.0.parts.0.source: files", withParts(anImage(&content.File{ID: "b"})), 0},
		{"a file of no type", "turns.0.parts.0.source: media", withParts(anImage(&content.File{ID: "shapeless"})), 0},
		{"in a result, unknown", "turns.1.parts.0.parts.0.source: unsupported", result(anImage(&content.File{ID: "b"})), 0},
		{"in a document, unknown", "turns.0.parts.0.source.parts.0.source: unsupported", withParts(document), 1},
		{"a type that the vendor does not take", "turns.0.parts.0.source: unsupported",
			withParts(&content.Document{Source: &content.Base64{MediaType: "application/zip", Data: "AAAA"}}), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, losses, err := bodyOf(t, tt.from)
			if len(losses) != tt.losses {
				t.Errorf("lost %+v", losses)
			}
			var violation *content.Violation
			if errors.As(err, &violation) {
				if path, code, _ := strings.Cut(tt.want, ": "); violation.Path != path || code != "files" && string(violation.Code) != code {
					t.Errorf("%+v, want %s", violation, tt.want)
				}
				return
			}
			if want := `{"role":"user","parts":[` + tt.want + `]}]}`; !strings.HasSuffix(got, want) || err != nil {
				t.Errorf("%s, %v; want %s", got, err, want)
			}
		})
	}
}

// TestEmptyLastMessage checks that a request fails if nothing of its last user
// message can be sent. If an earlier message is empty, the conversation continues.
func TestEmptyLastMessage(t *testing.T) {
	upload := &content.Unknown{Format: "messages", Kind: "container_upload", Raw: `{"type":"container_upload","file_id":"f"}`}
	text := &content.Text{Text: "a"}
	turns := func(list ...any) *upstream.Request {
		n := new(upstream.Request)
		for i := 0; i < len(list); i += 2 {
			n.Turns = append(n.Turns, content.Turn{Role: list[i].(content.Role), Parts: []content.Part{list[i+1].(content.Part)}})
		}
		return n
	}
	for _, tt := range []struct {
		name string
		from *upstream.Request
		want string // the path of the error, or the contents
	}{
		{"empty text", withParts(&content.Text{}), `[{"role":"user","parts":[{"text":""}]}]`},
		{"no part", withParts(), `[{"role":"user","parts":[{"text":"(The user's message is empty.)"}]}]`},
		{"white space", withParts(&content.Text{Text: " "}), `[{"role":"user","parts":[{"text":" "}]}]`},
		{"empty text in the last message", turns(content.RoleUser, text, content.RoleAssistant, text, content.RoleUser, &content.Text{}),
			`[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":""}]}]`},
		{"document of only an unsupported part", turns(content.RoleUser, text, content.RoleAssistant, text, content.RoleUser, &content.Document{Source: &content.Parts{Parts: []content.Part{upload}}}), "turns.2.parts.0.source.parts.0"},
		{"only an empty assistant turn", turns(content.RoleAssistant, &content.Text{}), "turns.0"},
		{"empty text and unsupported part", withParts(&content.Text{}, upload), "turns.0.parts.1"},
		{"unsupported part and text", withParts(upload, text), `[{"role":"user","parts":[{"text":"a"}]}]`},
		{"unsupported part and document", withParts(upload, &content.Document{Title: "T", Source: &content.Base64{MediaType: "application/pdf", Data: "AAAA"}}),
			`[{"role":"user","parts":[{"text":"Document: T"},{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}]}]`},
		{"unsupported last message", turns(content.RoleUser, text, content.RoleAssistant, text, content.RoleUser, upload), "turns.2.parts.0"},
		{"unsupported turn after a user turn", turns(content.RoleUser, text, content.RoleUser, upload), `[{"role":"user","parts":[{"text":"a"}]}]`},
		{"two unsupported user turns", turns(content.RoleUser, text, content.RoleAssistant, text, content.RoleUser, upload, content.RoleUser, upload), "turns.2.parts.0"},
		{"system turn after an unsupported message", turns(content.RoleUser, upload, content.RoleSystem, text), "turns.0.parts.0"},
		{"unsupported system turn", turns(content.RoleUser, text, content.RoleSystem, upload), `[{"role":"user","parts":[{"text":"a"}]}]`},
		{"unsupported message before the assistant", turns(content.RoleUser, upload, content.RoleAssistant, text),
			`[{"role":"user","parts":[{"text":"[Here was something that you cannot be shown.]"}]},{"role":"model","parts":[{"text":"a"}]}]`},
		{"unsupported first message", turns(content.RoleUser, upload, content.RoleAssistant, text, content.RoleUser, text),
			`[{"role":"user","parts":[{"text":"[Here was something that you cannot be shown.]"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"a"}]}]`},
	} {
		tt.from.Model = "gemini-3.8-flash"
		got, losses, err := bodyOf(t, tt.from)
		dropped := func(l content.Loss) bool { return l.Path == tt.want && l.Severity == content.LossDropped }
		if strings.Contains(tt.want, ".parts.") && !slices.ContainsFunc(lossplaces.Of(losses), dropped) {
			t.Errorf("%s: the dropped part is not reported: %v", tt.name, losses)
		}
		var violation *content.Violation
		if got = strings.TrimSuffix(strings.TrimPrefix(got, `{"contents":`), "}"); errors.As(err, &violation) {
			got = violation.Path
		}
		if got != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}

// TestMaxTokensZero checks that a request that only fills the Messages vendor's
// caches is refused.
func TestMaxTokensZero(t *testing.T) {
	n := withParts(&content.Text{Text: "a"})
	n.MaxTokens = new(int64)
	var violation *content.Violation
	if body, _, err := bodyOf(t, n); !errors.As(err, &violation) || violation.Path != "max_tokens" {
		t.Errorf("%s, %v", body, err)
	}
}

// TestModelNames checks that a model name with another path is refused: it must not
// reach the server with the key.
func TestModelNames(t *testing.T) {
	for name, good := range map[string]bool{
		"x": true, "models/x": true, "a/b": true, "projects/p/locations/l/publishers/google/models/x": true, "..x": true,
		"": false, "../cachedContents": false, "models/../../x": false, "a//b": false, ".": false, "models/": false,
	} {
		n := withParts(&content.Text{Text: "a"})
		n.Model = name
		_, _, err := bodyOf(t, n)
		var violation *content.Violation
		if good != (err == nil) || !good && (!errors.As(err, &violation) || violation.Path != "model") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCountBody(t *testing.T) {
	parsed := func(doc string) *upstream.Request {
		n, _, err := generatecontent.DecodeRequest([]byte(doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		n.Model = "m"
		return n.WithModel("m")
	}
	const bare, full = `{"contents":[{"parts":[{"text":"a"}]}]}`, `{"systemInstruction":{"parts":[{"text":"s"}]}, "contents":[{"parts":[{"text":"a"}]}]}`
	made := &upstream.Request{Model: "m", System: []content.Part{&content.Text{Text: "s"}}, Turns: withParts(&content.Text{Text: "a"}).Turns, ServiceTier: "flex"}
	elsewhere := *made
	elsewhere.Model = "publishers/google/models/m"
	for _, tt := range []struct {
		name string
		from *upstream.Request
		want string
	}{
		{"contents only", parsed(bare), bare},
		{"a whole document", parsed(full), `{"generateContentRequest":{"model":"models/m","systemInstruction":{"parts":[{"text":"s"}]}, "contents":[{"parts":[{"text":"a"}]}]}}`},
		{"of another format", made, `{"generateContentRequest":{"model":"models/m","contents":[{"role":"user","parts":[{"text":"a"}]}],"systemInstruction":{"parts":[{"text":"s"}]},"serviceTier":"flex"}}`},
		{"the other service", &elsewhere, `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"systemInstruction":{"parts":[{"text":"s"}]}}`},
	} {
		c, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		p := c.plan(tt.from)
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		b, err := p.countBody()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(b.Reader())
		if err != nil || int64(len(got)) != b.Len() {
			t.Errorf("%s: %d bytes of %d: %v", tt.name, len(got), b.Len(), err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestUnsignedCallsOfRenamed checks that unsigned tool calls pass unchanged to the model that
// the client asked for, and are signed with a placeholder for a model that requires signatures
// and that the host chose.
func TestUnsignedCallsOfRenamed(t *testing.T) {
	const (
		question = `{"role":"user","parts":[{"text":"a"}]}`
		call     = `{"functionCall":{"name":"f","args":{}}}`
		signed   = `{"functionCall":{"name":"f","args":{}},"thoughtSignature":"` + generatecontent.PlaceholderSignature + `"}`
		own      = `{"functionCall":{"name":"f","args":{}},"thoughtSignature":"AAAA"}`
		result   = `{"functionResponse":{"name":"f","response":{}}}`
		vertex   = "projects/p/locations/l/publishers/google/models/"
	)
	body := func(turns ...string) string {
		return `{"contents":[` + strings.Join(turns, ",") + `],"tools":[{"functionDeclarations":[{"name":"f"}]}],"x":[1, 2]}`
	}
	model := func(parts string) string { return `{"role":"model","parts":[` + parts + `]}` }
	results := func(parts string) string { return `{"role":"user","parts":[` + parts + `]}` }
	unsigned := body(question, model(call), results(result))
	for _, tt := range []struct {
		name, asked, sent, body string
		want                    string // of contents; empty: the body as it is
		losses                  []string
	}{
		{"model of the client", "gemini-3-pro-preview", "gemini-3-pro-preview", unsigned, "", nil},
		{"another model that signs", "gemini-3-pro-preview", "gemini-3.8-flash", unsigned, "", nil},
		{"model that does not sign", "gemini-2.5-pro", "gemini-2.5-flash", unsigned, "", nil},
		{"unknown model", "gemini-2.5-pro", "tunedModels/t", unsigned, "", nil},
		{"renamed", "gemini-2.5-pro", "gemini-3-pro-preview", unsigned,
			question + "," + model(signed) + "," + results(result), []string{"degraded turns.1.parts.0.signature"}},
		{"renamed to the latest", "my-model", "gemini-flash-latest", unsigned,
			question + "," + model(signed) + "," + results(result), []string{"degraded turns.1.parts.0.signature"}},
		{"client's model unknown", "", "gemini-3-pro-preview", unsigned,
			question + "," + model(signed) + "," + results(result), []string{"degraded turns.1.parts.0.signature"}},
		{"renamed, Google Cloud", "gemini-2.5-pro", vertex + "gemini-3-pro-preview", unsigned,
			question + "," + model(signed) + "," + results(result), []string{"degraded turns.1.parts.0.signature"}},
		{"signed by the vendor", "gemini-2.5-pro", "gemini-3-pro-preview", body(question, model(own), results(result)), "", nil},
		{"parallel calls", "gemini-2.5-pro", "gemini-3-pro-preview", body(question, model(own+","+call), results(result+","+result)), "", nil},
		{"earlier turn and two steps", "gemini-2.5-pro", "gemini-3-pro-preview",
			body(question, model(call), results(result), model(`{"text":"b"}`), question, model(own), results(result), model(call+","+call), results(result+","+result)),
			strings.Join([]string{question, model(signed), results(result), model(`{"text":"b"}`), question, model(own), results(result),
				model(signed + "," + call), results(result + "," + result)}, ","),
			[]string{"hint turns.1.parts.0.signature", "degraded turns.7.parts.0.signature"}},
		{"no call", "gemini-2.5-pro", "gemini-3-pro-preview", body(question), "", nil},
	} {
		n, _, err := generatecontent.DecodeRequest([]byte(tt.body), nil)
		if err != nil {
			t.Fatal(err)
		}
		document.Of(n.Wire).Model = tt.asked // as a handler reads it from the URL
		n.Model = tt.sent
		got, losses, err := bodyOf(t, n)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		want := tt.body
		if tt.want != "" {
			r, err := generatecontent.ParseRequest([]byte(strings.Replace(tt.body, contentsOf(tt.body), tt.want, 1)))
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := r.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			want = string(encoded)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		var list []string
		list = append(list, lossplaces.Names(losses)...)
		if diff := cmp.Diff(tt.losses, list); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRulesOfRenamed checks that a document is sent to a model that the host chose as this model
// accepts it, and otherwise as it is.
func TestRulesOfRenamed(t *testing.T) {
	body := func(config string) string {
		return `{"generationConfig":{"thinkingConfig":{` + config + `}},"contents":[{"role":"user","parts":[{"text":"a"}]}],"x":[1, 2]}`
	}
	for _, tt := range []struct {
		name, asked, sent, body string
		want                    string // of thinkingConfig; empty: the body as it is
		losses                  []string
	}{
		{"model of the client", "gemini-2.5-flash", "gemini-2.5-flash", body(`"thinkingLevel":"HIGH"`), "", nil},
		{"renamed to a model with budgets", "gemini-3-pro-preview", "gemini-2.5-flash", body(`"thinkingLevel":"HIGH"`), `{"thinkingBudget":24576}`, []string{"degraded thinking.effort"}},
		{"renamed to a model with the same rules", "gemini-3-pro-preview", "gemini-3.8-flash", body(`"thinkingLevel":"HIGH"`), "", nil},
		{"nothing to change", "gemini-3-pro-preview", "gemini-2.5-flash", body(`"includeThoughts":true`), "", nil},
	} {
		n, _, err := generatecontent.DecodeRequest([]byte(tt.body), nil)
		if err != nil {
			t.Fatal(err)
		}
		document.Of(n.Wire).Model, n.Model = tt.asked, tt.sent
		got, losses, err := bodyOf(t, n)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if tt.want == "" {
			if diff := cmp.Diff(tt.body, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		} else if diff := cmp.Diff(tt.want, gjson.Get(got, "generationConfig.thinkingConfig").Raw); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.losses, append([]string(nil), lossplaces.Names(losses)...)); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", tt.name, diff)
		}
	}
}

// contentsOf returns the elements of contents in a body of TestUnsignedCallsOfRenamed.
func contentsOf(body string) string {
	_, after, _ := strings.Cut(body, `"contents":[`)
	list, _, _ := strings.Cut(after, `],"tools"`)
	return list
}
