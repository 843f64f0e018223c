package e2e

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
)

var update = flag.Bool("update", false, "rewrite the expectations in the archives; review the diff like code")

// A section is a named piece of an archive.
type section struct{ name, text string }

// An archive is a recorded conversation: a comment that states its purpose, then "--
// name --" lines, each followed by its text. Each turn has the sections
//
//	-- client <format> <adapter> <model> <mode> --  members of the client's document
//	-- sent --    what the vendor receives
//	-- vendor --  what it sends, byte for byte
//	-- answer --  what the client receives
//
// In a client's document, ANSWER 1 is replaced by what the client keeps of the
// first response.
type archive struct {
	comment  string
	sections []section
}

func readArchive(text string) archive {
	var a archive
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		name, end := strings.CutSuffix(name, " --")
		switch {
		case ok && end:
			a.sections = append(a.sections, section{name: name})
		case len(a.sections) == 0:
			a.comment += line
		default:
			a.sections[len(a.sections)-1].text += line
		}
	}
	return a
}

func (a archive) String() string {
	var b strings.Builder
	b.WriteString(a.comment)
	for _, s := range a.sections {
		b.WriteString("-- " + s.name + " --\n" + s.text)
		if !strings.HasSuffix(s.text, "\n") {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// A script is a vendor that sends the response in an archive.
type script struct {
	sent, answer string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	s.sent = string(body)
	kind := "text/event-stream"
	if strings.HasPrefix(s.answer, "{") {
		kind = "application/json"
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Request: r,
		ContentLength: -1, Body: io.NopCloser(strings.NewReader(s.answer))}, err
}

// TestArchives replays the conversations in testdata.
func TestArchives(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			now := readArchive(string(text))
			replay(t, &now)
			switch {
			case *update:
				if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			case now.String() != string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))):
				t.Errorf("(-want +got)\n%s", cmp.Diff(string(text), now.String()))
			}
		})
	}
}

// replay runs each turn and writes what was sent and received into the archive.
func replay(t *testing.T, a *archive) {
	var kept []string
	for i := 0; i+3 < len(a.sections); i += 4 {
		ask, sent, vendor, answered := &a.sections[i], &a.sections[i+1], &a.sections[i+2], &a.sections[i+3]
		words := strings.Fields(ask.name)
		if len(words) != 5 || words[0] != "client" || sent.name != "sent" || vendor.name != "vendor" || answered.name != "answer" {
			t.Fatalf("section %d: %q, %q, %q, %q", i, ask.name, sent.name, vendor.name, answered.name)
		}
		f, b := endpointNamed(words[1]), adapterNamed(t, words[2])
		s := &script{answer: vendor.text}
		g := newGateway(f, b.at(t, "http://vendor.example/v1", &http.Client{Transport: s}), upstream.HandlerOptions{})
		members := ask.text
		for n, k := range kept {
			members = strings.ReplaceAll(members, "ANSWER "+string(rune('1'+n)), k)
		}
		got := g.ask(words[3], members, mode(words[4]))
		if !got.Whole || got.Broken != "" {
			t.Fatalf("turn %d: status %d, broken %q: %s", i/4+1, got.Status, got.Broken, clip(got.Body))
		}
		sent.text = s.sent + "\n"
		answered.text = strings.Join(append(got.losses(), ""), "\n") + strings.TrimRight(strings.ReplaceAll(got.Body, "\r\n", "\n"), "\n") + "\n"
		kept = append(kept, keptOf(f, got))
	}
}

// keptOf returns what a client adds to its history for a response: blocks, as
// coding agents keep them, or contents, as the command-line agent does.
func keptOf(f endpoint, a *response) string {
	if f.name != "messages" {
		return strings.Join(keepAsCLI(a.Turn), ",")
	}
	var c messagesClient
	c.keep(a)
	return c.history[0]
}
