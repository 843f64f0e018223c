package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
		ups[v.name] = mapModels(m, v.models)
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
// Other models keep their names.
func mapModels(up upstream.Upstream, models []modelName) upstream.Upstream {
	if len(models) == 0 {
		return up
	}
	mux := new(upstream.Mux)
	for _, m := range models {
		mux.HandleAs(m.pattern, up, m.model)
	}
	all := slices.IndexFunc(models, func(m modelName) bool { return m.pattern == "*" })
	switch {
	case all < 0:
		mux.Handle("*", up)
	case len(models) == 1 && !strings.HasSuffix(models[0].model, "*"):
		mux.Handle(models[0].model, up) // the list of models contains this one
	}
	return mux
}

const adapterNames = "echo, anthropic, gemini, openai or openai-responses"

// upstream returns the adapter for v. It sends requests with client; nil means the
// adapter's own.
func (v *vendor) upstream(client *http.Client) (upstream.Upstream, error) {
	dialect, err := v.dialect()
	if err != nil {
		return nil, err
	}
	if v.adapter == "echo" {
		return v.echo()
	}
	if err := v.checkURL(); err != nil {
		return nil, err
	}
	key := os.Getenv(v.keyEnv)
	var up upstream.Upstream
	switch v.adapter {
	case "anthropic":
		up, err = anthropic.New(&anthropic.Options{Name: v.label(), BaseURL: v.url, Key: key, HTTPClient: client})
	case "gemini":
		up, err = gemini.New(&gemini.Options{Name: v.label(), BaseURL: v.url, Project: v.project, Location: v.location, Key: key, HTTPClient: client})
	case "openai":
		up, err = openai.New(v.openai(key, dialect, client))
	case "openai-responses":
		up, err = openai.NewResponses(v.openai(key, dialect, client))
	case "":
		return nil, fmt.Errorf("%s: is required; want %s", v.setting("adapter"), adapterNames)
	default:
		return nil, fmt.Errorf("%s: unknown name %q; want %s", v.setting("adapter"), v.adapter, adapterNames)
	}
	if err != nil { // one line: "name: BaseURL: text; Key: text"
		_, text, _ := strings.Cut(err.Error(), ": ")
		text = strings.NewReplacer("BaseURL: ", v.setting("url")+": ", "Key: ", v.setting("key_env")+": ", "APIVersion: ", v.setting("api_version")+": ",
			"Deployments: ", v.setting("deployments")+": ", "Project: ", v.setting("project")+": ", "Location: ", v.setting("location")+": ").Replace(text)
		return nil, errors.New(text)
	}
	if v.url == "" && key == "" {
		return nil, fmt.Errorf("%s: %s needs a key; set %s", v.setting("adapter"), v.adapter, v.setting("key_env"))
	}
	return up, nil
}

// openai returns the options of the adapters for OpenAI's formats.
func (v *vendor) openai(key string, d openai.Dialect, client *http.Client) *openai.Options {
	return &openai.Options{Name: v.label(), BaseURL: v.url, APIVersion: v.apiVersion, Deployments: v.deployments, Key: key, Dialect: d, HTTPClient: client}
}

// echo returns the built-in model.
func (v *vendor) echo() (upstream.Upstream, error) {
	if v.url != "" {
		return nil, fmt.Errorf("%s: echo has no URL; set %s to a vendor", v.setting("url"), v.setting("adapter"))
	}
	return echo.New(), nil
}

// endpoints are the ends of URLs that the adapters append themselves.
var endpoints = []string{"/messages", "/chat/completions", "/responses", "/models"}

// checkURL returns an error for a URL that already contains what the adapter appends.
func (v *vendor) checkURL() error {
	path, _, _ := strings.Cut(v.url, "?")
	path = strings.TrimRight(path, "/")
	for _, end := range endpoints {
		if strings.HasSuffix(path, end) {
			return fmt.Errorf("%s: must not end in %s, which the adapter appends", v.setting("url"), end)
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

// dialect returns the Dialect for the options that only servers with the formats of
// OpenAI have.
func (v *vendor) dialect() (openai.Dialect, error) {
	var d openai.Dialect
	switch v.reads {
	case "text":
		d.TextOnly = true
	case "", "images":
	case "pdf":
		d.Files = true
	default:
		return d, fmt.Errorf("%s: unknown kind %q; want text, images or pdf", v.setting("reads"), v.reads)
	}
	switch v.unread {
	case "", "refuse":
	case "note":
		d.DescribeUnreadable = true
	default:
		return d, fmt.Errorf("%s: unknown action %q; want refuse or note", v.setting("unread"), v.unread)
	}
	switch v.thinkTags {
	case "", "off":
	case "leading":
		d.ThinkTags = openai.ThinkTagsLeading
	case "open":
		d.ThinkTags = openai.ThinkTagsOpen
	default:
		return d, fmt.Errorf("%s: unknown value %q; want off, leading or open", v.setting("think_tags"), v.thinkTags)
	}
	only := func(field, adapters string) error {
		return fmt.Errorf("%s: only for the adapter %s, not for %s", v.setting(field), adapters, v.adapter)
	}
	switch {
	case v.project != "" && v.adapter != "gemini":
		return d, only("project", "gemini")
	case v.location != "" && v.adapter != "gemini":
		return d, only("location", "gemini")
	case d.ThinkTags != openai.ThinkTagsOff && v.adapter != "openai":
		return d, only("think_tags", "openai")
	case v.adapter == "openai", v.adapter == "openai-responses":
	case v.apiVersion != "":
		return d, only("api_version", "openai or openai-responses")
	case v.deployments != nil:
		return d, only("deployments", "openai or openai-responses")
	case d.TextOnly || d.Files:
		return d, only("reads", "openai or openai-responses")
	case d.DescribeUnreadable:
		return d, only("unread", "openai or openai-responses")
	}
	return d, nil
}
