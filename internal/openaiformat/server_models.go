package openaiformat

import (
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// ModelsRoute returns the route of GET …/models or …/models/{id}, or nil for another path. The
// id may have slashes. It may have colons, too, with which other formats name their methods:
// requests that are not a GET have no route then.
func ModelsRoute(format content.Format, r *http.Request) *handler.Route {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if path == "models" || strings.HasSuffix(path, "/models") {
		return modelsRoute(func() (*handler.Operation, error) {
			return handler.ListModels(textNoModels, func(list []upstream.Model) (*jsonwire.Writer, error) { return writeModels(format, list) }), nil
		})
	}
	_, id, ok := strings.Cut("/"+path, "/models/")
	if !ok || r.Method != http.MethodGet && strings.Contains(id, ":") {
		return nil
	}
	return modelsRoute(func() (*handler.Operation, error) {
		if len(id) > codec.MaxModelName {
			return nil, &content.Violation{Code: content.CodeLimit, Path: "model", Text: "The name of the model is too long."}
		}
		return handler.ListModels(textNoModels, func(list []upstream.Model) (*jsonwire.Writer, error) { return writeModelOf(format, list, id) }), nil
	})
}

func modelsRoute(operation func() (*handler.Operation, error)) *handler.Route {
	return &handler.Route{
		Method: http.MethodGet,
		Shared: true,
		Parse:  func(string, *http.Request, string) (*handler.Operation, error) { return operation() },
	}
}

const textNoModels = "The models of this service cannot be listed."

// writeModels writes the list of models.
func writeModels(format content.Format, list []upstream.Model) (*jsonwire.Writer, error) {
	w := new(jsonwire.Writer)
	w.BeginObject()
	w.Member("object", "list")
	w.Array("data")
	for i := range list {
		if err := writeModel(w, format, &list[i]); err != nil {
			return nil, err
		}
	}
	w.EndArray()
	w.EndObject()
	return w, nil
}

// writeModelOf writes the model of list with an id.
func writeModelOf(format content.Format, list []upstream.Model, id string) (*jsonwire.Writer, error) {
	for i := range list {
		if list[i].ID == id {
			w := new(jsonwire.Writer)
			return w, writeModel(w, format, &list[i])
		}
	}
	return nil, &handler.Failure{Code: upstream.CodeNotFound, Reason: "unknown model: the upstream does not list it",
		Text: "The model '" + handler.OneLine(id, maxModelText) + "' does not exist or you do not have access to it."}
}

// maxModelText bounds the name of a model in the text of an error, in bytes.
const maxModelText = 256

// writeModel writes a model. Its owner is that of the vendor's own models unless the upstream
// knows another.
func writeModel(w *jsonwire.Writer, format content.Format, m *upstream.Model) error {
	var extra *content.Extra
	if m.Extra != nil && foreign.SameVendor(m.Extra.Format, format) {
		extra = m.Extra
	}
	w.BeginObject()
	w.Member("id", m.ID)
	w.Member("object", "model")
	w.Name("created")
	if m.Created.IsZero() {
		w.Int(0)
	} else {
		w.Int(m.Created.Unix())
	}
	if _, ok := extra.Get("owned_by"); !ok {
		w.Member("owned_by", "system")
	}
	if extra != nil {
		if err := w.MembersExcept(extra.JSON, func(name string) bool { return name == "id" || name == "object" || name == "created" }); err != nil {
			return err
		}
	}
	w.EndObject()
	return nil
}
