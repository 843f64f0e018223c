// Searches lists the linear searches on the path of a request that state no bound. A search
// in a list whose length a client sets, made for each element of a list, takes quadratic
// time.
//
// A search is a call of slices.Contains, slices.Index or their Func forms, or a loop over
// the elements before an element, list[:i]. On its line, or on the line before, is one of
// these comments:
//
//	// bounded by NAME      a constant, table or type of this repository that bounds the list
//	// bounded by the host  the list is from options or code of the host
//	// one pass             the search is not repeated for elements of another list
//
// Programs, tests and packages for tests are exempt.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// exempt are the folders that are not on the path of a request.
var exempt = regexp.MustCompile(`^(\.ci|examples|internal/test|upstream/(bedrock/(examples|internal)|upstreamtest))/|_test\.go$`)

// bound is the form of the comment.
var bound = regexp.MustCompile(`^// (?:one pass|bounded by (?:the host|(?:[a-z]+\.)?([A-Za-z0-9]+)))$`)

func main() {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.go").Output()
	if err != nil {
		fail(err)
	}
	c := checker{set: token.NewFileSet(), names: map[string]bool{}}
	var files []*ast.File
	for _, name := range strings.Fields(string(out)) {
		if exempt.MatchString(name) {
			continue
		}
		f, err := parser.ParseFile(c.set, name, nil, parser.ParseComments)
		if os.IsNotExist(err) {
			continue // removed
		}
		if err != nil {
			fail(err)
		}
		files = append(files, f)
		c.declare(f)
	}
	for _, f := range files {
		c.check(f)
	}
	if c.bad > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

type checker struct {
	set   *token.FileSet
	names map[string]bool // of package-level constants, variables and types
	bad   int
}

// declare adds the names of the constants, and of the package-level variables and types, of
// a file.
func (c *checker) declare(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		g, ok := n.(*ast.GenDecl)
		if !ok {
			return true
		}
		outside := c.set.Position(g.Pos()).Column == 1
		for _, s := range g.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					c.names[n.Name] = c.names[n.Name] || outside || g.Tok == token.CONST
				}
			case *ast.TypeSpec:
				c.names[s.Name.Name] = c.names[s.Name.Name] || outside
			}
		}
		return true
	})
}

// check reports the searches of a file without a bound.
func (c *checker) check(f *ast.File) {
	comments := map[int]string{} // by line
	for _, g := range f.Comments {
		for _, m := range g.List {
			comments[c.set.Position(m.Pos()).Line] = m.Text
		}
	}
	report := func(n ast.Node, what string) {
		at := c.set.Position(n.Pos())
		found := bound.FindStringSubmatch(comments[at.Line])
		if found == nil {
			found = bound.FindStringSubmatch(comments[at.Line-1])
		}
		switch {
		case found == nil:
			fmt.Printf("%s:%d: %s without a comment such as \"// bounded by maxBetas\"\n", at.Filename, at.Line, what)
		case found[1] != "" && !c.names[found[1]]:
			fmt.Printf("%s:%d: %s is not declared\n", at.Filename, at.Line, found[1])
		default:
			return
		}
		c.bad++
	}
	var around []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && isSearch(s) {
				report(n, "slices."+s.Sel.Name)
			}
		case *ast.RangeStmt:
			if s, ok := n.X.(*ast.SliceExpr); ok && s.Low == nil && isIndex(s.High, around) {
				report(n, "a loop over the elements before one")
			}
		}
		return true
	})
}

// isIndex reports whether an expression is the index of a loop around it.
func isIndex(x ast.Expr, around []ast.Node) bool {
	high, ok := x.(*ast.Ident)
	for _, n := range around {
		if r, isLoop := n.(*ast.RangeStmt); ok && isLoop {
			if key, named := r.Key.(*ast.Ident); named && key.Name == high.Name {
				return true
			}
		}
	}
	return false
}

func isSearch(s *ast.SelectorExpr) bool {
	x, ok := s.X.(*ast.Ident)
	if !ok || x.Name != "slices" {
		return false
	}
	switch s.Sel.Name {
	case "Contains", "ContainsFunc", "Index", "IndexFunc":
		return true
	}
	return false
}
