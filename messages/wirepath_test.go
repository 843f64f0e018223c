package messages

import (
	"testing"

	"github.com/polywire/polywire/internal/envelope"
)

// TestSignaturePath checks that the path of a signature exists in the document of the client.
func TestSignaturePath(t *testing.T) {
	carrier, _ := envelope.Encode("vendor", envelope.KindPart, "c2ln")
	state, _ := envelope.EncodeID("toolu_2", envelope.Envelope{Format: "vendor", Kind: envelope.KindPart, Data: "c2ln"})
	r, err := ParseRequest([]byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
		`{"type":"thinking","thinking":"h","signature":"AAAA"},{"type":"redacted_thinking","data":"` + carrier + `"},` +
		`{"type":"tool_use","id":"toolu_1","name":"f","input":{}},{"type":"tool_use","id":"` + state + `","name":"f","input":{}},{"type":"text","text":"b"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for neutral, want := range map[string]string{
		"turns.1.parts.0.signature": "messages.1.content.0.signature",
		"turns.1.parts.1.signature": "messages.1.content.1.data",
		"turns.1.parts.2.signature": "messages.1.content.2",
		"turns.1.parts.3.signature": "messages.1.content.3.id",
		"turns.1.parts.4.signature": "messages.1.content.4",
		"turns.1.parts.8.signature": "messages.1.content.8.signature", // a block that does not exist
		"turns.1.parts.2":           "messages.1.content.2",
		"parts.0.signature":         "content.0.signature", // of the response
	} {
		if got := r.Path(neutral); got != want {
			t.Errorf("%s becomes %s, want %s", neutral, got, want)
		}
	}
}

// A loss of the output format has the path of the member that the client sent.
func TestOutputPath(t *testing.T) {
	const format = `{"type":"json_schema","schema":{"type":"object"}}`
	for _, tt := range []struct{ member, output, schema string }{
		{`"output_config":{"format":` + format + `}`, "output_config", "output_config.format.schema.properties.a"},
		{`"output_format":` + format, "output_format", "output_format.schema.properties.a"},
	} {
		r, err := ParseRequest([]byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],` + tt.member + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Path("output"); got != tt.output {
			t.Errorf("%s: the path of the output is %s, want %s", tt.member, got, tt.output)
		}
		if got := r.Path("output.schema.properties.a"); got != tt.schema {
			t.Errorf("%s: the path of a member of the schema is %s, want %s", tt.member, got, tt.schema)
		}
	}
}
