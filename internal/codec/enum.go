package codec

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// EnumPrompt returns an instruction to respond with one of the values of an enum
// schema. It is for formats without the media type text/x.enum. It returns "" for
// other media types, and if the schema has no values or a value is not one line of
// text.
func EnumPrompt(mediaType, schema string) string {
	if mediaType != "text/x.enum" {
		return ""
	}
	doc, err := jsonwire.Parse(schema, UnlimitedJSON)
	if err != nil {
		return ""
	}
	defer doc.Close()
	var lines strings.Builder
	for _, v := range doc.Root().Get("enum").Elems() {
		s := v.Str()
		if s == "" || strings.ContainsAny(s, "\r\n") {
			return ""
		}
		lines.WriteString("\n" + s)
	}
	if lines.Len() == 0 {
		return ""
	}
	return "Answer with one of these lines and nothing else:" + lines.String()
}
