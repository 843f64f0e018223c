package gemini

import (
	"fmt"
	"strings"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
)

// vertexURL returns the URL of Google Cloud's service at a location.
func vertexURL(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// checkPlace returns the problems of Project and Location.
func (o *Options) checkPlace() []string {
	var problems []string
	for _, x := range []struct{ name, value string }{{"Project", o.Project}, {"Location", o.Location}} {
		if strings.Trim(x.value, "abcdefghijklmnopqrstuvwxyz0123456789-:.") != "" {
			problems = append(problems, fmt.Sprintf("%s: %q must consist of lower-case letters, digits, hyphens, dots and colons", x.name, x.value))
		}
	}
	switch {
	case o.Project != "" && o.Location == "":
		problems = append(problems, `Location: must be set with Project, for example to "global"`)
	case o.Project == "" && o.Location != "" && o.Location != "global":
		problems = append(problems, "Project: must be set with a Location other than global")
	}
	return problems
}

// resourceOf returns the resource name of a model. On Google Cloud a name with one slash
// is that of a publisher and its model.
func (c *Client) resourceOf(model string) string {
	root, rest, more := strings.Cut(model, "/")
	if !c.cloud {
		switch root {
		case "models", "tunedModels", "publishers", "projects", "dynamic":
			return model
		}
		return "models/" + model
	}
	switch {
	case root == "projects" && more:
		return model
	case root == "publishers" && more, root == "endpoints" && more:
		return c.place + model
	case root == "models" && more:
		return c.place + "publishers/google/models/" + rest
	case more:
		return c.place + "publishers/" + root + "/models/" + rest
	}
	return c.place + "publishers/google/models/" + model
}

// isVertex reports whether a resource is one of Google Cloud.
func isVertex(resource string) bool {
	return strings.HasPrefix(resource, "publishers/") || strings.HasPrefix(resource, "projects/")
}

// vertexCloud is what Google Cloud does not accept of the format. Source: the converters for
// both services in google.golang.org/genai v1.77.0, as of November 2026. Ids of function
// calls are accepted since September 2026.
var vertexCloud = lower.Cloud{
	Format: generatecontent.Format,
	Members: map[string]*loss.Rule{
		"store":             lower.CloudHint,
		"processingOptions": lower.CloudHint,
		"toolConfig.includeServerSideToolInvocations": lower.CloudHint,
		"generationConfig.enableEnhancedCivicAnswers": lower.CloudInfluence,
	},
	PartMembers: map[string]*loss.Rule{
		"partMetadata":                  lower.CloudHint,
		"mediaProcessing":               lower.CloudInfluence,
		"speechMetadata":                lower.CloudSetting,
		"functionResponse.willContinue": lower.CloudSetting,
	},
	Tools: []string{"fileSearch", "mcpServers"},
	Calls: []string{"toolCall", "toolResponse"},

	NoFiles: true, Stores: isCloudFile,
}

// isCloudFile reports whether Google Cloud reads the file of an id: one in Cloud Storage.
func isCloudFile(id string) bool {
	name, ok := strings.CutPrefix(id, "gs://")
	return ok && name != ""
}

// setVertex sets what Google Cloud changes in a target.
func setVertex(t *lower.Target) {
	t.Cloud, t.Files.Stores = &vertexCloud, isCloudFile
	// Without includeServerSideToolInvocations the tools cannot be combined.
	t.Tools.VendorAlone, t.Tools.VendorMember = true, nil
}

// vertexDocuments is the target of a request in the format itself whose document Google
// Cloud does not accept.
var vertexDocuments = newVertexDocuments()

func newVertexDocuments() *lower.Target {
	t := generatecontent.BaseTarget()
	t.Files.Keep, t.Conversation.Attribution = false, true
	setVertex(&t)
	return &t
}

// lowerDocument lowers a request whose document Google Cloud does not accept. Its links stay
// links, since they were for the vendor.
func (p *plan) lowerDocument() {
	n := *p.Source
	n.ForwardLinks = true
	p.Source, p.Target = &n, vertexDocuments
	p.Lower()
}
