package lower

import (
	"strings"

	"github.com/tidwall/gjson"
)

// enumPrompt returns an instruction to respond with one of the values of an enum
// schema. It is for formats without the media type text/x.enum. It returns "" for
// other media types, and if the schema has no values or a value is not one line of
// text.
func enumPrompt(mediaType, schema string) string {
	if mediaType != "text/x.enum" {
		return ""
	}
	enum := gjson.Get(schema, "enum")
	if !enum.IsArray() {
		return ""
	}
	var lines strings.Builder
	for _, v := range enum.Array() {
		if v.Str == "" || strings.ContainsAny(v.Str, "\r\n") {
			return ""
		}
		lines.WriteString("\n" + v.Str)
	}
	if lines.Len() == 0 {
		return ""
	}
	return "Answer with one of these lines and nothing else:" + lines.String()
}
