// Package docs has a page of this directory, for programs that link to its lines.
package docs

import _ "embed"

// Losses is losses.md, which lists every loss with its reason, a row each.
//
//go:embed losses.md
var Losses string
