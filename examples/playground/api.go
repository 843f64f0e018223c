package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/polywire/polywire/examples/internal/format"
)

// Limits of the API. A translation takes up to 35 times the memory of its body.
const (
	maxBody       = 32 << 20 // on a loopback address
	maxPublicBody = 1 << 20  // on other addresses
	maxTargets    = 8
	maxRunning    = 4               // translations at the same time
	maxOpen       = 64              // requests that are read, wait or run
	maxWait       = 5 * time.Second // until a translation begins
)

// An api holds the limits of a server and what is in use.
type api struct {
	maxBody int64
	maxWait time.Duration
	running chan struct{} // an element for each translation
	open    chan struct{} // an element for each request
}

// newAPI returns the API for a server. loopback reports whether only this machine reaches it.
func newAPI(loopback bool) *api {
	a := &api{maxBody: maxPublicBody, maxWait: maxWait, running: make(chan struct{}, maxRunning), open: make(chan struct{}, maxOpen)}
	if loopback {
		a.maxBody = maxBody
	}
	return a
}

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

// serve adds the API to mux.
func (a *api) serve(mux *http.ServeMux) {
	get(mux, "/api/formats", formatList())
	get(mux, "/api/samples", map[string]any{"samples": samples})
	post(a, mux, "/api/recognize", recognizeText)
	post(a, mux, "/api/request", translateRequest)
	post(a, mux, "/api/places", findPlaces)
	post(a, mux, "/api/response", translateResponse)
	post(a, mux, "/api/stream", translateStream)
	post(a, mux, "/api/curl", curlCommand)
	post(a, mux, "/api/program", goProgram)
	post(a, mux, "/api/echo", sendToEcho)
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
func post[R any](a *api, mux *http.ServeMux, path string, do func(*http.Request, *task) (R, error)) {
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if !allow(w, r, http.MethodPost) {
			return
		}
		select {
		case a.open <- struct{}{}:
			defer func() { <-a.open }()
		default:
			writeBusy(w, fmt.Sprintf("the server is busy: it accepts %d requests at the same time; try again later", cap(a.open)))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, a.maxBody))
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			writeError(w, http.StatusRequestEntityTooLarge, a.tooLarge())
			return
		}
		if !a.begin(r.Context()) {
			writeBusy(w, fmt.Sprintf("the server is busy: it translates %d documents at the same time; try again later", cap(a.running)))
			return
		}
		defer func() { <-a.running }()
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

// begin waits until a translation may begin. It reports false if that takes too long or ctx
// ends. If it reports true, the caller must receive from running at the end.
func (a *api) begin(ctx context.Context) bool {
	select {
	case a.running <- struct{}{}:
		return true
	default:
	}
	wait := time.NewTimer(a.maxWait)
	defer wait.Stop()
	select {
	case a.running <- struct{}{}:
		return true
	case <-wait.C:
	case <-ctx.Done():
	}
	return false
}

// tooLarge returns the error for a body that is too large.
func (a *api) tooLarge() string {
	text := fmt.Sprintf("the input and its settings have more than %d MiB, as JSON", a.maxBody>>20)
	if a.maxBody < maxBody {
		text += fmt.Sprintf("; on a loopback address the playground accepts %d MiB", maxBody>>20)
	}
	return text
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

// writeBusy writes the error for a request that must be sent again later.
func writeBusy(w http.ResponseWriter, text string) {
	w.Header().Set("Retry-After", "1")
	writeError(w, http.StatusServiceUnavailable, text)
}

// A formatInfo describes a format to the page.
type formatInfo struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Short string `json:"short"`
	Model string `json:"model"`
}

// formatList returns the answer for /api/formats.
func formatList() any {
	var list []formatInfo
	for _, f := range format.All {
		list = append(list, formatInfo{f.Name, f.Title, f.Short, f.Model})
	}
	return map[string]any{"formats": list}
}
