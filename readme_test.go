package polywire_test

import (
	"bytes"
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
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream/echo"
)

var update = flag.Bool("update", false, "rewrite the outputs in README.md")

// blocks returns the fenced blocks of a language, without their fences.
func blocks(readme, language string) []string {
	var found []string
	for {
		_, rest, ok := strings.Cut(readme, "\n```"+language+"\n")
		if !ok {
			return found
		}
		block, after, ok := strings.Cut(rest, "\n```\n")
		if !ok {
			return found
		}
		found, readme = append(found, block+"\n"), "\n```\n"+after
	}
}

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every Go snippet of the README stands in an example, where it is compiled
// and, for the most part, run.
func TestSnippets(t *testing.T) {
	var code []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		if path != "example_test.go" && filepath.Dir(filepath.Dir(path)) != "examples" {
			return nil
		}
		b, err := os.ReadFile(path)
		code = append(code, unindent(string(b)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	snippets := blocks(readme(t), "go")
	if len(snippets) == 0 {
		t.Fatal("README.md has no Go snippets")
	}
	for _, snippet := range snippets {
		found := false
		for _, c := range code {
			found = found || strings.Contains(c, unindent(snippet))
		}
		if !found {
			t.Errorf("no example holds this snippet:\n%s", snippet)
		}
	}
}

// unindent drops the indentation of every line: a snippet begins further left
// than the code that it is taken from.
func unindent(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimLeft(line, "\t "))
	}
	return b.String()
}

// Every command of the README prints what the README says. -update rewrites
// that; the change is reviewed like code.
func TestCommands(t *testing.T) {
	s := httptest.NewServer(messages.NewHandler(echo.New(), nil))
	defer s.Close()
	text := readme(t)
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
		default: // the tests of examples/gateway see to that one; this test is part of the other
			got = want
		}
		if err != nil {
			t.Errorf("$ %s\n%v", command, err)
			continue
		}
		if *update {
			changed = strings.Replace(changed, block, strings.TrimSuffix(block, want)+got, 1)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("$ %s\nprints something else than README.md says (-want +got):\n%s", command, diff)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile("README.md", []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// split parts a block into its command and what that prints.
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

// words parts a command as a shell does, as far as the README needs it.
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

// curl does what the program of that name does, with the options that the
// README uses. Ids differ from run to run and are replaced.
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
				return "", fmt.Errorf("curl: %q is not known here", a)
			}
			url = a
		}
	}
	path, ok := strings.CutPrefix(url, "http://127.0.0.1:8080")
	if !ok {
		return "", fmt.Errorf("curl: %q is not the gateway", url)
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
	return ids.ReplaceAllString(out, "${1}_…"), nil
}

var ids = regexp.MustCompile(`\b(msg|req)_[0-9A-Za-z]+`)

// pipe runs echo TEXT | go run DIRECTORY, perhaps with flags, and with 2>&1 behind
// it. That the program finds something wrong is no failure.
func pipe(args []string) (string, error) {
	if len(args) < 6 || args[0] != "echo" || args[2] != "|" {
		return "", fmt.Errorf("only echo TEXT | go run DIRECTORY FLAGS is known here")
	}
	rest, both := args[3:], args[len(args)-1] == "2>&1"
	if both {
		rest = rest[:len(rest)-1]
	}
	cmd := exec.Command(rest[0], rest[1:]...)
	cmd.Stdin = strings.NewReader(args[1] + "\n")
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if both {
		cmd.Stderr = &out
	}
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		return "", fmt.Errorf("%v\n%s", err, failed.String())
	}
	return out.String(), nil
}
