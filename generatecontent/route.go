package generatecontent

import (
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// versions are the versions of the API. All are served in the same way.
var versions = []string{"v1beta", "v1", "v1alpha", "v1beta1"}

// A target is the resource that a path names.
type target struct {
	version string // "" if the path has none
	list    string // the path of a collection of models, or ""
	name    string // the path of a model, such as "models/x", or ""
	model   string // the name for the upstream, such as "x"
	method  string // the text after the last colon of a name, if it is a method
}

const servedPaths = "; this handler serves POST /v1beta/models/{model}:generateContent, :streamGenerateContent and :countTokens, " +
	"GET /v1beta/models and GET /v1beta/models/{model}"

func notFound(text string) error {
	return &handler.Failure{Code: upstream.CodeNotFound, Reason: text, Text: text + servedPaths}
}

// Methods and collections of the vendor that this package does not serve.
var (
	otherMethods = []string{"embedContent", "batchEmbedContents", "asyncBatchEmbedContent", "batchGenerateContent",
		"generateAnswer", "generateText", "generateMessage", "embedText", "batchEmbedText", "countTextTokens",
		"countMessageTokens", "predict", "predictLongRunning", "rawPredict", "streamRawPredict", "computeTokens",
		"bidiGenerateContent", "fetchPredictOperation", "transferOwnership"}
	otherCollections = []string{"files", "batches", "cachedContents", "corpora", "fileSearchStores", "ragStores",
		"operations", "generatedFiles", "interactions", "upload", "download", "media", "auth_tokens", "authTokens", "agents"}
)

// parseTarget parses a path.
func parseTarget(path, method string) (*target, error) {
	steps := strings.Split(strings.Trim(path, "/"), "/")
	if strings.HasSuffix(path, "/") {
		steps = append(steps, "")
	}
	version, steps, err := resource(steps)
	if err != nil {
		return nil, err
	}
	t := &target{version: version}
	if !t.find(steps) {
		return nil, unservedError(steps)
	}
	if t.list != "" {
		return t, nil
	}
	if i := strings.LastIndexByte(t.model, ':'); i >= 0 {
		word := t.model[i+1:]
		switch {
		case word == "generateContent", word == "streamGenerateContent", word == "countTokens":
			t.method = word
			t.model = t.model[:i]
			t.name = t.name[:strings.LastIndexByte(t.name, ':')]
		case slices.Contains(otherMethods, word):
			return nil, notFound(word + ": this part of the API is not supported")
		case method != http.MethodGet: // names of models may contain colons
			return nil, notFound("there is no method " + handler.OneLine(word, 64))
		}
	}
	return t, nil
}

// resource cuts off the steps before the resource. A known version marks its beginning
// best. A path without one is parsed from the right, which allows any prefix.
func resource(steps []string) (version string, rest []string, err error) {
	for i := len(steps) - 2; i >= 0; i-- {
		if slices.Contains(versions, steps[i]) && isRoot(steps[i+1]) {
			return steps[i], steps[i+1:], nil
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if !isCollection(steps[i]) && !slices.Contains(otherCollections, steps[i]) {
			continue
		}
		if i >= 2 && steps[i-2] == "publishers" {
			i -= 2
		}
		if i >= 4 && steps[i-4] == "projects" && steps[i-2] == "locations" {
			i -= 4
		}
		if i > 0 && len(steps[i-1]) > 1 && steps[i-1][0] == 'v' && steps[i-1][1] >= '0' && steps[i-1][1] <= '9' {
			return "", nil, notFound("there is no version " + handler.OneLine(steps[i-1], 64) + " of the API")
		}
		return "", steps[i:], nil
	}
	return "", nil, notFound("there is nothing at this path")
}

func isCollection(step string) bool {
	return step == "models" || step == "tunedModels" || step == "dynamic"
}

// isRoot reports whether step can be the first of a resource.
func isRoot(step string) bool {
	return isCollection(step) || step == "publishers" || step == "projects" || slices.Contains(otherCollections, step)
}

// find sets the model or the collection that steps name.
func (t *target) find(steps []string) bool {
	at := 0
	place := ""
	if len(steps) > 4 && steps[0] == "projects" && steps[2] == "locations" {
		at, place = 4, strings.Join(steps[:4], "/")+"/"
	}
	publisher := ""
	if len(steps) > at+2 && steps[at] == "publishers" && steps[at+2] == "models" {
		publisher = steps[at+1]
		at += 2
	}
	if at == len(steps) {
		return false
	}
	collection, id := steps[at], strings.Join(steps[at+1:], "/")
	own := isCollection(collection) || place != "" && collection == "endpoints"
	switch {
	case !own:
		return false
	case len(steps) == at+1:
		t.list = strings.Join(steps, "/")
		return collection == "models"
	}
	t.name = strings.Join(steps, "/")
	switch {
	case publisher == "google", publisher == "" && collection == "models" && place == "":
		t.model = id
	case publisher != "":
		t.model = publisher + "/" + id
	default:
		t.model = t.name
	}
	return true
}

// unservedError returns the error for steps that name a resource that is not served.
func unservedError(steps []string) error {
	for _, s := range steps {
		s, _, _ = strings.Cut(s, ":")
		if slices.Contains(otherCollections, s) || s == "tunedModels" {
			return notFound(s + ": this part of the API is not supported")
		}
	}
	return notFound("there is nothing at this path")
}
