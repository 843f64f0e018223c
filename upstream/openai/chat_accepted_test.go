package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	fakeopenai "github.com/polywire/polywire/internal/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// everything is a request that asks for all that chat completions has. id is
// that of a call.
func everything(id string) *upstream.Request {
	png := &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}
	heat, few := 0.5, int64(1)
	n := simple("", "hi, in JSON")
	n.System = []content.Part{&content.Text{Text: "Be brief.", Cache: &content.Cache{}}, &content.Text{Text: "Be kind."}}
	n.Turns[0].Parts = append(n.Turns[0].Parts, png, &content.Text{})
	n.Turns = append(n.Turns,
		content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.Text{Text: "x"}, &content.ToolUse{ID: id, Name: "weather"}, &content.ToolUse{ID: "b", Name: "weather"}, &content.Text{Text: "y"}}},
		content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "z"}, &content.ToolResult{ID: id, Parts: []content.Part{&content.Text{Text: "r"}, png}}}},
		content.Turn{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "Be brief now."}}},
		content.Turn{Role: content.RoleAssistant}, content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "so?"}}},
	)
	n.Tools = append(weather[:1:1], content.Tool{Name: strings.Repeat("n", 80), Strict: true})
	n.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"weather", strings.Repeat("n", 80)}, NoParallel: true}
	n.Temperature, n.TopP, n.PresencePenalty, n.FrequencyPenalty = &heat, &heat, &heat, &heat
	n.MaxTokens, n.Seed, n.TopK, n.UserID, n.ServiceTier = &few, &few, &few, strings.Repeat("u", 300), "auto"
	n.StopSequences = []string{"a", "b", "c", "d", "e"}
	n.Output = upstream.Output{MediaType: "application/json"}
	n.Stream = true
	return n
}

// TestAccepted sends requests of all kinds to servers that refuse what the
// vendor and others refuse, of every family of models. Nothing has to be sent
// twice.
func TestAccepted(t *testing.T) {
	budget := int64(2000)
	thinking := map[string]upstream.Thinking{
		"unsaid": {}, "off": {Mode: upstream.ThinkingOff}, "auto": {Mode: upstream.ThinkingAuto}, "minimal": {Effort: "minimal"},
		"budget": {Mode: upstream.ThinkingBudget, Budget: &budget}, "max": {Mode: upstream.ThinkingAuto, Effort: "max", Display: "full"},
	}
	elsewhere := []string{"gpt-6-astra", "gpt-6.1-sol", "gpt-6.2-sol"} // tools over responses only
	models := append([]string{"gpt-3.5-turbo", "gpt-4", "gpt-4o-mini", "gpt-4.1", "gpt-5.5-chat-latest", "o1", "o3", "o4-mini", "gpt-5", "gpt-5-nano", "gpt-5.1", "gpt-5.2",
		"gpt-5.4", "gpt-5.5", "gpt-5.6-sol", "gpt-6-sol", "gpt-6-luna", "gpt-6.1-terra", "tuned"}, elsewhere...)
	for local, id := range map[bool]string{false: strings.Repeat("i", 80), true: "functions.weather:0"} {
		bare := everything(id)
		bare.Tools, bare.Choice = nil, content.ToolChoice{NoParallel: true}
		for _, model := range models {
			if local && model != "tuned" {
				continue // gateways have the vendor's models by the vendor's rules
			}
			for name, th := range thinking {
				for form, base := range map[string]*upstream.Request{"a text": simple("", "hi"), "no tools": bare, "everything": everything(id)} {
					c, s := client(t, fakeopenai.Options{Local: local}, openai.Options{})
					n := *base
					n.Model, n.Thinking = model, th
					_, err := upstream.Collect(t.Context(), c, &n)
					if !local && len(n.Tools) > 0 && slices.Contains(elsewhere, model) {
						if err == nil || len(s.Requests()) > 0 {
							t.Errorf("%s, %s: tools are taken", model, form)
						}
						continue
					}
					if err != nil || len(s.Requests()) != 1 {
						t.Errorf("local %v, %s, thinking %s, %s: %v, %d requests", local, model, name, form, err, len(s.Requests()))
					}
				}
			}
		}
	}
}
