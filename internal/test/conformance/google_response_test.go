package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/polywire/polywire/upstream/script"
)

func TestGoogleText(t *testing.T) {
	const want = "Grüße, 世界! \"quoted\" \\ <b>&amp;</b>\u2028 and on it goes"
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		a := s.mustAsk(t, stream, genai.Text("echo: say "+want), nil)
		if a.text() != want || a.finish != genai.FinishReasonStop {
			t.Errorf("text %q, finish reason %s, want %q and STOP", a.text(), a.finish, want)
		}
		if stream && a.chunks < 5 {
			t.Errorf("got only %d chunks", a.chunks)
		}
		a = s.mustAsk(t, stream, genai.Text("echo: say "+strings.Repeat("word ", 100)), &genai.GenerateContentConfig{MaxOutputTokens: 5})
		if a.text() != strings.Repeat("word ", 4) || a.finish != genai.FinishReasonMaxTokens {
			t.Errorf("text %q, finish reason %s, want 20 bytes and MAX_TOKENS", a.text(), a.finish)
		}
	})
}

func TestGoogleDescription(t *testing.T) {
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		a := s.mustAsk(t, stream, []*genai.Content{
			genai.NewContentFromText("Hi.", genai.RoleUser),
			genai.NewContentFromText("Hello.", genai.RoleModel),
			genai.NewContentFromText("And now?", genai.RoleUser),
		}, &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText("Be kind.", ""),
			Temperature:       genai.Ptr[float32](0.5),
			TopK:              genai.Ptr[float32](40),
			Seed:              genai.Ptr[int32](-7),
			StopSequences:     []string{"not said"},
		})
		a.wantLines(t,
			"echo of demo-1: 3 turns",
			"system.0: text, 8 bytes, "+digest([]byte("Be kind.")),
			"turns.1: assistant, 1 part",
			"turns.2.parts.0: text, 8 bytes, "+digest([]byte("And now?")),
			"temperature: 0.5", "top_k: 40", "seed: -7",
		)
		if !strings.HasSuffix(a.text(), "\nstop_sequences: \"") || a.finish != genai.FinishReasonStop {
			t.Errorf("stop sequence ignored: finish reason %s, text %q", a.finish, a.text())
		}
	})
}

func TestGoogleImage(t *testing.T) {
	png, err := base64.StdEncoding.DecodeString(png64)
	if err != nil {
		t.Fatal(err)
	}
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		a := s.mustAsk(t, stream, []*genai.Content{genai.NewContentFromParts([]*genai.Part{
			genai.NewPartFromText("What is this?"), genai.NewPartFromBytes(png, "image/png"),
		}, genai.RoleUser)}, nil)
		a.wantLines(t, "turns.0: user, 2 parts",
			fmt.Sprintf("turns.0.parts.1: image, base64, image/png, %d bytes, %s", len(png), digest(png)))
	})
}

func TestGoogleStructuredOutput(t *testing.T) {
	schema := &genai.Schema{
		Type: genai.TypeObject,
		Properties: map[string]*genai.Schema{
			"ok":    {Type: genai.TypeBoolean},
			"count": {Type: genai.TypeInteger},
			"color": {Type: genai.TypeString, Enum: []string{"red", "green"}},
			"tags":  {Type: genai.TypeArray, Items: &genai.Schema{Type: genai.TypeString}},
		},
		Required: []string{"ok", "count", "color", "tags"},
	}
	jsonSchema := obj{
		"type": "object",
		"properties": obj{
			"ok": obj{"type": "boolean"}, "count": obj{"type": "integer"},
			"color": obj{"type": "string", "enum": arr{"red", "green"}},
			"tags":  obj{"type": "array", "items": obj{"type": "string"}},
		},
		"required": arr{"ok", "count", "color", "tags"}, "additionalProperties": false,
	}
	configs := map[string]*genai.GenerateContentConfig{
		"schema":      {ResponseMIMEType: "application/json", ResponseSchema: schema},
		"JSON schema": {ResponseMIMEType: "application/json", ResponseJsonSchema: jsonSchema},
	}
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		for name, config := range configs {
			t.Run(name, func(t *testing.T) {
				wantInstance(t, s.mustAsk(t, stream, genai.Text("Well?"), config).text())
			})
		}
		a := s.mustAsk(t, stream, genai.Text("Well?"), &genai.GenerateContentConfig{ResponseMIMEType: "application/json"})
		var free map[string]string
		if err := json.Unmarshal([]byte(a.text()), &free); err != nil || !strings.HasPrefix(free["echo"], "echo of demo-1: 1 turn\n") {
			t.Errorf("without a schema: %q, %v", a.text(), err)
		}
	})
}

func TestGoogleCount(t *testing.T) {
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		s := serveGoogle(t, c, actor{})
		count := func(text string) int32 {
			t.Helper()
			n, err := c.count(t.Context(), s.call(genai.Text(text), nil))
			if err != nil {
				t.Fatal(err)
			}
			if r := s.report(t); r.Mode != "count" {
				t.Errorf("report has mode %q", r.Mode)
			}
			return n
		}
		few, many := count("Hi."), count(strings.Repeat("A longer question. ", 50))
		if few <= 0 || many < 10*few {
			t.Errorf("counted %d and %d tokens", few, many)
		}
		if a := s.mustAsk(t, false, genai.Text("Hi."), nil); a.usage.PromptTokenCount != few {
			t.Errorf("counted %d tokens, the response has %d", few, a.usage.PromptTokenCount)
		}
	})
}

// TestGoogleModels checks that paging lists each model once, in the upstream's
// order.
func TestGoogleModels(t *testing.T) {
	up, shelved := newShelf(45)
	var want []model
	for _, m := range shelved {
		want = append(want, model{ID: "models/" + m.ID, Name: m.Name})
	}
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		s := serveGoogle(t, c, up)
		for _, size := range []int32{1, 20, 45, 1000} {
			call := s.call(nil, nil)
			call.Size = size
			got, pages, err := c.models(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("models, %d to a page (-want +got):\n%s", size, diff)
			}
			if wantPages := int((45 + size - 1) / size); pages != wantPages {
				t.Errorf("%d pages of %d models, want %d", pages, size, wantPages)
			}
			for range pages {
				s.report(t)
			}
		}
		for _, name := range []string{"demo-07", "models/demo-07"} {
			call := s.call(nil, nil)
			call.Model = name
			m, err := c.model(t.Context(), call)
			if err != nil || m.ID != "models/demo-07" || m.Name != "Demo 7" {
				t.Errorf("%s: got %+v, %v", name, m, err)
			}
			s.report(t)
		}
	})
}

// TestGoogleThoughts checks that thinking arrives separately from the text,
// with a signature, if the request includes thoughts.
func TestGoogleThoughts(t *testing.T) {
	configs := map[string]*genai.ThinkingConfig{
		"budget": {IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](1024)},
		"level":  {IncludeThoughts: true, ThinkingLevel: genai.ThinkingLevelHigh},
	}
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		for name, config := range configs {
			const thought = "It is about time."
			a := s.mustAsk(t, stream, genai.Text(play(script.Think(thought), script.Say("Yes."))), &genai.GenerateContentConfig{ThinkingConfig: config})
			if a.text() != "Yes." || a.joined(true) != thought || a.usage.ThoughtsTokenCount != int32(len(thought)+3)/4 {
				t.Errorf("%s: text %q, thinking %q with %d tokens", name, a.text(), a.joined(true), a.usage.ThoughtsTokenCount)
			}
		}
		a := s.mustAsk(t, stream, genai.Text("echo: say Yes."), nil)
		if len(a.content.Parts) != 1 || a.text() != "Yes." || a.usage.ThoughtsTokenCount != 0 {
			t.Errorf("thinking not requested: %q", a.joined(true))
		}
	})
}
