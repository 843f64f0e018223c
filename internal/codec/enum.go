package codec

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// OneOf returns the sentence that asks for one of the values that a schema
// allows, for formats that cannot hold an answer to them unless it is JSON; empty
// if another type of answers is asked for, or there are no values, or they are
// not texts of a line. Whatever else there is of a schema is not about such texts.
func OneOf(mediaType, schema string) string {
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
