package formattest

import "github.com/polywire/polywire/content"

// PartKinds and SourceKinds have an empty value of each kind of part and of source. A test of
// package partfield fails if one is missing.
var (
	PartKinds = []content.Part{&content.Text{}, &content.Image{}, &content.Document{}, &content.Media{}, &content.Thinking{},
		&content.ToolUse{}, &content.ToolResult{}, &content.SearchResult{}, &content.ServerToolUse{}, &content.ServerToolResult{},
		&content.Unknown{}}
	SourceKinds = []content.Source{&content.Base64{}, &content.URL{}, &content.File{}, &content.PlainText{}, &content.Parts{}}
)
