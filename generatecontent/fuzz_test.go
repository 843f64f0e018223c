package generatecontent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/workload"
)

func FuzzParseRequest(f *testing.F) {
	for _, b := range examples(f) {
		f.Add(b)
	}
	for _, tt := range spellings {
		f.Add(tt.body)
		f.Add(tt.want)
	}
	for _, tt := range violationTests {
		f.Add(tt.body)
	}
	f.Add(workload.GenerateSmall())
	for _, b := range formattest.RecordedSeeds(f, "generatecontent", func(r *formattest.Record) string {
		if strings.Contains(r.Request, "chema") { // schemas are written in another form of the same meaning
			return ""
		}
		return r.Request
	}) {
		f.Add(b)
	}
	f.Add(`{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{}}]}]}`)
	f.Add(`{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"a":1}}]}]}`)
	f.Add(`{"contents":[{"parts":[{"x":""},{"y":""}]}]}`) // empty texts with extra members
	f.Fuzz(func(t *testing.T, body string) {
		r, err := ParseRequest([]byte(body))
		if r != nil && !json.Valid([]byte(body)) {
			t.Fatal("encoding/json refuses what was parsed")
		}
		if r == nil {
			if err == nil {
				t.Fatal("neither a request nor an error")
			}
			return
		}
		_ = r.Validate(&ValidateOptions{Strict: true})
		// A request that could be parsed must not cause a panic. RequestFromUpstream makes a
		// valid request of one that is not valid, such as a result without a name.
		if err != nil || r.Validate(nil) != nil {
			_, _ = r.AppendJSON(nil)
			_, _, _ = RequestFromUpstream(r.Upstream())
			return
		}
		checkRoundTrip(t, r)
	})
}

// ignoreOrigin ignores the unexported fields of parsed requests.
var ignoreOrigin = cmpopts.IgnoreUnexported(Request{})

// checkRoundTrip checks that parsing an encoded request gives an equal request with
// the same encoding, and that converting the request to its neutral form and back
// loses nothing.
func checkRoundTrip(t *testing.T, r *Request) {
	t.Helper()
	b, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseRequest(b)
	if err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if diff := cmp.Diff(r, again, ignoreOrigin); diff != "" {
		t.Fatalf("parsed again (-want +got):\n%s\n%s", diff, b)
	}
	c, err := again.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, c) {
		t.Fatalf("equal requests encode differently:\n%s\n%s", b, c)
	}
	back, losses := roundTrip(t, r)
	if back == nil || len(losses) > 0 {
		return
	}
	if diff := cmp.Diff(bare(r), bare(back), ignoreOrigin); diff != "" {
		t.Fatalf("through the neutral request (-want +got):\n%s", diff)
	}
}

// roundTrip converts r to its neutral form and back, encodes it, and parses it. It returns
// nil if nothing of the last message can be sent.
func roundTrip(t *testing.T, r *Request) (*Request, []content.Loss) {
	t.Helper()
	back, losses, err := RequestFromUpstream(r.Upstream())
	if list, _ := content.Violations(err); len(list) == 1 && list[0].Code == content.CodeUnsupported && strings.Count(list[0].Path, ".") == 1 {
		return nil, losses
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := back.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseRequest(b)
	if err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return again, losses
}

// bare returns a copy of r without empty configurations, and with schemas in one
// form.
func bare(r *Request) *Request {
	c := *r
	if g := r.GenerationConfig; g != nil {
		h := *g
		if h.ImageConfig != nil && *h.ImageConfig == (ImageConfig{}) {
			h.ImageConfig = nil
		}
		if h.ThinkingConfig != nil && *h.ThinkingConfig == (ThinkingConfig{}) {
			h.ThinkingConfig = nil
		}
		if c.GenerationConfig = &h; cmp.Equal(h, GenerationConfig{}) {
			c.GenerationConfig = nil
		}
	}
	if g := r.ToolConfig; g != nil {
		h := *g
		if h.FunctionCalling != nil && cmp.Equal(*h.FunctionCalling, FunctionCalling{}) {
			h.FunctionCalling = nil
		}
		if c.ToolConfig = &h; h == (ToolConfig{}) {
			c.ToolConfig = nil
		}
	}
	c.Tools = slices.Clone(r.Tools)
	for i := range c.Tools { // a schema may be written in another form of the same meaning
		if t := &c.Tools[i].Input; !t.OpenAPI {
			t.JSON, _ = schema.Input(schema.GeminiJSON, *t)
		}
	}
	if s := r.SystemInstruction; s != nil && len(s.Parts) == 0 && s.Extra == nil {
		c.SystemInstruction = nil
	}
	return &c
}
