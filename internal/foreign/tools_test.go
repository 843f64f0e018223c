package foreign

import (
	"testing"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

func TestToolMember(t *testing.T) {
	for _, c := range []struct {
		member string
		want   *loss.Rule
	}{
		{`"name":"x"`, nil}, {`"user_location":{}`, ToolSettings}, {`"max_uses":3`, ToolRestrictions},
		{`"external_web_access":true`, nil}, {`"external_web_access":false`, ToolRestrictions}, {`"search_content_types":["text"]`, ToolSettings},
		{`"max_uses":null`, nil}, {`"allowed_callers":["direct"]`, nil}, {`"allowed_callers":[]`, nil}, {`"allowed_callers":["x"]`, ToolSettings},
		{`"allowed_callers":["direct","x"]`, ToolSettings}, {`"allowed_callers":[1]`, ToolSettings},
	} {
		doc, err := jsonwire.Parse("{"+c.member+"}", jsonwire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range doc.Root().Members() {
			if got := ToolMember(name, v); got != c.want {
				t.Errorf("%s: %v, want %v", c.member, got, c.want)
			}
		}
		doc.Close()
	}
}
