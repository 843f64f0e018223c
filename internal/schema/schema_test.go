package schema

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/losstable"
	"github.com/polywire/polywire/internal/test/race"
)

// Output is [ExpansionLimit.Output] for one schema.
func Output(d Dialect, s content.Schema) (string, []Loss) {
	return (*ExpansionLimit)(nil).Output(d, s)
}

// unchanged are schemas that a dialect accepts unchanged, white space included.
var unchanged = []struct {
	d Dialect
	s content.Schema
}{
	{JSONSchema, content.Schema{JSON: corpus[0]}},
	{JSONSchema, content.Schema{JSON: corpus[1]}},
	{JSONSchema, content.Schema{JSON: corpus[2]}},
	{JSONSchema, content.Schema{JSON: corpus[3]}},
	{JSONSchema, content.Schema{JSON: "{ \"type\" : \"object\",\n \"properties\":{ \"type\":{\"type\":\"string\"} } }"}},
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
			t.Errorf("%q fits OpenAIStrict", s)
		}
	}
}

// TestUnchangedAllocs checks that unchanged schemas are translated without
// allocations. Agents send dozens of them in every turn.
func TestUnchangedAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop things at random under the race detector")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, tt := range unchanged {
		limit := 0.0
		switch {
		case tt.d == OpenAIStrict:
			limit = 10 // it counts the required names
		case tt.d == MessagesStrict, tt.d == GeminiJSON && strings.Contains(tt.s.JSON, "$ref"):
			limit = 6 // resolved references are cached
		}
		if n := testing.AllocsPerRun(50, func() { Input(tt.d, tt.s) }); n > limit {
			t.Errorf("dialect %d: %v allocations for %.60s, want at most %v", tt.d, n, tt.s.JSON, limit)
		}
	}
}

// TestHostile checks that the translation of schemas that are costly to translate ends
// and stays within its limits.
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
			for d := JSONSchema; int(d) < dialectCount; d++ {
				checkTranslation(t, d, true, content.Schema{JSON: s})
				checkTranslation(t, d, false, content.Schema{JSON: s})
			}
		})
	}
}

// BenchmarkTools translates the 68 tools of an agent.
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
	for d, name := range []string{"JSONSchema", "GeminiJSON", "MessagesStrict", "OpenAIStrict"} {
		b.Run(name, func(b *testing.B) {
			floor.Run(b, doc.String(), func() {
				for _, s := range tools {
					Input(Dialect(d), s)
				}
			})
		})
	}
}

// TestSpare checks that the schemas of one request grow within a common limit, and
// that the first ones are translated as if they were alone.
func TestSpare(t *testing.T) {
	var props, all strings.Builder
	for i := range 40 {
		fmt.Fprintf(&props, `"property%d":{"type":"string","description":"what it is"},`, i)
		fmt.Fprintf(&all, `"p%d":{"$ref":"#/$defs/a"},`, i)
	}
	s := content.Schema{JSON: `{"type":"object","properties":{` + strings.TrimSuffix(all.String(), ",") + `,"n":{"$ref":"#/$defs/n"}},"$defs":{"a":{"type":"object","properties":{` +
		strings.TrimSuffix(props.String(), ",") + `}},"n":{"$ref":"#/$defs/n"}}}`}
	alone, none := Input(MessagesStrict, s)
	if grown := len(alone) / len(s.JSON); grown < 10 {
		t.Fatalf("the schema grows by %d only", grown)
	}
	for _, d := range []Dialect{JSONSchema, GeminiJSON, OpenAIStrict, MessagesStrict} {
		alone, none := Input(d, s)
		var expansion ExpansionLimit
		size, source, cut := 0, 0, false
		for i := range 1000 {
			text, losses := expansion.Input(d, s)
			if i < maxExpandedSchemas/2 && (text != alone || !cmp.Equal(losses, none)) {
				t.Fatalf("dialect %d: schema %d differs from its translation without an ExpansionLimit", d, i)
			}
			if cut = text != alone; cut && !slices.ContainsFunc(losses, func(l Loss) bool { return hasReason(l, rTooLarge) }) {
				t.Fatalf("dialect %d: schema %d is cut without a loss", d, i)
			}
			size, source = size+len(text), source+len(s.JSON)
		}
		if limit := 5*source + 2*maxExpandedSchemas*extraBytes; size > limit {
			t.Errorf("dialect %d: %d bytes of schemas became %d, want at most %d", d, source, size, limit)
		}
		if d == MessagesStrict && !cut {
			t.Error("no schema was cut")
		}
	}
	small := content.Schema{JSON: `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`}
	want, losses := Input(MessagesStrict, small)
	var expansion ExpansionLimit
	for i := range 5000 { // schemas that hardly grow do not use the limit
		text, lost := expansion.Input(MessagesStrict, small)
		if text != want || !cmp.Equal(losses, lost) {
			t.Fatalf("small schema %d became %s", i, text)
		}
	}
	if got, lost := Input(MessagesStrict, s); got != alone || !cmp.Equal(lost, none) {
		t.Error("a schema without an ExpansionLimit has changed")
	}
}

// hasReason reports whether l was reported for r.
func hasReason(l Loss, r reason) bool {
	return l.Rule == &argumentRules[r] || l.Rule == &responseRules[r]
}

// TestMore checks the severity of the loss for those that are not listed.
func TestMore(t *testing.T) {
	for _, r := range []reason{rAnnotation, rConstraint, rMembers} {
		c := converter{rules: &responseRules}
		for i := range maxLosses {
			c.report(rAnnotation, strconv.Itoa(i))
		}
		c.report(r, "more")
		c.report(rAnnotation, "even more")
		got := c.takeLosses()
		if len(got) != maxLosses+1 || got[maxLosses].Path != "" || got[maxLosses].Rule.Severity != reasons[r].severity {
			t.Errorf("%q: %d losses, the last %v", reasons[r].text, len(got), got[len(got)-1].Rule)
		}
	}
}

// TestLossTable compares the rules with the table of losses.
func TestLossTable(t *testing.T) {
	var rules []*loss.Rule
	for i := range reasons {
		switch reason(i) {
		case rNone, rMoreHints, rMoreDegraded: // rMoreDropped represents them
		default:
			rules = append(rules, &argumentRules[i], &responseRules[i])
		}
	}
	losstable.Check(t, "schema", rules...)
}
