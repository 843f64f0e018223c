package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// A feature is a request of a client in one format that uses one feature.
type feature struct {
	name string
	body string // members of the document

	// marks are "token @ path": each token is in the document at the neutral
	// path. It must also be in the vendor's request, or a loss must be reported
	// at the path, or above or below it.
	marks []string

	// sent lists by adapter what the vendor must receive: "path = value",
	// "path" for a member that must exist, "! path" for one that must not.
	sent map[string][]string

	// loss lists by adapter exactly the losses that are reported, "severity
	// path". An adapter without an entry reports none. A star matches any
	// severity, and a loss below the path matches too. OpenAI's formats have no
	// lists: their losses are in the tests of their packages and in docs/losses.md.
	loss map[string][]string

	// fails is by adapter the name that the 400 must contain if the vendor's
	// format does not support the request.
	fails map[string]string

	model map[string]string // by adapter, instead of its default model
	links bool              // the vendor may fetch links itself
}

// Short names of the adapters for the tables.
const (
	toClaude = "anthropic"
	toGemini = "gemini"
	toChat   = "chat"
	toResp   = "responses"
)

// testPNG is an image of one pixel, testPDF the beginning of a document.
const testPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

var testPDF = base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"))

// stored resolves the links and ids of the tables.
type stored struct{}

func (stored) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	name := ""
	switch s := s.(type) {
	case *content.URL:
		name = s.URL
	case *content.File:
		name = s.ID
	}
	data, kind := testPDF, "application/pdf"
	switch {
	case strings.Contains(name, "png"):
		data, kind = testPNG, "image/png"
	case !strings.Contains(name, "pdf"):
		return content.Blob{}, content.ErrUnresolved
	}
	b, err := base64.StdEncoding.DecodeString(data)
	return content.Blob{MediaType: kind, Data: b}, err
}

func TestMessagesFeatures(t *testing.T) {
	runFeatures(t, endpointNamed("messages"), slices.Concat(messagesTexts, messagesFiles, messagesTools, messagesSettings, messagesLenient))
}

func TestGenerateFeatures(t *testing.T) {
	runFeatures(t, endpointNamed("generatecontent"), slices.Concat(generateTexts, generateFiles, generateTools, generateSettings))
}

func runFeatures(t *testing.T, fr endpoint, list []feature) {
	for _, b := range adapters {
		t.Run(fr.name+"→"+b.name, func(t *testing.T) {
			t.Parallel()
			up, vendor := b.start(t, vendor{trust: true, forbid: secrets})
			plain := newGateway(fr, up, upstream.HandlerOptions{Resolver: stored{}, Links: stored{}})
			links := newGateway(fr, up, upstream.HandlerOptions{Links: stored{}, ForwardLinks: true})
			for _, c := range list {
				t.Run(c.name, func(t *testing.T) {
					g := plain
					if c.links {
						g = links
					}
					c.run(t, g, b, vendor)
				})
			}
		})
	}
}

// run sends the feature in each mode.
func (c *feature) run(t *testing.T, g *gateway, b adapter, vendor *fake.Server) {
	model := b.model
	if m := c.model[b.name]; m != "" {
		model = m
	}
	for _, m := range g.endpoint.modes {
		n := len(vendor.Requests())
		a := g.ask(model, c.body, m)
		if b.format == g.endpoint.name {
			c.verbatim(t, m, g, model, a, vendor)
			continue
		}
		if want, ok := c.fails[b.name]; ok {
			if a.Status != http.StatusBadRequest || a.Err == nil || !strings.Contains(a.Err.Message, want) || len(vendor.Requests()) != n {
				t.Errorf("%s: got %d %+v after %d requests, want a 400 that contains %s and no request", m, a.Status, a.Err, len(vendor.Requests())-n, want)
			}
			continue
		}
		if a.Status != http.StatusOK || a.Broken != "" || !a.Whole {
			t.Errorf("%s: status %d, broken %q\n%s\nsent: %s", m, a.Status, a.Broken, clip(a.Body), clip(string(vendor.Last().Body)))
			continue
		}
		if len(vendor.Requests()) != n+1 {
			t.Errorf("%s: the vendor got %d requests", m, len(vendor.Requests())-n)
			continue
		}
		c.check(t, m, g, b, a, string(vendor.Last().Body))
	}
	if c.fails[b.name] == "" && !strings.Contains(c.body, "https://") && !strings.Contains(c.body, "file_id") && b.format != g.endpoint.name && g.endpoint.name != "chatcompletions" {
		if a := g.ask(model, c.body, count); a.Status != http.StatusOK || a.Tokens < 1 {
			t.Errorf("count: status %d %s\nsent: %s", a.Status, clip(a.Body), clip(string(vendor.Last().Body)))
		} else if b.name == toGemini || b.name == toClaude { // the other adapters count only a part of the request, or nothing
			if s := lossDifference(c.losses(g, b), a.losses()); s != "" && g.endpoint.listsLosses() {
				t.Errorf("count: losses: %s", s)
			}
		}
	}
}

// losses returns the expected losses. Messages has no thinking by default; the usual model of Gemini cannot
// turn it off.
func (c *feature) losses(g *gateway, b adapter) []string {
	if g.endpoint.name == "messages" && b.name == toGemini && c.model[toGemini] == "" && !strings.Contains(c.body, `"thinking"`) && !strings.Contains(c.body, `"effort"`) {
		return append([]string{"hint thinking"}, c.loss[b.name]...)
	}
	return c.loss[b.name]
}

// verbatim checks an endpoint and an adapter of one format: the document is
// forwarded unchanged, and the vendor's error is returned. Documents into which
// files were inserted are exceptions.
func (c *feature) verbatim(t *testing.T, m mode, g *gateway, model string, a *response, vendor *fake.Server) {
	last := vendor.Last()
	want, _ := io.ReadAll(g.endpoint.request(model, c.body, m).Body)
	if !strings.Contains(c.body, "https://") && !strings.Contains(c.body, `"file_id"`) && string(last.Body) != string(want) {
		t.Errorf("%s: sent %s\nwant %s", m, clip(string(last.Body)), clip(string(want)))
	}
	lost := slices.DeleteFunc(a.losses(), isResponseLoss)
	if len(lost) > 0 || (a.Status == http.StatusOK) != last.Accepted() || a.Broken != "" {
		t.Errorf("%s: status %d, broken %q, losses %q; the vendor responded %q", m, a.Status, a.Broken, lost, last.Message)
	}
	if !last.Accepted() && (a.Err == nil || !strings.Contains(a.Err.Message, strings.TrimSpace(last.Message))) {
		t.Errorf("%s: the vendor's error %q became %+v", m, last.Message, a.Err)
	}
}

func (c *feature) check(t *testing.T, m mode, g *gateway, b adapter, a *response, body string) {
	checkReportedOnce(t, m, a)
	lost := slices.DeleteFunc(a.losses(), isResponseLoss)
	if s := lossDifference(c.losses(g, b), lost); s != "" && g.endpoint.listsLosses() {
		t.Errorf("%s: losses: %s\nall: %v\nsent: %s", m, s, a.Report.Losses, clip(body))
	}
	if h := a.Header.Get("Polywire-Loss"); h == "" && len(lost) > 0 || h != "" && len(a.losses()) == 0 {
		t.Errorf("%s: the header has %q, the report %v", m, h, a.losses())
	}
	for _, want := range c.sent[b.name] {
		if s := mismatch(body, want); s != "" {
			t.Errorf("%s: %s\nsent: %s", m, s, clip(body))
		}
	}
	flat := flatten(body)
	for _, mark := range c.marks {
		token, path, _ := strings.Cut(mark, " @ ")
		if !strings.Contains(flat, token) && !reported(a, path) {
			t.Errorf("%s: %q at %s is dropped without a loss\nsent: %s", m, token, path, clip(body))
		}
	}
}

// listsLosses reports whether the features of an endpoint list their losses.
func (f endpoint) listsLosses() bool { return f.name == "messages" || f.name == "generatecontent" }

// isResponseLoss reports whether a loss is one of a response.
func isResponseLoss(l string) bool {
	_, path, _ := strings.Cut(l, " ")
	first, _, _ := strings.Cut(path, ".")
	return slices.Contains([]string{"usage", "stop", "parts", "start"}, first)
}

// lossDifference returns the missing and the unexpected losses. An expected
// loss may be reported below its path.
func lossDifference(want, got []string) string {
	within := func(g, w string) bool {
		severity, path, _ := strings.Cut(w, " ")
		gs, gp, _ := strings.Cut(g, " ")
		return (gs == severity || severity == "*") && (gp == path || strings.HasPrefix(gp, path+"."))
	}
	var missing, extra []string
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return within(g, w) }) {
			missing = append(missing, w)
		}
	}
	for _, g := range got {
		if !slices.ContainsFunc(want, func(w string) bool { return within(g, w) }) {
			extra = append(extra, g)
		}
	}
	if missing == nil && extra == nil {
		return ""
	}
	return fmt.Sprintf("missing %q, unexpected %q", missing, extra)
}

// mismatch returns how a document differs from want, or "".
func mismatch(body, want string) string {
	if path, ok := strings.CutPrefix(want, "! "); ok {
		if v := gjson.Get(body, path); v.Exists() {
			return fmt.Sprintf("%s is present: %s", path, clip(v.Raw))
		}
		return ""
	}
	path, value, equal := strings.Cut(want, " = ")
	v := gjson.Get(body, path)
	switch {
	case !v.Exists():
		return path + " is missing"
	case equal && v.String() != value && canonical([]byte(v.Raw)) != canonical([]byte(value)):
		return fmt.Sprintf("%s is %s, want %s", path, clip(v.Raw), value)
	}
	return ""
}

// reported reports whether a loss is reported at the path, or above or below
// it.
func reported(a *response, path string) bool {
	return slices.ContainsFunc(lossplaces.Of(a.Report.Losses), func(l content.Loss) bool {
		return l.Path == path || strings.HasPrefix(l.Path, path+".") || strings.HasPrefix(path, l.Path+".")
	})
}

// flatten returns all names and values of a document, and the decoded texts of
// base64 values.
func flatten(body string) string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				b.WriteString(k + "\n")
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case string:
			b.WriteString(v + "\n")
			if raw, err := base64.StdEncoding.DecodeString(v[strings.LastIndexByte(v, ',')+1:]); err == nil {
				b.Write(raw)
			}
		case json.Number:
			b.WriteString(v.String() + "\n")
		case bool:
			b.WriteString(strconv.FormatBool(v) + "\n")
		}
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		walk(v)
	}
	return b.String()
}

// clip shortens a text for failure messages.
func clip(s string) string {
	if len(s) > 3000 {
		return s[:3000] + "…"
	}
	return s
}

// secrets must not reach a vendor.
var secrets = []string{clientKey, "client-agent-mark", "client-lang-mark"}
