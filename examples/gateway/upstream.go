package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// A routing holds the upstreams and the routes to them. Both the flags and the file of
// -config are converted to one.
type routing struct {
	vendors []*vendor
	routes  []route
}

// A vendor configures one upstream. Empty fields mean the defaults.
type vendor struct {
	name                     string // empty means the name of the adapter
	adapter                  string
	url                      string
	keyEnv                   string // environment variable with the key
	models                   []modelName
	reads, unread, thinkTags string
	server                   string
	project, location        string            // at Google Cloud
	apiVersion               string            // of Azure
	deployments              map[string]string // at Azure, by model

	// setting returns the place where a field was set, for error texts: a flag, or a
	// path in the file. The argument is the field's name in the file.
	setting func(field string) string
}

// A modelName maps the models that match pattern to the name that the vendor gets: see
// [upstream.Mux.HandleAs].
type modelName struct{ pattern, model string }

// A route sends the models that match pattern to the vendors with the given names.
type route struct {
	pattern  string
	vendors  []string
	failover *upstream.FailoverOptions // nil for a single vendor
}

// upstream returns the Upstream that the routing describes, and what is known about the
// health of each vendor. The error lists everything that is invalid.
func (c *routing) upstream() (upstream.Upstream, []*monitor, error) {
	var monitors []*monitor
	ups := map[string]upstream.Upstream{}
	var failed []error
	for _, v := range c.vendors {
		up, err := v.upstream(nil)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		m := newMonitor(v.label(), up)
		monitors = append(monitors, m)
		var prefixes []string
		for _, r := range c.routes {
			if p, star := strings.CutSuffix(r.pattern, "*"); star && slices.Contains(r.vendors, v.name) {
				prefixes = append(prefixes, p)
			}
		}
		ups[v.name] = mapModels(m, v.models, prefixes)
	}
	if len(failed) > 0 {
		return nil, nil, errors.Join(failed...)
	}
	mux := new(upstream.Mux)
	for _, r := range c.routes {
		var list []upstream.Upstream
		for _, name := range r.vendors {
			list = append(list, ups[name])
		}
		if r.failover == nil {
			mux.Handle(r.pattern, list[0])
		} else {
			mux.Handle(r.pattern, upstream.Failover(list, r.failover))
		}
	}
	return mux, monitors, nil
}

// log logs the URL that each upstream requests.
func (c *routing) log(logger *slog.Logger) {
	for _, v := range c.vendors {
		attrs := []any{"name", v.label(), "adapter", v.adapter}
		if url := v.endpoint(); url != "" {
			attrs = append(attrs, "url", url)
		}
		logger.Info("upstream", attrs...)
		if v.lacksPath() {
			logger.Warn("the URL of the upstream has no path; most servers of this format expect one, such as /v1", "name", v.label())
		}
		if !slices.ContainsFunc(c.routes, func(r route) bool { return slices.Contains(r.vendors, v.name) }) {
			logger.Warn("no route uses the upstream", "name", v.label())
		}
	}
}

// label returns the name of v in logs and in /readyz.
func (v *vendor) label() string { return cmp.Or(v.name, v.adapter) }

// mapModels returns an Upstream that passes requests to up under the names of models.
// Other models keep their names. prefixes are the beginnings of names that routes send to
// up. The list of models has a name for each of them that selects a single model.
func mapModels(up upstream.Upstream, models []modelName, prefixes []string) upstream.Upstream {
	if len(models) == 0 {
		return up
	}
	mux := new(upstream.Mux)
	names := map[string]bool{"*": true}
	for _, m := range models {
		mux.HandleAs(m.pattern, up, m.model)
		names[m.pattern] = true
	}
	if !slices.ContainsFunc(models, func(m modelName) bool { return m.pattern == "*" }) {
		mux.Handle("*", up)
	}
	for _, m := range models {
		start, star := strings.CutSuffix(m.pattern, "*")
		if !star || strings.HasSuffix(m.model, "*") {
			continue
		}
		for _, p := range append(prefixes, start) {
			name := p + m.model
			if strings.HasPrefix(p, start) && !names[name] && selects(models, name, m) {
				mux.HandleAs(name, up, m.model)
				names[name] = true
			}
		}
	}
	return mux
}

// selects reports whether m has the longest of the patterns with a star that match name.
func selects(models []modelName, name string, m modelName) bool {
	for _, o := range models {
		start, star := strings.CutSuffix(o.pattern, "*")
		if star && strings.HasPrefix(name, start) && len(o.pattern) > len(m.pattern) {
			return false
		}
	}
	return true
}

const adapterNames = "echo, anthropic, gemini, openai or openai-responses"

// upstream returns the adapter for v. It sends requests with client; nil means the
// adapter's own. The error lists everything that is invalid.
func (v *vendor) upstream(client *http.Client) (upstream.Upstream, error) {
	up, problems := v.build(client)
	if len(problems) == 0 && v.lacksKey() {
		problems = append(problems, v.needsKey())
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return up, nil
}

// lacksKey reports whether v is a vendor's own server without a key.
func (v *vendor) lacksKey() bool {
	return v.isKnown() && v.adapter != "echo" && v.url == "" && os.Getenv(v.keyEnv) == ""
}

// needsKey returns the error of a vendor without a key.
func (v *vendor) needsKey() error {
	return newProblem(v.setting("adapter"), "%s needs a key; set %s", v.adapter, v.setting("key_env"))
}

// isKnown reports whether there is an adapter with the name in v.
func (v *vendor) isKnown() bool {
	switch v.adapter {
	case "echo", "anthropic", "gemini", "openai", "openai-responses":
		return true
	}
	return false
}

// build returns the adapter for v, and everything that is invalid except a missing key,
// as problems. The adapter is valid only if there is none.
func (v *vendor) build(client *http.Client) (up upstream.Upstream, problems []error) {
	dialect, problems := v.dialect()
	if err := v.checkURL(); err != nil {
		problems = append(problems, err)
	}
	key := os.Getenv(v.keyEnv)
	var err error
	switch v.adapter {
	case "echo":
		up = echo.New()
	case "anthropic":
		up, err = anthropic.New(&anthropic.Options{Name: v.label(), BaseURL: v.url, Key: key, HTTPClient: client, CacheMarks: true})
	case "gemini":
		up, err = gemini.New(&gemini.Options{Name: v.label(), BaseURL: v.url, Project: v.project, Location: v.location, Key: key, HTTPClient: client})
	case "openai":
		up, err = openai.New(v.openai(key, dialect, client))
	case "openai-responses":
		up, err = openai.NewResponses(v.openai(key, dialect, client))
	case "":
		err = newProblem(v.setting("adapter"), "is required; want %s", adapterNames)
	default:
		err = newProblem(v.setting("adapter"), "unknown name %q; want %s", clip(v.adapter), adapterNames)
	}
	if p := (*problem)(nil); errors.As(err, &p) {
		return nil, append(problems, p)
	}
	if err != nil {
		problems = append(problems, v.optionProblems(err)...)
	}
	return up, problems
}

// optionSettings are the settings for options of the adapters.
var optionSettings = map[string]string{
	"BaseURL": "url", "Key": "key_env", "APIVersion": "api_version", "Deployments": "deployments", "Project": "project", "Location": "location",
}

// optionProblems returns the problems in an error of an adapter for its options, which has
// one line: "name: BaseURL: text; Key: text".
func (v *vendor) optionProblems(err error) []error {
	const maxText = 500 // bytes
	_, text, _ := strings.Cut(err.Error(), ": ")
	var list []*problem
	for part := range strings.SplitSeq(text, "; ") {
		option, rest, _ := strings.Cut(part, ": ")
		setting, known := optionSettings[option]
		switch {
		case known:
			list = append(list, &problem{v.setting(setting), rest})
		case len(list) == 0: // of an option that has no setting
			list = append(list, &problem{v.setting("adapter"), part})
		default:
			list[len(list)-1].text += "; " + part
		}
	}
	var problems []error
	for _, p := range list {
		if len(p.text) > maxText {
			p.text = strings.ToValidUTF8(p.text[:maxText], "") + "…"
		}
		problems = append(problems, p)
	}
	return problems
}

// openai returns the options of the adapters for OpenAI's formats.
func (v *vendor) openai(key string, d openai.Dialect, client *http.Client) *openai.Options {
	return &openai.Options{Name: v.label(), BaseURL: v.url, APIVersion: v.apiVersion, Deployments: v.deployments, Key: key, Dialect: d, HTTPClient: client}
}

// endpoints are the ends of URLs that the adapters append themselves.
var endpoints = []string{"/messages", "/chat/completions", "/responses", "/models"}

// checkURL returns an error for a URL that has no use, or that already contains what the
// adapter appends.
func (v *vendor) checkURL() error {
	if v.adapter == "echo" && v.url != "" {
		return newProblem(v.setting("url"), "echo has no URL; set %s to a vendor", v.setting("adapter"))
	}
	path, _, _ := strings.Cut(v.url, "?")
	path = strings.TrimRight(path, "/")
	for _, end := range endpoints {
		if strings.HasSuffix(path, end) {
			return newProblem(v.setting("url"), "must not end in %s, which the adapter appends", end)
		}
	}
	return nil
}

// endpoint returns the URL that the adapter requests to generate a response, without a
// query. It is empty for echo. It calls the adapter with a client that sends nothing.
func (v *vendor) endpoint() string {
	endpoint := ""
	up, err := v.upstream(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		endpoint = r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
		return nil, errors.New("not sent")
	})})
	if err != nil {
		return ""
	}
	_, _ = upstream.Collect(context.Background(), up, &upstream.Request{
		Model: "MODEL", Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hello."}}}},
	})
	return endpoint
}

// A roundTripper is a function that implements [http.RoundTripper].
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// lacksPath reports whether the adapter expects a version in the URL and the URL has no
// path at all. A few servers have such URLs, so this is allowed.
func (v *vendor) lacksPath() bool {
	if v.adapter != "openai" && v.adapter != "openai-responses" || v.url == "" || v.apiVersion != "" {
		return false
	}
	u, err := url.Parse(v.url)
	return err == nil && strings.Trim(u.Path, "/") == ""
}

// kinds are the values of the setting "server".
var kinds = map[string]openai.ServerKind{
	"": openai.ServerByHost, "host": openai.ServerByHost, "openai": openai.ServerOpenAI,
	"azure": openai.ServerAzure, "compatible": openai.ServerCompatible,
}

const serverKinds = "host (as the name of the host shows), openai, azure or compatible"

// dialect returns the Dialect for the options that only servers with the formats of
// OpenAI have, and what is invalid, as problems.
func (v *vendor) dialect() (openai.Dialect, []error) {
	var d openai.Dialect
	var problems []error
	fail := func(field, format string, args ...any) {
		problems = append(problems, newProblem(v.setting(field), format, args...))
	}
	switch v.reads {
	case "text":
		d.TextOnly = true
	case "", "images":
	case "pdf":
		d.Files = true
	default:
		fail("reads", "unknown kind %q; want text, images or pdf", clip(v.reads))
	}
	switch v.unread {
	case "", "refuse":
	case "note":
		d.DescribeUnreadable = true
	default:
		fail("unread", "unknown action %q; want refuse or note", clip(v.unread))
	}
	switch v.thinkTags {
	case "", "off":
	case "leading":
		d.ThinkTags = openai.ThinkTagsLeading
	case "open":
		d.ThinkTags = openai.ThinkTagsOpen
	default:
		fail("think_tags", "unknown value %q; want off, leading or open", clip(v.thinkTags))
	}
	kind, known := kinds[v.server]
	if d.Kind = kind; !known {
		fail("server", "unknown kind %q; want %s", clip(v.server), serverKinds)
	}
	if !v.isKnown() {
		return d, problems
	}
	const openAI = "openai or openai-responses"
	isOpenAI := v.adapter == "openai" || v.adapter == "openai-responses"
	for _, s := range []struct {
		field    string
		set      bool
		adapters string
		allowed  bool
	}{
		{"project", v.project != "", "gemini", v.adapter == "gemini"},
		{"location", v.location != "", "gemini", v.adapter == "gemini"},
		{"think_tags", d.ThinkTags != openai.ThinkTagsOff, "openai", v.adapter == "openai"},
		{"server", d.Kind != openai.ServerByHost, openAI, isOpenAI},
		{"api_version", v.apiVersion != "", openAI, isOpenAI},
		{"deployments", v.deployments != nil, openAI, isOpenAI},
		{"reads", d.TextOnly || d.Files, openAI, isOpenAI},
		{"unread", d.DescribeUnreadable, openAI, isOpenAI},
	} {
		if s.set && !s.allowed {
			fail(s.field, "only for the adapter %s, not for %s", s.adapters, v.adapter)
		}
	}
	return d, problems
}
