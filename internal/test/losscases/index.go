package losscases

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/losspage"
)

// An Index has the rules that the source of the module declares. A loss has the severity
// and the reason of its rule, but not its feature.
type Index struct {
	rules map[string][]*loss.Rule // by the directory of the package
	text  map[reason][]*loss.Rule
}

type reason struct {
	severity content.Severity
	text     string
}

// find returns the rules that may have reported a loss. The rules of schemas have the same
// text for arguments and for responses.
func (x *Index) find(l content.Loss) []*loss.Rule {
	list := x.text[reason{l.Severity, l.Reason}]
	if len(list) > 1 {
		for _, r := range list {
			if (r.Feature == loss.OutputSchema) == strings.HasPrefix(l.Path, "output.") {
				return []*loss.Rule{r}
			}
		}
	}
	return list
}

// Declared returns the rules of the package in a directory of the module.
func (x *Index) Declared(dir string) []*loss.Rule { return x.rules[dir] }

// NewIndex parses the source of the module.
func NewIndex() (*Index, error) {
	root, err := losspage.InModule(".")
	if err != nil {
		return nil, err
	}
	_, features, err := losspage.Features()
	if err != nil {
		return nil, err
	}
	x := &Index{rules: make(map[string][]*loss.Rule), text: make(map[reason][]*loss.Rule)}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "examples" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if r := ruleOf(n, features); r != nil {
				x.add(filepath.ToSlash(dir), r)
			}
			return true
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	schemas, err := losspage.Rules("schema") // they are declared without a feature
	if err != nil {
		return nil, err
	}
	for i := range schemas {
		x.add("internal/schema", &schemas[i])
	}
	return x, nil
}

func (x *Index) add(dir string, r *loss.Rule) {
	x.rules[dir] = append(x.rules[dir], r)
	k := reason{r.Severity, r.Reason}
	for _, known := range x.text[k] {
		if known.Feature == r.Feature {
			return
		}
	}
	x.text[k] = append(x.text[k], r)
}

var severities = map[string]content.Severity{
	"Hint": content.LossHint, "Degraded": content.LossDegraded, "Dropped": content.LossDropped,
}

// ruleOf returns the rule that a call of [loss.Hint], [loss.Degraded] or [loss.Dropped] declares,
// or nil.
func ruleOf(n ast.Node, features map[string]string) *loss.Rule {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	r := loss.Rule{Feature: features[nameOfMember(call.Args[0])], Severity: severities[nameOfMember(call.Fun)], Reason: textOf(call.Args[1])}
	if r.Feature == "" || r.Severity == 0 || r.Reason == "" {
		return nil
	}
	return &r
}

// nameOfMember returns B of the expression A.B.
func nameOfMember(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return ""
}

// textOf returns the value of a string literal, or "".
func textOf(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	return ""
}
