package e2e

// emptyMessageText is sent for an empty message by formats that do not accept one.
const emptyMessageText = "(The user's message is empty.)"

const askedG1 = `"contents":[{"role":"user","parts":[{"text":"T1"}]}]`

// generateTexts are texts in requests of generateContent clients.
var generateTexts = []feature{
	{
		name:  "text",
		body:  askedG1,
		marks: []string{"T1 @ turns.0.parts.0"},
		sent:  map[string][]string{toClaude: {"max_tokens", "messages.0.role = user"}, toResp: {"store = false"}},
	},
	{
		name: "conversation with system text",
		body: `"systemInstruction":{"role":"user","parts":[{"text":"S1"},{"text":"S2"}]},
			"contents":[{"parts":[{"text":"T1"},{"text":"T2"}]},{"role":"model","parts":[{"text":"T3"}]},{"role":"user","parts":[{"text":"T4"}]}]`,
		marks: []string{"S1 @ system.0", "S2 @ system.1", "T1 @ turns.0.parts.0", "T2 @ turns.0.parts.1", "T3 @ turns.1.parts.0", "T4 @ turns.2.parts.0"},
		sent:  map[string][]string{toClaude: {`messages.#.role = ["user","assistant","user"]`, "system.1.text = S2"}},
	},
	{
		name:  "consecutive turns of one role",
		body:  `"contents":[{"role":"user","parts":[{"text":"T1"}]},{"role":"user","parts":[{"text":"T2"}]},{"role":"model","parts":[{"text":"T3"}]},{"role":"model","parts":[{"text":"T4"}]},{"role":"user","parts":[{"text":"T5"}]}]`,
		marks: []string{"T1 @ turns.0.parts.0", "T2 @ turns.1.parts.0", "T3 @ turns.2.parts.0", "T4 @ turns.3.parts.0", "T5 @ turns.4.parts.0"},
	},
	{
		name:  "empty texts",
		body:  `"contents":[{"role":"user","parts":[{"text":"T1"},{"text":""}]},{"role":"model","parts":[{"text":"T2"},{"text":""}]},{"role":"user","parts":[{"text":"T3"},{}]}]`,
		marks: []string{"T1 @ turns.0.parts.0", "T2 @ turns.1.parts.0", "T3 @ turns.2.parts.0"},
	},
	{
		name:  "empty message with instructions",
		body:  `"systemInstruction":{"parts":[{"text":"S1"}]},"contents":[{"role":"user","parts":[{"text":""}]}]`,
		marks: []string{"S1 @ system.0"},
		sent: map[string][]string{
			toClaude: {"messages.0.content.0.text = " + emptyMessageText},
			toChat:   {"messages.1.content = " + emptyMessageText},
			toResp:   {"input.0.content = " + emptyMessageText},
		},
		loss: map[string][]string{toClaude: {"degraded turns.0", "* turns.0.parts.0"}, toChat: {"degraded turns.0", "* turns.0.parts.0"}, toResp: {"degraded turns.0", "* turns.0.parts.0"}},
	},
	{
		name:  "empty first message",
		body:  `"contents":[{"role":"user","parts":[{"text":""}]},{"role":"model","parts":[{"text":"T1"}]},{"role":"user","parts":[{"text":"T2"}]}]`,
		marks: []string{"T1 @ turns.1.parts.0", "T2 @ turns.2.parts.0"},
		loss:  map[string][]string{toClaude: {"* turns.0"}, toChat: {"degraded turns.0", "* turns.0.parts.0"}, toResp: {"degraded turns.0", "* turns.0.parts.0"}},
	},
	{
		name:  "conversation that begins with the model",
		body:  `"contents":[{"role":"model","parts":[{"text":"T1"}]},{"role":"user","parts":[{"text":"T2"}]}]`,
		marks: []string{"T1 @ turns.0.parts.0", "T2 @ turns.1.parts.0"},
	},
	{
		name:  "thinking and signatures of the client's own vendor",
		body:  `"contents":[{"role":"user","parts":[{"text":"T1"}]},{"role":"model","parts":[{"text":"TH1","thought":true},{"text":"T2","thoughtSignature":"U0lHMQ=="}]},{"role":"user","parts":[{"text":"T3"}]}]`,
		marks: []string{"TH1 @ turns.1.parts.0", "T2 @ turns.1.parts.1", "U0lHMQ== @ turns.1.parts.1"},
		loss: map[string][]string{
			toClaude: {"hint turns.1.parts.0", "hint turns.1.parts.1"},
			toChat:   {"hint turns.1.parts.0", "hint turns.1.parts.1"},
			toResp:   {"hint turns.1.parts.0", "hint turns.1.parts.1"},
		},
	},
	{
		name:  "unicode",
		body:  `"contents":{"parts":{"text":"Grüße 🏳️‍🌈 \u0000\u2028\ud83d\ude00 עברית <&> \"\\ 日本"}}`,
		marks: []string{"Grüße 🏳️‍🌈 \x00\u2028😀 עברית <&> \"\\ 日本 @ turns.0.parts.0"},
	},
	{
		name:  "text of one megabyte",
		body:  `"contents":{"parts":{"text":` + quote(huge+"END") + `}}`,
		marks: []string{huge + "END @ turns.0.parts.0"},
	},
	{
		name:  "members of this format only",
		body:  askedG1 + `,"labels":{"LA1":"LA2"},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]`,
		marks: []string{"LA1 @ extra.labels", "HARM_CATEGORY_HARASSMENT @ extra.safetySettings"},
		loss: map[string][]string{
			toClaude: {"hint extra.labels", "degraded extra.safetySettings"},
			toChat:   {"hint extra.labels", "degraded extra.safetySettings"},
			toResp:   {"hint extra.labels", "degraded extra.safetySettings"},
		},
	},
}

// generateFiles are files in requests of generateContent clients.
var generateFiles = []feature{
	{
		name:  "image and PDF",
		body:  `"contents":{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"` + testPNG + `"}},{"inlineData":{"mimeType":"application/pdf","data":"` + testPDF + `","displayName":"DN1.pdf"}},{"text":"T1"}]}`,
		marks: []string{testPNG + " @ turns.0.parts.0", testPDF + " @ turns.0.parts.1", "DN1.pdf @ turns.0.parts.1", "T1 @ turns.0.parts.2"},
		sent: map[string][]string{
			toClaude: {"messages.0.content.0.source.media_type = image/png", "messages.0.content.1.type = document"},
			toChat:   {"messages.0.content.1.file.file_data"}, toResp: {"input.0.content.1.file_data"},
		},
		loss: map[string][]string{toClaude: {"* turns.0.parts.1.source"}},
	},
	{
		name: "user turn of white space",
		body: `"contents":[{"role":"user","parts":[{"text":"T1"}]},{"role":"model","parts":[{"text":"A1"}]},{"role":"user","parts":[{"text":" "}]}]`,
		loss: map[string][]string{toClaude: {"degraded turns.2", "* turns.2.parts.0"}},
		sent: map[string][]string{toClaude: {"messages.2.content.0.text = " + emptyMessageText}, toChat: {"messages.2.content =  "}, toResp: {"input.2.content =  "}},
	},
	{
		name:  "files by link",
		body:  `"contents":{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://example.com/a.png"}},{"fileData":{"mimeType":"application/pdf","fileUri":"https://example.com/a.pdf"}},{"text":"T1"}]}`,
		marks: []string{testPNG + " @ turns.0.parts.0", testPDF + " @ turns.0.parts.1"},
	},
	{
		name:  "unknown file",
		body:  `"contents":{"role":"user","parts":[{"fileData":{"mimeType":"image/jpeg","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/nobody"}},{"text":"T1"}]}`,
		fails: map[string]string{toClaude: "contents[0].parts[0]", toChat: "contents[0].parts[0]", toResp: "contents[0].parts[0]"},
	},
	{
		name:  "text file",
		body:  `"contents":{"role":"user","parts":[{"inlineData":{"mimeType":"text/plain","data":"RmlsZSBGMSB0ZXh0"}},{"text":"T1"}]}`,
		marks: []string{"File F1 text @ turns.0.parts.0"},
		sent:  map[string][]string{toClaude: {"messages.0.content.0.source.type = text", "messages.0.content.0.source.data = File F1 text"}},
		loss:  map[string][]string{toClaude: {"hint turns.0.parts.0.source"}, toChat: {"degraded turns.0.parts.0"}, toResp: {"degraded turns.0.parts.0"}},
	},
	{
		name:  "audio",
		model: map[string]string{toChat: "gpt-audio"},
		body:  `"contents":{"role":"user","parts":[{"inlineData":{"mimeType":"audio/wav","data":"UklGRgAAAABXQVZF"}},{"text":"T1"}]}`,
		fails: map[string]string{toClaude: "contents[0].parts[0]", toResp: "contents[0].parts[0]"},
		marks: []string{"UklGRgAAAABXQVZF @ turns.0.parts.0"},
	},
	{
		name:  "audio for models that do not hear",
		body:  `"contents":{"role":"user","parts":[{"inlineData":{"mimeType":"audio/wav","data":"UklGRgAAAABXQVZF"}},{"text":"T1"}]}`,
		fails: map[string]string{toClaude: "contents[0].parts[0]", toChat: "contents[0].parts[0]", toResp: "contents[0].parts[0]"},
		marks: []string{"UklGRgAAAABXQVZF @ turns.0.parts.0"},
	},
}
