package openresponses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A contract validates JSON against the schemas of the OpenAPI document.
type contract struct {
	compiler *jsonschema.Compiler
	document map[string]any
	events   map[string]string // names of the schemas of events, by type
}

const documentURL = "https://openresponses.org/openapi.json"

// theContract reads the document once.
var theContract = sync.OnceValues(func() (*contract, error) {
	data, err := os.ReadFile("testdata/openapi.json")
	if err != nil {
		return nil, err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	c := &contract{compiler: jsonschema.NewCompiler(), events: make(map[string]string)}
	c.document = v.(map[string]any)
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := c.compiler.AddResource(documentURL, v); err != nil {
		return nil, err
	}
	// The events are those of the response of type text/event-stream.
	list := at[[]any](v, "paths", "/responses", "post", "responses", "200", "content", "text/event-stream", "schema", "oneOf")
	for _, x := range list {
		name := strings.TrimPrefix(at[string](x, "$ref"), "#/components/schemas/")
		types := at[[]any](c.schema(name), "properties", "type", "enum")
		c.events[types[0].(string)] = name
	}
	if len(c.events) < 20 {
		return nil, fmt.Errorf("the document has %d events", len(c.events))
	}
	return c, nil
})

func contractOf(t testing.TB) *contract {
	t.Helper()
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// at returns the value at a path in a document, or the zero value.
func at[T any](v any, path ...string) T {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	found, _ := v.(T)
	return found
}

// schema returns a schema of the document.
func (c *contract) schema(name string) map[string]any {
	return at[map[string]any](c.document, "components", "schemas", name)
}

// validate validates a JSON text against a schema. The compiler keeps what it has compiled; it is
// not safe for concurrent use, and these tests do not run in parallel.
func (c *contract) validate(schema, text string) error {
	s, err := c.compiler.Compile(documentURL + "#/components/schemas/" + schema)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%w\nin %s", err, text)
	}
	return nil
}

// stream validates each event of a stream.
func (c *contract) stream(body string) error {
	for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		if strings.HasPrefix(event, ":") || event == "data: [DONE]" {
			continue
		}
		_, data, _ := strings.Cut(event, "\ndata: ")
		var v struct{ Type string }
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			return fmt.Errorf("%w: %s", err, event)
		}
		name, ok := c.events[v.Type]
		if !ok {
			return fmt.Errorf("unknown event %s", event)
		}
		if err := c.validate(name, data); err != nil {
			return err
		}
	}
	return nil
}

// TestContract tests the validator: it refuses what differs between OpenAI's own wire and the
// specification.
func TestContract(t *testing.T) {
	c := contractOf(t)
	const item = `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[]`
	for _, tt := range []struct {
		schema, text string
		valid        bool
	}{
		// The case response-output-phase-schema of the specification's acceptance tests.
		{"ItemField", item + `}`, true},
		{"ItemField", item + `,"phase":"commentary"}`, true},
		{"ItemField", item + `,"phase":"final_answer"}`, true},
		{"ItemField", item + `,"phase":null}`, false},
		{"ItemField", item + `,"phase":"other"}`, false},

		{"ItemField", `{"type":"web_search_call","id":"ws_1","status":"completed"}`, false},
		{"ItemField", `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null}`, false},
		{"ErrorStreamingEvent", `{"type":"error","sequence_number":1,"code":"c","message":"m","param":null}`, false},
		{"ErrorStreamingEvent", `{"type":"error","sequence_number":1,"error":{"type":"t","code":"c","message":"m","param":null}}`, true},
		{"Reasoning", `{"effort":"minimal","summary":null}`, false},
		{"JsonSchemaResponseFormat", `{"type":"json_schema","name":"n","description":null,"strict":true,"schema":{}}`, false},
		{"JsonSchemaResponseFormat", `{"type":"json_schema","name":"n","description":null,"strict":true,"schema":null}`, true},
		{"ResponseResource", `{}`, false},
		{"CreateResponseBody", `{"max_output_tokens":1}`, false},
	} {
		if err := c.validate(tt.schema, tt.text); (err == nil) != tt.valid {
			t.Errorf("%s %s: %v", tt.schema, tt.text, err)
		}
	}
}
