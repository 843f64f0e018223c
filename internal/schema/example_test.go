package schema_test

import (
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/schema"
)

func ExampleInput() {
	s := content.Schema{JSON: `{"type":"object","properties":{"when":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]},` +
		`"step":{"type":"number","multipleOf":5}},"additionalProperties":false}`}
	out, losses := schema.Input(schema.MessagesStrict, s)
	fmt.Println(out)
	for _, l := range losses {
		fmt.Printf("%s %s: %s\n", l.Rule.Severity, l.Path, l.Rule.Reason)
	}
	// Output:
	// {"type":"object","properties":{"when":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]},"step":{"type":"number"}},"additionalProperties":false}
	// degraded properties.step.multipleOf: the target does not support this constraint; it was dropped, and values may violate it
}

func ExampleOutput() {
	s := content.Schema{OpenAPI: true, JSON: `{"type":"ARRAY","items":{"type":"STRING"},"maxItems":"3","nullable":true}`}
	out, losses := schema.Output(schema.JSONSchema, s)
	fmt.Println(out, len(losses))
	// Output:
	// {"type":["array","null"],"items":{"type":"string"},"maxItems":3} 0
}

func ExampleFits() {
	s := content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`}
	fmt.Println(schema.Fits(schema.OpenAIStrict, s), schema.Fits(schema.OpenAIStrict, content.Schema{JSON: `{"type":"object"}`}))
	// Output:
	// true false
}
