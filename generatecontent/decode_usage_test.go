package generatecontent

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// lastUsage returns the last usage of a stream, and its losses.
func lastUsage(t *testing.T, usages ...string) (last *content.Usage, losses []content.Loss, odd bool) {
	t.Helper()
	var b strings.Builder
	for _, u := range usages {
		b.WriteString(`data: {"usageMetadata":` + u + "}\n\n")
	}
	b.WriteString(streamOf(`{"text":"a"}`))
	r := NewStreamReader(strings.NewReader(b.String()), nil)
	for {
		f, err := r.Next()
		if err == io.EOF {
			return last, losses, odd
		}
		if err != nil {
			t.Fatal(err)
		}
		odd = odd || f.Format != Format
		for _, e := range f.Events {
			if e.Usage != nil {
				last = e.Usage
			}
			if e.Loss != nil {
				losses = append(losses, *e.Loss)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	type uses = []string
	details := func(of, name string) string { return `[{"modality":"` + name + `","tokenCount":3}]` }
	tests := []struct {
		name string
		uses uses
		want content.Usage
		odd  bool
	}{
		{"all", uses{`{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":7,"thoughtsTokenCount":5,"toolUsePromptTokenCount":2,"totalTokenCount":24,` +
			`"promptTokensDetails":[{"modality":"TEXT","tokenCount":8},{"modality":"IMAGE","tokenCount":2}],"cacheTokensDetails":` + details("cache", "VIDEO") +
			`,"candidatesTokensDetails":` + details("output", "AUDIO") + `,"toolUsePromptTokensDetails":` + details("tool", "DOCUMENT") + `,"serviceTier":"flex","trafficType":"ON_DEMAND","new":{"a":1}}`},
			content.Usage{Input: 6, CacheRead: 4, ToolPrompt: 2, Output: 7, Thinking: 5, Modalities: []content.ModalityCount{
				{Kind: "prompt", Modality: "text", Tokens: 8}, {Kind: "prompt", Modality: "image", Tokens: 2}, {Kind: "cache", Modality: "video", Tokens: 3},
				{Kind: "output", Modality: "audio", Tokens: 3}, {Kind: "tool", Modality: "document", Tokens: 3}},
				Extra: extraWith(`{"serviceTier":"flex","trafficType":"ON_DEMAND","new":{"a":1}}`)}, false},
		{"running totals", uses{`{"promptTokenCount":10,"totalTokenCount":10}`, `{"promptTokenCount":10,"thoughtsTokenCount":3}`, `{"promptTokenCount":10,"candidatesTokenCount":4,"thoughtsTokenCount":3}`},
			content.Usage{Input: 10, Output: 4, Thinking: 3}, false},
		{"omitted counts", uses{`{"promptTokenCount":10,"cachedContentTokenCount":2,"serviceTier":"flex","promptTokensDetails":` + details("prompt", "TEXT") + `}`, `{"candidatesTokenCount":4}`, `{"candidatesTokenCount":null}`},
			content.Usage{Input: 8, CacheRead: 2, Output: 4, Modalities: split("prompt", "text", 3), Extra: extraWith(`{"serviceTier":"flex"}`)}, false},
		{"details change", uses{`{"candidatesTokensDetails":` + details("output", "TEXT") + `}`, `{"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":9}]}`},
			content.Usage{Modalities: split("output", "text", 9)}, false},
		{"details end", uses{`{"candidatesTokensDetails":` + details("output", "TEXT") + `}`, `{"candidatesTokensDetails":[]}`}, content.Usage{}, false},
		{"an unknown modality", uses{`{"promptTokensDetails":[{"modality":"SMELL","tokenCount":1},{"tokenCount":2}]}`},
			content.Usage{Modalities: []content.ModalityCount{{Kind: "prompt", Modality: "smell", Tokens: 1}, {Kind: "prompt", Tokens: 2}}}, false},
		{"more cached tokens than prompt tokens", uses{`{"promptTokenCount":3,"cachedContentTokenCount":5}`}, content.Usage{CacheRead: 3}, false},
		{"cached tokens without prompt tokens", uses{`{"cachedContentTokenCount":5}`}, content.Usage{CacheRead: 5}, false},
		{"negative", uses{`{"promptTokenCount":-1,"cachedContentTokenCount":-2,"candidatesTokenCount":-3,"thoughtsTokenCount":-4,"toolUsePromptTokenCount":-5,"promptTokensDetails":[{"modality":"TEXT","tokenCount":-6}]}`},
			content.Usage{Modalities: split("prompt", "text", 0)}, false},
		{"enormous", uses{`{"promptTokenCount":9223372036854775807,"candidatesTokenCount":9223372036854775807,"thoughtsTokenCount":9223372036854775807,"toolUsePromptTokenCount":9223372036854775807}`},
			content.Usage{Input: maxTokenCount, ToolPrompt: maxTokenCount, Output: maxTokenCount, Thinking: maxTokenCount}, false},
		{"strings", uses{`{"promptTokenCount":"7","candidatesTokenCount":"3"}`}, content.Usage{Input: 7, Output: 3}, true},
		{"snake_case", uses{`{"prompt_token_count":7,"service_tier":"x"}`}, content.Usage{Input: 7, Extra: extraWith(`{"serviceTier":"x"}`)}, true},
		{"both spellings", uses{`{"promptTokenCount":7,"prompt_token_count":8}`}, content.Usage{Input: 7}, true},
		{"nothing", uses{`{}`}, content.Usage{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, losses, odd := lastUsage(t, tt.uses...)
			if diff := cmp.Diff(&tt.want, got); diff != "" || losses != nil || odd != tt.odd {
				t.Errorf("losses %v, odd %v (-want +got):\n%s", losses, odd, diff)
			}
			if got.Prompt() < 0 || got.Completion() < 0 {
				t.Error("a sum is negative")
			}
		})
	}
	got, losses, odd := lastUsage(t, `{"promptTokenCount":[7],"candidatesTokenCount":1.5}`)
	if got.Input != 0 || got.Output != 0 || len(losses) != 1 || !odd {
		t.Errorf("no numbers: %+v, losses %v, odd %v", got, losses, odd)
	}
}

// TestUsageBounds checks that the members of usage are limited, and reported once.
func TestUsageBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"promptTokensDetails":[` + strings.Repeat(`{"modality":"TEXT","tokenCount":1},`, 1000) + `{}]`)
	for i := range 1000 {
		fmt.Fprintf(&b, `,"m%d":"%s"`, i, strings.Repeat("x", 1000))
	}
	b.WriteString("}")
	got, losses, _ := lastUsage(t, b.String(), b.String())
	if len(losses) != 1 || losses[0].Path != "usage" || len(got.Modalities) != maxUsageDetails || len(got.Extra.JSON) > maxUsageExtra {
		t.Errorf("losses %v, %d details, %d bytes", losses, len(got.Modalities), len(got.Extra.JSON))
	}
}

// TestUsageShared checks that unchanged usage is not allocated again.
func TestUsageShared(t *testing.T) {
	u := `{"promptTokenCount":1,"serviceTier":"x","promptTokensDetails":[{"modality":"TEXT","tokenCount":1}]}`
	events, _ := readEvents(strings.NewReader(strings.Repeat(`data: {"usageMetadata":`+u+"}\n\n", 3)))
	var all []*content.Usage
	for _, e := range events {
		if e.Kind == upstream.EventUsage {
			all = append(all, e.Usage)
		}
	}
	if len(all) != 3 || all[0] != all[1] || all[1] != all[2] {
		t.Errorf("got %v", all)
	}
}
