// Language reports words that Polywire does not use in its comments, strings,
// identifiers and documents, with the words to write instead. It exits with 1 if
// it finds any.
//
// With -hints it also lists words that are right in their usual meaning only, for
// people to look at. Hints do not fail.
//
// A line that ends in the comment "//language:vendor" is exempt: it quotes a vendor.
// JSON documents in strings and testdata are exempt too.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// A word is an expression that is not used, and what to write instead.
type word struct {
	match   *regexp.Regexp
	instead string
}

func words(list ...string) (all []word) {
	for i := 0; i < len(list); i += 2 {
		all = append(all, word{regexp.MustCompile(`(?i)\b(?:` + list[i] + `)\b`), list[i+1]})
	}
	return all
}

// banned are the words that are never used. Their expressions have no meaning in
// which they are right, apart from what allowed takes out before.
var banned = words(
	`told|tells?|telling`, "reports, is reported; sent as; includes",
	`cannot be said|unsaid|unsayable`, "cannot be represented; unsupported",
	`nobody|whoever`, "no caller, the caller",
	`judg(?:e|es|ed|ing)`, "validate",
	`faults?|faulty`, "violation (of a document), error (of an operation); invalid",
	`illegal`, "invalid",
	`(?:is|are|was|were) no`, "is not a valid",
	`of ours`, "(omit)",
	`for want of`, "without",
	`to be had`, "available",
	`amid`, "within, between",
	`heed|heeds|heeded`, "follow",
	`bears?`, "accepts, has",
	`(?:sound|sounds) and moving pictures?|moving pictures?`, "audio and video",
	`moulds?`, "template",
	`heat`, "temperature",
	`deaf`, "unresponsive",
)

// allowed has usual English in it that the expressions above also match.
var allowed = regexp.MustCompile(`(?i)\bthere (?:is|are|was|were) no\b|\b(?:is|are|was|were) no (?:longer|more|less|larger|later|earlier|smaller|greater|sooner)\b|\bby default\b|\bno-?default\b`)

// hints are words that are right in their usual meaning only.
var hints = words(
	`says?|said`, "encodes, represents, specifies, states",
	`stands?|stood`, "is at, appears; represents; replaces",
	`goes back|go back|gives back|give back`, "returns",
	`takes?|taken`, "accepts, reads, uses",
	`legal`, "valid",
	`questions?`, "request",
	`answers?|answered|answering`, "response; responds",
	`thoughts?`, "thinking",
	`seal(?:ed|s|ing)?`, "carried state, envelope",
	`los(?:e|es|ing)|lost`, "drop, degrade",
	`spare|loose|odd|strange`, "reserve, lenient, nonstandard, unknown",
	`nothing that|what (?:is|are|has|have|comes|came|goes|holds|needs|they|it|a|an|the)`, "name the subject",
	`whatever|whichever`, "name the cases",
	`all the same|as ever|by itself|of its own|for good|at all`, "(usually omit)",
	`none`, "no X, (name it)",
	`hears?|heard|wants?|knows?|known to|thinks?|minds?`, "code does not want, hear or know",
	`behind`, "after",
	`in front of`, "before",
	`beside`, "next to, in addition to",
	`words`, "wire form, text",
	`foreign`, "of another format",
	`such as have|such as|such`, "(check)",
)

func main() {
	log.SetFlags(0)
	hint := flag.Bool("hints", false, "also list words that are right in their usual meaning only")
	flag.BoolVar(hint, "2", false, "short for -hints")
	flag.Parse()
	roots := flag.Args()
	if len(roots) == 0 {
		roots = []string{"."}
	}
	c := &checker{hints: *hint, fset: token.NewFileSet()}
	for _, root := range roots {
		if err := filepath.WalkDir(root, c.visit); err != nil {
			log.Fatal(err)
		}
	}
	if c.found > 0 {
		log.Printf("%d words that this project does not use: see CONTRIBUTING.md", c.found)
		os.Exit(1)
	}
}

// A checker looks at files and counts what it finds.
type checker struct {
	hints bool
	fset  *token.FileSet
	found int
}

// visit checks one file.
func (c *checker) visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		switch d.Name() {
		case "testdata", "node_modules", ".git", "language":
			return filepath.SkipDir
		}
		return nil
	}
	switch filepath.Ext(path) {
	case ".go":
		return c.goFile(path)
	case ".md":
		return c.document(path)
	}
	return nil
}

// document checks a page of text, without its code.
func (c *checker) document(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	code := false
	for i, line := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
			continue
		}
		if !code {
			c.text(fmt.Sprintf("%s:%d", path, i+1), line)
		}
	}
	return nil
}

// goFile checks the comments, strings and names of a source file.
func (c *checker) goFile(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(c.fset, path, src, parser.ParseComments)
	if err != nil {
		return err
	}
	exempt := map[int]bool{} // lines
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if comment.Text == "//language:vendor" {
				exempt[c.fset.Position(comment.Pos()).Line] = true
			}
		}
		pos := c.fset.Position(group.Pos())
		c.text(fmt.Sprintf("%s:%d", path, pos.Line), joined(group.Text()))
	}
	imports := map[*ast.BasicLit]bool{}
	for _, spec := range file.Imports {
		imports[spec.Path] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			line := c.fset.Position(n.Pos()).Line
			if n.Kind != token.STRING || imports[n] || exempt[line] {
				return true
			}
			if s, err := strconv.Unquote(n.Value); err == nil && !isDocument(s) {
				c.text(fmt.Sprintf("%s:%d", path, line), joined(s))
			}
		case *ast.Ident:
			if n.Obj == nil || n.Obj.Pos() == n.Pos() { // where it is declared, or a selector
				pos := c.fset.Position(n.Pos())
				if !exempt[pos.Line] {
					c.name(fmt.Sprintf("%s:%d", path, pos.Line), n.Name)
				}
			}
		}
		return true
	})
	return nil
}

// isDocument reports whether a string is JSON, an event stream or a page, most
// likely with texts of vendors, models and users.
func isDocument(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") || strings.HasPrefix(s, "data:") ||
		strings.HasPrefix(s, "event:") || strings.HasPrefix(s, "<") || strings.Contains(s, `":`)
}

// joined puts a text on one line, since expressions have several words.
func joined(s string) string { return strings.Join(strings.Fields(s), " ") }

// text reports the words in a text.
func (c *checker) text(place, s string) {
	s = allowed.ReplaceAllString(s, "…")
	for _, w := range banned {
		for _, at := range w.match.FindAllStringIndex(s, -1) {
			c.found++
			fmt.Printf("%s: %q: write %s\n\t%s\n", place, s[at[0]:at[1]], w.instead, around(s, at))
		}
	}
	if !c.hints {
		return
	}
	for _, w := range hints {
		for _, at := range w.match.FindAllStringIndex(s, -1) {
			fmt.Printf("%s: hint: %q: %s\n\t%s\n", place, s[at[0]:at[1]], w.instead, around(s, at))
		}
	}
}

// around returns a match with what is before and after it.
func around(s string, at []int) string {
	from, to := max(0, at[0]-50), min(len(s), at[1]+50)
	return strings.ToValidUTF8(s[from:to], "")
}

// name reports the words that a name is made of.
func (c *checker) name(place, name string) {
	list := parts(name)
	for i, part := range list {
		if part == "most" && i > 0 && list[i-1] == "at" {
			continue
		}
		switch part {
		case "told", "tell", "tells", "unsaid", "nobody", "nobodys", "whoever", "judge", "judged", "judges", "fault", "faults",
			"faulty", "illegal", "ours", "amid", "heed", "heeds", "mould", "moulds", "heat", "deaf", "most":
			c.found++
			fmt.Printf("%s: name %s: %q is not used\n", place, name, part)
		}
	}
}

// parts splits a name at its capitals, underscores and digits.
func parts(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		if !unicode.IsLetter(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
