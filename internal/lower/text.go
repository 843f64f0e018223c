package lower

import "strings"

// isTextType reports whether files of a media type are sent as text in formats that do not
// accept such files. The media type is in lower case and has no parameters.
func isTextType(mediaType string) bool {
	switch mediaType {
	case "application/json", "application/x-ndjson", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/x-javascript", "application/typescript", "application/x-typescript",
		"application/x-python-code", "application/x-python", "application/x-sh", "application/sql", "application/graphql":
		return true
	}
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+json") || strings.HasSuffix(mediaType, "+xml")
}
