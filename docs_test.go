package polywire_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

var update = flag.Bool("update", false, "rewrite the outputs in README.md and docs")

// inRepository skips a test in the zip file of this module, which lacks the modules below it.
func inRepository(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("upstream/otel"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("this is not a copy of the repository: upstream/otel is missing")
	}
}

// pages returns the paths and texts of the documents for users and contributors.
func pages(t *testing.T) map[string]string {
	t.Helper()
	inRepository(t)
	paths, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for _, path := range append(paths, "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.ToSlash(path)] = string(b)
	}
	return texts
}

// blocks returns the fenced blocks of a language, without their fences.
func blocks(page, language string) []string {
	var found []string
	for {
		_, rest, ok := strings.Cut(page, "\n```"+language+"\n")
		if !ok {
			return found
		}
		block, after, ok := strings.Cut(rest, "\n```\n")
		if !ok {
			return found
		}
		found, page = append(found, block+"\n"), "\n```\n"+after
	}
}

// TestSnippets checks that each Go snippet of a page is part of an example, where
// it is compiled and usually run, or is a program that compiles.
func TestSnippets(t *testing.T) {
	var code []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		if d.Name() != "example_test.go" && filepath.Dir(filepath.Dir(path)) != "examples" {
			return nil
		}
		b, err := os.ReadFile(path)
		code = append(code, unindent(string(b)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for path, text := range pages(t) {
		for _, snippet := range blocks(text, "go") {
			total++
			if path == "README.md" && strings.HasPrefix(snippet, "package ") { // TestPrograms
				continue
			}
			if strings.HasPrefix(snippet, "package main\n") {
				compile(t, path, snippet)
			} else if !slices.ContainsFunc(code, func(c string) bool { return strings.Contains(c, unindent(snippet)) }) {
				t.Errorf("%s: no example contains this snippet:\n%s", path, snippet)
			}
		}
	}
	if total == 0 {
		t.Error("no page has a Go snippet")
	}
}

// compile compiles a program.
func compile(t *testing.T, page, program string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("%s: this program does not compile:\n%s\n%s", page, program, out)
	}
}

// unindent removes the indentation of every line, which differs between a snippet and
// its example.
func unindent(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimLeft(line, "\t "))
	}
	return b.String()
}

// TestCommands runs the commands of the pages and compares their output. It checks the
// arguments of commands without an output. The flag -update rewrites the outputs; review
// them like code.
func TestCommands(t *testing.T) {
	model := echo.New()
	s := httptest.NewServer(polywire.NewHandler(model, nil))
	defer s.Close()
	for path, text := range pages(t) {
		for _, command := range commands(text) {
			if err := checkCommand(command); err != nil {
				t.Errorf("%s: $ %s\n%v", path, command, err)
			}
		}
		changed := text
		for _, block := range blocks(text, "console") {
			command, want := split(block)
			var got string
			var err error
			switch {
			case strings.HasPrefix(command, "curl "):
				got, err = curl(words(command), s.URL)
			case strings.Contains(command, " | go run "):
				if testing.Short() {
					continue
				}
				got, err = pipe(words(command))
			case command == "go run ./examples/gateway": // tested in examples/gateway
				got = want
			default:
				err = errors.New("this test cannot run the command")
			}
			if err != nil {
				t.Errorf("%s: $ %s\n%v", path, command, err)
				continue
			}
			if *update {
				changed = strings.Replace(changed, block, strings.TrimSuffix(block, want)+got, 1)
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: $ %s\nprints something else; run this test with -update (-want +got):\n%s", path, command, diff)
			}
		}
		if *update && changed != text && !t.Failed() {
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAdapter checks the adapter of docs/adapters.md.
func TestAdapter(t *testing.T) {
	s := httptest.NewServer(messages.NewHandler(echo.New(), nil))
	defer s.Close()
	upstreamtest.Run(t, &adapter{s.URL}, &upstreamtest.Options{Model: "demo"})
}

// expected are paths that the pages name and that do not exist yet.
var expected []string

// TestLinks checks that relative links, and the headings that they name, exist.
func TestLinks(t *testing.T) {
	texts := pages(t)
	for path, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			if target == "" {
				target = path
			} else {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(path), target))
			}
			if slices.Contains(expected, target) {
				continue
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, m[1])
				continue
			}
			if heading != "" && !slices.Contains(headings(texts[target]), heading) {
				t.Errorf("%s: %s has no heading for the link %s", path, target, m[1])
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// headings returns the names by which links refer to the headings of a page.
func headings(text string) (names []string) {
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			name := strings.ToLower(strings.TrimSpace(title))
			name = regexp.MustCompile("[^a-z0-9 _-]").ReplaceAllString(name, "")
			names = append(names, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return names
}

// TestPaths checks that the paths of files and directories that a page names in
// backquotes exist, and that they are in the repository.
func TestPaths(t *testing.T) {
	for path, text := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			name := m[1]
			top, _, _ := strings.Cut(name, "/")
			if top == ".." {
				t.Errorf("%s: %s is outside of the repository", path, name)
			}
			if info, err := os.Stat(top); err != nil || !info.IsDir() || strings.Contains(name, "NAME") || slices.Contains(expected, name) {
				continue // a URL path, a media type, or a name to choose
			}
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %s does not exist", path, name)
			}
		}
	}
}

var quoted = regexp.MustCompile("`([a-z0-9.]+(?:/[A-Za-z0-9_.-]+)+)`")

// TestVersions checks that modules below this one require its latest version, or the
// next one if CHANGELOG.md has a section for it. Their replace directives are for this repository only: other modules ignore them.
func TestVersions(t *testing.T) {
	inRepository(t)
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	latest := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\] - (?:\d{4}-\d\d-\d\d|Unreleased)$`).FindSubmatch(changelog)
	if latest == nil {
		t.Fatal("no version in CHANGELOG.md")
	}
	require := regexp.MustCompile(`(?m)^\s*(github\.com/polywire/polywire\S*) (v\S+)`)
	for _, path := range []string{"upstream/bedrock/go.mod", "upstream/otel/go.mod", "examples/observed/go.mod"} {
		mod, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := require.FindAllSubmatch(mod, -1)
		if len(found) == 0 {
			t.Errorf("%s does not require this module", path)
		}
		for _, m := range found {
			if want := "v" + string(latest[1]); string(m[2]) != want {
				t.Errorf("%s requires %s %s, want %s", path, m[1], m[2], want)
			}
		}
	}
}

// TestLength bounds README.md, which should take two minutes to read.
func TestLength(t *testing.T) {
	const maxLines = 250
	if n := strings.Count(pages(t)["README.md"], "\n"); n > maxLines {
		t.Errorf("README.md has %d lines, more than %d; move details to docs", n, maxLines)
	}
}

// split separates the command of a block from its output.
func split(block string) (command, output string) {
	command = strings.TrimPrefix(block, "$ ")
	quoted := false
	for i, c := range command {
		switch {
		case c == '\'':
			quoted = !quoted
		case c == '\n' && !quoted && !strings.HasSuffix(command[:i], `\`):
			return command[:i], command[i+1:]
		}
	}
	return command, ""
}

// words splits a command like a shell, as far as the pages need it.
func words(command string) []string {
	command = strings.ReplaceAll(command, "\\\n", " ")
	var list []string
	for command = strings.TrimSpace(command); command != ""; command = strings.TrimSpace(command) {
		end := strings.IndexAny(command, " '")
		switch {
		case end < 0:
			end = len(command)
			list = append(list, command)
		case command[end] == '\'':
			quoted, rest, _ := strings.Cut(command[end+1:], "'")
			list = append(list, command[:end]+quoted)
			command = rest
			continue
		default:
			list = append(list, command[:end])
		}
		command = command[end:]
	}
	return list
}

// curl sends a request like the program of that name, with the options that the
// pages use. It replaces ids and times, which differ from run to run.
func curl(args []string, server string) (string, error) {
	var url, body string
	header := http.Header{}
	for i := 1; i < len(args); i++ {
		switch a := args[i]; a {
		case "-s", "-sN":
		case "-H":
			i++
			name, value, _ := strings.Cut(args[i], ": ")
			header.Set(name, value)
		case "-d":
			i++
			body = args[i]
			if header.Get("content-type") == "" {
				header.Set("content-type", "application/x-www-form-urlencoded")
			}
		default:
			if url != "" || strings.HasPrefix(a, "-") {
				return "", fmt.Errorf("curl: this test does not implement %q", a)
			}
			url = a
		}
	}
	path, ok := strings.CutPrefix(url, "http://127.0.0.1:8080")
	if !ok {
		return "", fmt.Errorf("curl: %q is not a URL of the gateway", url)
	}
	req, err := http.NewRequest(http.MethodPost, server+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	out := strings.TrimRight(string(b), "\n") + "\n"
	return times.ReplaceAllString(ids.ReplaceAllString(out, "${1}…"), "${1}…"), nil
}

var (
	ids   = regexp.MustCompile(`\b(msg_|req_|resp_|rs_|fc_|chatcmpl-)[0-9A-Za-z]+`)
	times = regexp.MustCompile(`("(?:created|created_at|completed_at)":)[0-9]+`)
)

// pipe runs echo TEXT | go run DIRECTORY FLAGS, which may end in 2>&1. A program
// that prints something may exit with any status.
func pipe(args []string) (string, error) {
	if len(args) < 6 || args[0] != "echo" || args[2] != "|" {
		return "", fmt.Errorf("this test runs echo TEXT | go run DIRECTORY FLAGS only")
	}
	rest, merged := args[3:], args[len(args)-1] == "2>&1"
	if merged {
		rest = rest[:len(rest)-1]
	}
	cmd := exec.Command(rest[0], rest[1:]...)
	cmd.Stdin = strings.NewReader(args[1] + "\n")
	var out, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errout
	if merged {
		cmd.Stderr = &out
	}
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		return "", fmt.Errorf("%v\n%s", err, errout.String())
	}
	return out.String(), nil
}

// commands returns the commands of a page without an output: indented lines, and words in
// backquotes, that begin with a program of this list. Programs of other projects are
// not checked.
func commands(page string) (list []string) {
	for _, m := range command.FindAllStringSubmatch(page, -1) {
		list = append(list, strings.ReplaceAll(m[1]+m[2], "\n", " "))
	}
	return list
}

var command = func() *regexp.Regexp {
	const start = `(?:[A-Z_]+=\S+ )*(?:go|git|cd|npm) `
	return regexp.MustCompile("(?m)^    (" + start + "[^\\n#]*)|`(" + start + "[^`]*)`")
}()

// module is the path of this module.
const module = "github.com/polywire/polywire"

// checkCommand checks that the packages, tests and directories exist that a command names,
// in the module of its directory.
func checkCommand(command string) error {
	dir := "."
	for part := range strings.SplitSeq(command, "&&") {
		args := words(part)
		for strings.Contains(args[0], "=") {
			args = args[1:]
		}
		switch {
		case slices.Equal(args, []string{"git", "clone", "https://" + module}), slices.Equal(args, []string{"cd", "polywire"}),
			slices.Equal(args, []string{"go", "get", module}):
		case args[0] == "cd" && len(args) == 2:
			dir = filepath.Join(dir, args[1])
			if _, err := os.Stat(dir); err != nil {
				return err
			}
		case args[0] == "git" && len(args) == 4 && args[1] == "grep" && args[2] == "-nE":
			if err := grep(args[3]); err != nil {
				return err
			}
		case args[0] == "go" && len(args) > 1:
			if err := checkGo(dir, args[1], args[2:]); err != nil {
				return err
			}
		default:
			return fmt.Errorf("this test cannot check %q", part)
		}
	}
	return nil
}

// checkGo checks the arguments of a go command.
func checkGo(dir, verb string, args []string) error {
	selected := map[string]string{} // patterns by flag
	var directories []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-run" || a == "-fuzz" || a == "-bench":
			i++
			selected[a] = args[i]
		case a == "-fuzztime" || a == "-fuzzminimizetime":
			i++
			selected[a] = args[i]
		case (verb == "test" || verb == "run" && len(directories) == 0) && strings.HasPrefix(a, "-"): // without a value
		case verb == "run" && len(directories) > 0: // an argument of the program
		case verb == "doc" && len(directories) > 0: // a symbol
		case a == module:
			directories = append(directories, dir)
		default:
			directories = append(directories, filepath.Join(dir, a))
		}
	}
	if len(directories) == 0 {
		directories = []string{dir}
	}
	if selected["-fuzz"] != "" && selected["-fuzzminimizetime"] == "" {
		return errors.New("without -fuzzminimizetime the time can be spent on one input")
	}
	for _, d := range directories {
		if d = strings.TrimSuffix(d, "/..."); d == "..." {
			d = "."
		}
		if moduleOf(d) != moduleOf(dir) {
			return fmt.Errorf("%s is in another module", d)
		}
		var code strings.Builder
		files, err := filepath.Glob(filepath.Join(d, "*.go"))
		if err != nil || len(files) == 0 && filepath.Clean(d) != "." {
			return fmt.Errorf("%s has no package", d)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			code.Write(b)
		}
		if verb == "run" && !strings.Contains(code.String(), "\npackage main\n") {
			return fmt.Errorf("%s is not a program", d)
		}
		for option, kind := range map[string]string{"-run": "Test", "-fuzz": "Fuzz", "-bench": "Benchmark"} {
			if err := declared(code.String(), kind, selected[option]); err != nil {
				return fmt.Errorf("%s: %w", d, err)
			}
		}
	}
	return nil
}

// moduleOf returns the directory of the go.mod file of a directory.
func moduleOf(dir string) string {
	for dir = filepath.Clean(dir); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return "."
}

// declared checks that a pattern selects a function of a kind.
func declared(code, kind, pattern string) error {
	pattern, _, _ = strings.Cut(pattern, "/") // names of subtests
	if pattern == "" || pattern == "^$" || strings.Contains(pattern, kind+"Name") {
		return nil
	}
	selects, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	for _, m := range regexp.MustCompile(`(?m)^func (`+kind+`\w*)\(`).FindAllStringSubmatch(code, -1) {
		if selects.MatchString(m[1]) {
			return nil
		}
	}
	return fmt.Errorf("%q selects nothing", pattern)
}

// grep checks that a source file of this module has a line that matches a pattern.
func grep(pattern string) error {
	search, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	found := errors.New("found")
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && search.Match(b) {
			return found
		}
		return err
	})
	if err == nil {
		return errors.New("nothing matches")
	}
	if err == found {
		return nil
	}
	return err
}

// TestRejectedOnPurpose checks the requests of docs/limitations.md that get a 400.
func TestRejectedOnPurpose(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `(\".*)` \\| `(.*)` \\|$").FindAllStringSubmatch(pages(t)["docs/limitations.md"], -1)
	if len(rows) != 4 {
		t.Errorf("%d rows, want 4", len(rows))
	}
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"a","input_schema":{"type":"object"}}],`
	for _, row := range rows {
		r, err := messages.ParseRequest([]byte(body + row[1] + "}"))
		if r != nil {
			err = r.Validate(nil)
		}
		got := ""
		if list, _ := content.Violations(err); len(list) > 0 {
			got = list[0].Error()
		}
		if diff := cmp.Diff(row[2], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row[1], diff)
		}
	}
}

// TestUncountedUpstream checks what docs/embedding.md states about an Upstream that does not
// call Usage.
func TestUncountedUpstream(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Text("Good morning.") })
	var report *upstream.Report
	o := upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}
	for _, tt := range []struct {
		h          http.Handler
		path, body string
		want       []string // counts of tokens for the client
	}{
		{messages.NewHandler(up, &messages.Options{HandlerOptions: o}), "/v1/messages",
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hello."}]}`,
			[]string{`"input_tokens":0`, `"output_tokens":0`}},
		{messages.NewHandler(up, &messages.Options{HandlerOptions: o}), "/v1/messages",
			`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hello."}]}`,
			[]string{`"input_tokens":estimate`, `"output_tokens":0`, `"input_tokens":0`, `"output_tokens":0`}},
		{generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: o}), "/v1beta/models/m:generateContent",
			`{"contents":[{"parts":[{"text":"Hello."}]}]}`, nil},
		{generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: o}), "/v1beta/models/m:streamGenerateContent?alt=sse",
			`{"contents":[{"parts":[{"text":"Hello."}]}]}`,
			// Of the text and of the end, with the same estimate of the prompt.
			[]string{`"promptTokenCount":6`, `"totalTokenCount":6`, `"promptTokenCount":6`, `"totalTokenCount":6`}},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, tt.path, strings.NewReader(tt.body))
		r.Header.Set("anthropic-version", "2023-06-01")
		tt.h.ServeHTTP(w, r)
		response := strings.ReplaceAll(w.Body.String(), fmt.Sprintf(`"input_tokens":%d,`, report.Usage.Input), `"input_tokens":estimate,`)
		got := regexp.MustCompile(`"(?:in|out)put_tokens":(?:\d+|estimate)|"\w+TokenCount":\d+`).FindAllString(response, -1)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
		if u := report.Usage; !u.Estimated || u.Input == 0 || u.Output == 0 || len(report.Losses) > 0 || w.Header()["Polywire-Loss"] != nil {
			t.Errorf("%s: usage %+v, losses %v, header %v", tt.path, u, report.Losses, w.Header())
		}
	}
}

// TestDocumentedLimits checks the limits of requests in docs/limits.md: a request at a limit
// is accepted, and one beyond it is not.
func TestDocumentedLimits(t *testing.T) {
	repeat := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	const (
		start = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":`
		text  = `{"type":"text","text":"a"}`
	)
	tools := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"name":"t%d","input_schema":{"type":"object"}}`, i)
		}
		return strings.Join(list, ",")
	}
	page := pages(t)["docs/limits.md"]
	for option, tt := range map[string]struct {
		add  int // what the body has besides n
		body func(n int) string
	}{
		"Limits.Depth": {4, func(n int) string {
			return start + `"a"}],"tools":[{"name":"a","input_schema":{"type":"object","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}]}`
		}},
		"Limits.Values": {9, func(n int) string { return start + `"a"}],"mcp_servers":[],"x":[` + repeat("1", n) + `]}` }},
		"Limits.Parts":  {0, func(n int) string { return start + `[` + repeat(text, n) + `]}]}` }},
		"Limits.Tools":  {0, func(n int) string { return start + `"a"}],"tools":[` + tools(n) + `]}` }},
		"Limits.Schemas": {5, func(n int) string {
			return start + `"a"}],"tools":[{"name":"a","input_schema":{"type":"object","x":[` + repeat("1", n) + `]}}]}`
		}},
	} {
		m := regexp.MustCompile(`(?m)^\| .* \| ([0-9,]+)(?: each)? \| .` + regexp.QuoteMeta(option) + `. \|$`).FindStringSubmatch(page)
		if m == nil {
			t.Errorf("%s is not documented", option)
			continue
		}
		limit, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		accepted := func(n int) bool {
			r, err := messages.ParseRequest([]byte(tt.body(n)))
			if r != nil {
				err = r.Validate(nil)
			}
			return err == nil
		}
		if n := limit - tt.add; !accepted(n) || accepted(n+1) {
			for n = limit - 20; n < limit+20 && accepted(n); n++ {
			}
			t.Errorf("%s: the documented limit is %d, rejected from %d on", option, limit, n+tt.add)
		}
	}
}
