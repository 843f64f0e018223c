package openai

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/polywire/polywire/internal/codec"
)

// azureHosts are the domains of Azure's resources.
var azureHosts = []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com", ".openai.azure.us"}

// azureKeyHeader is the header for API keys at Azure.
const azureKeyHeader = "api-key"

// isAzure reports whether the server is Azure's.
func (o *Options) isAzure() bool {
	host := o.host()
	return o.APIVersion != "" || o.Dialect.Kind == ServerAzure ||
		slices.ContainsFunc(azureHosts, func(domain string) bool { return strings.HasSuffix(host, domain) }) // bounded by azureHosts
}

// checkAzure returns the problems of the options for Azure.
func (o *Options) checkAzure() []string {
	var problems []string
	if strings.Trim(o.APIVersion, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		problems = append(problems, fmt.Sprintf("APIVersion: %q must consist of lower-case letters, digits, hyphens and dots", o.APIVersion))
	}
	if o.APIVersion != "" && o.BaseURL == "" {
		problems = append(problems, "BaseURL: must be set with APIVersion, to the URL of the Azure resource")
	}
	for _, model := range slices.Sorted(maps.Keys(o.Deployments)) {
		if !isDeployment(o.Deployments[model]) {
			problems = append(problems, fmt.Sprintf("Deployments: %q is not a valid name of a deployment", codec.Clip(o.Deployments[model])))
		}
	}
	return problems
}

// isDeployment reports whether a name is valid in a URL path: without control characters
// and empty, "." and ".." elements, which change the path at servers and proxies that decode
// it before they split it. Other characters are escaped.
func isDeployment(name string) bool {
	for step := range strings.SplitSeq(strings.ReplaceAll(name, `\`, "/"), "/") {
		if step == "" || step == "." || step == ".." {
			return false
		}
	}
	return !strings.ContainsFunc(name, unicode.IsControl)
}

// pathOf returns the path of a request for a model, or for none.
func (c *client) pathOf(path, model string) string {
	switch {
	case c.apiVersion == "":
		return path
	case path == chatPath:
		path = "/deployments/" + url.PathEscape(model) + path
	}
	return path + "?api-version=" + url.QueryEscape(c.apiVersion)
}
