package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/polywire/polywire/examples/internal/format"
)

// Limits of the API.
const (
	maxBody    = 32 << 20
	maxTargets = 8
)

// A task is the body of a request of the API: a document, and the formats to translate it to.
type task struct {
	Format  string   `json:"format"`
	Text    string   `json:"text"`
	Targets []target `json:"targets"`

	source *format.Format
}

// A target is a format to translate to.
type target struct {
	Format string `json:"format"`
	Model  string `json:"model"` // of requests; empty means a usual one: see requestFor
	URL    string `json:"url"`   // of the server, for requests; it is not contacted

	format *format.Format
	same   bool // the format is that of the document
}

// serveAPI adds the API to mux.
func serveAPI(mux *http.ServeMux) {
	get(mux, "/api/formats", formatList())
	get(mux, "/api/samples", map[string]any{"samples": samples})
	post(mux, "/api/request", translateRequest)
	post(mux, "/api/places", findPlaces)
	post(mux, "/api/response", translateResponse)
	post(mux, "/api/stream", translateStream)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusNotFound, "not found")
	})
}

// get adds a path with a constant answer.
func get(mux *http.ServeMux, path string, v any) {
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if allow(w, r, http.MethodGet) {
			writeJSON(w, http.StatusOK, v)
		}
	})
}

// post adds a path that executes a task.
func post[R any](mux *http.ServeMux, path string, do func(*http.Request, *task) (R, error)) {
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if !allow(w, r, http.MethodPost) {
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			writeError(w, http.StatusRequestEntityTooLarge, "the body has more than 32 MiB")
			return
		}
		var t task
		if err == nil {
			err = json.Unmarshal(body, &t)
		}
		var result R
		if err == nil {
			result, err = do(r, &t)
		}
		if err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		writeJSON(w, http.StatusOK, result)
	})
}

// allow reports whether a request has a method. It writes an error if not.
func allow(w http.ResponseWriter, r *http.Request, method string) bool {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", method)
	writeError(w, http.StatusMethodNotAllowed, "use "+method)
	return false
}

// writeJSON writes v.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // texts are never part of a page's source
	e.Encode(v)            // fails only if the client has left
}

// writeError writes an error of the API itself.
func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

// A formatInfo describes a format to the page.
type formatInfo struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Short  string `json:"short"`
	Client bool   `json:"client"`
	Server bool   `json:"server"`
	Model  string `json:"model"`
}

// formatList returns the answer for /api/formats.
func formatList() any {
	var list []formatInfo
	for _, f := range format.All {
		list = append(list, formatInfo{f.Name, f.Title, f.Short, f.Client != nil, true, f.Model})
	}
	return map[string]any{"formats": list}
}
