package recorded

import (
	"cmp"
	"context"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestPhases returns each response of Responses to its server. Each message must have the phase
// that the server gave it, or none, although Polywire keeps no phase. Consecutive messages
// return as one, with the phase of the last.
func TestPhases(t *testing.T) {
	eachRecord(t, func(r *record) bool { return r.format == formatResponses && generated(r) }, func(t *testing.T, r *record) {
		check(t, r, "4p phases", func() error {
			want := messagesOf(responsesOutput(r))
			if len(want) == 0 {
				return errIncomparable
			}
			up, _, release, err := replay(r)
			if err != nil {
				return err
			}
			defer release()
			n := &upstream.Request{Model: r.model(), Turns: []content.Turn{userTurn("a")}}
			got, err := upstream.Collect(context.Background(), up, n)
			if err != nil {
				return errIncomparable // check 3 reports it
			}
			n.Model = cmp.Or(got.Start.Model, n.Model) // some recordings have no request
			n.Turns = append(n.Turns, content.Turn{Role: content.RoleAssistant, Parts: got.Parts}, userTurn("b"))
			sent, err := upstream.EncodeRequest(context.Background(), up, n)
			if err != nil {
				return err
			}
			if diff := gocmp.Diff(want, messagesOf(listAt(parseJSON(sent.Document), "input"))); diff != "" {
				return fmt.Errorf("phases and texts (-want +got):\n%s", diff)
			}
			return nil
		})
	})
}

func userTurn(text string) content.Turn {
	return content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}
}

// responsesOutput returns the items of a response.
func responsesOutput(r *record) (items []any) {
	if !r.Events() {
		return listAt(parseJSON(r.Response), "output")
	}
	for _, e := range splitEvents(r.Response) {
		if v := parseJSON(e.data); stringAt(v, "type") == "response.output_item.done" {
			items = append(items, at(v, "item"))
		}
	}
	return items
}

// messagesOf returns the phases and the first bytes of the texts of the assistant's messages
// that have text. The rest of the text is a matter of other checks.
func messagesOf(items []any) (list []string) {
	texts, phase := "", ""
	flush := func() {
		if texts != "" {
			list = append(list, phase+": "+texts[:min(20, len(texts))])
		}
		texts = ""
	}
	for _, item := range items {
		if stringAt(item, "role") != "assistant" {
			flush()
			continue
		}
		text := stringAt(item, "content")
		for _, p := range listAt(item, "content") {
			text += stringAt(p, "text") + stringAt(p, "refusal")
		}
		texts, phase = texts+text, stringAt(item, "phase")
	}
	flush()
	return list
}
