package conformance

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/internal/test/fake"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/upstream"
)

// A codexRun is one run of the agent Codex without its terminal interface.
type codexRun struct {
	home    string   // its home directory, with the sessions
	dir     string   // its working directory
	command []string // without the arguments of a run
	text    string   // the last message of the model
	shell   []string // the output of each command that it ran
	errors  []string // that it printed
	code    int      // of its exit
	stderr  string
}

// codexProvider configures a provider of the host's own, as the documentation of Codex shows.
const codexProvider = `model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "%s/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1
`

// runCodex runs Codex with a configuration, whose only verb is replaced by the server's url.
func runCodex(t *testing.T, config, url, model, prompt string, args ...string) *codexRun {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(noNode)
	}
	launcher, err := filepath.Abs("ts/node_modules/@openai/codex/bin/codex.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(launcher); err != nil {
		t.Fatal("@openai/codex is not installed: run npm ci in internal/test/conformance/ts")
	}
	r := &codexRun{home: t.TempDir(), dir: t.TempDir()}
	schema, err := json.Marshal(objectSchema)
	if err != nil {
		t.Fatal(err)
	}
	image, err := base64.StdEncoding.DecodeString(png64)
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{
		filepath.Join(r.home, "config.toml"): fmt.Appendf(nil, config, url),
		filepath.Join(r.dir, "schema.json"):  schema, filepath.Join(r.dir, "image.png"): image,
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.command = []string{
		node, launcher, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
		"-C", r.dir, "-m", model,
	}
	r.run(t, append(args, "--", prompt)...)
	return r
}

// again continues the session with another prompt.
func (r *codexRun) again(t *testing.T, prompt string) {
	t.Helper()
	r.run(t, "resume", "--last", "--", prompt)
}

func (r *codexRun) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), r.command[0], append(r.command[1:len(r.command):len(r.command)], args...)...)
	cmd.Dir = r.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "CODEX_HOME=" + r.home, "GATEWAY_KEY=" + key, "CODEX_API_KEY=" + key}
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	r.code, r.stderr = cmd.ProcessState.ExitCode(), errs.String()
	r.read(t, out.Bytes())
}

// mustSay checks that Codex ended well and printed the last text of the model.
func (r *codexRun) mustSay(t *testing.T, text string) {
	t.Helper()
	if r.code != 0 || r.text != text {
		t.Errorf("exit code %d and text %q, want 0 and %q; errors %q\n%s", r.code, r.text, text, r.errors, r.stderr)
	}
}

// read reads the events that Codex prints.
func (r *codexRun) read(t *testing.T, out []byte) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		var event struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Error   struct {
				Message string `json:"message"`
			} `json:"error"`
			Item struct {
				Type    string `json:"type"`
				Text    string `json:"text"`
				Message string `json:"message"`
				Output  string `json:"aggregated_output"`
			} `json:"item"`
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		switch event.Type + " " + event.Item.Type {
		case "item.completed agent_message":
			r.text = event.Item.Text
		case "item.completed command_execution":
			r.shell = append(r.shell, event.Item.Output)
		case "error ":
			r.errors = append(r.errors, event.Message)
		case "turn.failed ":
			r.errors = append(r.errors, event.Error.Message)
		}
	}
}

// A codexScenario is a task for Codex over a vendor.
type codexScenario struct {
	name  string
	model string         // that Codex requests, which decides its tools; empty: an unknown name
	say   [][]fake.Piece // the vendor's responses

	args []string // beside the prompt

	text   string // the last message
	output string // of a command or of the task, which the vendor must receive
	file   string // content of note.txt
	failed string // part of the error; empty: none
}

const codexPatch = "*** Begin Patch\n*** Add File: note.txt\n+Hello \"Rome\" \\ ☃\n*** End Patch\n"

var codexScenarios = []codexScenario{
	{name: "text", say: [][]fake.Piece{{fake.Text("Hello: 42.")}}, text: "Hello: 42."},
	{
		name: "commands",
		say: [][]fake.Piece{
			{
				fake.Thinking("Two commands."), fake.Text("Looking."),
				fake.Call("exec_command", `{"cmd":"echo Hello > note.txt; echo one"}`), fake.Call("exec_command", `{"cmd":"echo two"}`),
			},
			{fake.Thinking("Again."), fake.Call("exec_command", `{"cmd":"cat note.txt; echo three"}`)},
			{fake.Text("Done: 42.")},
		},
		text: "Done: 42.", file: "Hello\n", output: "three",
	},
	{
		name: "edit", model: "gpt-5.5",
		say:  [][]fake.Piece{{fake.Thinking("A patch."), codexCall("apply_patch", codexPatch)}, {fake.Text("Done: 42.")}},
		text: "Done: 42.", file: "Hello \"Rome\" \\ ☃\n", output: "Success",
	},
	{
		name: "repair", model: "gpt-5.5",
		say: [][]fake.Piece{
			{fake.Thinking("Look."), fake.Text("I run it."), fake.Call("exec_command", `{"cmd":"printf 'echo $(($1 - $2))\\n' > note.txt; sh note.txt 2 3"}`)},
			{fake.Thinking("A patch."), codexCall("apply_patch", "*** Begin Patch\n*** Update File: note.txt\n@@\n-echo $(($1 - $2))\n+echo $(($1 + $2))\n*** End Patch\n")},
			{fake.Thinking("Again."), fake.Call("exec_command", `{"cmd":"echo sum: $(sh note.txt 2 3)"}`)},
			{fake.Text("Done: 42.")},
		},
		text: "Done: 42.", file: "echo $(($1 + $2))\n", output: "sum: 5",
	},
	{
		name: "code in a namespace", model: "gpt-6.2-sol",
		say: [][]fake.Piece{
			{codexCall("exec", `const r = await tools.exec_command({cmd: "echo Hello > note.txt; echo one"}); text(r.output);`)},
			{fake.Text("Done: 42.")},
		},
		text: "Done: 42.", file: "Hello\n", output: "one",
	},
	{name: "bad request", say: [][]fake.Piece{{fake.Status{Code: 400, Message: "The fake refuses this."}}}, failed: "The fake refuses this."},
	{
		name: "schema", args: []string{"--output-schema", "schema.json"},
		say: [][]fake.Piece{{fake.Text(`{"city":"Rome","days":[1,2,3]}`)}}, text: `{"city":"Rome","days":[1,2,3]}`, output: "days",
	},
	{
		name: "image", args: []string{"--image", "image.png"},
		say: [][]fake.Piece{{fake.Text("A picture: 42.")}}, text: "A picture: 42.", output: png64,
	},
	{
		name: "rate limit",
		say: [][]fake.Piece{
			{fake.Status{Code: 429, Message: "The fake is busy.", Header: map[string]string{"Retry-After": "1"}}}, {fake.Text("Hello: 42.")},
		},
		text: "Hello: 42.",
	},
	{
		name: "error within the response",
		say:  [][]fake.Piece{{fake.Text("This response is ended by an error"), fake.Status{Code: 500, Message: "The fake broke."}}, {fake.Text("Hello: 42.")}},
		text: "Hello: 42.",
	},
	{
		name: "connection cut within the response",
		say:  [][]fake.Piece{{fake.Text("This response is cut in the middle"), fake.Cut{}}, {fake.Text("Hello: 42.")}},
		text: "Hello: 42.",
	},
}

// A customCall is a call of a free-form tool of Codex, which each vendor makes in its own form.
type customCall struct {
	fake.Piece
	name, input string
}

func codexCall(name, input string) fake.Piece { return customCall{name: name, input: input} }

// inFormOf returns the call as the vendor makes it for the tools of a request.
func (c customCall) inFormOf(v vendor, body []byte) fake.Piece {
	name := regexp.MustCompile(`"name": ?"([a-zA-Z0-9_-]*` + c.name + `)"`).FindSubmatch(body)
	switch {
	case name == nil:
		return fake.Text("The request has no tool " + c.name)
	case v.name == "responses":
		namespace := ""
		if c.name == "exec" {
			namespace = `"namespace":"functions",`
		}
		return fake.Raw(`{"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"call_1","name":"` + c.name + `",` + namespace + `"input":` + fake.Quote(c.input) + `}`)
	case v.name == "chat":
		return fake.Raw(`{"id":"call_1","type":"custom","custom":{"name":"` + string(name[1]) + `","input":` + fake.Quote(c.input) + `}}`)
	}
	return fake.Call(string(name[1]), `{"input":`+fake.Quote(c.input)+`}`)
}

// TestCodex runs each task over each vendor.
func TestCodex(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		t.Parallel()
		for _, s := range codexScenarios {
			t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) { s.test(t, v) })
		}
	})
}

// startForCodex starts the vendor. It receives its own model name, whatever Codex requests.
func (v vendor) startForCodex(t *testing.T) (upstream.Upstream, *fake.Server) {
	if v.name == "responses" {
		// Codex requests models of this vendor, with members that no reference lists.
		return startResponsesWith(t, fakeopenai.Options{Key: vendorKey, Forbid: []string{key}, Lenient: true})
	}
	up, f := v.start(t)
	return upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		return r.WithModel(v.model), nil
	}), f
}

func (s codexScenario) test(t *testing.T, v vendor) {
	up, f := v.startForCodex(t)
	turn := 0
	f.Answer(func(q fake.Request) []fake.Piece {
		if turn++; turn > len(s.say) {
			return []fake.Piece{fake.Text("There is nothing left to say.")}
		}
		pieces := slices.Clone(s.say[turn-1])
		for i, p := range pieces {
			if c, ok := p.(customCall); ok {
				pieces[i] = c.inFormOf(v, q.Body)
			}
		}
		return pieces
	})
	r := runCodex(t, codexProvider, serveResponses(t, up, nil).url, cmp.Or(s.model, "some-model"), "Do it.", s.args...)
	// The adapter learns from the first refusal that descriptions of tools are limited.
	learned := func(q fake.Request) bool {
		return strings.Contains(q.Message, "description': expected at most 1024 characters")
	}
	accepted := 0
	for _, q := range f.Requests() {
		switch {
		case q.Accepted():
			accepted++
		case !learned(q):
			t.Errorf("%s rejected a request by rule %s: %s", v.name, q.Rule, q.Message)
		}
	}
	if accepted != len(s.say) {
		t.Errorf("%d requests, want %d", accepted, len(s.say))
	}
	if s.failed != "" {
		if r.code == 0 || !strings.Contains(strings.Join(r.errors, "\n"), s.failed) {
			t.Errorf("exit code %d, errors %q, want %q", r.code, r.errors, s.failed)
		}
		return
	}
	r.mustSay(t, s.text)
	if note, _ := os.ReadFile(filepath.Join(r.dir, "note.txt")); string(note) != s.file {
		t.Errorf("note.txt has %q, want %q", note, s.file)
	}
	if last := string(f.Last().Body); !strings.Contains(last, s.output) {
		t.Errorf("the vendor did not receive the output %q: %.3000s", s.output, last[max(0, len(last)-3000):])
	}
	var wrong complaints
	for _, q := range f.Requests() {
		noState(&wrong, string(q.Body), false)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// codexBuiltIn configures the provider that Codex has for its vendor, which tries a WebSocket
// first.
const codexBuiltIn = `openai_base_url = "%s/v1"
`
