package conformance

const (
	oracleSchema = `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"array","items":{"type":"string"}}},"required":["n"]}`
	oraclePNG    = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	oraclePDF    = "JVBERi0xLjQKMSAwIG9iajw8L1R5cGUvQ2F0YWxvZz4+ZW5kb2JqCnRyYWlsZXI8PC9Sb290IDEgMCBSPj4KJSVFT0YK"
)

// fullMessagesRequest is a Messages request with as many features as possible.
const fullMessagesRequest = `{"model":"m","max_tokens":2000,"temperature":0.5,"top_p":0.9,"top_k":5,"stop_sequences":["END"],
	"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}],
	"metadata":{"user_id":"u1"},"service_tier":"auto",
	"tools":[{"name":"f","description":"d","input_schema":` + oracleSchema + `,"cache_control":{"type":"ephemeral"}},{"name":"g","input_schema":{"type":"object"}}],
	"tool_choice":{"type":"any","disable_parallel_tool_use":true},
	"messages":[
		{"role":"user","content":[{"type":"text","text":"T1","cache_control":{"type":"ephemeral"}},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + oraclePNG + `"}},
			{"type":"document","title":"D1","context":"about","source":{"type":"base64","media_type":"application/pdf","data":"` + oraclePDF + `"}},
			{"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}},
			{"type":"search_result","source":"https://a.example/","title":"S","content":[{"type":"text","text":"found"}]}]},
		{"role":"assistant","content":[{"type":"text","text":"two calls"},{"type":"tool_use","id":"c1","name":"f","input":{"n":1}},{"type":"tool_use","id":"c2","name":"g","input":{}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"R1"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + oraclePNG + `"}}]},
			{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":"no"},{"type":"text","text":"go on"}]}]}`

// fullGenerateRequest is a generateContent request with as many features as
// possible.
const fullGenerateRequest = `{"systemInstruction":{"parts":[{"text":"Be brief."}]},
	"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":` + oracleSchema + `},{"name":"g","parameters":{"type":"OBJECT","properties":{"x":{"type":"STRING","nullable":true}}}}]}],
	"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}},
	"generationConfig":{"temperature":0.5,"topP":0.9,"maxOutputTokens":2000,"stopSequences":["END"],"presencePenalty":0.5,"frequencyPenalty":0.25,"seed":7,
		"responseMimeType":"application/json","responseJsonSchema":` + oracleSchema + `,"thinkingConfig":{"thinkingBudget":4000,"includeThoughts":true}},
	"contents":[
		{"role":"user","parts":[{"text":"T1"},{"inlineData":{"mimeType":"image/png","data":"` + oraclePNG + `"}},{"inlineData":{"mimeType":"application/pdf","data":"` + oraclePDF + `","displayName":"d.pdf"}}]},
		{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1}}},{"functionCall":{"name":"g","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"R1"}}},{"functionResponse":{"name":"g","response":{"error":"no"}}}]}]}`
