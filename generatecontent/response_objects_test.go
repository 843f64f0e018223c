package generatecontent

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/upstream"
)

// keptMembers returns members without a Go field of the objects of type t, in the spelling
// that clients know or in the other, and without those that are null.
func keptMembers(t *object.Type) (members, aliases, nulls, want string) {
	for i := range t.Fields() {
		f := &t.Fields()[i]
		if !f.Kept() || f.Name == "error" {
			continue
		}
		value := `{"a":[1]}`
		switch f.Value {
		case anyText, instant, data:
			value = `"AAAA"`
		case number, int32s:
			value = `7`
		}
		members += `"` + f.Name + `":` + value + `,`
		aliases += `"` + f.Alias + `":` + value + `,`
		if f.Value != anyValue { // of which null may be one
			nulls += `"` + f.Name + `":null,`
		}
	}
	return members + `"new":1`, aliases + `"new":1`, nulls + `"new":null`, `{` + members + `"new":1}`
}

// TestResponseExtra checks that every member without a Go field is in the Extra of its object.
func TestResponseExtra(t *testing.T) {
	response := func(doc string) *upstream.Response {
		f, err := DecodeFrame(doc, content.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		var c upstream.Collector
		if err := c.Send(f.Events); err != nil {
			t.Fatal(err)
		}
		return c.Response()
	}
	for name, o := range map[string]struct {
		of   *object.Type
		read func(members string) *content.Extra
	}{
		"response": {generateResponseType, func(s string) *content.Extra {
			return response(`{"candidates":[{"finishReason":"STOP"}],` + s + `}`).Start.Extra
		}},
		"candidate": {candidateType, func(s string) *content.Extra {
			return response(`{"candidates":[{"finishReason":"STOP",` + s + `}]}`).Extra
		}},
		"usage": {usageType, func(s string) *content.Extra {
			return response(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,` + s + `}}`).Usage.Extra
		}},
		"model": {modelType, func(s string) *content.Extra {
			list, _, err := DecodeModels([]byte(`{"models":[{"name":"models/m",` + s + `}]}`))
			if err != nil || len(list) != 1 {
				t.Fatalf("%v: %v", list, err)
			}
			return list[0].Extra
		}},
		"count": {countedType, func(s string) *content.Extra {
			c, err := DecodeCount([]byte(`{"totalTokens":1,` + s + `}`))
			if err != nil {
				t.Fatal(err)
			}
			return c.Extra
		}},
	} {
		members, aliases, nulls, want := keptMembers(o.of)
		for _, tt := range []struct{ members, want string }{{members, want}, {aliases, want}, {nulls, `{"new":null}`}} {
			if x := o.read(tt.members); x == nil || x.JSON != tt.want || x.Format != Format {
				t.Errorf("%s with %s: got %v, want %s", name, tt.members, x, tt.want)
			}
		}
	}
}
