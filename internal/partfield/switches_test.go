package partfield_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/formattest"
)

const (
	root        = "../.."
	contentPath = "github.com/polywire/polywire/content"
)

// TestSwitches checks the type switches over parts and sources outside tests: a switch that
// names a third of the kinds, and at least three, names all of them, or has a comment that begins with "other kinds"
// and states what becomes of those.
func TestSwitches(t *testing.T) {
	parts, sources := kindsOf(t, "part"), kindsOf(t, "source")
	n := 0
	for name, f := range files(t, root) {
		for _, s := range typeSwitches(f.tree) {
			for _, all := range [...][]string{parts, sources} {
				named := s.kinds(f.tree, all)
				if len(named) < 3 || 3*len(named) < len(all) {
					continue
				}
				n++
				if missing := slices.DeleteFunc(slices.Clone(all), func(k string) bool { return named[k] }); len(missing) > 0 && !f.explains(s) {
					t.Errorf("%s:%d: the switch has no case for %s; add it, or a comment // other kinds …",
						name, f.set.Position(s.Pos()).Line, strings.Join(missing, ", "))
				}
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d switches were found", n)
	}
}

// TestKinds checks that all kinds have names.
func TestKinds(t *testing.T) {
	check := func(want []string, kinds ...any) {
		var got []string
		for _, k := range kinds {
			got = append(got, reflect.TypeOf(k).Elem().Name())
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the kinds with names differ:\n%s", diff)
		}
	}
	check(kindsOf(t, "part"), anys(formattest.PartKinds)...)
	check(kindsOf(t, "source"), anys(formattest.SourceKinds)...)
}

func anys[T any](list []T) (out []any) {
	for _, x := range list {
		out = append(out, x)
	}
	return out
}

// kindsOf returns the names of the types of package content that have a method, in order.
func kindsOf(t *testing.T, method string) []string {
	kinds := map[string]bool{}
	for _, f := range files(t, root+"/content") {
		for _, d := range f.tree.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil && d.Name.Name == method {
				kinds[d.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}

type file struct {
	set  *token.FileSet
	tree *ast.File
}

// files returns the files of all packages below a folder, without tests.
func files(t *testing.T, dir string) map[string]file {
	list := map[string]file{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || len(base) > 2 && base[0] == '.' || base == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		list[filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))] = file{set, tree}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

type typeSwitch struct{ *ast.TypeSwitchStmt }

func typeSwitches(f *ast.File) (list []typeSwitch) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSwitchStmt); ok {
			list = append(list, typeSwitch{s})
		}
		return true
	})
	return list
}

// kinds returns the kinds of a list that the cases of s name.
func (s typeSwitch) kinds(f *ast.File, all []string) map[string]bool {
	named := map[string]bool{}
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			if name := kind(f, e); slices.Contains(all, name) {
				named[name] = true
			}
		}
	}
	return named
}

// kind returns the name of the type of package content to which the type e points, or "".
func kind(f *ast.File, e ast.Expr) string {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return ""
	}
	switch x := star.X.(type) {
	case *ast.Ident:
		if f.Name.Name == path.Base(contentPath) {
			return x.Name
		}
	case *ast.SelectorExpr:
		if pkg, ok := x.X.(*ast.Ident); ok && pkg.Name == importName(f, contentPath) {
			return x.Sel.Name
		}
	}
	return ""
}

// importName returns the name under which f imports a package, or "".
func importName(f *ast.File, name string) string {
	for _, i := range f.Imports {
		if strings.Trim(i.Path.Value, `"`) != name {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		return path.Base(name)
	}
	return ""
}

// explains reports whether a comment in s states what becomes of other kinds.
func (f file) explains(s typeSwitch) bool {
	return slices.ContainsFunc(f.tree.Comments, func(c *ast.CommentGroup) bool {
		return s.Pos() <= c.Pos() && c.Pos() < s.End() && strings.HasPrefix(c.Text(), "other kinds ")
	})
}
