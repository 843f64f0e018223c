package foreign

import (
	"cmp"
	"iter"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

func generateContent() *format {
	return &format{
		names:  []content.Format{"generatecontent"},
		number: 1,

		signsCalls: true,
		logprobs:   geminiLogprobs,
		hosted:     hostedInGemini,

		response: map[string]*loss.Rule{
			"citationMetadata": SourcesLoss, "urlContextMetadata": SourcesLoss, "groundingAttributions": SourcesLoss,
			"logprobsResult": LogprobsLoss, "continuationToken": ResumeLoss,
		},
		sources: &sourceList{member: "groundingMetadata", links: groundingLinks, queries: "webSearchQueries", members: map[string]*loss.Rule{
			"groundingChunks": nil, "groundingSupports": nil, "webSearchQueries": QueriesLoss, "searchEntryPoint": EntryPointLoss,
		}},

		members: [kinds]table{
			Request: {
				"store": {rule: MembersLoss, isExempt: isFalse}, "labels": {rule: MembersLoss}, "processingOptions": {rule: MembersLoss},

				"safetySettings": {rule: SafetyLoss}, "modelArmorConfig": {rule: SafetyLoss},
				"cachedContent": {rule: StateLoss}, "continuationToken": {rule: StateLoss}, "outputConfig": {rule: SettingLoss}, "generationOutputConfig": {rule: SettingLoss},

				"systemInstruction": {members: table{}},
				"toolConfig": {members: table{
					"includeServerSideToolInvocations": {rule: MembersLoss}, "retrievalConfig": {rule: SettingLoss},
				}},
				"generationConfig": {members: table{
					"mediaResolution":  {rule: MembersLoss},
					"responseLogprobs": {rule: SettingLoss}, "logprobs": {rule: SettingLoss},
					"speechConfig": {rule: SettingLoss}, "audioTranscriptionConfig": {rule: SettingLoss},
					"audioTimestamp": {rule: SettingLoss}, "translationConfig": {rule: SettingLoss},
					"enableAffectiveDialog": {rule: SettingLoss}, "enableEnhancedCivicAnswers": {rule: InfluenceLoss},
					"routingConfig": {rule: SettingLoss}, "modelConfig": {rule: SettingLoss}, "imageConfig": {rule: SettingLoss},
					"responseMimeType": {}, "responseModalities": {}, "thinkingConfig": {}, "responseSchema": {rule: SettingLoss},
					"responseFormat": {members: table{
						"text": {rule: SettingLoss, isExempt: isOutputType}, "image": {rule: SettingLoss}, "audio": {rule: SettingLoss},
					}},
				}},
			},
			Part: {
				"functionCall":  {members: table{"partialArgs": {rule: SettingLoss}}},
				"videoMetadata": {rule: SettingLoss},
				"thought":       {rule: MembersLoss, isExempt: isFalse}, // beside other data than text
			},
			Tool:   {"behavior": {rule: MembersLoss}},
			Choice: {"streamFunctionCallArguments": {rule: MembersLoss}},
		},
	}
}

// isOutputType reports whether the neutral request has the media type and the schema of
// responseFormat.text.
func isOutputType(text, extra jsonwire.Value) bool {
	kind := text.Get("mimeType")
	known := kind.Is("APPLICATION_JSON") || kind.Is("TEXT_PLAIN")
	return known && !extra.Get("generationConfig").Get("responseMimeType").Exists()
}

func isFalse(v, _ jsonwire.Value) bool { return v.Kind() == jsonwire.False }

// groundingLinks yields the links and titles of the sources in groundingMetadata.
func groundingLinks(v jsonwire.Value) iter.Seq2[string, string] {
	return func(yield func(link, title string) bool) {
		chunks := v.Get("groundingChunks")
		if chunks.Exists() && chunks.Kind() != jsonwire.Null && chunks.Kind() != jsonwire.Array && !yield("", "") {
			return
		}
		for _, chunk := range chunks.Elems() {
			link, title := "", ""
			for _, of := range chunk.Members() { // "web" or another kind of source
				link, title = cmp.Or(of.Get("uri").Str(), of.Get("sourceUri").Str()), of.Get("title").Str()
			}
			if !yield(link, title) {
				return
			}
		}
	}
}
