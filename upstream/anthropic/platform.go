package anthropic

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
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

	// version is the member anthropic_version of documents, in place of version 2023-06-01; ""
	// means that the version is a header. The vendor's SDKs send later versions as they are.
	version string

	betaMember   bool // the betas are the member anthropic_beta and not a header
	streamInPath bool // the document has no member stream

	versions []string // that BaseURL may end in: see [adapter.Config.Versions]
	bearer   bool     // keys are always sent as "Authorization: Bearer"
	noModels bool     // there is no list of models

	// wrapsCount means that a count request contains a whole request for a response. Others
	// have the model in the document, wherever other requests have it.
	wrapsCount bool

	decodeError func(status int, h http.Header, body []byte) *upstream.Error

	// betas are the betas that the platform accepts. If there are none, it accepts all but
	// noBetas.
	betas, noBetas []string

	// renamedBetas are betas that have another name here.
	renamedBetas map[string]string

	// toolBetas are the betas that built-in tools need here, by the beginnings of the tools'
	// kinds. At the vendor's API these tools need none.
	toolBetas []toolBeta

	noTools, noCalls, noEdits []string // see [lower.Cloud]

	noLinks bool // links to files are not accepted
	noTiers bool // service tiers are not accepted
	noGeo   bool // inference_geo is not accepted: the place is that of the endpoint

	noAutoCache    bool // the member cache_control of the request is not accepted
	noOutputFormat bool // output_format is not accepted; output_config.format is
}

type toolBeta struct{ prefix, beta string }

// The tools that run on the vendor's servers, and the parts of their calls and results.
var (
	vendorTools = []string{"web_fetch_", "code_execution_", "advisor_", "mcp_toolset"}
	vendorCalls = []string{"web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution", "advisor",
		"mcp_tool_", "container_upload"}
)

// platforms are the rules of all platforms.
//
// Paths are those of the vendor's SDK for Go, version 1.84. Betas are those that the table of
// BerriAI/litellm, anthropic_beta_headers_config.json, had in November 2026, and the one for
// thinking between tool calls, which Claude Code sends to Bedrock for some models. Members,
// tools and sources follow the vendor's pages about features, and refusals that users of the
// platforms have reported.
var platforms = map[Platform]*platformRules{
	"": {versions: []string{"v1"}, decodeError: messages.DecodeError},
	PlatformFoundry: {
		versions: []string{"v1"}, noModels: true, decodeError: messages.DecodeError,
		noBetas: strings.Fields(`advisor-tool-2026-03-01 compact-2026-01-12 fast-mode-2026-02-01
			fine-grained-tool-streaming-2025-05-14 output-128k-2025-02-19 thinking-binding-controls-2026-08-01
			token-efficient-tools-2025-02-19`),
		noTools: []string{"advisor_"}, noCalls: []string{"advisor"},
	},
	PlatformVertex: {
		inPath: true, version: "vertex-2023-10-16", versions: []string{"v1", "v1beta1"}, bearer: true, noModels: true,
		decodeError: decodeVertexError,
		betas: strings.Fields(`compact-2026-01-12 compact-2026-09-04 computer-use-2025-01-24 computer-use-2025-11-24
			context-1m-2025-08-07 context-management-2025-06-27 dangerous-tool-use-2026-09-03
			interleaved-thinking-2025-05-14 per-turn-control-2026-07-01 thinking-binding-controls-2026-08-01
			thinking-display-updates-2026-08-18 tool-search-tool-2025-10-19 web-search-2025-03-05`),
		renamedBetas: map[string]string{"advanced-tool-use-2025-11-20": toolSearchBeta},
		toolBetas:    []toolBeta{{"tool_search_tool_", toolSearchBeta}, {"web_search_", "web-search-2025-03-05"}},
		// Of web search it has the first version, which does not filter results by code.
		noTools: slices.Concat(vendorTools, []string{"web_search_2026"}), noCalls: vendorCalls,
		noLinks: true, noTiers: true, noGeo: true, noAutoCache: true,
	},
	PlatformBedrock: {
		inPath: true, version: "bedrock-2023-05-31", betaMember: true, streamInPath: true, bearer: true, noModels: true,
		wrapsCount: true, decodeError: messages.DecodeError,
		betas: strings.Fields(`compact-2026-01-12 computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07
			context-management-2025-06-27 dangerous-tool-use-2026-09-03 effort-2025-11-24
			fine-grained-tool-streaming-2025-05-14 interleaved-thinking-2025-05-14 mid-conversation-output-config-2026-07-01
			mid-conversation-tool-changes-2026-07-01 thinking-binding-controls-2026-08-01
			thinking-display-updates-2026-08-18 tool-search-tool-2025-10-19`),
		renamedBetas: map[string]string{"advanced-tool-use-2025-11-20": toolSearchBeta},
		toolBetas:    []toolBeta{{"tool_search_tool_", toolSearchBeta}},
		noTools:      slices.Concat(vendorTools, []string{"web_search_"}), noCalls: slices.Concat(vendorCalls, []string{"web_search"}),
		noLinks: true, noTiers: true, noGeo: true, noAutoCache: true,
		noEdits: []string{"clear_thinking_20251015"}, noOutputFormat: true,
	},
}

const (
	toolSearchBeta  = "tool-search-tool-2025-10-19"
	interleavedBeta = "interleaved-thinking-2025-05-14"
)

// betaMembers are the members that need one of several betas. A platform that accepts none of
// these rejects the member.
var betaMembers = []struct {
	name  string
	rule  *loss.Rule
	betas []string
}{
	{"billing_policy", lower.CloudHint, []string{"user-profiles-billing-2026-10-01"}},
	{"cache_control.scope", lower.CloudHint, []string{scopeBeta}},
	{"compaction", lower.CloudSetting, []string{"compact-2026-09-04"}},
	{"container", lower.CloudSetting, []string{"code-execution-2025-05-22", "code-execution-2025-08-25", "skills-2025-10-02"}},
	{"context_management", lower.CloudSetting, []string{"context-management-2025-06-27", "compact-2026-01-12"}},
	{"diagnostics", lower.CloudHint, []string{"cache-diagnosis-2026-04-07"}},
	{"fallback_credit_token", lower.CloudHint, []string{"fallback-credit-2026-06-01", "fallback-credit-2026-07-01"}},
	{"fallbacks", lower.CloudInfluence, []string{"server-side-fallback-2026-06-01", "server-side-fallback-2026-07-01"}},
	{"mcp_servers", lower.CloudSetting, []string{"mcp-client-2025-04-04", "mcp-client-2025-11-20", "mcp-client-2026-09-15"}},
	{"output_config.task_budget", lower.CloudSetting, []string{"task-budgets-2026-03-13"}},
	{"speed", lower.CloudHint, []string{"fast-mode-2026-02-01"}},
	{"thread", lower.CloudState, []string{"message-threads-2026-08-12"}},
}

const (
	scopeBeta = "prompt-caching-scope-2026-01-05"
	filesBeta = "files-api-2025-04-14"
	codeBeta  = "code-execution-2025-08-25"
)

// accepts reports whether the platform is known to accept a beta.
func (r *platformRules) accepts(beta string) bool {
	if r.betas == nil {
		return !slices.Contains(r.noBetas, beta) // bounded by platformRules
	}
	return slices.Contains(r.betas, beta) || r.renamedBetas[beta] != "" // bounded by platformRules
}

// cloud returns what the platform does not accept, given which betas are sent, or nil if it
// accepts everything.
func (r *platformRules) cloud(isSent func(beta string) bool) *lower.Cloud {
	if r.betas == nil && r.noBetas == nil {
		return nil
	}
	c := &lower.Cloud{Format: messages.Format, Members: make(map[string]*loss.Rule), Tools: r.noTools, Calls: r.noCalls,
		NoTiers: r.noTiers, NoFiles: !isSent(filesBeta), NoLinks: r.noLinks}
	for _, m := range betaMembers {
		if !slices.ContainsFunc(m.betas, isSent) { // bounded by betaMembers
			c.Members[m.name] = m.rule
		}
	}
	c.NoAutoCache, c.Edits = r.noAutoCache, r.noEdits
	if r.noOutputFormat { // the schema of the neutral request is sent as output_config.format
		c.Members["output_format"] = lower.CloudHint
	}
	if r.noGeo {
		c.Members["inference_geo"] = lower.CloudLocation
	}
	if !isSent(scopeBeta) {
		c.MarkMembers = map[string]*loss.Rule{"scope": lower.CloudMark}
	}
	if !isSent(codeBeta) {
		c.ToolMembers = map[string]*loss.Rule{"allowed_callers": lower.CloudInfluence}
	}
	return c
}

// decodeVertexError decodes an error of the vendor, or one of Google Cloud, which refuses
// requests before they reach the vendor's part of the service.
func decodeVertexError(status int, h http.Header, body []byte) *upstream.Error {
	doc := gjson.ParseBytes(body)
	if doc.IsArray() {
		doc = doc.Get("0")
	}
	if e := doc.Get("error"); gjson.ValidBytes(body) && e.Get("code").Type == gjson.Number && !e.Get("type").Exists() {
		return generatecontent.DecodeError(status, h, body)
	}
	return messages.DecodeError(status, h, body)
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
	case o.Platform == PlatformVertex && len(problems) == 0:
		o.BaseURL = adapter.GoogleCloudURL(o.Location)
	case o.Platform == PlatformVertex:
		o.BaseURL = defaultURL // for one problem of the Location, not two
	case o.Platform != "":
		o.BaseURL = defaultURL // for one problem of the URL, not two
		problems = append(problems, fmt.Sprintf("BaseURL: is required for platform %q", o.Platform))
	default:
		o.BaseURL = defaultURL
	}
	return rules, problems
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
		return bedrockPath(bedrockModel(p.Model)) + "/count-tokens" // profiles cannot count
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

// bedrockModel returns the name of a model of Bedrock, such as "anthropic.claude-opus-4-6-v1",
// that is at the end of the name or ARN of an inference profile. Profiles that the host has made
// have no such name; then it returns "".
func bedrockModel(name string) string {
	if i := strings.LastIndex(name, "anthropic."); i >= 0 {
		return name[i:]
	}
	return ""
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
	model := adapter.Member{Name: "model"}
	if hasModel {
		model.Value = quote(p.Model)
	}
	list := []adapter.Member{model}
	if rules.version == "" {
		// The members of clouds are moved to headers only from the paths of clouds.
		x := codec.Own(p.Source.Extra, messages.Format)
		for _, name := range [...]string{"anthropic_version", "anthropic_beta"} {
			if v, _ := x.Get(name); v == "" {
				list = append(list, adapter.Member{Name: name})
			}
		}
		return list
	}
	version := p.version
	if version == defaultVersion {
		version = rules.version
	}
	list = append(list, adapter.Member{Name: "anthropic_version", Value: quote(version)})
	var w jsonwire.Writer
	if rules.betaMember && len(p.betas) > 0 {
		w.BeginArray()
		for _, b := range p.betas {
			w.String(b)
		}
		w.EndArray()
	}
	return append(list, adapter.Member{Name: "anthropic_beta", Value: w.Text()})
}

func quote(s string) string { return string(jsonwire.AppendString(nil, s)) }

// withMembers returns x, which may be nil, with members replaced or removed.
func withMembers(x *content.Extra, members []adapter.Member) *content.Extra {
	var w jsonwire.Writer
	w.BeginObject()
	if x != nil && x.JSON != "" {
		err := w.MembersExcept(x.JSON, func(name string) bool {
			return slices.ContainsFunc(members, func(m adapter.Member) bool { return m.Name == name }) // bounded by Member
		})
		if err != nil {
			return x // encoding reports it
		}
	}
	for _, m := range members {
		w.OptRawMember(m.Name, m.Value)
	}
	w.EndObject()
	return &content.Extra{Format: messages.Format, JSON: w.Text()}
}
