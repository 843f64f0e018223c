package conformance

import (
	"context"
	"encoding/base64"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

func signed(s string) content.Signature {
	return content.Signature{Format: generatecontent.Format, Data: base64.StdEncoding.EncodeToString([]byte(s))}
}

// A storyteller is an upstream that responds from a list and records the turns
// of the requests.
type storyteller struct {
	mu    sync.Mutex
	story [][]content.Part
	heard [][]content.Turn
}

func (s *storyteller) Generate(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, r.Clone().Turns)
	for _, p := range s.story[len(s.heard)-1] {
		if err := writePart(w, p); err != nil {
			return err
		}
	}
	// Usage follows the stop reason, as some models send it.
	if err := w.Stop(upstream.Stop{Reason: content.StopEnd}); err != nil {
		return err
	}
	return w.Usage(content.Usage{Input: 7, Output: 5, Thinking: 3})
}

// writePart writes texts and thinking in two pieces, followed by their
// signature.
func writePart(w *upstream.Writer, p content.Part) error {
	text, sig, write := "", content.Signature{}, w.Text
	switch p := p.(type) {
	case *content.Text:
		text, sig = p.Text, p.Signature
	case *content.Thinking:
		text, sig, write = p.Text, p.Signature, w.Thinking
	default:
		return w.Part(p)
	}
	if err := write(text[:3]); err != nil {
		return err
	}
	if err := write(text[3:]); err != nil || sig.Data == "" {
		return err
	}
	return w.Signature(sig)
}

// assistantParts joins the assistant's parts of a conversation: a stream
// returns in as many turns as it had chunks.
func assistantParts(turns []content.Turn) (list []content.Part) {
	var last content.Part
	for _, t := range turns {
		if t.Role != content.RoleAssistant {
			last = nil
			continue
		}
		for _, p := range t.Parts {
			if joined(last, p) {
				continue
			}
			list, last = append(list, p), p
		}
	}
	return list
}

// joined appends p to last if it continues its text or thinking.
func joined(last, p content.Part) bool {
	switch l := last.(type) {
	case *content.Text:
		if p, ok := p.(*content.Text); ok && l.Signature.Data == "" {
			l.Text, l.Signature = l.Text+p.Text, p.Signature
			return true
		}
	case *content.Thinking:
		if p, ok := p.(*content.Thinking); ok && l.Signature.Data == "" {
			l.Text, l.Signature = l.Text+p.Text, p.Signature
			return true
		}
	}
	return false
}

// TestGoogleChatHistory checks that the SDK's chat returns every turn of a long
// conversation with each signature in its place.
func TestGoogleChatHistory(t *testing.T) {
	story := [][]content.Part{
		{
			&content.Thinking{Text: "Two questions at once.", Signature: signed("thought")},
			&content.Text{Text: "Let me look."},
			&content.ToolUse{ID: "w1", Name: "weather", Input: `{"city":"Oslo"}`, Signature: signed("call")},
			&content.ToolUse{ID: "c1", Name: "clock", Input: `{"zone":"CET"}`},
		},
		{&content.ToolUse{ID: "w2", Name: "weather", Input: `{"city":"Bergen"}`, Signature: signed("second step")}},
		{&content.Text{Text: "It snows.", Signature: signed("text")}},
		{
			&content.Text{Text: "A picture of it."},
			&content.Image{Source: &content.Base64{MediaType: "image/png", Data: png64}, Signature: signed("image")},
		},
		{&content.Text{Text: "Good bye."}},
	}
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		for _, stream := range []bool{false, true} {
			t.Run(map[bool]string{false: "plain", true: "stream"}[stream], func(t *testing.T) {
				up := &storyteller{story: story}
				s := serveGoogle(t, c, up)
				chat := s.chat(t, &genai.GenerateContentConfig{
					Tools: googleTools(), ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true},
				})
				a := s.send(t, chat, stream, genai.NewPartFromText("Weather and time?"))
				a = s.send(t, chat, stream, googleResults(t, a, "rain", "09:41")...)
				s.send(t, chat, stream, googleResults(t, a, "snow")...)
				s.send(t, chat, stream, genai.NewPartFromText("Show me."))
				a = s.send(t, chat, stream, genai.NewPartFromText("Thanks."))
				if a.text() != "Good bye." {
					t.Errorf("text %q", a.text())
				}

				want := slices.Concat(story[:4]...)
				heard := up.heard[len(up.heard)-1]
				if diff := cmp.Diff(want, assistantParts(heard)); diff != "" {
					t.Errorf("the model's own parts (-want +got):\n%s", diff)
				}
				asked := 0
				for _, turn := range heard {
					if turn.Role == content.RoleUser {
						asked++
					}
				}
				if asked != 5 {
					t.Errorf("%d user turns, want 5", asked)
				}
			})
		}
	})
}

// TestGoogleChatHidden checks that the SDK's chat returns the signature of thinking that the
// request did not ask for, on the part after it.
func TestGoogleChatHidden(t *testing.T) {
	thinking := &content.Thinking{Text: "Hmm, hmm.", Signature: signed("thought")}
	story := [][]content.Part{
		{thinking, &content.Text{Text: "Let me look."}, &content.ToolUse{ID: "w1", Name: "weather", Input: `{"city":"Oslo"}`}},
		{thinking, &content.ToolUse{ID: "w2", Name: "weather", Input: `{"city":"Bergen"}`}},
		{thinking, &content.Text{Text: "It snows."}},
		{&content.Text{Text: "Good bye."}},
	}
	want := []content.Part{
		&content.Text{Text: "Let me look.", Signature: signed("thought")}, &content.ToolUse{ID: "w1", Name: "weather", Input: `{"city":"Oslo"}`},
		&content.ToolUse{ID: "w2", Name: "weather", Input: `{"city":"Bergen"}`, Signature: signed("thought")},
		&content.Text{Text: "It snows.", Signature: signed("thought")},
	}
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		for _, stream := range []bool{false, true} {
			t.Run(map[bool]string{false: "plain", true: "stream"}[stream], func(t *testing.T) {
				up := &storyteller{story: story}
				s := serveGoogle(t, c, up)
				chat := s.chat(t, &genai.GenerateContentConfig{Tools: googleTools()})
				a := s.send(t, chat, stream, genai.NewPartFromText("Weather?"))
				a = s.send(t, chat, stream, googleResults(t, a, "rain")...)
				s.send(t, chat, stream, googleResults(t, a, "snow")...)
				s.send(t, chat, stream, genai.NewPartFromText("Thanks."))
				if diff := cmp.Diff(want, assistantParts(up.heard[len(up.heard)-1])); diff != "" {
					t.Errorf("the model's own parts (-want +got):\n%s", diff)
				}
			})
		}
	})
}
