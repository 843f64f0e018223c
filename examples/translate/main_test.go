package main

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

const (
	hello  = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi."}]}`
	seeded = `{"contents":[{"parts":[{"text":"Hi."}]}],"generationConfig":{"seed":3}}`
	there  = "-from messages -to generatecontent"
	back   = "-from generatecontent -to messages"
)

func TestRun(t *testing.T) {
	tests := []struct {
		name, args, in string
		code           int
		stdout, stderr []string // substrings; nil means empty
	}{
		{name: "loss", args: back, in: seeded, code: done,
			stdout: []string{`"text":"Hi."`}, stderr: []string{"dropped generation_config.seed: "}},
		{name: "refused loss", args: back + " -refuse dropped", in: seeded, code: failed,
			stderr: []string{"dropped generation_config.seed: ", "translate: refused: 1 of 1 losses are dropped or worse\n"}},
		{name: "more severe than refused", args: back + " -refuse hint", in: seeded, code: failed,
			stderr: []string{"refused: 1 of 1 losses are hint or worse\n"}},
		{name: "no loss", args: there + " -refuse hint", in: hello, code: done, stdout: []string{`"text":"Hi."`}},
		{name: "other model", args: back + " -model other", in: `{"contents":[{"parts":[{"text":"Hi."}]}]}`, code: done,
			stdout: []string{`"model":"other"`}},
		{name: "other model, same format", args: "-from messages -to messages -model other", in: hello, code: done,
			stdout: []string{strings.Replace(hello, `"m"`, `"other"`, 1) + "\n"}},
		{name: "server of the vendor", args: "-from messages -to openai", in: hello, code: done, stdout: []string{`"max_completion_tokens":9`}},
		{name: "compatible server", args: "-from messages -to openai -url http://localhost:1/v1", in: hello, code: done, stdout: []string{`"max_tokens":9`}},
		{name: "unsupported content", args: back, code: failed,
			in:     `{"contents":[{"parts":[{"text":""},{"inlineData":{"mimeType":"audio/wav","data":"UklGRgAAAABXQVZF"}}]}]}`,
			stderr: []string{"contents[0].parts[1]: the model accepts no audio or video"}},
		{name: "link", args: "-from messages -to openai", code: done,
			in:     `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]}`,
			stdout: []string{`"url":"https://example.com/a.png"`}},
		{name: "link that the server does not accept", args: "-from messages -to openai", code: failed,
			in:     `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}]}]}`,
			stderr: []string{"the server does not accept the link https://example.com/a.pdf;"}},
		{name: "file id of another server", args: "-from messages -to openai", code: failed,
			in:     `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_1"}}]}]}`,
			stderr: []string{"the server does not accept the file id file_1;"}},
		{name: "two violations", args: there, in: `{"max_tokens":"many","messages":[{"role":"user","content":"Hi."}]}`, code: failed,
			stderr: []string{"model: Field required\n", "max_tokens: Input should be a valid integer\n"}},
		{name: "violation, same format", args: "-from generatecontent -to generatecontent", in: `{"contents":[]}`, code: failed,
			stderr: []string{"contents"}},
		{name: "violation of Chat Completions", args: "-from openai -to messages", in: `{"model":"m","messages":[{"role":"user","content":"Hi."}],"n":"two"}`, code: failed,
			stderr: []string{"n: "}},
		{name: "reference to a stored response", args: "-from openai-responses -to messages", in: `{"model":"m","input":"Hi.","previous_response_id":"resp_1"}`, code: failed,
			stderr: []string{"previous_response_id"}},
		{name: "invalid JSON", args: there, in: "{\n", code: failed, stderr: []string{"line 2"}},
		{name: "empty input", args: there, in: "", code: failed, stderr: []string{"JSON"}},
		{name: "empty response", args: "-reply " + back, in: "{}", code: failed,
			stdout: []string{`"type":"error"`}, stderr: []string{"translate: "}},
		{name: "error response", args: "-reply " + there, in: `{"type":"error","error":{"type":"overloaded_error","message":"later"}}`, code: failed,
			stdout: []string{`"error":{"code":503`}, stderr: []string{"translate: "}},
		{name: "error response of Chat Completions", args: "-reply -from openai -to messages", code: failed,
			in:     `{"error":{"message":"later","type":"rate_limit_error","param":null,"code":null}}`,
			stdout: []string{`"type":"rate_limit_error"`}, stderr: []string{"translate: "}},
		{name: "truncated stream", args: "-stream " + back, in: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]}}]}\n\n", code: failed,
			stdout: []string{"text_delta", "event: error\n"}, stderr: []string{"unexpected EOF"}},
		{name: "truncated stream, same format", args: "-stream -from messages -to messages", in: "event: ping\ndata: {\"type\":\"ping\"}\n\n", code: failed,
			stderr: []string{"unexpected EOF"}},

		{name: "missing formats", code: usage, stderr: []string{`-from: unknown format ""; want generatecontent, messages, openai or openai-responses`}},
		{name: "unknown format", args: "-from messages -to xml", code: usage, stderr: []string{`-to: unknown format "xml"; want generatecontent`}},
		{name: "reply and stream", args: "-reply -stream " + there, code: usage, stderr: []string{"-reply and -stream"}},
		{name: "unknown severity", args: "-refuse all " + there, code: usage, stderr: []string{"-refuse: unknown severity"}},
		{name: "refuse with response", args: "-reply -refuse hint " + there, code: usage, stderr: []string{"-refuse: only requests"}},
		{name: "URL with response", args: "-reply -url http://localhost " + there, code: usage, stderr: []string{"-url: only for requests"}},
		{name: "invalid URL", args: "-url ftp://localhost " + there, code: usage, stderr: []string{"-url: "}},
		{name: "argument", args: there + " body.json", code: usage, stderr: []string{"standard input"}},
		{name: "unknown flag", args: "-x", code: usage, stderr: []string{"-x"}},
		{name: "help", args: "-help", code: done, stderr: []string{"-stream"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := translate(t, tt.args, tt.in)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, o := range []struct {
				name, got string
				parts     []string
			}{{"output", stdout, tt.stdout}, {"error", stderr, tt.stderr}} {
				if len(o.parts) == 0 && o.got != "" {
					t.Errorf("standard %s %q, want empty", o.name, o.got)
				}
				for _, part := range o.parts {
					if !strings.Contains(o.got, part) {
						t.Errorf("standard %s %q, want it to contain %q", o.name, o.got, part)
					}
				}
			}
		})
	}
}

// Errors of reading and writing are printed.
func TestIOErrors(t *testing.T) {
	reply := file(t, "reply", "messages.json")
	broken := errors.New("broken pipe")
	for _, args := range []string{there, "-reply " + there, "-stream " + there, "-reply -from messages -to messages"} {
		var stdout, stderr strings.Builder
		code := run(t.Context(), strings.Fields(args), iotest.ErrReader(broken), &stdout, &stderr)
		if code != failed || stderr.String() == "" {
			t.Errorf("reading, %s: exit code %d, %q", args, code, stderr.String())
		}
		in := hello
		if strings.Contains(args, "-reply") {
			in = reply
		}
		if strings.Contains(args, "-stream") {
			in = file(t, "stream", "messages.txt")
		}
		stderr.Reset()
		code = run(t.Context(), strings.Fields(args), strings.NewReader(in), failing{broken}, &stderr)
		if code != failed || !strings.HasSuffix("\n"+stderr.String(), "\ntranslate: broken pipe\n") {
			t.Errorf("writing, %s: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A stream is translated as it arrives: each event is written before the next is read.
func TestStreaming(t *testing.T) {
	in := &source{t: t, events: strings.SplitAfter(file(t, "stream", "generatecontent.txt"), "\n\n")}
	var stderr strings.Builder
	code := run(t.Context(), strings.Fields("-stream "+back), in, in, &stderr)
	if code != done || in.checked != 3 {
		t.Errorf("exit code %d, %d pieces: %s", code, in.checked, stderr.String())
	}
}

// A source returns one event for each Read, and checks that the previous event was written
// to it.
type source struct {
	t      *testing.T
	events []string

	mu      sync.Mutex
	read    int
	out     strings.Builder
	checked int
}

func (s *source) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read > 0 && s.read < 4 {
		text := []string{"Look it ", "up.", "Checking."}[s.read-1]
		if !strings.Contains(s.out.String(), text) {
			s.t.Errorf("event %d was not written before the next was read", s.read-1)
		}
		s.checked++
	}
	if s.read == len(s.events) {
		return 0, io.EOF
	}
	s.read++
	return copy(p, s.events[s.read-1]), nil
}

func (s *source) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

// Equal hints at several places are one line with their number.
func TestFoldedHints(t *testing.T) {
	in := `{"model":"m","max_tokens":9,"messages":[` + strings.TrimSuffix(strings.Repeat(
		`{"role":"user","content":[{"type":"text","text":"Hi.","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":"Hi."},`, 3), `,{"role":"assistant","content":"Hi."},`) + `]}`
	code, _, log := translate(t, "-from messages -to openai", in)
	if code != done || strings.Count(log, "\n") != 1 || !strings.Contains(log, "hint messages.0.content.0") || !strings.Contains(log, ", and in 2 more places: ") {
		t.Errorf("exit code %d:\n%s", code, log)
	}
}
