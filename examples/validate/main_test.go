package main

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const hello = `"messages":[{"role":"user","content":"Hi."}]`

func TestRun(t *testing.T) {
	tests := []struct {
		name, args, body string
		code             int
		stdout           string
		stderr           string // a part of it
	}{
		{name: "valid body", body: `{"model":"m","max_tokens":1,` + hello + `}`, code: valid},
		{
			name: "several violations", code: invalid,
			body:   `{"max_tokens":"many",` + hello + `,"stream":1}`,
			stdout: "max_tokens: Input should be a valid integer\nstream: Input should be a valid boolean\nmodel: Field required\n",
		},
		{
			name: "generateContent", args: "-format generatecontent", code: valid,
			body: `{"contents":[{"parts":[{"text":"Hi."}]}],"x":1}`,
		},
		{
			name: "generateContent with strict", args: "-format generatecontent -strict", code: invalid,
			body: `{"contents":{"parts":{"text":"a","inline_data":{"mime_type":"image/png","data":"AA=="}}},"x":1}`,
			stdout: "contents[0].parts[0]: Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inlineData'\n" +
				"Invalid JSON payload received. Unknown name \"x\": Cannot find field.\n",
		},
		{
			name: "generateContent with count", args: "-format generatecontent -count", code: valid,
			body: `{"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"Hi."}]}]}}`,
		},
		{name: "Chat Completions", args: "-format openai", body: `{"model":"m","x":1,` + hello + `}`, code: valid},
		{
			name: "Chat Completions with strict", args: "-format openai -strict", code: invalid,
			body:   `{"model":"m","x":1,` + hello + `}`,
			stdout: "x: Unknown parameter: 'x'.\n",
		},
		{
			name: "several violations of Chat Completions", args: "-format openai", code: invalid,
			body:   `{"n":"two",` + hello + `}`,
			stdout: "n: Invalid type for 'n': expected an integer, but got a string instead.\nmodel: Missing required parameter: 'model'.\n",
		},
		{name: "Responses", args: "-format openai-responses", body: `{"model":"m","input":"Hi.","x":1}`, code: valid},
		{
			name: "Responses with strict", args: "-format openai-responses -strict", code: invalid,
			body:   `{"model":"m","input":"Hi.","x":1}`,
			stdout: "x: Unknown parameter: 'x'.\n",
		},
		{
			name: "type of a part of Responses", args: "-format openai-responses", code: invalid,
			body:   `{"model":"m","input":[{"role":"user","content":[{"type":"text","text":"Hi."}]}]}`,
			stdout: "…input[0].content[0]",
		},
		{name: "count of Responses", args: "-format openai-responses -count", code: failed, stderr: "-count"},
		{name: "unknown format", args: "-format xml", code: failed, stderr: "unknown format"},
		{
			name: "invalid JSON", body: "{\n", code: invalid,
			stdout: "…line 2",
		},
		{
			name: "empty body", body: "", code: invalid,
			stdout: "…JSON",
		},
		{
			name: "older version", code: valid,
			body: `{"model":"m","max_tokens":1,"temperature":1,` + hello + `}`,
		},
		{
			name: "newer version", args: "-version 2026-10-21", code: invalid,
			body:   `{"model":"m","max_tokens":1,"temperature":1,` + hello + `}`,
			stdout: "temperature: Extra inputs are not permitted\n",
		},
		{
			name: "unknown member", code: valid,
			body: `{"model":"m","max_tokens":1,"x":1,` + hello + `}`,
		},
		{
			name: "unknown member with strict", args: "-strict", code: invalid,
			body:   `{"model":"m","max_tokens":1,"x":1,` + hello + `}`,
			stdout: "x: Extra inputs are not permitted\n",
		},
		{
			name: "file without beta", code: invalid,
			body:   `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"f"}}]}]}`,
			stdout: "…messages.0.content.0.image.source",
		},
		{
			name: "file with beta", args: "-betas other,files-api-2025-04-14", code: valid,
			body: `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"f"}}]}]}`,
		},
		{name: "count", args: "-count", body: `{"model":"m",` + hello + `}`, code: valid},
		{name: "unknown flag", args: "-x", code: failed, stderr: "-x"},
		{name: "file name argument", args: "body.json", code: failed, stderr: "standard input"},
		{name: "help", args: "-help", code: valid, stderr: "-strict"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(strings.Fields(tt.args), strings.NewReader(tt.body), &stdout, &stderr)
			if code != tt.code {
				t.Errorf("got exit code %d, want %d", code, tt.code)
			}
			if part, ok := strings.CutPrefix(tt.stdout, "…"); ok {
				if !strings.Contains(stdout.String(), part) || strings.Count(stdout.String(), "\n") != 1 {
					t.Errorf("standard output %q, want a line with %q", stdout.String(), part)
				}
			} else if diff := cmp.Diff(tt.stdout, stdout.String()); diff != "" {
				t.Errorf("standard output (-want +got):\n%s", diff)
			}
			if !strings.Contains(stderr.String(), tt.stderr) || (tt.stderr == "") != (stderr.String() == "") {
				t.Errorf("standard error %q, want %q", stderr.String(), tt.stderr)
			}
		})
	}
}

func TestReadError(t *testing.T) {
	var stdout, stderr strings.Builder
	code := run(nil, iotest.ErrReader(errors.New("broken pipe")), &stdout, &stderr)
	if code != failed || stdout.String() != "" || !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("exit code %d, output %q, error %q", code, stdout.String(), stderr.String())
	}
}
