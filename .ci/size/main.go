// Size prints the lines of Go packages: those of the product, of tests and of the rest, for each
// package and in sum. Run it in the root of the module.
//
// The product is what programs import: the root, and the packages of the module of which content/..., upstream/...,
// messages and generatecontent consist, except upstream/upstreamtest. All their files count but
// tests. Everything else that is not a test is the rest. Nested modules do not count.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

const notProduct = "upstream/upstreamtest"

// lines are numbers of lines.
type lines struct{ product, tests, rest int }

func (l *lines) add(m lines) {
	l.product += m.product
	l.tests += m.tests
	l.rest += m.rest
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("size: ")
	product := map[string]bool{}
	for _, dir := range folders("-deps", ".", "./content/...", "./upstream/...", "./messages", "./generatecontent") {
		product[dir] = dir != notProduct
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "product\ttests\trest\t\tpackage\n")
	var all lines
	for _, dir := range folders("./...") {
		n := count(dir, product[dir])
		all.add(n)
		write(w, n, cmp.Or(dir, "."))
	}
	write(w, all, "all")
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

func write(w *tabwriter.Writer, n lines, name string) {
	fmt.Fprintf(w, "%d\t%d\t%d\t\t%s\n", n.product, n.tests, n.rest, name)
}

// folders returns the folders of the packages of the module that go list names.
func folders(args ...string) (list []string) {
	const format = `{{if .Module}}{{if .Module.Main}}{{.ImportPath}} {{.Module.Path}}{{end}}{{end}}`
	out, err := exec.Command("go", append([]string{"list", "-f", format}, args...)...).Output()
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if path, module, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			list = append(list, strings.TrimPrefix(strings.TrimPrefix(path, module), "/"))
		}
	}
	return list
}

// count counts the lines of the Go files in a folder.
func count(dir string, product bool) (n lines) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		switch size := bytes.Count(data, []byte{'\n'}); {
		case strings.HasSuffix(name, "_test.go"):
			n.tests += size
		case product:
			n.product += size
		default:
			n.rest += size
		}
	}
	return n
}
