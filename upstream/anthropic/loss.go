package anthropic

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// What a model can lose of a request, by name: see modelLosses.
const (
	lostLimit = iota
	lostSystemTurn
	lostOpening
	lostMode
	lostNoThinking
	lostOff
	lostBetween
	lostBudget
	lostBudgetSize
	lostImplied
	lostForcedThought
	lostThought
	lostEffort
	lostEffortOff
	lostForced
	lostTemperature
	lostTopP
	lostTopK
	lostThinkingTemperature
	lostThinkingTopP
	lostThinkingTopK
	lostOneSampler
	lostTools
)

// modelLosses is all that the model, and not the format, makes a request lose.
var modelLosses = [...]loss.Rule{
	lostLimit:         {Feature: loss.MaxTokens, Severity: content.LossDegraded, Reason: "the model's answers are not that long: the limit is lowered"},
	lostSystemTurn:    {Feature: loss.SystemTurn, Severity: content.LossDegraded, Reason: "the model takes no system turns amid a conversation: it is told as one of the user"},
	lostOpening:       {Feature: loss.TurnOrder, Severity: content.LossDegraded, Reason: "for older models a conversation begins with the user: a turn that says so is added"},
	lostMode:          {Feature: loss.ThinkingMode, Severity: content.LossDegraded, Reason: "the model thinks by a budget only: it gets all of the answer's limit"},
	lostNoThinking:    {Feature: loss.ThinkingMode, Severity: content.LossDropped, Reason: "the model does not think"},
	lostOff:           {Feature: loss.ThinkingMode, Severity: content.LossDegraded, Reason: "the model's thinking cannot be switched off"},
	lostBetween:       {Feature: loss.ThinkingMode, Severity: content.LossDegraded, Reason: "the model cannot confine thinking to the time between calls"},
	lostBudget:        {Feature: loss.ThinkingBudget, Severity: content.LossDegraded, Reason: "the model takes no budget, or none was said: it thinks as much as it sees fit"},
	lostBudgetSize:    {Feature: loss.ThinkingBudget, Severity: content.LossDegraded, Reason: "a budget is at least 1024 and below the limit of tokens: the nearest is told, or the model does not think"},
	lostImplied:       {Feature: loss.ThinkingEffort, Severity: content.LossDegraded, Reason: "the model thinks by a budget: the effort became one"},
	lostForcedThought: {Feature: loss.ThinkingMode, Severity: content.LossDegraded, Reason: "a model that thinks by a budget cannot be made to call a tool: it does not think"},
	lostThought:       {Feature: loss.LostThinking, Severity: content.LossDegraded, Reason: "the thoughts in front of the calls are lost: the model does not think in this answer"},
	lostEffort:        {Feature: loss.ThinkingEffort, Severity: content.LossDegraded, Reason: "the model takes no effort: it is left out"},
	lostEffortOff:     {Feature: loss.ThinkingEffort, Severity: content.LossDegraded, Reason: "without thinking the most effort of the model is high"},
	lostForced:        {Feature: loss.ChoiceMode, Severity: content.LossDegraded, Reason: "the model cannot be made to call a tool: it may"},
	lostTemperature:   {Feature: loss.Temperature, Severity: content.LossDropped, Reason: "the model takes no temperature: it is left out"},
	lostTopP:          {Feature: loss.TopP, Severity: content.LossDropped, Reason: "the model takes no top_p: it is left out"},
	lostTopK:          {Feature: loss.TopK, Severity: content.LossDropped, Reason: "the model takes no top_k: it is left out"},

	lostThinkingTemperature: {Feature: loss.Temperature, Severity: content.LossDropped, Reason: "the model takes no temperature while it thinks: it is left out"},
	lostThinkingTopP:        {Feature: loss.TopP, Severity: content.LossDropped, Reason: "the model takes no top_p while it thinks: it is left out"},
	lostThinkingTopK:        {Feature: loss.TopK, Severity: content.LossDropped, Reason: "the model takes no top_k while it thinks: it is left out"},
	lostOneSampler:          {Feature: loss.TopP, Severity: content.LossDropped, Reason: "the model takes a temperature or a top_p: the temperature is told"},

	lostTools: {Feature: loss.VendorPart, Severity: content.LossHint, Reason: "calls of the conversation name tools that the request does not have: they are named without their arguments, and none may be called"},
}
