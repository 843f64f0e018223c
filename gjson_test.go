package polywire_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A goPackage is a package as the go command describes it.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	Module                  *struct{ Main bool }
}

// goPackages returns the packages of this module and all that they import.
func goPackages(t *testing.T) map[string]goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-buildvcs=false", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports,Module", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]goPackage)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// TestConstantPaths checks that every path for gjson and sjson is a constant. In a path
// some characters have a meaning, so a name that a client has chosen must not be one:
// see [content.Extra.Get]. Packages for tests may have lists of paths.
func TestConstantPaths(t *testing.T) {
	all := goPackages(t)
	fset := token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
	paths := 0
	for _, p := range all {
		uses := slices.ContainsFunc(p.Imports, func(name string) bool { return strings.HasPrefix(name, "github.com/tidwall/") })
		if p.Module == nil || !p.Module.Main || !uses || slices.Contains(p.Imports, "testing") {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}
		if _, err := (&types.Config{Importer: compiled}).Check(p.ImportPath, fset, files, info); err != nil {
			t.Fatal(err)
		}
		paths += checkPaths(t, fset, files, info)
	}
	if paths == 0 {
		t.Error("found no paths")
	}
}

// checkPaths reports the paths in files that are not constants, and functions with a path
// that are not called where they are named. It returns the number of paths.
func checkPaths(t *testing.T, fset *token.FileSet, files []*ast.File, info *types.Info) (paths int) {
	t.Helper()
	called := make(map[*ast.Ident]bool)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			at := pathParameter(info.Uses[name.Sel])
			if at < 0 {
				return true
			}
			called[name.Sel] = true
			for _, arg := range call.Args[at:] {
				if paths++; info.Types[arg].Value == nil {
					t.Errorf("%v: the path is not a constant", fset.Position(arg.Pos()))
				}
				if !info.Uses[name.Sel].Type().(*types.Signature).Variadic() {
					break
				}
			}
			return true
		})
	}
	for name, object := range info.Uses {
		if pathParameter(object) >= 0 && !called[name] {
			t.Errorf("%v: a function with a path is used as a value", fset.Position(name.Pos()))
		}
	}
	return paths
}

// pathParameter returns the index of the parameter of a function of gjson or sjson that is
// a path, or -1.
func pathParameter(object types.Object) int {
	f, ok := object.(*types.Func)
	if !ok || f.Pkg() == nil || !strings.HasPrefix(f.Pkg().Path(), "github.com/tidwall/") {
		return -1
	}
	for i := range f.Signature().Params().Len() {
		if name := f.Signature().Params().At(i).Name(); name == "path" || name == "paths" {
			return i
		}
	}
	return -1
}
