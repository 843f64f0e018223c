package main

import (
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
)

// losses is a copy of docs/losses.md, which lists every loss with its reason.
//
//go:embed losses.md
var losses string

// lossPage is that page as HTML, on which line 12 has the id "L12", and lossLines are the
// lines of losses there, by severity and reason.
var lossPage, lossLines = readLosses(losses)

func readLosses(page string) (string, map[[2]string]int) {
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Losses</title><link rel="stylesheet" href="style.css">` +
		`<body class="doc"><main><h1>Losses</h1>` + "\n")
	found := map[[2]string]int{}
	for i, line := range strings.Split(page, "\n") {
		if cells := strings.Split(line, " | "); len(cells) > 2 {
			severity, reason := strings.Trim(cells[1], "| "), strings.TrimSuffix(cells[2], " |")
			key := [2]string{severity, strings.ReplaceAll(reason, `\|`, "|")}
			if found[key] == 0 {
				found[key] = i + 1
			}
		}
		fmt.Fprintf(&b, "<div id=\"L%d\">%s</div>\n", i+1, html.EscapeString(line))
	}
	b.WriteString("</main></body></html>\n")
	return b.String(), found
}

// lossLine returns the line of docs/losses.md about l, or 0.
func lossLine(l *content.Loss) int { return lossLines[[2]string{l.Severity.String(), l.Reason}] }

// serveLosses serves lossPage.
func serveLosses(w http.ResponseWriter, r *http.Request) {
	if allow(w, r, http.MethodGet) {
		w.Header().Set("Content-Type", mediaTypes[".html"])
		fmt.Fprint(w, lossPage)
	}
}
