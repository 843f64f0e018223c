package schema

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/floor"
	"github.com/polywire/polywire/internal/race"
)

// unchanged are schemas that a dialect takes as they are, white space included.
var unchanged = []struct {
	d Dialect
	s content.Schema
}{
	{JSONSchema, content.Schema{JSON: corpus[0]}},
	{JSONSchema, content.Schema{JSON: corpus[1]}},
	{JSONSchema, content.Schema{JSON: corpus[2]}},
	{JSONSchema, content.Schema{JSON: corpus[3]}},
	{JSONSchema, content.Schema{JSON: "{ \"type\" : \"object\",\n \"properties\":{ \"type\":{\"type\":\"string\"} } }"}},
	{GeminiSchema, content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}`, OpenAPI: true}},
	{GeminiJSON, content.Schema{JSON: `{ "type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]},"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`}},
	{MessagesStrict, content.Schema{JSON: `{"type":"object","properties":{"ok": {"type":"boolean"}},"required":["ok"],"additionalProperties":false}`}},
	{OpenAIStrict, content.Schema{JSON: `{"type":"object","properties":{"ok": {"type":"boolean"}},"required":["ok"],"additionalProperties":false}`}},
}

func TestUnchanged(t *testing.T) {
	for _, tt := range unchanged {
		if got, losses := Input(tt.d, tt.s); got != tt.s.JSON || losses != nil {
			t.Errorf("dialect %d: %s became %s, losses %v", tt.d, tt.s.JSON, got, losses)
		}
		if !Fits(tt.d, tt.s) {
			t.Errorf("dialect %d: %s does not fit", tt.d, tt.s.JSON)
		}
	}
	for _, s := range []string{"", `{"type":"object","properties":{"a":{"type":"string"}}}`} {
		if Fits(OpenAIStrict, content.Schema{JSON: s}) {
			t.Errorf("%q fits a strict dialect", s)
		}
	}
}

// TestUnchangedAllocs holds the promise that a schema which stays as it is costs
// no memory: agents send dozens of them in every turn.
func TestUnchangedAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop things at random under the race detector")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, tt := range unchanged {
		limit := 0.0
		switch {
		case tt.d == OpenAIStrict:
			limit = 10 // it counts names to see that all are required
		case tt.d == MessagesStrict, tt.d == GeminiJSON && strings.Contains(tt.s.JSON, "$ref"):
			limit = 6 // references are looked up and remembered
		}
		if n := testing.AllocsPerRun(50, func() { Input(tt.d, tt.s) }); n > limit {
			t.Errorf("dialect %d: %v allocations for %.60s, want at most %v", tt.d, n, tt.s.JSON, limit)
		}
	}
}

// TestHostile translates what tries to be large. That it ends, and within the
// bounds that every translation has, is the test.
func TestHostile(t *testing.T) {
	wide := func(n int, f string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, f, i, (i+1)%n)
		}
		return b.String()
	}
	for name, s := range map[string]string{
		"bomb":             bomb(40),
		"chain":            `{"$ref":"#/$defs/0","$defs":{` + wide(5000, `"%d":{"$ref":"#/$defs/%d"}`) + `}}`,
		"long chain":       `{"$ref":"#/$defs/0","$defs":{` + wide(30000, `"%d":{"type":"array","items":{"$ref":"#/$defs/%d"}}`) + `}}`,
		"ring in allOf":    `{"allOf":[{"$ref":"#/$defs/0"}],"$defs":{` + wide(300, `"%d":{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/7"}]}`) + `}}`,
		"many properties":  `{"type":"object","properties":{` + wide(20000, `"%d":{"type":"string","default":%d}`) + `},"required":["5"]}`,
		"many enums":       `{"type":"object","properties":{"a":{"allOf":[{"enum":[` + wide(5000, `"%d %d"`) + `]},{"enum":[` + wide(5000, `"%d-%d"`) + `]}]}}}`,
		"many branches":    `{"anyOf":[` + wide(3000, `{"type":"object","properties":{"k":{"const":"%d"},"v":{"maximum":%d}}}`) + `]}`,
		"deep":             strings.Repeat(`{"type":"array","items":`, 250) + `{}` + strings.Repeat(`}`, 250),
		"doubling":         corpus[len(corpus)-1],
		"pointers nowhere": `{"type":"object","properties":{` + wide(5000, `"%d":{"$ref":"#/properties/x%d"}`) + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for d := JSONSchema; int(d) < dialects; d++ {
				translated(t, d, true, content.Schema{JSON: s})
				translated(t, d, false, content.Schema{JSON: s})
			}
		})
	}
}

// TestDocumented compares the tables of the package's documentation with those
// that the code works by.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := documentation(); !strings.Contains(string(text), want) {
		t.Errorf("doc.go lacks the table, which is:\n%s", want)
	}
}

// documentation returns the table of keywords as doc.go has it.
func documentation() string {
	word := func(r rule) string {
		s := [...]string{keep: "stays", said: "reworded", without: "silent", ignored: "ignored", lost: "goes"}[r.action]
		if r.reason != rNone {
			s += " " + reasons[r.reason].severity.String()
		}
		return s
	}
	var b strings.Builder
	fmt.Fprintf(&b, "//\t%-22s %-16s %-16s %-16s %s\n", "", "GeminiSchema", "GeminiJSON", "MessagesStrict", "OpenAIStrict")
	for i := range table {
		k := &table[i]
		fmt.Fprintf(&b, "//\t%-22s %-16s %-16s %-16s %s\n", k.name, word(k.gemini), word(k.geminiJSON), word(k.messages), word(k.open))
	}
	return b.String()
}

// BenchmarkTools translates the tools of an agent: 68 of the corpus's shapes.
func BenchmarkTools(b *testing.B) {
	var tools []content.Schema
	for i := range 68 {
		tools = append(tools, content.Schema{JSON: corpus[i%3]})
	}
	var doc strings.Builder
	for i, s := range tools {
		doc.WriteString(map[bool]string{true: "[", false: ","}[i == 0] + s.JSON)
	}
	doc.WriteByte(']')
	for d, name := range []string{"JSONSchema", "GeminiSchema", "GeminiJSON", "MessagesStrict", "OpenAIStrict"} {
		b.Run(name, func(b *testing.B) {
			floor.Run(b, doc.String(), func() {
				for _, s := range tools {
					Input(Dialect(d), s)
				}
			})
		})
	}
}
