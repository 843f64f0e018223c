package messages

import (
	"testing"

	"github.com/polywire/polywire/internal/envelope"
)

// TestSignaturePath checks that the path of a signature exists in the document of the client.
func TestSignaturePath(t *testing.T) {
	envelopeOf := func(k envelope.Kind) string {
		data, ok := envelope.Encode("vendor", k, "c2ln")
		if !ok {
			t.Fatal("no envelope")
		}
		return `{"type":"redacted_thinking","data":"` + data + `"}`
	}
	const call = `{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`
	r, err := ParseRequestString(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
		`{"type":"thinking","thinking":"h","signature":"AAAA"},` + envelopeOf(envelope.KindNextCall) + `,` + call + `,` + envelopeOf(envelope.KindPart) + `,` +
		call + `,` + envelopeOf(envelope.KindPreviousCall) + `,` + call + `,{"type":"text","text":"b"}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for neutral, want := range map[string]string{
		"turns.1.parts.0.signature": "messages.1.content.0.signature",
		"turns.1.parts.1.signature": "messages.1.content.1.data",
		"turns.1.parts.2.signature": "messages.1.content.1.data",
		"turns.1.parts.3.signature": "messages.1.content.3.data",
		"turns.1.parts.4.signature": "messages.1.content.5.data",
		"turns.1.parts.6.signature": "messages.1.content.6",
		"turns.1.parts.7.signature": "messages.1.content.7",
		"turns.1.parts.8.signature": "messages.1.content.8.signature", // a block without a signature
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
		r, err := ParseRequestString(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],` + tt.member + `}`)
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
