package messages

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/upstream"
)

// TestResponseExtra checks that every member without a Go field is in the Extra of its object,
// unless it is null.
func TestResponseExtra(t *testing.T) {
	start := func(doc string) *upstream.Start {
		f, err := NewStreamReader(strings.NewReader("data: "+doc+"\n\n"), nil).Next()
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		return f.Events[0].Start
	}
	whole := func(doc string) *upstream.Frame {
		f, err := DecodeFrame(doc, content.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		return f
	}
	for name, o := range map[string]struct {
		of   *object.Type
		read func(members string) *content.Extra
	}{
		"message_start": {startType, func(s string) *content.Extra {
			return start(`{"type":"message_start","message":{"id":"m","usage":{},` + s + `}}`).Extra
		}},
		"message": {responseType, func(s string) *content.Extra {
			return whole(`{"id":"m","content":[],"stop_reason":"end_turn",` + s + `}`).Events[0].Start.Extra
		}},
		"usage": {usageType, func(s string) *content.Extra {
			return whole(`{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,` + s + `}}`).Events[1].Usage.Extra
		}},
		"model": {modelType, func(s string) *content.Extra {
			list, _, err := DecodeModels([]byte(`{"data":[{"id":"m",` + s + `}]}`))
			if err != nil || len(list) != 1 {
				t.Fatalf("%v: %v", list, err)
			}
			return list[0].Extra
		}},
		"count": {countType, func(s string) *content.Extra {
			c, err := DecodeCount([]byte(`{"input_tokens":1,` + s + `}`))
			if err != nil {
				t.Fatal(err)
			}
			return c.Extra
		}},
	} {
		members, nulls := "", ""
		for i := range o.of.Fields() {
			if f := &o.of.Fields()[i]; f.Kept() {
				members += `"` + f.Name + `":{"a":[1]},`
				nulls += `"` + f.Name + `":null,`
			}
		}
		for _, tt := range []struct{ members, want string }{
			{members + `"new":1`, `{` + members + `"new":1}`},
			{nulls + `"new":1`, `{"new":1}`},
		} {
			if x := o.read(tt.members); x == nil || x.JSON != tt.want || x.Format != Format {
				t.Errorf("%s with %s: got %v, want %s", name, tt.members, x, tt.want)
			}
		}
	}
}

// TestStopExtra checks where the members are that a stream has in message_delta.
func TestStopExtra(t *testing.T) {
	const head, want = `{"type":"message_delta","usage":{},`, `{"container":{"id":"c"},"context_management":{},"input_transformations":[]}`
	stop := func(events []upstream.Event) *content.Extra {
		for i := range events {
			if events[i].Kind == upstream.EventStop {
				return events[i].Stop.Extra
			}
		}
		return nil
	}
	f, err := DecodeFrame(`{"content":[],"stop_reason":"end_turn",`+want[1:], content.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if x := stop(f.Events); x == nil || x.JSON != want {
		t.Errorf("whole: got %v, want %s", x, want)
	}
	f, err = NewStreamReader(strings.NewReader("data: "+head+
		`"delta":{"stop_reason":"end_turn","container":{"id":"c"}},"context_management":{},"input_transformations":[]}`+"\n\n"), nil).Next()
	if err != nil {
		t.Fatal(err)
	}
	if x := stop(f.Events); x == nil || x.JSON != want {
		t.Errorf("stream: got %v, want %s", x, want)
	}
}
