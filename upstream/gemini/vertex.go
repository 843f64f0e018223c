package gemini

import (
	"fmt"
	"strings"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
)

// checkPlace returns the problems of Project and Location.
func (o *Options) checkPlace() []string {
	var problems []string
	const usual = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if strings.Trim(o.Project, usual+".:") != "" || o.Project == "." || o.Project == ".." { // old ids have a domain
		problems = append(problems, fmt.Sprintf("Project: %q is not the id or number of a project", o.Project))
	}
	if strings.Trim(o.Location, usual) != "" {
		problems = append(problems, fmt.Sprintf("Location: %q must consist of lower-case letters, digits and hyphens", o.Location))
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

// A documentTarget is the target of a request in the format itself whose document the model
// does not accept: it differs from the document only in that.
type documentTarget struct {
	vertex bool // the document is not for Google Cloud
	signs  bool // the client asked for a model that does not require signatures of tool calls
}

var documentTargets = newDocumentTargets()

func newDocumentTargets() map[documentTarget]*lower.Target {
	all := make(map[documentTarget]*lower.Target)
	for _, k := range []documentTarget{{vertex: true}, {signs: true}, {vertex: true, signs: true}} {
		t := generatecontent.BaseTarget()
		t.Files.Keep, t.Conversation.Attribution = !k.vertex, true
		if k.vertex {
			setVertex(&t)
		}
		if k.signs {
			t.Calls.Signature = generatecontent.PlaceholderSignature
		}
		all[k] = &t
	}
	return all
}

// lowerDocument lowers a request for t. Its links stay links, since they were for the vendor.
func (p *plan) lowerDocument(t documentTarget) {
	n := *p.Source
	n.ForwardLinks = true
	p.Source, p.Target, p.byFormat = &n, documentTargets[t], true
	p.Lower()
}
