package openai

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A responsesEncoder writes a request of the Responses API in one pass and collects the losses.
type responsesEncoder struct {
	encoder
	counting     bool // for a token count, which has fewer members
	dropThinking bool // the server cannot read earlier thinking

	openCalls    []toolCall      // calls since the last results; part is nil once there is a result
	firstOpen    int             // all calls before it have results
	openIndex    map[string]int  // indexes in openCalls by id; made on demand
	parts        []runPart       // of the current run of assistant turns, with carried items
	carriedItems textSet         // items in the current run
	carriedIDs   textSet         // ids of carriedItems; made on demand
	carriedText  string          // text of carried thinking that has not appeared as a block yet
	hasTool      map[string]bool // whether the request has a tool of itemTools; filled on demand
	pending      []pendingItem   // items that the server accepts only before another item
	phase        string          // of texts
	itemDoc      jsonwire.Doc
}

// A pendingItem is a carried item that waits for the next item.
type pendingItem struct {
	json string
	at   partPath
}

// responsesMembers are the members that the encoder writes. Extra members do not
// replace them.
var responsesMembers = []string{
	"model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text",
	"max_output_tokens", "temperature", "top_p", "store", "include", "safety_identifier", "service_tier", "stream",
	"stream_options", "previous_response_id", "conversation", "background",
}

// encode writes the document.
func (e *responsesEncoder) encode() {
	w, n := e.w, e.req
	w.BeginObject()
	e.member("model", e.target.model)
	e.checkRequestExtra(n.Extra)
	e.outputLosses()
	e.instructions()
	w.Name("input")
	w.BeginArray()
	e.items()
	w.EndArray()
	if e.tools() {
		e.toolChoice()
	} else {
		e.noChoice()
	}
	e.reasoning()
	e.textSettings()
	if !e.counting {
		e.settings()
		e.writeExtra(n.Extra, func(name string) bool { return slices.Contains(responsesMembers, name) })
	}
	w.EndObject()
}

// instructions writes the system text as instructions or, if it has cache marks, as the
// first message.
func (e *responsesEncoder) instructions() {
	marks := false
	e.growPieces(len(e.req.System))
	for i, p := range e.req.System {
		e.systemPart(p, partPath{list: "system", part: i})
		marks = marks || len(e.pieces) > 0 && e.pieces[len(e.pieces)-1].cacheMark
	}
	if e.systemSuffix != "" && !e.target.isOpenAI {
		e.pieces = append(e.pieces, piece{text: e.systemSuffix})
		e.systemSuffix = ""
	}
	if marks || len(e.pieces) == 0 {
		return // written as the first item
	}
	e.w.Name("instructions")
	e.joinPieces(e.pieces)
	e.resetPieces()
}

// items writes the turns as items.
func (e *responsesEncoder) items() {
	before := e.w.Len()
	e.message(e.systemRole())
	if e.systemSuffix != "" {
		e.pieces = append(e.pieces, piece{text: e.systemSuffix})
		e.message(e.systemRole())
	}
	turns := envelope.AttachSignatures(ResponsesFormat, e.req.Turns)
	e.lastStart, e.lastEnd = adapter.LastMessage(turns)
	expired := foreign.FindExpired(turns)
	for i, end := 0, 0; i < len(turns); i = end {
		end = i + 1
		if turns[i].Role != content.RoleAssistant {
			if !expired.Contains(i, &turns[i]) {
				e.userTurn(i)
			}
			continue
		}
		for end < len(turns) && turns[end].Role == content.RoleAssistant {
			end++
		}
		if i > 0 {
			e.missingResults()
		}
		e.assistantTurns(turns[i:end], i)
	}
	e.dropPending()
	e.missingResults()
	if n := len(turns); n > 0 && turns[n-1].Role == content.RoleAssistant && prefilled(turns[n-1].Parts) {
		e.addLoss(lossPrefill, partPath{turn: n - 1, part: len(turns[n-1].Parts) - 1})
	}
	e.checkLastTurn(e.w.Len() > before)
	e.message("user")
}

// userTurn writes a turn of the user or the system.
func (e *responsesEncoder) userTurn(i int) {
	t := &e.req.Turns[i]
	e.checkTurnExtra(t.Extra, i)
	role := "user"
	if t.Role == content.RoleSystem {
		if e.target.isOpenAI {
			role = e.systemRole()
		} else if len(t.Parts) > 0 {
			e.log.Add(lossSystemTurn, partPath{turn: i}.turnPath())
		}
	}
	if len(t.Parts) > 0 {
		e.dropPending()
	}
	e.growPieces(len(t.Parts))
	hasResult, firstLoss := false, len(e.log.Losses)
	for j, p := range t.Parts {
		at := partPath{turn: i, part: j}
		if r, ok := p.(*content.ToolResult); ok && r != nil {
			hasResult = true
			e.message(role)
			e.toolResult(r, at)
			continue
		}
		e.part(p, at)
	}
	switch {
	case t.Role != content.RoleUser:
	case hasResult || len(e.pieces) > 0:
		e.lastEncoded = e.lastEncoded || i >= e.lastStart
	default:
		e.emptyTurn(i, firstLoss)
	}
	e.message(role)
}

// message writes the pieces as a message.
func (e *responsesEncoder) message(role string) {
	if len(e.pieces) == 0 {
		return
	}
	w := e.w
	w.BeginObject()
	e.member("role", role)
	w.Name("content")
	e.writeContent(e.pieces)
	w.EndObject()
	e.resetPieces()
}

// writeContent writes pieces, as a string if possible: all servers accept strings.
func (e *responsesEncoder) writeContent(list []piece) {
	if len(list) == 1 && list[0].kind == pieceText && !list[0].cacheMark {
		e.w.String(list[0].text)
		return
	}
	e.w.BeginArray()
	for i := range list {
		e.writePiece(&list[i])
	}
	e.w.EndArray()
}

// reasoning writes the effort and the summary of thinking.
func (e *responsesEncoder) reasoning() {
	t := &e.req.Thinking
	e.checkExtra(t.Extra, foreign.Thinking, "thinking.extra")
	if want := e.requestedEffort(); want != "" {
		e.effort = e.supportedEffort(want)
	}
	summary := e.summary(t)
	extra := e.ownObject("reasoning")
	if e.effort == "" && summary == "" && extra == "" {
		return
	}
	w := e.w
	w.Name("reasoning")
	w.BeginObject()
	if e.effort != "" {
		e.sent |= fieldEffort
		e.member("effort", e.effort)
	}
	if summary != "" {
		e.sent |= fieldSummary
		e.member("summary", summary)
	}
	e.writeRest("reasoning", extra, "effort", "summary")
	w.EndObject()
}

// summary returns the kind of summary to request, or "".
func (e *responsesEncoder) summary(t *upstream.Thinking) string {
	switch {
	case t.Display == "omitted", t.Display == "" && !t.Enabled(), e.effort == "none",
		t.Mode == upstream.ThinkingOff && e.target.neverThinks(): // other models may still think
		return ""
	case e.target.neverThinks():
		if t.Display != "" {
			e.log.Add(lossDisplayNoThinking, "thinking.display")
		}
		return ""
	case e.target.refusals.has(fieldSummary):
		e.log.Add(lossSummaryRefused, "thinking.display")
		return ""
	case t.Display == "full":
		e.log.Add(lossFullDisplay, "thinking.display")
		return "detailed"
	case t.Display != "" && t.Display != "summarized":
		e.log.Add(lossFullDisplay, "thinking.display")
	}
	return "auto"
}

// outputLosses adds the losses of the response's form.
func (e *responsesEncoder) outputLosses() {
	e.checkImageOptions(lossResponsesOutputImage)
	for _, m := range e.req.Output.Modalities {
		if m != "text" {
			e.log.Add(lossResponsesModalities, "output.modalities")
			break
		}
	}
	e.checkOutputForm(lossResponsesOutputType)
}

// textSettings writes the form of the response.
func (e *responsesEncoder) textSettings() {
	o := &e.req.Output
	w := e.w
	extra := e.ownObject("text")
	form := e.outputForm()
	if extra == "" && form != formObject && form != formSchema {
		return
	}
	w.Name("text")
	w.BeginObject()
	switch {
	case form == formSchema:
		strict, text := e.outputSchema(o.Schema)
		e.jsonSchema(text, strict)
	case form != formObject:
	case e.target.refusals.has(fieldJSONObject):
		e.jsonSchema(`{"type":"object"}`, false)
	default:
		e.sent |= fieldJSONObject
		w.Name("format")
		w.Raw(`{"type":"json_object"}`)
	}
	e.writeRest("text", extra, "format")
	w.EndObject()
}

func (e *responsesEncoder) jsonSchema(text string, strict bool) {
	w := e.w
	w.Name("format")
	w.BeginObject()
	e.member("type", "json_schema")
	e.member("name", "answer")
	w.Name("schema")
	w.Raw(text)
	w.Name("strict")
	w.Bool(strict)
	w.EndObject()
}

// minTokens is OpenAI's smallest limit of output tokens.
const minTokens = 16

// settings writes the members that a token count does not have.
func (e *responsesEncoder) settings() {
	w, n := e.w, e.req
	if limit := e.maxTokens(); limit != nil {
		maxTokens := *limit
		if 0 < maxTokens && maxTokens < minTokens { // lower values are rejected
			e.log.Add(lossMinTokens, "max_tokens")
			maxTokens = minTokens
		}
		w.Name("max_output_tokens")
		w.Int(maxTokens)
	}
	e.sampling()
	w.Name("store")
	w.Bool(false)
	switch {
	case e.target.neverThinks():
	case e.target.refusals.has(fieldReasoning):
		e.log.Add(lossThinkingNotReturned, "thinking")
	default:
		e.sent |= fieldReasoning
	}
	e.include()
	e.identity()
	if n.Stream {
		w.Name("stream")
		w.Bool(true)
		if e.target.isOpenAI && !e.target.refusals.has(fieldObfuscation) {
			w.Name("stream_options")
			w.BeginObject()
			e.noObfuscation()
			w.EndObject()
		}
	}
}

// encryptedReasoning requests thinking that the next request can return.
const encryptedReasoning = "reasoning.encrypted_content"

// include writes the additional output to include: encrypted thinking, and values from
// the extra members.
func (e *responsesEncoder) include() {
	extra := e.ownMember("include", '[')
	if e.sent&fieldReasoning == 0 && extra == "" {
		return
	}
	w := e.w
	w.Name("include")
	w.BeginArray()
	if e.sent&fieldReasoning != 0 {
		w.String(encryptedReasoning)
	}
	gjson.Parse(extra).ForEach(func(_, v gjson.Result) bool {
		if v.Str != encryptedReasoning {
			w.Raw(v.Raw)
		}
		return true
	})
	w.EndArray()
}

// sampling writes the sampling parameters that the model accepts.
func (e *responsesEncoder) sampling() {
	n, f := e.req, &e.target.family
	accepted := f.sampling == sampleAlways ||
		f.sampling == sampleWithNone && (e.effort == "none" || e.effort == "" && f.defaultEffort == "none")
	e.samplingNumber("temperature", n.Temperature, 1, accepted, fieldTemperature, lossTemperature)
	e.samplingNumber("top_p", n.TopP, 1, accepted, fieldTopP, lossTopP)
	for _, x := range []struct {
		set  bool
		rule *loss.Rule
		path string
	}{
		{n.TopK != nil, lossResponsesTopK, "top_k"},
		{n.Seed != nil, lossResponsesSeed, "seed"},
		{n.PresencePenalty != nil && *n.PresencePenalty != 0, lossResponsesPenalties, "presence_penalty"},
		{n.FrequencyPenalty != nil && *n.FrequencyPenalty != 0, lossResponsesPenalties, "frequency_penalty"},
		{len(n.StopSequences) > 0, lossResponsesStops, "stop_sequences"},
		{n.Candidates > 1, lossCandidates, "candidates"},
	} {
		if x.set {
			e.log.Add(x.rule, x.path)
		}
	}
}
