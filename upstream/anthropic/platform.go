package anthropic

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/messages"
)

// A Platform is a service with Claude models. The zero Platform is the vendor's API, and
// servers with the same paths.
type Platform string

// The platforms whose requests differ from those of the vendor's API.
const (
	PlatformVertex  Platform = "vertex"  // Google Cloud, with the paths of Vertex AI
	PlatformBedrock Platform = "bedrock" // Amazon Bedrock, InvokeModel
	PlatformFoundry Platform = "foundry" // Microsoft Foundry
)

// platformRules describes how the requests of a platform differ from those of the vendor's
// API.
type platformRules struct {
	// inPath means that the model is in the path and not in the document.
	inPath bool

	// version is the member anthropic_version of documents; "" means that the version is a
	// header.
	version string

	betaMember   bool // the betas are the member anthropic_beta and not a header
	streamInPath bool // the document has no member stream

	versions []string // that BaseURL may end in: see [adapter.Config.Versions]
	bearer   bool     // keys are always sent as "Authorization: Bearer"
	noModels bool     // there is no list of models

	// wrapsCount means that a count request contains a whole request for a response. Others
	// have the model in the document, wherever other requests have it.
	wrapsCount bool
}

var platforms = map[Platform]*platformRules{
	"":              {versions: []string{"v1"}},
	PlatformFoundry: {versions: []string{"v1"}, noModels: true},
	PlatformVertex: {
		inPath: true, version: "vertex-2023-10-16", versions: []string{"v1", "v1beta1"}, bearer: true, noModels: true,
	},
	PlatformBedrock: {
		inPath: true, version: "bedrock-2023-05-31", betaMember: true, streamInPath: true, bearer: true, noModels: true, wrapsCount: true,
	},
}

// setPlatform checks the options of a platform and sets their defaults. It returns the
// platform's rules and the problems.
func (o *Options) setPlatform() (*platformRules, []string) {
	var problems []string
	rules := platforms[o.Platform]
	if rules == nil {
		o.BaseURL = cmp.Or(o.BaseURL, defaultURL)
		return platforms[""], []string{fmt.Sprintf("Platform: %q is unknown", o.Platform)}
	}
	for _, f := range []struct{ name, value, punctuation string }{
		{"Project", o.Project, "-.:"}, {"Location", o.Location, "-"},
	} {
		const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
		switch {
		case o.Platform != PlatformVertex && f.value != "":
			problems = append(problems, f.name+": is only for PlatformVertex")
		case o.Platform == PlatformVertex && f.value == "":
			problems = append(problems, f.name+": is required for PlatformVertex")
		case strings.Trim(f.value, letters+f.punctuation) != "", f.value != "" && strings.Trim(f.value, f.punctuation) == "":
			problems = append(problems, fmt.Sprintf("%s: %q must consist of lower-case letters, digits and any of %q", f.name, f.value, f.punctuation))
		}
	}
	switch {
	case o.BaseURL != "":
	case o.Platform == PlatformVertex:
		o.BaseURL = vertexURL(o.Location)
	case o.Platform != "":
		o.BaseURL = defaultURL // for one problem of the URL, not two
		problems = append(problems, fmt.Sprintf("BaseURL: is required for platform %q", o.Platform))
	default:
		o.BaseURL = defaultURL
	}
	return rules, problems
}

// vertexURL returns the host of a location.
func vertexURL(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu": // places with several regions
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// path returns the path of a request for a response, with the query that the vendor's SDKs
// add if there are betas.
func (p *plan) path() string {
	switch c := p.client; c.platform {
	case PlatformVertex:
		if p.Source.Stream {
			return c.vertexPath(p.Model) + ":streamRawPredict"
		}
		return c.vertexPath(p.Model) + ":rawPredict"
	case PlatformBedrock:
		if p.Source.Stream {
			return bedrockPath(p.Model) + "/invoke-with-response-stream"
		}
		return bedrockPath(p.Model) + "/invoke"
	}
	return "/messages" + p.query()
}

// countPath returns the path of a count request.
func (p *plan) countPath() string {
	switch c := p.client; c.platform {
	case PlatformVertex:
		return c.vertexPath("count-tokens") + ":rawPredict"
	case PlatformBedrock:
		return bedrockPath(p.Model) + "/count-tokens"
	}
	return "/messages/count_tokens" + p.query()
}

// vertexPath returns the path of a model of Vertex. Colons in its name are escaped, because
// the method follows a colon.
func (c *Client) vertexPath(model string) string {
	model = strings.ReplaceAll(url.PathEscape(model), ":", "%3A")
	return "/projects/" + url.PathEscape(c.project) + "/locations/" + c.location + "/publishers/anthropic/models/" + model
}

// bedrockPath returns the path of a model of Bedrock. Everything in its name is escaped that
// signatures of requests escape: an ARN has colons and slashes.
func bedrockPath(model string) string {
	return "/model/" + strings.ReplaceAll(url.QueryEscape(model), "+", "%20")
}

// checkModel returns a violation if the model cannot be in a path.
func (p *plan) checkModel() error {
	if !p.client.rules.inPath || p.Model != "" && p.Model != "." && p.Model != ".." && len(p.Model) <= codec.MaxModelName {
		return nil
	}
	return &content.Violation{Code: content.CodeValue, Path: "model", Text: "is not a valid model name"}
}

// members returns the members of a document that hold the model, the version and the betas.
// hasModel says that the model is in the document.
func (p *plan) members(hasModel bool) []adapter.Member {
	rules := p.client.rules
	list := []adapter.Member{{Name: "model"}, {Name: "anthropic_version"}, {Name: "anthropic_beta"}}
	if hasModel {
		list[0].Value = quote(p.Model)
	}
	if rules.version != "" {
		list[1].Value = quote(rules.version)
	}
	if rules.betaMember && len(p.betas) > 0 {
		var w jsonwire.Writer
		w.BeginArray()
		for _, b := range p.betas {
			w.String(b)
		}
		w.EndArray()
		list[2].Value = w.Text()
	}
	return list
}

func quote(s string) string { return string(jsonwire.AppendString(nil, s)) }

// withMembers returns x, which may be nil, with members replaced or removed.
func withMembers(x *content.Extra, members []adapter.Member) *content.Extra {
	var w jsonwire.Writer
	w.BeginObject()
	if x != nil && x.JSON != "" {
		err := w.MembersExcept(x.JSON, func(name string) bool {
			return slices.ContainsFunc(members, func(m adapter.Member) bool { return m.Name == name })
		})
		if err != nil {
			return x // encoding reports it
		}
	}
	for _, m := range members {
		if m.Value != "" {
			w.Name(m.Name)
			w.Raw(m.Value)
		}
	}
	w.EndObject()
	return &content.Extra{Format: messages.Format, JSON: w.Text()}
}
