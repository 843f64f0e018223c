package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
	fakeanthropic "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// A threadVendor is a Messages vendor with threads: it stores each conversation
// under the id of its last response and inserts it before a continuation. The
// strict fake behind it receives whole conversations.
type threadVendor struct {
	fake    *fakeanthropic.Server
	refuses string // error_code for the first continuation, or for any thread

	mu     sync.Mutex
	kept   map[string]threadDocument
	served []string // types of the threads received, "" for none
}

// A threadDocument is a request with the members that a continuation omits.
type threadDocument struct {
	Messages []json.RawMessage `json:"messages"`
	System   json.RawMessage   `json:"system,omitempty"`
	Tools    json.RawMessage   `json:"tools,omitempty"`
}

// start starts the vendor and returns its adapter.
func (v *threadVendor) start(t *testing.T) upstream.Upstream {
	t.Helper()
	v.kept = map[string]threadDocument{}
	ts := httptest.NewServer(v)
	t.Cleanup(ts.Close)
	up, err := anthropic.New(&anthropic.Options{BaseURL: ts.URL, Key: vendorKey, HTTPClient: testClient(t)})
	return made(t, up, err)
}

const (
	threadUnsupported = "thread_unsupported_request"
	threadNotFound    = "thread_not_found"
)

func (v *threadVendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	var members map[string]json.RawMessage
	var document threadDocument
	var thread struct {
		Type     string `json:"type"`
		Previous string `json:"previous_message_id"`
	}
	if json.Unmarshal(body, &members) != nil || json.Unmarshal(body, &document) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if raw, ok := members["thread"]; ok && json.Unmarshal(raw, &thread) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	v.served = append(v.served, thread.Type)
	before, known := v.kept[thread.Previous]
	lost := thread.Type == "continue" && v.refuses == threadNotFound
	if lost {
		v.refuses = "" // accept the next one
	}
	v.mu.Unlock()
	switch {
	case thread.Type != "" && v.refuses == threadUnsupported:
		threadError(w, http.StatusBadRequest, "invalid_request_error", threadUnsupported)
		return
	case thread.Type == "continue" && (lost || !known):
		threadError(w, http.StatusNotFound, "not_found_error", threadNotFound)
		return
	case thread.Type == "continue":
		document.Messages = append(append([]json.RawMessage{}, before.Messages...), document.Messages...)
		document.System, document.Tools = before.System, before.Tools
	}
	delete(members, "thread")
	members["messages"], _ = json.Marshal(document.Messages)
	if document.System != nil {
		members["system"] = document.System
	}
	if document.Tools != nil {
		members["tools"] = document.Tools
	}
	whole, _ := json.Marshal(members)
	inner := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(string(whole)))
	inner.Header = r.Header.Clone()
	inner.Header.Set("Content-Length", fmt.Sprint(len(whole)))
	recorded := httptest.NewRecorder()
	v.fake.ServeHTTP(recorded, inner)
	if recorded.Code == http.StatusOK {
		v.keep(document, recorded.Body.String())
	}
	for name, values := range recorded.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(recorded.Body.Bytes())
}

// keep stores a conversation with its last response.
func (v *threadVendor) keep(document threadDocument, response string) {
	m := threadMessage(response)
	turn, _ := json.Marshal(obj{"role": "assistant", "content": m.Content})
	document.Messages = append(document.Messages, turn)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept[m.ID] = document
}

// A threadReply is a stored response.
type threadReply struct {
	ID      string           `json:"id"`
	Content []map[string]any `json:"content"`
}

// threadMessage reads a whole response or the events of a stream.
func threadMessage(response string) (m threadReply) {
	if strings.HasPrefix(response, "{") {
		_ = json.Unmarshal([]byte(response), &m)
		return m
	}
	input := ""
	for line := range strings.Lines(response) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string         `json:"type"`
			Message threadReply    `json:"message"`
			Block   map[string]any `json:"content_block"`
			Delta   map[string]any `json:"delta"`
		}
		_ = json.Unmarshal([]byte(data), &e)
		switch e.Type {
		case "message_start":
			m.ID = e.Message.ID
		case "content_block_start":
			m.Content, input = append(m.Content, e.Block), ""
		case "content_block_delta":
			last := m.Content[len(m.Content)-1]
			for _, name := range []string{"text", "thinking", "signature"} {
				if more, ok := e.Delta[name].(string); ok {
					have, _ := last[name].(string)
					last[name] = have + more
				}
			}
			if more, ok := e.Delta["partial_json"].(string); ok {
				if input += more; json.Valid([]byte(input)) {
					last["input"] = json.RawMessage(input)
				}
			}
		}
	}
	return m
}

func threadError(w http.ResponseWriter, status int, kind, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(obj{
		"type": "error", "request_id": "req_thread",
		"error": obj{"type": kind, "message": "The thread is of no use here.", "details": obj{"error_code": code, "unsupported": arr{"model"}}},
	})
}

// runners are the clients that use threads by themselves.
var runners = []library{libraries[0], libraries[1]}

// TestThreads checks that the tool runners use threads if the vendor has them,
// and recover from the vendor's typed errors.
func TestThreads(t *testing.T) {
	tests := []struct {
		name, refuses string
		want          []string // types of the threads at the vendor
	}{
		{"kept", "", []string{"create", "continue", "continue"}},
		{"not found", threadNotFound, []string{"create", "continue", "create", "continue"}},
		{"unsupported", threadUnsupported, []string{"create", "", "", ""}},
	}
	for _, l := range runners {
		for _, tt := range tests {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%v", l.name, tt.name, stream), func(t *testing.T) {
					v := &threadVendor{
						fake:    fakeanthropic.NewHandler(fakeanthropic.Options{Key: vendorKey, Forbid: []string{key}}),
						refuses: tt.refuses,
					}
					for _, pieces := range libraryLoop(false) {
						v.fake.Say(pieces...)
					}
					s := serveModel(t, v.start(t), nil)
					threadLoop(t, l, s, v.fake.Server, stream)
					if diff := cmp.Diff(tt.want, v.served); diff != "" {
						t.Errorf("types of the threads (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// TestThreadsWithOtherVendors checks that the tool runners send the whole
// conversation if another vendor responds, which has no threads. TestLibraries
// checks the same with all scenarios.
func TestThreadsWithOtherVendors(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		if v.name == "anthropic" {
			return // TestThreads
		}
		for _, l := range runners {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/stream=%v", l.name, stream), func(t *testing.T) {
					s, f := l.serve(t, v)
					for _, pieces := range libraryLoop(false) {
						f.Say(pieces...)
					}
					threadLoop(t, l, s, f, stream)
				})
			}
		}
	})
}

// threadLoop runs a loop and checks that its last request contains the whole
// conversation.
func threadLoop(t *testing.T, l library, s *server, f *fake.Server, stream bool) {
	t.Helper()
	r, err := l.run(t, libraryCall{BaseURL: s.url, Key: key, Prompt: "What is it?", Stream: stream, Tools: true, MaxTokens: 4096})
	if err != nil {
		t.Fatalf("%v\nsent: %.2000s", err, f.Last().Body)
	}
	if r.Text != "Done: 42." || len(r.Calls) != 3 {
		t.Errorf("text %q, calls %q", r.Text, r.Calls)
	}
	last := string(f.Last().Body)
	for _, part := range []string{"What is it?", "Looking.", "Oslo", "result 2 of weather", "result 3 of time"} {
		if !strings.Contains(last, part) {
			t.Errorf("the request to the model does not contain %q: %.2000s", part, last)
		}
	}
}
