package schema

import (
	"fmt"
	"testing"

	"github.com/polywire/polywire/content"
)

// TestOpenAIStrictMembers holds what strict schemas say of one member to what the
// vendor takes, and to what is reported.
func TestOpenAIStrictMembers(t *testing.T) {
	for _, tt := range []struct{ member, want, loss string }{
		{`{"type":"string","format":"date-time"}`, "", ""},
		{`{"type":"string","format":"time"}`, "", ""},
		{`{"type":"string","format":"date"}`, "", ""},
		{`{"type":"string","format":"duration"}`, "", ""},
		{`{"type":"string","format":"email"}`, "", ""},
		{`{"type":"string","format":"hostname"}`, "", ""},
		{`{"type":"string","format":"ipv4"}`, "", ""},
		{`{"type":"string","format":"ipv6"}`, "", ""},
		{`{"type":"string","format":"uuid"}`, "", ""},
		{`{"type":"string","format":"enum","enum":["a"]}`, `{"type":"string","enum":["a"]}`, "hint format"},
		{`{"type":"string","format":""}`, `{"type":"string"}`, "hint format"},
		{`{"type":"integer","format":"int32"}`, `{"type":"integer"}`, "hint format"},
		{`{"type":"integer","format":"int64"}`, `{"type":"integer"}`, "hint format"},
		{`{"type":"number","format":"float"}`, `{"type":"number"}`, "hint format"},
		{`{"type":"number","format":"double"}`, `{"type":"number"}`, "hint format"},
		{`{"type":"string","format":"uri"}`, `{"type":"string"}`, "degraded format"},
		{`{"type":"string","format":"regex"}`, `{"type":"string"}`, "degraded format"},
		{`{"type":"string","format":"Date"}`, `{"type":"string"}`, "degraded format"},
		{`{"type":"array","items":{"type":"string","format":"uri"}}`, `{"type":"array","items":{"type":"string"}}`, "degraded items.format"},
		{`{"allOf":[{"type":"string","format":"int32"},{"format":"date"}]}`, `{"type":"string","format":"date"}`, "hint format"},

		{`{}`, "", "degraded "},
		{`true`, "", "degraded "},
		{`{"description":"d"}`, "", "degraded "},
		{`{"type":"array","items":{}}`, "", "degraded items"},
		{`{"anyOf":[{"type":"string"},{"description":"d"}]}`, "", "degraded anyOf.1"},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, "", ""},
		{`{"enum":["a"]}`, "", ""},
		{`{"const":"a"}`, "", ""},
		{`{"$ref":"#"}`, "", ""},
		{`{"type":"object","properties":{"format":{"type":"string"}},"required":["format"],"additionalProperties":false}`, "", ""},
	} {
		const around = `{"type":"object","properties":{"p":%s},"required":["p"],"additionalProperties":false}`
		if tt.want == "" {
			tt.want = tt.member
		}
		for _, f := range []func(Dialect, content.Schema) (string, []content.Loss){Input, Output} {
			got, losses := f(OpenAIStrict, content.Schema{JSON: fmt.Sprintf(around, tt.member)})
			if want := fmt.Sprintf(around, tt.want); got != want {
				t.Errorf("%s became\n%s, want\n%s", tt.member, got, want)
			}
			told := ""
			for _, l := range losses {
				told += fmt.Sprint(l.Severity, " ", l.Path, ";")
			}
			want := ""
			if tt.loss != "" {
				var severity, path string
				fmt.Sscan(tt.loss, &severity, &path)
				if path != "" {
					path = "." + path
				}
				want = severity + " properties.p" + path + ";"
			}
			if told != want {
				t.Errorf("%s: losses %q, want %q", tt.member, told, want)
			}
		}
	}
}
