package chatcompletions

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/losstable"
)

// chatResponseLosses are streams with one loss.
var chatResponseLosses = map[*loss.Rule]string{
	openaiformat.LossEmptyResponse: events(`{"choices":[],"usage":{"completion_tokens":3}}`, stopped),
	openaiformat.LossCharacters:    events(chunkOf(`{"content":"a\ud800"}`), stopped),
	openaiformat.LossThinkingState: events(chunkOf(`{"content":"a","reasoning_details":[{"type":"x","data":"`+strings.Repeat("x", maxDecodedDetails)+`"}]}`), stopped),
	openaiformat.LossCitation:      events(chunkOf(`{"annotations":[{"url_citation":{"url":"https://a.example/"}}]}`), chunkOf(`{"content":"a"}`), stopped),
	lossDecodedPart:                events(chunkOf(`{"content":[{"type":"reference","ids":[1]},{"type":"text","text":"a"}]}`), stopped),
	lossDecodedInput:               events(fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), chunkOf(`{"content":"a"}`), fragmentOf(`"index":0,"function":{"arguments":"more"}`), stopped),
	openaiformat.LossNamelessCall:  events(fragmentOf(`"index":0,"id":"a","function":{"arguments":"{}"}`), toolStop),
	lossDecodedTools:               events(chunkOf(`{"content":"a","executed_tools":[{"index":0,"type":"search","arguments":"{}","output":"x"}]}`), stopped),
	openaiformat.LossJSONText:      events(chunkOf(`{"content":{"title":"Apples"}}`), stopped),
	lossDecodedSignature:           events(chunkOf(`{"content":"a","extra_content":{"google":{"thought_signature":"c2ln"}}}`), stopped),
	lossDecodedFile:                events(chunkOf(`{"content":"a","images":[{"image_url":{"url":"file:///x"}}]}`), stopped),
}

// TestDecodeLosses checks the path of every loss of a response.
func TestDecodeLosses(t *testing.T) {
	reported := map[*loss.Rule]bool{}
	for r, stream := range chatResponseLosses {
		path := "parts"
		switch r {
		case openaiformat.LossNamelessCall:
			path = "parts.0"
		case lossDecodedTools:
			path = "executed_tools"
		case lossDecodedSignature:
			path = "extra_content"
		}
		got, err := collectChat(t, strings.NewReader(stream), ThinkTagsOff)
		if err != nil || !lossplaces.Has(got.Losses, r.At(path)) {
			t.Errorf("%s: %v: %v", r.Reason, err, got.Losses)
		}
		reported[r] = true
	}
	for _, r := range decodeLosses {
		if !reported[r] {
			t.Errorf("no test reports %q", r.Reason)
		}
	}
}

// TestLossTable checks the stored tables of losses.
func TestLossTable(t *testing.T) {
	losstable.Check(t, "openai-chat", decodeLosses...)
	losstable.Check(t, "openai-chat-answer", responseLosses...)
}

// responseLosses lists the losses of responses that are sent.
var responseLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, lossTextSignature, response.LossUncarriedState, response.LossFinishedThinking, lossHiddenReasoning,
	lossResponseImage, lossImageMember, lossResponseFile, lossResponseTool, lossResponsePart, lossManyChoices, lossTextOrder,
	response.LossCallName, response.LossCallArguments, response.LossSentCall, response.LossCutCall, response.LossCallID, response.LossNamespace, lossManyFunctions,
	lossResponseCitation, lossCitedPassage, lossManyCitations, lossStopReason, lossStopSequence, response.LossStopDetails, lossUsageCounts,
	lossResponseCache, response.LossMemberPlace, response.LossManyMembers, lossEventMembers, response.LossVendorEvent,
	foreign.SourcesLoss, foreign.EntryPointLoss, foreign.QueriesLoss, foreign.LogprobsLoss, foreign.TokensLoss, foreign.ResumeLoss, foreign.ResponseLoss,
}

// decodeLosses lists the losses of responses of servers.
var decodeLosses = []*loss.Rule{
	openaiformat.LossEmptyResponse, openaiformat.LossCharacters, openaiformat.LossThinkingState, openaiformat.LossCitation,
	lossDecodedPart, lossDecodedInput, openaiformat.LossNamelessCall, lossDecodedFile,
	lossDecodedTools, lossDecodedSignature, openaiformat.LossJSONText,
}
