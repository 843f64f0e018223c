package openai

import "testing"

// TestResponsesLearn checks what is learned from refusals.
func TestResponsesLearn(t *testing.T) {
	const all = fieldTemperature | fieldEffort | fieldSummary | fieldReasoning | fieldPadding
	for _, tt := range []struct {
		body        string
		status      int
		want        field
		again, keep bool
	}{
		{`{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":null,"code":null}}`, 400, fieldReasoning, true, true},
		{`{"error":{"message":"Unsupported parameter.","param":"reasoning.effort","code":"unsupported_parameter"}}`, 400, fieldEffort, true, true},
		{`{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary","code":"unsupported_value"}}`, 400, fieldSummary, true, true},
		{`{"error":{"message":"Unknown parameter: 'include'.","param":"include","code":"unknown_parameter"}}`, 422, fieldReasoning, true, true},
		{`{"error":{"message":"Unknown parameter: 'stream_options.include_obfuscation'.","param":"stream_options.include_obfuscation","code":"unknown_parameter"}}`, 400, fieldPadding, true, true},
		{`{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]}`, 422, fieldPadding, true, true},
		{`{"error":{"message":"Unsupported parameter.","param":"top_p","code":"unsupported_parameter"}}`, 400, 0, false, false},
		{`{"error":{"message":"Unsupported parameter.","param":"temperature","code":"unsupported_parameter"}}`, 500, 0, false, false},
		{`{"error":{"message":"No tool output found for function call call_x.","param":"input","code":null}}`, 400, 0, false, false},
		{`{"error":{"message":"x","code":"invalid_encrypted_content"}}`, 400, 0, true, false},
		{`{"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item.","code":null}}`, 400, 0, true, false},
		{`{"error":{"message":"Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.","code":null}}`, 400, 0, true, false},
		{`{"error":{"message":"Item with id 'rs_1' not found. Items are not persisted when store is set to false.","code":null}}`, 404, 0, true, false},
		{`{"error":{"message":"The model 'x' does not exist or you do not have access to it.","code":"model_not_found"}}`, 404, 0, false, false},
		{`{"error":{"message":"temperature must be at most 0.1","param":"temperature","code":null}}`, 400, 0, false, false},
	} {
		p := &plan{own: ResponsesFormat, sent: all}
		again, keep := p.learn(decodeError(ResponsesFormat, tt.status, nil, []byte(tt.body)))
		if p.to.refused.fields != tt.want || again != tt.again || keep != tt.keep {
			t.Errorf("%s: %b, again %v, keep %v", tt.body, p.to.refused.fields, again, keep)
		}
	}
}
