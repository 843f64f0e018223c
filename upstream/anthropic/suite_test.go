package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	fakes "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// TestSuite runs the conformance suite.
func TestSuite(t *testing.T) {
	for platform, model := range map[fakes.Platform]string{
		"": "claude-sonnet-5", fakes.Vertex: "claude-sonnet-5@20260701", fakes.Bedrock: "eu.anthropic.claude-sonnet-5-20260701-v1:0", fakes.Foundry: "claude-sonnet-5",
	} {
		t.Run(string(platform), func(t *testing.T) { testSuite(t, platform, model) })
	}
}

func testSuite(t *testing.T, platform fakes.Platform, model string) {
	c, f := strict(t, anthropic.Options{}, fakes.Options{Platform: platform})
	f.Answer(scripted)
	ask := func(s string) *upstream.Request {
		return &upstream.Request{Model: model, Turns: []content.Turn{{Role: content.RoleUser, Parts: parts(text(s))}}}
	}
	call := ask("script call")
	call.Tools = []content.Tool{{Name: "weather", Input: content.Schema{JSON: `{"type":"object","properties":{"city":{"type":"string"}}}`}}}
	lossy := ask("script text")
	lossy.TopK = value(int64(3))
	bad := ask("script text")
	bad.Turns[0].Parts = append(bad.Turns[0].Parts, &content.Media{Source: &content.Base64{MediaType: "audio/mpeg", Data: "aGk="}})
	think := ask("script think")
	think.Thinking.Mode = upstream.ThinkingAuto
	upstreamtest.Run(t, c, &upstreamtest.Options{
		Model: model, Text: ask("script text"), Long: ask("script long"), Silent: ask("script silent"),
		Call: call, Think: think, Lossy: lossy, Invalid: []*upstream.Request{bad}, Fail: []*upstream.Request{ask("script fail")},
		Marked:  func(mark string) *upstream.Request { return ask("script mark " + mark) },
		Skip:    []string{"count"}, // the fake counts to the same number always
		Secrets: []string{hostKey, strings.TrimPrefix(f.URL, "http://")},
	})
}

// scripted returns the response that the last text of a request specifies.
func scripted(r fake.Request) []fake.Piece {
	var v struct {
		Messages []struct{ Content []struct{ Text string } }
	}
	_ = json.Unmarshal(r.Body, &v)
	userText := ""
	if n := len(v.Messages); n > 0 && len(v.Messages[n-1].Content) > 0 {
		userText = v.Messages[n-1].Content[0].Text
	}
	what, ok := strings.CutPrefix(userText, "script ")
	if !ok {
		return []fake.Piece{fake.Text("It is a fine day.")}
	}
	switch mark, marked := strings.CutPrefix(what, "mark "); {
	case marked:
		return []fake.Piece{fake.Text("The word is " + mark + ".")}
	case what == "long":
		return []fake.Piece{fake.Text(strings.Repeat("one two three ", 2000))}
	case what == "silent":
		return []fake.Piece{fake.Silence(0)}
	case what == "call":
		return []fake.Piece{fake.Text("Let me look."), fake.Call("weather", `{"city":"Rome"}`), fake.Call("weather", `{"city":"Oslo"}`)}
	case what == "think":
		return []fake.Piece{fake.Thinking("Hm, what is it?"), fake.Text("This.")}
	case what == "fail":
		return []fake.Piece{fake.Status{Code: 529}}
	}
	return []fake.Piece{fake.Text("It is a fine day in the mountains, and no one is in a hurry.")}
}
