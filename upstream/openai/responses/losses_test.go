package responses

import (
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/test/losstable"
	"github.com/polywire/polywire/upstream"
)

// TestDecodeLosses checks that a response has every loss, and where.
func TestDecodeLosses(t *testing.T) {
	reported := map[*loss.Rule]bool{}
	for r, at := range decodedLosses(t) {
		if !r.Of(at[0]) {
			t.Errorf("want %q, got %v", r.Reason, at)
		}
		reported[r] = true
	}
	for _, r := range decodeLosses {
		if !reported[r] {
			t.Errorf("%s, %q: no test reports it", r.Feature, r.Reason)
		}
	}
}

// decodedLosses returns the losses of responses, by rule. The loss of the
// rule comes first.
func decodedLosses(t *testing.T) map[*loss.Rule][]content.Loss {
	t.Helper()
	large := strings.Repeat("x", envelope.MaxSize)
	streams := map[*loss.Rule][]string{
		openaiformat.LossEmptyResponse: {completedWith("")},
		openaiformat.LossCharacters:    {strings.Replace(resHi, `"hi"`, `"\ud800"`, 1), resEnd},
		openaiformat.LossThinkingState: {`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"` + large + `"}}`, resHi, resEnd},
		openaiformat.LossCitation:      {`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"","annotations":[{"type":"url_citation"}]}]}}`, resEnd},
		openaiformat.LossNamelessCall:  {`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c"}}`, resEnd},
		lossDecodedImage:               {`{"type":"response.output_item.done","output_index":0,"item":{"type":"image_generation_call","id":"ig_1","result":null}}`, resEnd},
		lossCutUsage:                   {strings.Replace(resHi, "hi", "a STOP b", 1), resEnd},
		lossDecodedPhase:               {resAddMsg, resHi, strings.Replace(resMsgDone, `"status"`, `"phase":"commentary","status"`, 1), resEnd},
		lossDecodedText:                {resAddMsg, resHi, strings.Replace(resMsgDone, `"hi"`, `"ho"`, 1), resEnd},
		openaiformat.LossJSONText:      {strings.Replace(resHi, `"hi"`, `{"a":1}`, 1), resEnd},
		lossDecodedItem:                {`{"type":"response.output_item.done","output_index":0,"item":{"type":"new_call"}}`, resEnd},
	}
	got := map[*loss.Rule][]content.Loss{}
	for r, list := range streams {
		reply, err := readResponses(t, strings.NewReader(events(list...)), "STOP")
		if err != nil {
			t.Fatal(err)
		}
		losses := reply.Losses
		i := slices.IndexFunc(losses, func(l content.Loss) bool { return l.Reason == r.Reason })
		if i < 0 {
			t.Errorf("want %q, got %v", r.Reason, losses)
			continue
		}
		losses[0], losses[i] = losses[i], losses[0]
		got[r] = losses
	}
	return got
}

// TestPhaseLoss checks that a phase is reported if the message returns with another one.
func TestPhaseLoss(t *testing.T) {
	message := func(text, phase string) string {
		return `{"type":"message","role":"assistant","phase":"` + phase + `","content":[{"type":"output_text","text":"` + text + `"}]}`
	}
	const (
		call   = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
		search = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search"}}`
	)
	for _, tt := range []struct {
		name, items string
		want        bool
	}{
		{"final answer", message("a", "commentary") + "," + search + "," + message("b", "final_answer"), false},
		{"messages that return as one", message("a", "commentary") + "," + message("b", "final_answer"), true},
		{"no phase", message("a", ""), false},
		{"unknown phase", message("a", "draft"), false},
		{"before a call", message("a", "commentary") + "," + call, false},
		{"before a call that the client runs", message("a", "commentary") + `,{"type":"computer_call","id":"cu_1"}`, false},
		{"empty message at the end", message("a", "final_answer") + "," + message("", "final_answer"), false},
		{"commentary at the end", message("a", "commentary"), true},
		{"two final answers", message("a", "final_answer") + "," + search + "," + message("b", "final_answer"), true},
		{"final answer before a call", message("a", "final_answer") + "," + call, true},
	} {
		f, err := DecodeFrame(`{"object":"response","status":"completed","output":[`+tt.items+`]}`, content.Limits{}, DecodeOptions{Verbatim: true})
		if err != nil {
			t.Fatal(err)
		}
		// one pass
		if got := slices.ContainsFunc(f.Events, func(e upstream.Event) bool { return e.Loss != nil && lossDecodedPhase.Of(*e.Loss) }); got != tt.want {
			t.Errorf("%s: reported %v", tt.name, got)
		}
	}
}

// TestLossTable checks the stored table of losses.
func TestLossTable(t *testing.T) { losstable.Check(t, "openai-responses", decodeLosses...) }

// decodeLosses lists the losses of responses of servers.
var decodeLosses = []*loss.Rule{
	openaiformat.LossEmptyResponse, openaiformat.LossCharacters, openaiformat.LossThinkingState, openaiformat.LossCitation,
	openaiformat.LossNamelessCall, lossDecodedImage, lossCutUsage, lossDecodedText,
	lossDecodedItem, openaiformat.LossJSONText, lossDecodedPhase,
}
