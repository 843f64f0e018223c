package foreign

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

var generateContent = format{
	names: []content.Format{"generatecontent"},
	members: [kinds]table{
		Request: {
			"store": {rule: MembersLoss}, "labels": {rule: MembersLoss}, "processingOptions": {rule: MembersLoss},

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
		},
		Tool:   {"behavior": {rule: MembersLoss}},
		Choice: {"streamFunctionCallArguments": {rule: MembersLoss}},
	},
}

// isOutputType reports whether the neutral request has the media type and the schema of
// responseFormat.text.
func isOutputType(text, extra jsonwire.Value) bool {
	kind := text.Get("mimeType")
	known := kind.Is("APPLICATION_JSON") || kind.Is("TEXT_PLAIN")
	return known && !extra.Get("generationConfig").Get("responseMimeType").Exists()
}
