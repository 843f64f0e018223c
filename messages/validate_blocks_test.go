package messages

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

const (
	userTags      = "'text', 'image', 'document', 'search_result', 'tool_result', 'container_upload', 'compaction'"
	resultTags    = "'text', 'image', 'document', 'search_result', 'tool_reference', 'browser_state'"
	badTag        = "Input tag '%' found using 'type' does not match any of the expected tags: "
	imageBase64   = "messages.0.content.0.image.source.base64"
	textImageType = "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
)

func tagText(tag, expected string) string { return strings.Replace(badTag, "%", tag, 1) + expected }

func image(mediaType, data string) string {
	return userSays(`{"type":"image","source":{"type":"base64","media_type":"` + mediaType + `","data":"` + data + `"}}`)
}

func file(mediaType string, data []byte) string { // as a document
	return userSays(`{"type":"document","source":{"type":"base64","media_type":"` + mediaType + `","data":"` +
		base64.StdEncoding.EncodeToString(data) + `"}}`)
}

func TestValidateSources(t *testing.T) {
	wide := base64.StdEncoding.EncodeToString([]byte("GIF89a\x41\x1f\x01\x00\x00\x00\x00")) // 8001 by 1
	many := strings.Repeat(`{"type":"image","source":{"type":"url","url":"https://img.example/a.png"}},`, 101)
	fileBlock := userSays(`{"type":"document","source":{"type":"file","file_id":"f"}}`)
	fileFault := oneFault(content.CodeUnsupported, "messages.0.content.0.document.source",
		tagText("file", "'base64', 'text', 'content', 'url'")+" (a file source needs the anthropic-beta value files-api-2025-04-14)")
	link := func(url string) string {
		return userSays(`{"type":"image","source":{"type":"url","url":"` + url + `"}}`)
	}
	noURL := oneFault(content.CodeValue, "messages.0.content.0.image.source.url.url", "Input should be a valid URL with the scheme http or https and a host")
	runRules(t, []ruleTest{
		{"good", image("image/png", dot), nil, nil},
		{"jpg is jpeg", image("image/jpg", "/9j/wAALCAABAAEBAREA"), nil, nil},
		{"type", image("image/bmp", dot), nil, []content.Violation{
			{Code: content.CodeValue, Path: imageBase64 + ".media_type", Text: textImageType}}},
		{"other bytes", image("image/gif", dot), nil, oneFault(content.CodeMedia, imageBase64,
			"The image was specified using the image/gif media type, but the image appears to be a image/png image")},
		{"no image", image("image/png", "aGVsbG8="), nil, oneFault(content.CodeMedia, imageBase64+".data",
			"Image does not match the provided media type image/png")},
		{"cut header", image("image/png", "iVBORw0KGgo="), nil, oneFault(content.CodeMedia, imageBase64+".data", "Could not process image")},
		{"too wide", image("image/gif", wide), nil, oneFault(content.CodeLimit, imageBase64+".data",
			"At least one of the image dimensions exceed max allowed size: 8000 pixels")},
		{"too many bytes", image("image/png", dot), &ValidateOptions{Limits: content.Limits{FileBytes: 50}}, oneFault(content.CodeLimit, imageBase64+".data",
			"image exceeds the maximum: 70 bytes > 50 bytes")},
		{"data URL", image("image/png", "data:image/png;base64,"+dot), nil, oneFault(content.CodeMedia, imageBase64+".data",
			"invalid base64 data: it has a character that is not in the base64 alphabet")},
		{"line break", image("image/png", dot[:40]+`\n`+dot[40:]), nil, oneFault(content.CodeMedia, imageBase64+".data",
			"invalid base64 data: it must be base64 without line breaks")},
		{"no padding", image("image/png", strings.TrimRight(dot, "=")), nil, oneFault(content.CodeMedia, imageBase64+".data",
			"invalid base64 data: it has missing or misplaced base64 padding")},
		{"empty data", image("image/png", ""), nil, oneFault(content.CodeRange, imageBase64+".data", "String should have at least 1 character")},
		{"text source for an image", userSays(`{"type":"image","source":{"type":"text","media_type":"text/plain","data":"x"}}`), nil,
			oneFault(content.CodeValue, "messages.0.content.0.image.source", tagText("text", "'base64', 'url', 'file'"))},
		{"no source", userSays(`{"type":"image"}`), nil, oneFault(content.CodeMissing, "messages.0.content.0.image.source", "Field required")},
		{"PDF", file("application/pdf", []byte("%PDF-1.7\n")), nil, nil},
		{"PDF of text", file("application/pdf", []byte("hello")), nil, oneFault(content.CodeMedia, "messages.0.content.0.document.source.base64.media_type",
			"Document does not match the provided media type application/pdf")},
		{"a text in base64", file("text/plain", []byte("hello")), nil, nil},
		{"a text in base64, strict", file("text/plain", []byte("hello")), &ValidateOptions{Strict: true},
			oneFault(content.CodeValue, "messages.0.content.0.document.source.base64.media_type", "Input should be 'application/pdf'")},
		{"a text that is none", file("text/plain", []byte("he\xffllo")), nil,
			oneFault(content.CodeMedia, "messages.0.content.0.document.source.base64.media_type", "Document does not match the provided media type text/plain")},
		{"type of a document", file("text/html", []byte("hello")), nil,
			oneFault(content.CodeValue, "messages.0.content.0.document.source.base64.media_type", "Input should be 'application/pdf' or 'text/plain'")},
		{"type of a text", userSays(`{"type":"document","source":{"type":"text","media_type":"text/html","data":"x"}}`), nil,
			oneFault(content.CodeValue, "messages.0.content.0.document.source.text.media_type", "Input should be 'text/plain'")},
		{"PDF as text", userSays(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"%PDF-1.4"}}`), nil,
			oneFault(content.CodeMedia, "messages.0.content.0.document.source.text.media_type", "Document does not match the provided media type text/plain: it is application/pdf")},
		{"document of a document", userSays(`{"type":"document","source":{"type":"content","content":[{"type":"document","source":{"type":"url","url":"https://a.example"}}]}}`), nil,
			oneFault(content.CodeOrder, "messages.0.content.0.document.source.content.content.0", tagText("document", "'text', 'image'"))},
		{"empty string as document", userSays(`{"type":"document","source":{"type":"content","content":"x"}}`), nil, nil},
		{"link", link("HTTPS://img.example:8443/a?b#c"), nil, nil},
		{"other scheme", link("ftp://img.example/a"), nil, noURL},
		{"no scheme", link("img.example/a"), nil, noURL},
		{"no host", link("https:///a"), nil, noURL},
		{"no host but a port", link("https://:80/a"), nil, noURL},
		{"space in a link", link("https://img.example/a b"), nil, oneFault(content.CodeValue, "messages.0.content.0.image.source.url.url",
			"Input should be a valid URL without white space, control characters and backslashes")},
		{"file", fileBlock, nil, fileFault},
		{"file, beta", fileBlock, &ValidateOptions{Betas: []string{"x", "files-api-2025-04-14"}}, nil},
		{"file, newer version", fileBlock, &ValidateOptions{Version: version2026}, nil},
		{"file, allowed", fileBlock, &ValidateOptions{AllowFiles: true}, nil},
		{"files", userSays(strings.TrimSuffix(many, ",")), nil, oneFault(content.CodeLimit, "messages", "too many files in the request: 101 files > 100 files")},
		{"image in a result", talk(`{"role":"user","content":"a"},{"role":"assistant","content":[` + useA + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` +
			`{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"` + dot + `"}}]}]}`), nil,
			oneFault(content.CodeMedia, "messages.2.content.0.tool_result.content.0.image.source.base64",
				"The image was specified using the image/webp media type, but the image appears to be a image/png image")},
	})
}

func TestValidateBlocks(t *testing.T) {
	doc := `{"type":"document","source":{"type":"url","url":"https://a.example"}}`
	citing := func(on string) string {
		return `{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}],"citations":{"enabled":` + on + `}}`
	}
	strict := &ValidateOptions{Strict: true}
	r, _ := ParseRequestString(afterSaying(doc))
	list, _ := content.Violations(r.Validate(&ValidateOptions{Version: version2026}))
	if len(list) != 1 || list[0].Path != "messages.1.content.0" || !strings.HasPrefix(list[0].Text, "Input tag 'document' found") {
		t.Errorf("document of the assistant, newer version: %v", list)
	}
	runRules(t, []ruleTest{
		{"thinking of the user", userSays(`{"type":"thinking","thinking":"a","signature":"b"}`), nil,
			oneFault(content.CodeOrder, "messages.0.content.0", tagText("thinking", userTags))},
		{"call in a result", talk(`{"role":"user","content":"a"},{"role":"assistant","content":[` + useA + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + useB + `]}]}`), nil,
			oneFault(content.CodeOrder, "messages.2.content.0.tool_result.content.0", tagText("tool_use", resultTags))},
		{"unknown block", userSays(`{"type":"hologram","x":1}`), nil, nil},
		{"unknown block, strict", userSays(`{"type":"hologram","x":1}`), strict,
			oneFault(content.CodeUnknown, "messages.0.content.0", tagText("hologram", userTags))},
		{"unknown member, strict", userSays(`{"type":"text","text":"a","x":1}`), strict,
			oneFault(content.CodeUnknown, "messages.0.content.0.text.x", "Extra inputs are not permitted")},
		{"no tag", userSays(`{"text":"a"}`), nil, oneFault(content.CodeMissing, "messages.0.content.0.type", "Field required")},
		{"document of the assistant", afterSaying(doc), nil, nil},
		{"empty data", afterSaying(`{"type":"redacted_thinking","data":""}`), nil,
			oneFault(content.CodeRange, "messages.1.content.0.redacted_thinking.data", "String should have at least 1 character")},
		{"no signature", afterSaying(`{"type":"thinking","thinking":"a"}`), nil, nil},
		{"no signature, strict", afterSaying(`{"type":"thinking","thinking":"a"}`), strict,
			oneFault(content.CodeMissing, "messages.1.content.0.thinking.signature", "Field required")},
		{"empty signature", afterSaying(`{"type":"thinking","thinking":"a","signature":""}`), nil, nil},
		{"empty signature, strict", afterSaying(`{"type":"thinking","thinking":"a","signature":""}`), strict,
			oneFault(content.CodeValue, "messages.1.content.0", "Invalid `signature` in `thinking` block")},
		{"id of any alphabet", talk(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"call_a.b:c|d","name":"t","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_a.b:c|d"}]}`), nil, nil},
		{"id, strict", talk(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"t","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a.b"}]}`), strict,
			oneFault(content.CodeValue, "messages.1.content.0.tool_use.id", "String should match pattern '^[a-zA-Z0-9_-]+$'")},
		{"input", afterSaying(`{"type":"tool_use","id":"","name":"` + strings.Repeat("n", 201) + `","input":"{}"}`), nil, []content.Violation{
			{Code: content.CodeType, Path: "messages.1.content.0.tool_use.input", Text: "Input should be a valid dictionary"},
			{Code: content.CodeRange, Path: "messages.1.content.0.tool_use.id", Text: "String should have at least 1 character"},
			{Code: content.CodeRange, Path: "messages.1.content.0.tool_use.name", Text: "String should have at most 200 characters"}}},
		{"server id, strict", afterSaying(`{"type":"server_tool_use","id":"x-1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"x-1","content":[]}`), strict,
			oneFault(content.CodeValue, "messages.1.content.0.server_tool_use.id", "String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'")},
		{"server result", afterSaying(`{"type":"web_search_tool_result","tool_use_id":"x","content":"y"}`), nil,
			oneFault(content.CodeType, "messages.1.content.0.web_search_tool_result.content", "Input should be a valid list")},
		{"MCP call", afterSaying(`{"type":"mcp_tool_use","id":"x","name":"y","input":{}}`), nil,
			oneFault(content.CodeMissing, "messages.1.content.0.mcp_tool_use.server_name", "Field required")},
		{"caller", afterSaying(`{"type":"server_tool_use","id":"x","name":"web_search","input":{},"caller":{"type":"code_execution_20250825"}},{"type":"web_search_tool_result","tool_use_id":"x","content":[]}`), nil,
			oneFault(content.CodeMissing, "messages.1.content.0.server_tool_use.caller.code_execution_20250825.tool_id", "Field required")},
		{"transformations", userSays(`{"type":"image","source":{"type":"url","url":"https://a.example"},"transformations":{"oversized_image":"x"}}`), strictly,
			oneFault(content.CodeValue, "messages.0.content.0.image.transformations.oversized_image", "Input should be 'downsize' or 'error'")},
		{"upload", userSays(`{"type":"container_upload"}`), nil,
			oneFault(content.CodeMissing, "messages.0.content.0.container_upload.file_id", "Field required")},
		{"compaction", userSays(`{"type":"compaction","content":""}`), nil,
			oneFault(content.CodeRange, "messages.0.content.0.compaction.content", "String should have at least 1 character")},
		{"compaction without content", userSays(`{"type":"compaction","content":null},{"type":"text","text":"a"}`), nil, nil},
		{"fallback", afterSaying(`{"type":"fallback","from":{"model":"a"}}`), nil,
			oneFault(content.CodeMissing, "messages.1.content.0.fallback.to", "Field required")},
		{"search results disagree", userSays(citing("true") + "," + citing("false")), nil,
			oneFault(content.CodeConflict, "messages.0.content.1.search_result.citations", "citations must be enabled for all search results or for none")},
		{"search results agree", userSays(citing("true") + "," + citing("true")), nil, nil},
		{"search result of an image", userSays(`{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":""},{"type":"image","source":{"type":"url","url":"https://a.example"}}]}`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "messages.0.content.0.search_result.content.0.text", Text: "String should have at least 1 character"},
			{Code: content.CodeValue, Path: "messages.0.content.0.search_result.content.1.type", Text: "Input should be 'text'"}}},
	})
}

func TestValidateCitations(t *testing.T) {
	cite := func(c string) string { return `{"type":"text","text":"x","citations":[` + c + `]}` }
	chars := func(index, start, end string) string {
		return `{"type":"char_location","cited_text":"c","document_index":` + index + `,"document_title":null,"start_char_index":` + start + `,"end_char_index":` + end + `}`
	}
	at := "messages.1.content.0.text.citations.0."
	runRules(t, []ruleTest{
		{"good", afterSaying(cite(chars("0", "0", "9"))), nil, nil},
		{"bounds", afterSaying(cite(chars("-1", "5", "4"))), nil, []content.Violation{
			{Code: content.CodeRange, Path: at + "char_location.document_index", Text: "Input should be greater than or equal to 0"},
			{Code: content.CodeRange, Path: at + "char_location.end_char_index", Text: "Input should be greater than or equal to 5"}}},
		{"page", afterSaying(cite(`{"type":"page_location","cited_text":"c","document_index":0,"document_title":"d","start_page_number":0,"end_page_number":1}`)), nil,
			oneFault(content.CodeRange, at+"page_location.start_page_number", "Input should be greater than or equal to 1")},
		{"title", afterSaying(cite(`{"type":"web_search_result_location","cited_text":"c","url":"u","title":"` + strings.Repeat("t", 513) + `","encrypted_index":"e"}`)), nil,
			oneFault(content.CodeRange, at+"web_search_result_location.title", "String should have at most 512 characters")},
		{"unknown, strict", afterSaying(cite(`{"type":"smell_location"}`)), &ValidateOptions{Strict: true}, oneFault(content.CodeUnknown, at[:len(at)-1],
			tagText("smell_location", "'char_location', 'page_location', 'content_block_location', 'search_result_location', 'web_search_result_location'"))},
		{"of the user", userSays(cite(chars("0", "0", "9"))), nil, nil},
		{"of the user, newer version", userSays(cite(chars("0", "0", "9"))), &ValidateOptions{Version: version2026},
			oneFault(content.CodeUnsupported, "messages.0.content.0.text.citations", textUserCitations)},
		{"in a search result, newer version", userSays(`{"type":"search_result","source":"s","title":"t","content":[` + cite(chars("0", "0", "9")) + `]}`), &ValidateOptions{Version: version2026},
			oneFault(content.CodeUnsupported, "messages.0.content.0.search_result.content.0.citations", textUserCitations)},
	})
}
