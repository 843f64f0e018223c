package gemini

import "github.com/polywire/polywire/internal/test/fake"

// tool is generatecontent.md §3.3, without the members that only Vertex has.
func tool() fake.Shape {
	interval := message("Interval", fake.Fields{"startTime": text, "endTime": text})
	return message("Tool", fake.Fields{
		"functionDeclarations": fake.List(declaration(), 0, 0),
		"googleSearch": message("GoogleSearch", fake.Fields{
			"timeRangeFilter": interval,
			"searchTypes":     message("SearchTypes", fake.Fields{"webSearch": fake.FreeObject, "imageSearch": fake.FreeObject}),
		}),
		"googleSearchRetrieval": message("GoogleSearchRetrieval", fake.Fields{
			"dynamicRetrievalConfig": message("DynamicRetrievalConfig", fake.Fields{"mode": enum("DynamicRetrievalConfig.Mode", "MODE_DYNAMIC"), "dynamicThreshold": float}),
		}),
		"codeExecution": message("CodeExecution", nil), "urlContext": message("UrlContext", nil),
		"computerUse": message("ComputerUse", fake.Fields{
			"environment":                    enum("ComputerUse.Environment", "ENVIRONMENT_BROWSER", "ENVIRONMENT_MOBILE", "ENVIRONMENT_DESKTOP"),
			"excludedPredefinedFunctions":    texts,
			"enablePromptInjectionDetection": flag, "disabledSafetyPolicies": texts,
		}),
		"fileSearch@studio": message("FileSearch", fake.Fields{"fileSearchStoreNames": texts, "topK": whole, "metadataFilter": text}),
		"retrieval@vertex":  fake.FreeObject, "enterpriseWebSearch@vertex": fake.FreeObject,
		"googleMaps": message("GoogleMaps", fake.Fields{"enableWidget": flag}),
		"mcpServers@studio": fake.List(message("McpServer", fake.Fields{
			"name": text,
			"streamableHttpTransport": message("StreamableHttpTransport", fake.Fields{
				"url": text, "headers": mapOf(text), "timeout": text, "sseReadTimeout": text, "terminateOnClose": flag,
			}),
		}), 0, 0),
	})
}

// declaration is generatecontent.md §3.4.
func declaration() fake.Shape {
	return message("FunctionDeclaration", fake.Fields{
		"name": text, "description": text, "parameters": schema(), "parametersJsonSchema": fake.Free,
		"response": schema(), "responseJsonSchema": fake.Free,
		"behavior": enum("FunctionDeclaration.Behavior", "BLOCKING", "NON_BLOCKING"),
	})
}

// schema is the closed set of members in generatecontent.md §3.8.
func schema() fake.Shape {
	self := fake.Lazy(schema)
	return message("Schema", fake.Fields{
		"type":   enum("Type", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"),
		"format": text, "title": text, "description": text, "nullable": flag, "enum": texts,
		"items": self, "maxItems": whole, "minItems": whole, "properties": mapOf(self), "required": texts,
		"minProperties": whole, "maxProperties": whole, "minLength": whole, "maxLength": whole,
		"pattern": text, "minimum": float, "maximum": float, "anyOf": fake.List(self, 0, 0),
		"propertyOrdering": texts, "default": fake.Free, "example": fake.Free,
	})
}

// toolConfig is generatecontent.md §3.5.
func toolConfig() fake.Shape {
	return message("ToolConfig", fake.Fields{
		"functionCallingConfig": message("FunctionCallingConfig", fake.Fields{
			"mode":                 enum("FunctionCallingConfig.Mode", "MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"),
			"allowedFunctionNames": texts,
		}),
		"retrievalConfig": message("RetrievalConfig", fake.Fields{
			"latLng": message("LatLng", fake.Fields{"latitude": float, "longitude": float}), "languageCode": text,
		}),
		"includeServerSideToolInvocations@studio": flag,
	})
}

// harms are the accepted categories; the others only parse, generatecontent.md
// §3.6.
var harms = []string{
	"HARM_CATEGORY_HARASSMENT", "HARM_CATEGORY_HATE_SPEECH", "HARM_CATEGORY_SEXUALLY_EXPLICIT",
	"HARM_CATEGORY_DANGEROUS_CONTENT", "HARM_CATEGORY_CIVIC_INTEGRITY", "HARM_CATEGORY_JAILBREAK",
}

func safety() fake.Shape {
	legacy := []string{
		"HARM_CATEGORY_UNSPECIFIED", "HARM_CATEGORY_DEROGATORY", "HARM_CATEGORY_TOXICITY", "HARM_CATEGORY_VIOLENCE",
		"HARM_CATEGORY_SEXUAL", "HARM_CATEGORY_MEDICAL", "HARM_CATEGORY_DANGEROUS",
	}
	return message("SafetySetting", fake.Fields{
		"category": enum("HarmCategory", append(legacy, harms...)...),
		"threshold": enum("SafetySetting.HarmBlockThreshold", "HARM_BLOCK_THRESHOLD_UNSPECIFIED",
			"BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF"),
	})
}

// generationConfig is generatecontent.md §3.7; rules check the bounds.
func generationConfig() fake.Shape {
	return message("GenerationConfig", fake.Fields{
		"temperature": float, "topP": float, "topK": whole, "candidateCount": whole, "maxOutputTokens": whole,
		"stopSequences": texts, "presencePenalty": float, "frequencyPenalty": float, "seed": whole,
		"responseLogprobs": flag, "logprobs": whole, "responseMimeType": text, "responseSchema": schema(),
		"responseJsonSchema": fake.Free, "_responseJsonSchema": fake.Free,
		"responseFormat":     fake.List(responseFormat(), 0, 0),
		"responseModalities": fake.List(enum("GenerationConfig.Modality", "TEXT", "IMAGE", "AUDIO", "VIDEO"), 0, 0),
		"imageConfig":        message("ImageConfig", fake.Fields{"aspectRatio": text, "imageSize": text}),
		"thinkingConfig": message("ThinkingConfig", fake.Fields{
			"includeThoughts": flag, "thinkingBudget": whole,
			"thinkingLevel": enum("ThinkingConfig.ThinkingLevel", "THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"),
		}),
		"speechConfig":    speechConfig(),
		"mediaResolution": enum("GenerationConfig.MediaResolution", "MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH"),
		"audioTranscriptionConfig": message("AudioTranscriptionConfig", fake.Fields{
			"languageCodes": texts, "languageAuto": fake.FreeObject, "languageHints": fake.FreeObject,
			"customVocabulary": texts, "adaptationPhrases": texts, "diarization": flag, "wordTimestamp": flag,
			"mode": enum("AudioTranscriptionConfig.Mode", "VERBATIM", "SMART"),
		}),
		"enableEnhancedCivicAnswers@studio": flag, "enableAffectiveDialog": flag,
		"audioTimestamp@vertex": flag, "routingConfig@vertex": fake.FreeObject,
		"translationConfig": message("TranslationConfig", fake.Fields{"targetLanguageCode": text, "echoTargetLanguage": flag}),
	})
}

func responseFormat() fake.Shape {
	mime := enum("ResponseFormat.MimeType", "APPLICATION_JSON", "TEXT_PLAIN", "IMAGE_JPEG", "AUDIO_MP3", "AUDIO_OGG_OPUS",
		"AUDIO_L16", "AUDIO_WAV", "AUDIO_ALAW", "AUDIO_MULAW")
	delivery := enum("ResponseFormat.Delivery", "INLINE", "URI")
	return message("ResponseFormat", fake.Fields{
		"text":  message("ResponseFormat.Text", fake.Fields{"mimeType": mime, "schema": fake.Free}),
		"image": message("ResponseFormat.Image", fake.Fields{"mimeType": mime, "aspectRatio": text, "imageSize": text, "delivery": delivery}),
		"audio": message("ResponseFormat.Audio", fake.Fields{"mimeType": mime, "sampleRate": whole, "bitRate": whole, "delivery": delivery}),
	})
}

func speechConfig() fake.Shape {
	voice := message("VoiceConfig", fake.Fields{"prebuiltVoiceConfig": message("PrebuiltVoiceConfig", fake.Fields{"voiceName": text}), "voice": text})
	return message("SpeechConfig", fake.Fields{
		"voiceConfig": voice, "languageCode": text,
		"multiSpeakerVoiceConfig": message("MultiSpeakerVoiceConfig", fake.Fields{
			"speakerVoiceConfigs": fake.List(message("SpeakerVoiceConfig", fake.Fields{"speaker": text, "voiceConfig": voice}), 0, 0),
		}),
	})
}
