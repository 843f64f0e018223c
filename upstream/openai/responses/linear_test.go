package responses

import (
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/race"
)

// hostileShapes are requests of n small pieces.
var hostileShapes = map[string]func(n int) string{
	"members of messages of one turn": func(n int) string {
		return withInput(strings.TrimSuffix(repeated(n, func(i string) string { return `{"role":"user","content":"x","m` + i + `":1},` }), ","))
	},
	"members of messages of the developer": func(n int) string {
		return withInput(repeated(n, func(i string) string { return `{"role":"developer","content":"x","m` + i + `":1},` }) + userHi)
	},
	"items with tools": func(n int) string {
		return withInput(repeated(n/20, func(i string) string {
			return `{"type":"additional_tools","tools":[{"type":"function","name":"f` + i + `"}]},`
		}) + userHi)
	},
	"namespaces": func(n int) string {
		return with(`"tools":[` + repeated(n/20, func(i string) string {
			return `{"type":"namespace","name":"n` + i + `","description":"d","tools":[{"type":"custom","name":"c"}]},`
		}) + `{"type":"web_search"}]`)
	},
	"calls": func(n int) string {
		return withInput(repeated(n, func(i string) string {
			return `{"type":"function_call","call_id":"` + i + `","name":"f","arguments":""},{"type":"function_call_output","call_id":"` + i + `","output":""},`
		}) + userHi)
	},
	"references": func(n int) string {
		return withInput(repeated(n, func(i string) string { return `{"type":"item_reference","id":"` + i + `"},` }) + userHi)
	},
	"files": func(n int) string {
		return withInput(repeated(n, func(i string) string {
			return `{"role":"user","content":[{"type":"input_image","file_id":"` + i + `"}]},`
		}) + userHi)
	},
	"summaries": func(n int) string {
		return withInput(`{"type":"reasoning","summary":[` + repeated(n, func(string) string { return `{"text":"x"},` }) + `{"text":"x"}]},{"role":"assistant","content":"x"},` + userHi)
	},
	"values that are not items": func(n int) string { return withInput(repeated(n, func(string) string { return `{},` }) + userHi) },
	"items of other types": func(n int) string {
		return withInput(repeated(n, func(string) string { return `{"type":"x"},` }) + userHi)
	},
}

func repeated(n int, piece func(i string) string) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(piece(strconv.Itoa(i)))
	}
	return s.String()
}

// TestLinear checks that a document of twice the size costs twice the memory and not more.
func TestLinear(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop items at random")
	}
	const n = 4_000
	for name, shape := range hostileShapes {
		t.Run(name, func(t *testing.T) {
			once, twice := shape(n), shape(2*n)
			b1, b2 := allocated(once), allocated(twice)
			if b2 > 2*b1+b1/4+5<<20 {
				t.Errorf("%d bytes for %d, %d for %d", b1, len(once), b2, len(twice))
			}
		})
	}
}

// allocated returns how many bytes decoding allocates.
func allocated(body string) uint64 {
	bytes, _ := formattest.Allocated(func() {
		if r, _ := decodeRequest(body, nil); r != nil {
			r.referencedFiles(nil)
			n, _ := r.withDocument(nil)
			for _, path := range []string{"turns.0.parts.2000", "tools.150.name", "system.3"} {
				n.Path(path)
			}
		}
	})
	return bytes
}

// TestLimits checks that the limits of the host apply.
func TestLimits(t *testing.T) {
	for name, lim := range map[string]content.Limits{
		"parts":   {Parts: 3},
		"tools":   {Tools: 1},
		"schemas": {Schemas: 2},
		"depth":   {Depth: 3},
		"values":  {Values: 10},
		"files":   {Files: 0},
	} {
		r, err := decodeRequest(codexKnownModel, &ValidateOptions{Limits: lim})
		if name == "files" {
			if err != nil {
				t.Errorf("the default limit: %v", err)
			}
			continue
		}
		if r != nil || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	two := withInput(`{"role":"user","content":[{"type":"input_image","file_id":"a"},{"type":"input_image","file_id":"b"}]}`)
	if _, err := decodeRequest(two, &ValidateOptions{Limits: content.Limits{Files: 1}}); err == nil || !strings.Contains(err.Error(), "too many files") {
		t.Errorf("two files: %v", err)
	}
}
