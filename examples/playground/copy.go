package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// A document is the answer of what makes one document. Kind and Format are those of an input of
// the page.
type document struct {
	Kind   string `json:"kind,omitempty"`
	Format string `json:"format,omitempty"`
	Text   string `json:"text"`
}

// Packages are what a program imports for a format.
type packages struct {
	Client  string // package for clients
	Adapter string // package of the upstream
	New     string // its constructor
	Key     string // environment variable
}

var formatPackages = map[string]packages{
	"messages":         {"messages", "upstream/anthropic", "New", "ANTHROPIC_API_KEY"},
	"generatecontent":  {"generatecontent", "upstream/gemini", "New", "GEMINI_API_KEY"},
	"openai":           {"upstream/openai/chatcompletions", "upstream/openai", "New", "OPENAI_API_KEY"},
	"openai-responses": {"upstream/openai/responses", "upstream/openai", "NewResponses", "OPENAI_API_KEY"},
}

// decode returns the request of a task for its only target.
func (t *task) decode() (*upstream.Request, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(t.Targets) != 1 {
		return nil, errors.New("targets: exactly one is allowed")
	}
	req, _, err := t.source.Client.DecodeRequest([]byte(t.Text))
	if err != nil {
		return nil, err
	}
	return t.Targets[0].requestFor(req), nil
}

// sent is the error of a transport that sends nothing. It holds the request.
type sent struct{ *http.Request }

func (sent) Error() string { return "not sent" }

// RoundTrip implements [http.RoundTripper].
func (sent) RoundTrip(r *http.Request) (*http.Response, error) { return nil, sent{r} }

// curlCommand returns the command that sends what the adapter of the target sends.
func curlCommand(r *http.Request, t *task) (*document, error) {
	req, err := t.decode()
	if err != nil {
		return nil, err
	}
	to := t.Targets[0]
	up, err := to.format.NewUpstream(to.URL, "$"+formatPackages[to.Format].Key, &http.Client{Transport: sent{}})
	if err != nil {
		return nil, err
	}
	_, err = upstream.Collect(r.Context(), up, req)
	found := new(sent)
	if !errors.As(err, found) {
		return nil, err // such as a file that cannot be loaded
	}
	body, err := io.ReadAll(found.Body)
	if err != nil {
		return nil, err
	}
	text, err := indent(string(body))
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "curl -N '%s' \\\n", strings.ReplaceAll(found.URL.String(), "'", "%27"))
	for _, name := range slices.Sorted(maps.Keys(found.Header)) {
		if name != "Accept" && name != "Accept-Encoding" && name != "User-Agent" {
			fmt.Fprintf(&b, "  -H \"%s: %s\" \\\n", strings.ToLower(name), found.Header.Get(name)) // the shell inserts the key
		}
	}
	fmt.Fprintf(&b, "  -d @- <<'END'\n%s\nEND\n", text)
	return &document{Text: b.String()}, nil
}

var program = template.Must(template.New("").Parse(`// This program sends a request to {{.Title}} and prints the response as {{.SourceTitle}}.
// Set {{.To.Key}}.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

{{range .Imports}}	"github.com/polywire/polywire/{{.}}"
{{end}})

const request = {{.Text}}

func main() {
	r, losses, err := {{.Client}}.DecodeRequest([]byte(request), nil)
	if err != nil {
		log.Fatal(err)
	}
	r.Model = {{.Model}}
	model, err := {{.Adapter}}.{{.To.New}}(&{{.Adapter}}.Options{Key: os.Getenv("{{.To.Key}}")})
	if err != nil {
		log.Fatal(err)
	}
	resp, err := upstream.Collect(context.Background(), model, r)
	if err != nil {
		log.Fatal(err)
	}
	body, more := {{.Client}}.EncodeResponse(r, resp)
	for _, list := range [][]content.Loss{losses, resp.Losses, more} {
		for _, l := range list {
			log.Println(l)
		}
	}
	fmt.Printf("%s\n", body)
}
`))

// goProgram returns a program that sends the request of the task to its target.
func goProgram(_ *http.Request, t *task) (*document, error) {
	req, err := t.decode()
	if err != nil {
		return nil, err
	}
	from, to := formatPackages[t.Format], formatPackages[t.Targets[0].Format]
	text := "`" + strings.ReplaceAll(t.Text, "`", "` + \"`\" + `") + "`"
	if strings.ContainsAny(t.Text, "\r\ufeff") { // which a raw string cannot have
		text = strconv.Quote(t.Text)
	}
	imports := []string{"content", "upstream", from.Client, to.Adapter}
	slices.Sort(imports)
	name := func(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
	var b bytes.Buffer
	err = program.Execute(&b, map[string]any{
		"Title": t.Targets[0].format.Title, "SourceTitle": t.source.Title, "To": to, "Imports": imports,
		"Text": text, "Model": strconv.Quote(req.Model), "Client": name(from.Client), "Adapter": name(to.Adapter),
	})
	return &document{Text: b.String()}, err
}

// sendToEcho returns the response that a client of the target receives from the model echo.
func sendToEcho(r *http.Request, t *task) (*document, error) {
	req, err := t.decode()
	if err != nil {
		return nil, err
	}
	client := &t.Targets[0].format.Client
	if req.Stream {
		var b bytes.Buffer
		w := client.NewStreamWriter(&b, req)
		err := w.End(upstream.Run(r.Context(), echo.New(), req, w))
		return &document{"stream", t.Targets[0].Format, b.String()}, err
	}
	resp, err := upstream.Collect(r.Context(), echo.New(), req)
	if err != nil {
		return nil, err
	}
	body, _ := client.EncodeResponse(req, resp)
	text, err := indent(string(body))
	return &document{"response", t.Targets[0].Format, text}, err
}
