package conformance

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"google.golang.org/genai"

	"github.com/polywire/polywire/upstream"
)

// googleStory returns the configuration of all requests in the story.
func googleStory() *genai.GenerateContentConfig {
	var list []*genai.FunctionDeclaration
	for _, tool := range toolbox {
		list = append(list, &genai.FunctionDeclaration{
			Name: tool[0], Description: "Does it.", ParametersJsonSchema: schemaOf(tool[1]),
		})
	}
	return &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("You help.", ""),
		Tools:             []*genai.Tool{{FunctionDeclarations: list}},
		ThinkingConfig:    &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](2048)},
	}
}

// storyResults returns the parts with tool results, followed by their files.
func storyResults(list []outcome) (parts []*genai.Part) {
	var files []*genai.Part
	for _, o := range list {
		member := "output"
		if o.failed {
			member = "error"
		}
		parts = append(parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
			ID: o.id, Name: o.name, Response: obj{member: o.text},
		}})
		if o.pdf {
			pdf, _ := base64.StdEncoding.DecodeString(pdf64)
			files = append(files, genai.NewPartFromBytes(pdf, "application/pdf"))
		}
	}
	return append(parts, files...)
}

// TestAdaptersGoogle runs a whole conversation between each generateContent SDK
// and each vendor, in the SDK's own chat.
func TestAdaptersGoogle(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		eachGoogle(t, func(t *testing.T, c googleSDK) {
			for _, stream := range []bool{false, true} {
				t.Run(map[bool]string{false: "plain", true: "stream"}[stream], func(t *testing.T) {
					googleTalk(t, c, v, stream)
				})
			}
		})
	})
}

func googleTalk(t *testing.T, c googleSDK, v vendor, stream bool) {
	start := v.start
	if v.name == "gemini" {
		start = startLenientGemini
	}
	up, f := start(t)
	s := serveGoogle(t, c, up)
	call := s.call(nil, googleStory())
	call.Model = v.model
	chat, err := c.chat(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	var ids, names []string
	for i, step := range story() {
		f.Say(step.say...)
		parts := []*genai.Part{genai.NewPartFromText(step.user)}
		if step.user == "" {
			parts = storyResults(outcomes(ids, names))
		}
		a, err := chat.send(t.Context(), stream, parts)
		if err != nil {
			t.Fatalf("turn %d: %v\nsent: %.2000s", i, err, f.Last().Body)
		}
		r := s.report(t)
		v.checkNoLostThinking(t, i, r)
		wantCounts(t, i, a, r)
		var calls []string
		ids, names = nil, nil
		for _, fc := range a.calls() {
			args, err := json.Marshal(fc.Args)
			if err != nil {
				t.Fatal(err)
			}
			ids, names = append(ids, fc.ID), append(names, fc.Name)
			calls = append(calls, fc.Name+" "+string(args))
		}
		step.wants(t, i, a.text(), calls)
		if a.finish != genai.FinishReasonStop {
			t.Errorf("turn %d: finish reason %s, want STOP", i, a.finish)
		}
	}
	v.checkStory(t, f)
}

// wantCounts checks that the client and the host received the same token
// counts.
func wantCounts(t *testing.T, turn int, a *googleAnswer, r *upstream.Report) {
	t.Helper()
	if a.usage == nil || a.usage.CandidatesTokenCount == 0 {
		t.Errorf("turn %d: no usage", turn)
		return
	}
	got := [2]int64{int64(a.usage.PromptTokenCount), int64(a.usage.CandidatesTokenCount)}
	if want := [2]int64{r.Usage.Prompt(), r.Usage.Output}; got != want {
		t.Errorf("turn %d: the client received %d tokens in total, the host %d", turn, got, want)
	}
}
