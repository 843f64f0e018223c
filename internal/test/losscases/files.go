package losscases

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// Servers with options.
var (
	acceptsFiles    = openai.Dialect{Files: true}
	describesFiles  = openai.Dialect{DescribeUnreadable: true}
	readsText       = openai.Dialect{TextOnly: true}
	returnsThinking = openai.Dialect{Reasoning: "reasoning_content"}
	alwaysThinks    = openai.Dialect{Efforts: []string{"low"}}
	strictRoles     = openai.Dialect{StrictRoles: true}
)

// Hosts of [OtherChat] with rules of their own.
const (
	mistral    = "https://api.mistral.ai/v1"
	openRouter = "https://openrouter.ai/api/v1"
	deepSeek   = "https://api.deepseek.com/v1"
)

const wordType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

var files = []Feature{
	{Name: loss.ImageType, Row: "image", Cases: []Case{
		{Set: parts(png)},
		{When: "as HEIC", From: by(g), Set: parts(image(base64("image/heic", "AAAAGGZ0eXBoZWlj")))},
		{When: "with a media type that does not match the data", From: by(g), Set: parts(image(base64("image/png", jpegData)))},
		{When: "with `Dialect.TextOnly`", To: []Server{OtherChat}, Dialect: readsText, Set: parts(png)},
		{Unlisted: true, Set: parts(image(base64("", pngData)))},
		{Unlisted: true, Set: parts(image(base64("image/bmp", "Qk0AAAAAAAAAAA==")))},
	}},
	{Name: loss.ImageSource, Row: "image by link", Cases: []Case{
		{Set: parts(image(&content.URL{URL: "https://example.com/a.png"}))},
		{When: "if the server fetches it", Set: all(forwarded, parts(image(&content.URL{URL: "https://example.com/a.png"})))},
		{Unlisted: true, Set: all(forwarded, parts(image(&content.URL{URL: "https://example.com/a.png", MediaType: "image/png"})))},
		{Unlisted: true, Set: parts(image(&content.File{ID: "file_1"}))},
	}},
	{Name: loss.ImageByAssistant, From: by(g), Cases: []Case{
		{Set: earlier(hello, png)},
		{When: "if no user turn follows", Set: turns(user(hello), assistant(hello, png))},
		{Unlisted: true, Model: "claude-sonnet-4-5", To: []Server{Messages}, Set: turns(user(hello), assistant(hello, png))},
	}},
	{Name: loss.DocumentType, Row: "PDF", Cases: []Case{
		{Set: parts(pdf)},
		{When: "with `Dialect.Files`", To: []Server{OtherChat}, Dialect: acceptsFiles, Set: parts(pdf)},
		{When: "with `Dialect.DescribeUnreadable`", To: []Server{OtherChat}, Dialect: describesFiles, Set: parts(pdf)},
	}},
	{Name: loss.DocumentType, Row: "text file", Cases: []Case{
		{Set: parts(document(base64("text/plain", "YQ==")))},
		{Unlisted: true, Set: parts(document(base64("text/csv", "YSxi")))},
		{Unlisted: true, Set: parts(document(&content.PlainText{Text: "a"}))},
		{Unlisted: true, Set: parts(document(&content.PlainText{Text: "a", MediaType: "text/html"}))},
	}},
	{Name: loss.DocumentType, Row: "Word file", From: by(g, responses), Cases: []Case{
		{Set: parts(document(base64(wordType, "UEsDBA==")))},
	}},
	{Name: loss.DocumentSource, Row: "document by link", Cases: []Case{
		{Set: parts(document(&content.URL{URL: "https://example.com/a.pdf", MediaType: "application/pdf"}))},
		{Unlisted: true, Set: parts(document(&content.File{ID: "file_1"}))},
		{Unlisted: true, Set: all(forwarded, parts(document(&content.URL{URL: "https://example.com/a.pdf", MediaType: "application/pdf"})))},
	}},
	{Name: loss.DocumentParts, From: by(m), Cases: []Case{
		{Set: parts(document(&content.Parts{Parts: []content.Part{hello}}))},
	}},
	{Name: loss.DocumentTitle, Row: "name of a PDF", From: by(m, chat, responses), Cases: []Case{
		{Set: parts(&content.Document{Source: base64("application/pdf", pdfData), Title: "a.pdf"}), Dialect: acceptsFiles},
		{Unlisted: true, Set: parts(&content.Document{Source: &content.PlainText{Text: "x"}, Title: strings.Repeat("t", 501)})},
	}},
	{Name: loss.DocumentTitle, Row: "context of a document, title of a text", From: by(m), Cases: []Case{
		{Set: parts(&content.Document{Source: &content.PlainText{Text: "a"}, Title: "a", Context: "c"})},
	}},
	{Name: loss.DocumentCitations, From: by(m), Cases: []Case{
		{Set: parts(&content.Document{Source: &content.PlainText{Text: "a"}, Citations: true})},
		{Unlisted: true, Set: all(parts(&content.Document{Source: &content.PlainText{Text: "a"}, Citations: true}),
			output(upstream.Output{MediaType: jsonType, Schema: content.Schema{JSON: strictSchema}}))},
	}},
	{Name: loss.SearchResults, From: by(m), Cases: []Case{
		{Set: parts(&content.SearchResult{Title: "T", Source: "https://example.com/", Parts: []content.Part{hello}})},
	}},
	{Name: loss.AudioVideo, Row: "audio", From: by(g, chat, responses), Cases: []Case{
		{Set: parts(audio(base64("audio/wav", wavData)))},
		{When: "by models with audio in their names", To: []Server{OpenAIChat}, Model: "gpt-audio", Set: parts(audio(base64("audio/wav", wavData)))},
		{When: "in other types than WAV and MP3", To: []Server{OtherChat}, Set: parts(audio(base64("audio/ogg", "T2dnUw==")))},
	}},
	{Name: loss.AudioVideo, Row: "video", From: by(g), Cases: []Case{
		{Set: parts(audio(base64("video/mp4", "AAAAGGZ0eXBtcDQy")))},
	}},
}

// forwarded lets the server fetch links.
func forwarded(r *upstream.Request) { r.ForwardLinks = true }
