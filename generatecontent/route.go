package generatecontent

import (
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// The versions of the API, which are served alike.
var versions = []string{"v1beta", "v1", "v1alpha", "v1beta1"}

// A target is what a path names.
type target struct {
	version string // "" if the path has none
	list    string // the path of a collection of models, or
	name    string // that of a model, such as "models/x"
	model   string // the same as upstreams know it: "x"
	method  string // what stands behind the last colon of a name, if it is a method
}

const served = "; what is served is POST /v1beta/models/{model}:generateContent, :streamGenerateContent and :countTokens, " +
	"GET /v1beta/models and GET /v1beta/models/{model}"

func notFound(text string) error {
	return &handler.Failure{Code: upstream.CodeNotFound, Reason: text, Text: text + served}
}

// The methods of models, and the collections, that the vendor has and we have
// not.
var (
	otherMethods = []string{"embedContent", "batchEmbedContents", "asyncBatchEmbedContent", "batchGenerateContent",
		"generateAnswer", "generateText", "generateMessage", "embedText", "batchEmbedText", "countTextTokens",
		"countMessageTokens", "predict", "predictLongRunning", "rawPredict", "streamRawPredict", "computeTokens",
		"bidiGenerateContent", "fetchPredictOperation", "transferOwnership"}
	otherCollections = []string{"files", "batches", "cachedContents", "corpora", "fileSearchStores", "ragStores",
		"operations", "generatedFiles", "interactions", "upload", "download", "media", "auth_tokens", "authTokens", "agents"}
)

// parseTarget finds out what a path names.
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
		return nil, unserved(steps)
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
			return nil, notFound(word + ": this part of the API is not served here")
		case method != http.MethodGet: // names of models may hold colons
			return nil, notFound("there is no method " + handler.OneLine(word, 64))
		}
	}
	return t, nil
}

// resource cuts off what stands before the resource. A known version is the
// safest sign of where that is; a path without one is read from the right, so
// that any prefix will do.
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

// isRoot reports whether a resource may begin with step.
func isRoot(step string) bool {
	return isCollection(step) || step == "publishers" || step == "projects" || slices.Contains(otherCollections, step)
}

// find finds the model or the list of models that steps name.
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

// unserved says why steps, which look like a resource, name none that is
// served.
func unserved(steps []string) error {
	for _, s := range steps {
		s, _, _ = strings.Cut(s, ":")
		if slices.Contains(otherCollections, s) || s == "tunedModels" {
			return notFound(s + ": this part of the API is not served here")
		}
	}
	return notFound("there is nothing at this path")
}
