package recorded

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lowertest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// fuzzDocuments are the requests that the fuzz targets change.
var fuzzDocuments = []string{
	`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"}]}`,
	`{"model":"m","max_tokens":9,"system":"Be kind.","tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"q"},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"So.","signature":"c2ln"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]},` +
		`{"role":"assistant","content":"It is so."},{"role":"user","content":"And?"}]}`,
	`{"contents":[{"role":"user","parts":[{"text":"q"},{"fileData":{"fileUri":"https://example.com/a.pdf","mimeType":"application/pdf"}}]},` +
		`{"role":"model","parts":[{"text":"So.","thought":true},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"And?"}]}],` +
		`"tools":[{"functionDeclarations":[{"name":"f"}]}]}`,
	`{"model":"m","max_tokens":9,"thinking":{"type":"adaptive"},"output_config":{"effort":"max"},"tool_choice":{"type":"auto","disable_parallel_tool_use":true},` +
		`"tools":[{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}},{"type":"web_search_20250305","name":"web_search"}],` +
		`"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"A text."},"title":"T","citations":{"enabled":true}},` +
		`{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"So.","signature":"c2ln"},` +
		`{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"tool_use","id":"t2","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"e"},{"type":"tool_result","tool_use_id":"t1","content":"r"},{"type":"text","text":"Go on."}]},` +
		`{"role":"assistant","content":"So it is."},{"role":"user","content":"And?"}]}`,
}

// fuzzSeeds adds the seeds of a fuzz target: the number of a document, and changes.
func fuzzSeeds(f *testing.F) {
	f.Add(uint(3), "000A$0020000080000000000000000000070000070000070000000000000")                  // sound with a signature in an assistant turn
	f.Add(uint(74), "\xc1\xcfi+3\xbbݒ3\x1a\xc1/x\xd1\xcdڽ\xad^\xa1v\x9f~J\xd4\x1a\x1a\x1a\x1a\x1a") // no functions allowed, beside a search that not all clouds have
	for i := range fuzzDocuments {
		f.Add(uint(i), "")
		for seed := range uint64(40) {
			f.Add(uint(i), randomChanges(seed))
		}
	}
}

// randomChanges returns changes at random.
func randomChanges(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	changes := make([]byte, 1+random.IntN(80))
	for i := range changes {
		changes[i] = byte(random.Uint32())
	}
	return string(changes)
}

// fuzzed returns a changed request of fuzzDocuments.
func fuzzed(document uint, changes string) *upstream.Request {
	body := fuzzDocuments[document%uint(len(fuzzDocuments))]
	format := formatGenerate
	if strings.Contains(body, `"messages"`) {
		format = formatMessages
	}
	n := asSent(&record{&formattest.Record{Request: body}, format})
	if n == nil {
		panic(validate(format, body, messages.ValidateOptions{}))
	}
	return hostMade(n, changes)
}

// hostMade returns a request that a host could have made of n.
func hostMade(n *upstream.Request, changes string) *upstream.Request {
	n = lowertest.Change(n, changes)
	n.Resolver = new(host)
	return n
}

// FuzzEncodings does checks 8, 9 and 11 with requests that hosts could make.
func FuzzEncodings(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, document uint, changes string) {
		n := fuzzed(document, changes)
		for _, d := range destinations {
			for _, p := range encodingChecks {
				if err := p.check(d, n); err != nil {
					t.Errorf("check %s, %s: %v", p.name, d.name, err)
				}
			}
		}
	})
}

// FuzzPrefixes does check 10 with requests that hosts could make.
func FuzzPrefixes(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, document uint, changes string) {
		n := fuzzed(document, changes)
		list := upstreamtest.Conversation(n)
		if len(list) < 2 {
			return
		}
		for _, d := range destinations {
			if err := samePrefixes(d, list); err != nil {
				t.Errorf("%s: %v", d.name, err)
			}
		}
	})
}
