package e2e

// messagesFiles are files in requests of Messages clients.
var messagesFiles = []feature{
	{
		name:  "image in base64",
		body:  `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + testPNG + `"}},{"type":"text","text":"T1"}]}]`,
		marks: []string{testPNG + " @ turns.0.parts.0", "T1 @ turns.0.parts.1"},
		sent: map[string][]string{
			toGemini: {"contents.0.parts.0.inlineData.mimeType = image/png", "contents.0.parts.0.inlineData.data = " + testPNG},
			toChat:   {"messages.0.content.0.image_url.url = data:image/png;base64," + testPNG},
			toResp:   {"input.0.content.0.image_url = data:image/png;base64," + testPNG},
		},
	},
	{
		name:  "image by link",
		body:  `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}},{"type":"text","text":"T1"}]}]`,
		marks: []string{testPNG + " @ turns.0.parts.0"},
		sent: map[string][]string{
			toGemini: {"contents.0.parts.0.inlineData.data = " + testPNG},
			toChat:   {"messages.0.content.0.image_url.url = data:image/png;base64," + testPNG},
			toResp:   {"input.0.content.0.image_url = data:image/png;base64," + testPNG},
		},
	},
	{
		name:  "image by link that the vendor fetches",
		links: true,
		body:  `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}},{"type":"text","text":"T1"}]}]`,
		sent: map[string][]string{
			toChat: {"messages.0.content.0.image_url.url = https://example.com/a.png"},
			toResp: {"input.0.content.0.image_url = https://example.com/a.png"},
		},
		marks: []string{"T1 @ turns.0.parts.1"},
		loss:  map[string][]string{toGemini: {"degraded turns.0.parts.0.source.media_type"}},
	},
	{
		name:  "image by id that the host resolves",
		body:  `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"file_png"}},{"type":"text","text":"T1"}]}]`,
		marks: []string{testPNG + " @ turns.0.parts.0"},
	},
	{
		name:  "image by unknown id",
		body:  `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"file_nobody"}},{"type":"text","text":"T1"}]}]`,
		fails: map[string]string{toGemini: "messages.0.content.0", toChat: "messages.0.content.0", toResp: "messages.0.content.0"},
	},
	{
		name:  "user turn with no supported content",
		body:  `"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":"A1"},{"role":"user","content":[{"type":"container_upload","file_id":"file_png"}]}]`,
		fails: map[string]string{toGemini: "messages.2.content.0", toChat: "messages.2.content.0", toResp: "messages.2.content.0"},
	},
	{
		name: "PDF with title and context",
		body: `"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + testPDF + `"},
			"title":"TI1","context":"CX1"},{"type":"text","text":"T1"}]}]`,
		marks: []string{testPDF + " @ turns.0.parts.0", "TI1 @ turns.0.parts.0", "CX1 @ turns.0.parts.0"},
		loss: map[string][]string{
			toGemini: {"degraded turns.0.parts.0"}, toChat: {"degraded turns.0.parts.0"}, toResp: {"degraded turns.0.parts.0"},
		},
	},
	{
		name:  "PDF by link",
		body:  `"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}},{"type":"text","text":"T1"}]}]`,
		marks: []string{testPDF + " @ turns.0.parts.0"},
		sent: map[string][]string{
			toGemini: {"contents.0.parts.0.inlineData.mimeType = application/pdf"},
			toChat:   {"messages.0.content.0.file.file_data = data:application/pdf;base64," + testPDF, "messages.0.content.0.file.filename"},
			toResp:   {"input.0.content.0.file_data = data:application/pdf;base64," + testPDF, "input.0.content.0.filename"},
		},
	},
	{
		name:  "PDF by id that the host resolves",
		body:  `"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_pdf"}},{"type":"text","text":"T1"}]}]`,
		marks: []string{testPDF + " @ turns.0.parts.0"},
	},
	{
		name: "documents with text and with parts",
		body: `"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"D1 text"}},
			{"type":"document","source":{"type":"content","content":[{"type":"text","text":"D2"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + testPNG + `"}}]}},
			{"type":"text","text":"T1"}]}]`,
		marks: []string{"D1 text @ turns.0.parts.0", "D2 @ turns.0.parts.1", testPNG + " @ turns.0.parts.1", "T1 @ turns.0.parts.2"},
		loss: map[string][]string{
			toGemini: {"degraded turns.0.parts.1"},
			toChat:   {"degraded turns.0.parts.0", "degraded turns.0.parts.1"},
			toResp:   {"degraded turns.0.parts.0", "degraded turns.0.parts.1"},
		},
	},
	{
		name:  "requested citations",
		body:  `"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"D1"},"citations":{"enabled":true}},{"type":"text","text":"T1"}]}]`,
		marks: []string{"D1 @ turns.0.parts.0"},
		loss: map[string][]string{
			toGemini: {"dropped turns.0.parts.0"},
			toChat:   {"degraded turns.0.parts.0", "dropped turns.0.parts.0"},
			toResp:   {"degraded turns.0.parts.0", "dropped turns.0.parts.0"},
		},
	},
	{
		name: "image and PDF in a tool result",
		body: `"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"T1"},
			{"role":"assistant","content":[{"type":"tool_use","id":"tu_1","name":"look","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu_1","content":[{"type":"text","text":"R1"},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + testPNG + `"}},
			{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + testPDF + `"}}]},{"type":"text","text":"T2"}]}]`,
		marks: []string{"T1 @ turns.0.parts.0", "R1 @ turns.2.parts.0.parts.0", testPNG + " @ turns.2.parts.0.parts.1", testPDF + " @ turns.2.parts.0.parts.2", "T2 @ turns.2.parts.1"},
		sent: map[string][]string{
			toGemini: {"contents.2.parts.0.functionResponse.parts.0.inlineData.data = " + testPNG},
			toChat:   {"messages.2.role = tool", "messages.3.role = user"},
			toResp:   {"input.2.type = function_call_output", "input.2.output.1.type = input_image"},
		},
		loss: map[string][]string{
			toGemini: {"hint turns.1.parts.0"},
			toChat:   {"degraded turns.2.parts.0.parts.1", "degraded turns.2.parts.0.parts.2"},
		},
	},
	{
		name: "PDF next to a tool result",
		body: `"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"T1"},
			{"role":"assistant","content":[{"type":"text","text":"T2"},{"type":"tool_use","id":"tu_1","name":"read","input":{"f":"F1"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu_1","content":"R1"},
			{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + testPDF + `"}}]}]`,
		marks: []string{"T2 @ turns.1.parts.0", "F1 @ turns.1.parts.1", "R1 @ turns.2.parts.0", testPDF + " @ turns.2.parts.1"},
		loss:  map[string][]string{toGemini: {"hint turns.1.parts.1"}},
	},
}
