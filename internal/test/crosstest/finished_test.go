package crosstest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestFinishedThinking checks how severe it is that no tool call carries the thinking of a response:
// a hint if the turn is finished and the model does not read the thinking of earlier turns.
func TestFinishedThinking(t *testing.T) {
	clients := []*codecClient{
		messagesClient("messages", askPlain, false),
		chatClient("chat", askPlain, false),
		responsesClient("responses", `"input":"q"`, false),
	}
	for _, c := range []struct {
		model string
		stop  content.StopReason
		want  content.Severity
	}{
		{"deepseek-reasoner", content.StopEnd, content.LossHint},
		{"claude-sonnet-4-5", content.StopEnd, content.LossHint},
		{"claude-opus-4-1", content.StopSequence, content.LossHint},
		{"claude-haiku-4-5-20251001", content.StopEnd, content.LossHint},
		{"claude-opus-4-5", content.StopEnd, content.LossDegraded},
		{"claude-sonnet-4-6", content.StopEnd, content.LossDegraded},
		{"anthropic.claude-opus-5-v1:0", content.StopEnd, content.LossDegraded},
		{"claude-fable-5", content.StopEnd, content.LossDegraded},
		{"gpt-5.4-mini", content.StopEnd, content.LossHint},
		{"gpt-5.6-sol", content.StopEnd, content.LossDegraded},
		{"openai/gpt-6", content.StopEnd, content.LossDegraded},
		{"gpt-oss-120b", content.StopEnd, content.LossHint},
		{"deepseek-reasoner", content.StopPause, content.LossDegraded},
		{"deepseek-reasoner", content.StopMaxTokens, content.LossDegraded},
		{"", content.StopEnd, content.LossDegraded},
	} {
		for _, client := range clients {
			r, _, err := client.decode(client.body)
			if err != nil {
				t.Fatal(err)
			}
			_, losses := client.response(r, &upstream.Response{
				Start: upstream.Start{Model: c.model},
				Parts: []content.Part{
					&content.Thinking{Text: "hm", Signature: content.Signature{Format: "elsewhere", Data: "s"}},
					&content.Text{Text: "a"},
				},
				Stop: upstream.Stop{Reason: c.stop},
			})
			var got []content.Severity
			for _, l := range losses {
				if strings.HasPrefix(l.Reason, "no tool call follows") {
					got = append(got, l.Severity)
				}
			}
			if diff := cmp.Diff([]content.Severity{c.want}, got); diff != "" {
				t.Errorf("%s, %s, %s: -want +got\n%s", client.name, c.model, c.stop, diff)
			}
		}
	}
}
