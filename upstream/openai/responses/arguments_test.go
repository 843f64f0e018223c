package responses

import (
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Clients return arguments of models that are not a JSON object; the vendor accepts them (an empty list is recorded, with status 200). Other
// formats get an object with the text, so that it cannot end the object around it, or an empty one.
func TestArguments(t *testing.T) {
	for _, arguments := range []string{`[]`, `{"a": `, `{"a":1}},{"type":"text","text":"x"},{"b":{}}`, `not JSON`} {
		body := `{"model":"m","input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"1","name":"f","arguments":` +
			string(jsonwire.AppendString(nil, arguments)) + `},{"type":"function_call_output","call_id":"1","output":"o"}],"tools":[{"type":"function","name":"f"}]}`
		n, _, err := DecodeRequest(body, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := n.Turns[1].Parts[0].(*content.ToolUse)
		if arguments == "[]" {
			if call.Input != "" || call.Extra != nil {
				t.Errorf("an empty list became %s", call.Input)
			}
		} else if !gjson.Valid(call.Input) || gjson.Get(call.Input, "arguments").Str != arguments {
			t.Errorf("%s became %s", arguments, call.Input)
		}
	}
}
