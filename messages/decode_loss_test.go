package messages

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// lostReading returns the losses of a stream.
func lostReading(t *testing.T, stream string) (lost []content.Loss) {
	t.Helper()
	events, err := decodeStream(strings.NewReader(stream))
	if err != io.EOF {
		t.Fatalf("%v in\n%s", err, stream)
	}
	for _, e := range events {
		if e.Kind == upstream.EventLoss {
			lost = append(lost, *e.Loss)
		}
	}
	return lost
}

// All that reading an answer loses is of the table, once, and each rule of the
// table is met.
func TestReadLosses(t *testing.T) {
	many := new(strings.Builder)
	for i := range 200 {
		fmt.Fprintf(many, `"n%d":1,`, i)
	}
	twice := line(lineText0) + line(lineText0)
	call := func(input string) string {
		return strings.NewReplacer(line(lineOpen1), line(strings.Replace(lineOpen1, `"input":{}`, `"input":`+input, 1)), line(lineIn1), "").Replace(changed())
	}
	met := map[*loss.Rule]bool{}
	for name, tt := range map[string]struct {
		stream string
		rule   *loss.Rule
		path   string
	}{
		"not Unicode":                {changed(line(lineText0), strings.ReplaceAll(twice, `"hi"`, `"h\ud83d"`)), codec.ResponseNotUnicode, "parts"},
		"no reason":                  {changed(`"delta":{"stop_reason":"tool_use","stop_sequence":null},`, ""), codec.ResponseNoReason, "stop"},
		"arguments as a string":      {call(`"{\"a\":1}"`), codec.ResponseStringInput, "parts.1"},
		"a member of the wrong type": {changed(`"name":"f"`, `"name":"f","cache_control":5`), codec.ResponseWrongType, "parts.1"},
		"many counts":                {changed(`"usage":{`, `"usage":{`+many.String()), codec.ResponseManyCounts, "usage"},
		"the end has members":        {changed(line(lineEnd), line(`message_stop {"type":"message_stop","a":1}`)), readStopMembers, "message_stop"},
		"events without names":       {changed(line(lineText0), "data: {\"a\":1}\n\n"+line(lineText0)+"data: {\"a\":2}\n\n"), readNowhere, "events"},
	} {
		want := []content.Loss{tt.rule.At(tt.path)}
		if diff := cmp.Diff(want, lostReading(t, tt.stream)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		met[tt.rule] = true
	}
	for _, r := range readLosses {
		if !met[r] {
			t.Errorf("nothing reports: %s", r.Reason)
		}
	}
}
