package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

func thinking(t upstream.Thinking) *upstream.Request { return &upstream.Request{Thinking: t} }

func configured(config string) string { return `,"generationConfig":` + config }

func thinkingSaid(config string) string { return configured(`{"thinkingConfig":` + config + `}`) }

// How everything besides turns and tools is said.
var settingMappings = []mapping{
	{name: "sampling", from: &upstream.Request{MaxTokens: ptrTo[int64](9), Temperature: ptrTo(0.5), TopP: ptrTo(0.25), TopK: ptrTo[int64](3), Seed: ptrTo[int64](7),
		PresencePenalty: ptrTo(1.5), FrequencyPenalty: ptrTo(-2.0), StopSequences: []string{"e"}, Candidates: 2},
		want: configured(`{"temperature":0.5,"topP":0.25,"topK":3,"candidateCount":2,"maxOutputTokens":9,"stopSequences":["e"],"presencePenalty":1.5,"frequencyPenalty":-2,"seed":7}`)},
	{name: "sampling out of bounds", from: &upstream.Request{MaxTokens: ptrTo[int64](1 << 40), Temperature: ptrTo(2.5), TopP: ptrTo(1.5), TopK: ptrTo[int64](0), Seed: ptrTo[int64](1 << 40),
		PresencePenalty: ptrTo(2.0), FrequencyPenalty: ptrTo(-3.0)},
		lost:  []string{"degraded max_tokens", "dropped temperature", "dropped top_p", "dropped top_k", "dropped seed", "dropped presence_penalty", "dropped frequency_penalty"},
		rules: []*loss.Rule{maxTokensRange, temperatureRange, topPRange, topKRange, seedRange, penaltyRange, penaltyRange}},
	{name: "stop sequences", from: &upstream.Request{StopSequences: []string{"a", "", "b", "c", "d", "e", "f"}},
		want: configured(`{"stopSequences":["a","b","c","d","e"]}`), lost: []string{"hint stop_sequences", "dropped stop_sequences"}, rules: []*loss.Rule{stopEmpty, stopMany}},

	{name: "thinking off", from: thinking(upstream.Thinking{Mode: upstream.ThinkingOff}), want: thinkingSaid(`{"thinkingBudget":0}`)},
	{name: "a budget", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048)}), want: thinkingSaid(`{"thinkingBudget":2048}`)},
	{name: "a budget that was not said", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget}), want: thinkingSaid(`{"thinkingBudget":-1}`),
		lost: []string{"hint thinking.budget"}, rules: []*loss.Rule{budgetUnsaid}},
	{name: "a budget and an effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048), Effort: "low"}), want: thinkingSaid(`{"thinkingBudget":2048}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{effortBesideBudget}},
	{name: "a budget and more effort than there is", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048), Effort: "xhigh"}), want: thinkingSaid(`{"thinkingBudget":2048}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{effortBesideBudget}},
	{name: "an effort where thinking is off", from: thinking(upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}), want: thinkingSaid(`{"thinkingBudget":0}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{effortOff}},
	{name: "adaptive with more effort than there is", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "max"}), want: thinkingSaid(`{"thinkingLevel":"HIGH"}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{effortHighest}},
	{name: "adaptive", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto}), want: thinkingSaid(`{"thinkingBudget":-1}`)},
	{name: "adaptive with effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "medium", Display: "summarized"}),
		want: thinkingSaid(`{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`)},
	{name: "the most effort", from: thinking(upstream.Thinking{Effort: "max", Display: "full"}), want: thinkingSaid(`{"includeThoughts":true,"thinkingLevel":"HIGH"}`),
		lost: []string{"degraded thinking.effort", "degraded thinking.display"}, rules: []*loss.Rule{effortHighest, displaySummary}},
	{name: "notes on what is thought", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "updates"}), want: thinkingSaid(`{"includeThoughts":true,"thinkingBudget":-1}`),
		lost: []string{"degraded thinking.display"}, rules: []*loss.Rule{displaySummary}},
	{name: "words that are not known", from: thinking(upstream.Thinking{Mode: "x", Effort: "y", Display: "z"}),
		lost: []string{"dropped thinking.mode", "dropped thinking.effort", "hint thinking.display"}, rules: []*loss.Rule{thinkingMode, effortUnknown, displayUnknown}},
	{name: "between tools", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBetweenTools, Display: "omitted"}), want: thinkingSaid(`{"includeThoughts":false,"thinkingBudget":-1}`),
		lost: []string{"degraded thinking.mode"}, rules: []*loss.Rule{thinkingBetween}},
	{name: "a budget without a mode", from: thinking(upstream.Thinking{Budget: ptrTo[int64](5)}), lost: []string{"dropped thinking.budget"}, rules: []*loss.Rule{budgetWithoutMode}},

	{name: "a schema of the answer", from: &upstream.Request{Output: upstream.Output{Schema: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"const":1}}}`}}},
		want: configured(`{"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"a":{"enum":[1]}}}}`),
		lost: []string{"hint output.media_type"}, rules: []*loss.Rule{impliedType}},
	{name: "a closed schema of the answer", target: Target{ClosedSchemas: true},
		from: &upstream.Request{Output: upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: `{"type":"string"}`}}},
		want: configured(`{"responseMimeType":"application/json","responseSchema":{"type":"STRING"}}`)},
	{name: "other output", from: &upstream.Request{Output: upstream.Output{MediaType: "text/html", Modalities: []string{"text", "smell"}, AspectRatio: "17:9", ImageSize: "9K", Extra: elsewheres(`{"x":1}`)}},
		want: configured(`{"responseModalities":["TEXT"]}`),
		lost: []string{"dropped output.extra.x", "dropped output.modalities", "dropped output.aspect_ratio", "dropped output.image_size", "dropped output.media_type"}},
	{name: "images", from: &upstream.Request{Output: upstream.Output{Modalities: []string{"text", "image"}, AspectRatio: "16:9", ImageSize: "2K"}},
		want: configured(`{"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"16:9","imageSize":"2K"}}`)},
	{name: "a tier that is left to the vendor", from: &upstream.Request{ServiceTier: "auto"}},
	{name: "user and tier", from: &upstream.Request{UserID: "u", ServiceTier: "scale"}, lost: []string{"hint service_tier", "hint user_id"}, rules: []*loss.Rule{tierUnknown, userName}},
	{name: "a tier by another name", from: &upstream.Request{ServiceTier: "standard_only"}, want: `,"serviceTier":"standard"`},
	{name: "members of another format", from: &upstream.Request{Extra: elsewheres(`{"context_management":{}}`)}, lost: []string{"hint extra.context_management"}},
	{name: "a schema that was said otherwise", from: &upstream.Request{Extra: elsewheres(`{"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"json_schema"},"task_budget":{"type":"tokens","total":20000}}}`)},
		lost: []string{"dropped extra.output_config.task_budget"}, rules: []*loss.Rule{codec.ForeignSetting}},
	{name: "members of another format that change the answer", from: &upstream.Request{Extra: elsewheres(`{"thread":{"type":"create"},"compaction":{"type":"summarize"},"fallbacks":"default"}`)},
		lost:  []string{"dropped extra.thread", "dropped extra.compaction", "degraded extra.fallbacks"},
		rules: []*loss.Rule{codec.ForeignKept, codec.ForeignSetting, codec.ForeignNuance}},
	{name: "where it may be processed", from: &upstream.Request{Extra: elsewheres(`{"inference_geo":"eu"}`)},
		lost: []string{"dropped extra.inference_geo"}, rules: []*loss.Rule{codec.ForeignPlace}},
	{name: "safety elsewhere", from: &upstream.Request{Extra: &content.Extra{Format: "openai-chat", JSON: `{"moderation":{"model":"m"}}`}},
		lost: []string{"degraded extra.moderation"}, rules: []*loss.Rule{codec.ForeignSafety}},
}
