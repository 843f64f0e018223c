package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// A target is the model and server for which a request is encoded.
type target struct {
	model     string
	isOpenAI  bool
	family    family
	dialect   Dialect
	refusals  refusals
	maxTokens int64 // of a response; 0 means no known limit
}

// efforts returns the efforts that the model supports, as far as they are known.
func (t *target) efforts() []string {
	switch {
	case t.refusals.has(fieldEffort):
		return nil
	case t.dialect.Efforts != nil:
		return t.dialect.Efforts
	case t.family.known:
		return t.family.efforts
	case t.isOpenAI:
		return nil // unknown: a fine-tuned or renamed model
	}
	return defaultEfforts
}

// acceptsLinks reports whether images may be sent as URLs.
func (t *target) acceptsLinks() bool { return t.isOpenAI || t.dialect.Links }

// acceptsFiles reports whether PDFs may be sent.
func (t *target) acceptsFiles() bool { return t.isOpenAI || t.dialect.Files }

// thinkingMember returns the member that turns thinking on and off, or "".
func (t *target) thinkingMember() string {
	if name := t.dialect.Thinking; !t.isOpenAI && name != "-" {
		return name
	}
	return ""
}

// An encoder is the common part of chatEncoder and responsesEncoder. Its methods have
// function parameters for the differences.
type encoder struct {
	w          *jsonwire.Writer
	req        *upstream.Request
	target     *target
	format     content.Format // of the document
	partLosses *partLossRules
	log        loss.Log
	schemas    schema.ExpansionLimit

	violations violation.List

	filesLoaded    bool // files that still have no bytes cannot be fetched
	needsFiles     bool // files have to be fetched
	needsDocuments bool // some of these files are not images

	systemSuffix  string   // appended to the system text
	described     textSet  // paths of files that are replaced with a description
	mergedMembers []string // members of the request's Extra that are merged with fields
	defaultDetail string   // of images and files without one
	pieces        []piece
	lastStart     int  // index of the first turn of the last user message
	lastEnd       int  // index after it; lastStart if there is no such message
	lastEncoded   bool // a part of it has been written
	hasRefs       bool // the object of the current tool result refers to files by name
	texts         []string
	effort        string
	sent          field // optional fields in the document

	builtIns []toolRef // written so far
}

// checkExtra adds losses for members that are not sent: members of other formats, and
// members of this format below the request itself. OpenAI rejects unknown members.
func (e *encoder) checkExtra(x *content.Extra, in foreign.Kind, path string) {
	switch {
	case x == nil || x.JSON == "" || x.JSON == "{}":
	case codec.Own(x, e.format) != nil:
		e.log.Add(lossOwnMembers, path)
	default:
		for tail, rule := range foreign.Members(x, in) {
			e.log.Add(rule, codec.Below(path, tail))
		}
	}
}

// writeExtra writes the request's extra members of this format, except those that are
// written from fields.
func (e *encoder) writeExtra(x *content.Extra, written func(name string) bool) {
	if codec.Own(x, e.format) == nil || x.JSON == "" {
		return
	}
	skip := func(name string) bool {
		if !written(name) {
			return false
		}
		if !slices.Contains(e.mergedMembers, name) {
			e.log.Add(lossMemberReplaced, codec.Below("extra", name))
		}
		return true
	}
	if err := e.w.MembersExcept(x.JSON, skip); err != nil {
		e.violations.Add(content.CodeSyntax, "extra", "must be valid JSON")
	}
}

// checkRequestExtra adds a loss for each extra member of another format.
func (e *encoder) checkRequestExtra(x *content.Extra) {
	if x == nil || codec.Own(x, e.format) != nil {
		return
	}
	for tail, rule := range foreign.Members(x, foreign.Request) {
		switch {
		case e.format == ChatFormat && isLogprobs(tail): // see chatEncoder.logprobs
		case tail != "generationConfig.mediaResolution":
			e.log.Add(rule, codec.Below("extra", tail))
		case !e.setDefaultDetail(x):
			e.log.Add(lossDetail, codec.Below("extra", tail))
		}
	}
}

// systemRole returns the role of system text.
func (e *encoder) systemRole() string {
	if e.target.isOpenAI && e.target.family.developer && !e.target.refusals.has(fieldDeveloper) {
		e.sent |= fieldDeveloper
		return "developer"
	}
	return "system"
}

// checkPartExtra is checkExtra for a part. It makes the path only if there are members.
func (e *encoder) checkPartExtra(x *content.Extra, at partPath) {
	if x != nil {
		e.checkExtra(x, foreign.Part, at.String()+".extra")
	}
}

// checkTurnExtra is checkExtra for a turn.
func (e *encoder) checkTurnExtra(x *content.Extra, turn int) {
	if x != nil {
		e.checkExtra(x, foreign.Turn, partPath{turn: turn}.turnPath()+".extra")
	}
}

// placeholderText replaces the content of an earlier turn of which nothing can be sent.
// Servers reject empty turns.
const placeholderText = "[Here was something that you cannot be shown.]"

// emptyTurn adds a placeholder or a loss for a turn without content. firstLoss is the
// number of losses before the turn. checkLastTurn handles the last user message.
func (e *encoder) emptyTurn(turn, firstLoss int) {
	switch {
	case len(e.req.Turns[turn].Parts) == 0:
		e.log.Add(lossEmptyTurn, partPath{turn: turn}.turnPath())
	case turn >= e.lastStart:
	case slices.ContainsFunc(e.log.Losses[firstLoss:], func(l content.Loss) bool { return l.Severity == content.LossDropped }):
		e.log.Add(lossTurnPlaceholder, partPath{turn: turn}.turnPath())
		e.pieces = append(e.pieces, piece{text: placeholderText})
	}
}

// checkLastTurn checks the last user message after all turns are written. If all of it
// was dropped, that is a violation, since the model would respond to something else. An
// empty message is sent as a sentence, since many servers reject empty texts. encoded
// reports whether anything of the conversation was written.
func (e *encoder) checkLastTurn(encoded bool) {
	first, end, none := e.lastStart, e.lastEnd, e.lastStart == e.lastEnd
	switch {
	case e.lastEncoded, len(e.req.Turns) == 0, none && encoded:
		return
	case none:
		first, end = 0, len(e.req.Turns)
	}
	dropped, violation := adapter.LastMessageViolation(e.log.Losses, first, end)
	switch {
	case dropped, none:
		e.violations.Add(violation.Code, violation.Path, violation.Text)
	case len(e.pieces) == 0:
		e.log.Add(codec.EmptyMessage, partPath{turn: end - 1}.turnPath())
		e.pieces = append(e.pieces, piece{text: codec.EmptyMessageText})
	}
}

// A partPath is the path of a part: in a turn, in the system text, or in a list within
// another part.
type partPath struct {
	list string // empty for a turn
	turn int
	part int
}

func (p partPath) String() string {
	if p.list != "" {
		return p.list + "." + strconv.Itoa(p.part)
	}
	var b [64]byte // limits the path to one allocation
	path := append(strconv.AppendInt(append(b[:0], "turns."...), int64(p.turn), 10), ".parts."...)
	return string(strconv.AppendInt(path, int64(p.part), 10))
}

func (p partPath) turnPath() string { return strings.TrimSuffix(p.String(), ".parts.0") }

// in returns the path of an element of a list within the part.
func (p partPath) in(list string, i int) partPath { return partPath{list: p.String() + list, part: i} }

func (e *encoder) addLoss(r *loss.Rule, at partPath) { e.log.Add(r, at.String()) }

func (e *encoder) addViolation(code content.Code, at partPath, name, text string) {
	e.violations.Add(code, at.String()+name, text)
}

// checkSignature adds a loss for a signature of another vendor.
func (e *encoder) checkSignature(s content.Signature, at partPath) {
	if s.Format != e.format && s.Data != "" {
		e.addLoss(lossSignature, at)
	}
}

// acceptsCacheMark reports whether a cache mark can be sent. It adds the loss of one
// that cannot.
func (e *encoder) acceptsCacheMark(c *content.Cache, at partPath) bool {
	switch {
	case c == nil:
		return false
	case !e.target.isOpenAI || !e.target.family.cacheMarks:
		e.addLoss(lossCache, at)
		return false
	case c.TTL != "", c.Extra != nil:
		e.addLoss(lossCacheTime, at)
	}
	return true
}

// member writes a member with a string value.
func (e *encoder) member(name, value string) {
	e.w.Name(name)
	e.w.String(value)
}

// noChoice adds a loss for a tool choice without tools.
func (e *encoder) noChoice() {
	if c := &e.req.Choice; c.Mode != "" && c.Mode != content.ChoiceAuto && c.Mode != content.ChoiceNone {
		e.log.Add(lossChoice, "choice.mode")
	}
}

// ownMember returns the raw value of an extra member of this format that is merged with
// fields of the request. It returns "" if there is no such member that begins with first.
func (e *encoder) ownMember(name string, first byte) string {
	json, _ := codec.Own(e.req.Extra, e.format).Get(name)
	if json == "" || json[0] != first {
		return ""
	}
	e.mergedMembers = append(e.mergedMembers, name)
	return json
}

// ownObject is ownMember for objects.
func (e *encoder) ownObject(name string) string { return e.ownMember(name, '{') }

// writeRest writes the members of such an object, except those that are written from
// fields.
func (e *encoder) writeRest(of, object string, written ...string) {
	if object == "" {
		return
	}
	_ = e.w.MembersExcept(object, func(name string) bool { // already parsed
		if !slices.Contains(written, name) {
			return false
		}
		e.log.Add(lossMemberReplaced, codec.Below("extra."+of, name))
		return true
	})
}

// prefilled reports whether the parts of the last turn are the beginning of a response.
func prefilled(parts []content.Part) bool {
	for i := len(parts) - 1; i >= 0; i-- {
		switch p := parts[i].(type) {
		case *content.Text:
			if p != nil && p.Text != "" {
				return true
			}
		case *content.Thinking:
		default:
			return false
		}
	}
	return false
}

// A toolRef is a tool that has been written and can be chosen.
type toolRef struct {
	name         string // of a function; for a built-in tool, its name in the source format
	kind         string // of a built-in tool
	unrestricted bool   // not subject to the choice of functions
}

// toolRefs returns the functions and built-in tools of the document.
func (e *encoder) toolRefs() []toolRef {
	var list []toolRef
	for i := range e.req.Tools {
		if t := &e.req.Tools[i]; t.Kind == "" {
			list = append(list, toolRef{name: t.Name})
		}
	}
	return append(list, e.builtIns...)
}

// toolChoice writes the tool choice.
func (e *encoder) toolChoice() {
	c := &e.req.Choice
	e.checkExtra(c.Extra, foreign.Choice, "choice.extra")
	switch c.Mode {
	case "":
	case content.ChoiceAuto:
		e.member("tool_choice", "auto")
	case content.ChoiceNone:
		e.chooseNone()
	case content.ChoiceAny:
		e.chooseAny()
	case content.ChoiceValidated:
		e.log.Add(lossChoiceValidated, "choice.mode")
		e.chooseAmong()
	default:
		e.log.Add(lossChoiceOther, "choice.mode")
	}
	if c.NoParallel && c.Mode != content.ChoiceNone {
		if e.target.family.noParallel || e.target.refusals.has(fieldParallel) {
			e.log.Add(lossParallel, "choice.no_parallel")
			return
		}
		e.sent |= fieldParallel
		e.w.Name("parallel_tool_calls")
		e.w.Bool(false)
	}
}

// chooseNone forbids tool calls. In the source format, unrestricted built-in tools
// remain allowed.
func (e *encoder) chooseNone() {
	all := e.toolRefs()
	unrestricted := slices.DeleteFunc(slices.Clone(all), func(p toolRef) bool { return !p.unrestricted })
	switch {
	case len(unrestricted) == 0:
		e.member("tool_choice", "none")
	case e.target.refusals.has(fieldToolChoice):
		e.log.Add(lossChoiceFree, "choice.mode")
		e.member("tool_choice", "none")
	default:
		e.writeChoice(unrestricted, all, "auto")
	}
}

// chooseAny requires a tool call. An unrestricted built-in tool would satisfy this
// server, but not the source format. It is not among the choices.
func (e *encoder) chooseAny() {
	all := e.toolRefs()
	chosen := e.namedTools(all)
	switch {
	case chosen == nil:
		chosen = slices.DeleteFunc(slices.Clone(all), func(p toolRef) bool { return p.unrestricted })
		if len(chosen) == 0 {
			e.log.Add(lossChoice, "choice.mode")
			return
		}
	case len(chosen) == 0:
		e.log.Add(lossChoiceForced, "choice.names") // forcing another tool would be worse
		return
	}
	e.writeChoice(chosen, all, "required")
}

// chooseAmong lets the model choose whether to call one of the named tools.
func (e *encoder) chooseAmong() {
	all := e.toolRefs()
	chosen := e.namedTools(all)
	switch {
	case chosen == nil:
		chosen = all
	case len(chosen) == 0:
		e.log.Add(lossChoiceNames, "choice.names")
		chosen = all
	default:
		for _, p := range e.builtIns {
			if p.unrestricted && !slices.Contains(chosen, p) {
				chosen = append(chosen, p)
			}
		}
	}
	e.writeChoice(chosen, all, "auto")
}

// namedTools returns the tools that the choice names, or nil if it names none. Unknown
// names are left out, since servers reject them.
func (e *encoder) namedTools(all []toolRef) []toolRef {
	names := e.req.Choice.Names
	if len(names) == 0 {
		return nil
	}
	indexes := make(map[string]int, len(all)) // of the first tool of each name; -1 once it is listed
	for i, p := range slices.Backward(all) {
		indexes[p.name] = i
	}
	list, missing := make([]toolRef, 0, min(len(names), len(all))), false
	for _, name := range names {
		switch i, known := indexes[name]; {
		case !known:
			missing = true
		case i >= 0:
			list = append(list, all[i])
			indexes[name] = -1
		}
	}
	if missing && len(list) > 0 {
		e.log.Add(lossChoiceNamesSome, "choice.names")
	}
	return list
}

// writeChoice writes a choice of some of all tools.
func (e *encoder) writeChoice(chosen, all []toolRef, mode string) {
	single := len(chosen) == 1 && chosen[0].kind == "" && mode == "required" && len(e.req.Choice.Names) > 0
	switch {
	case single && !e.target.refusals.has(fieldToolChoice):
		if !e.target.isOpenAI {
			e.log.Add(lossChoiceTrust, "choice.names")
		}
		e.sent |= fieldToolChoice
		e.w.Name("tool_choice")
		e.toolRef(chosen[0])
	case len(chosen) == len(all):
		e.member("tool_choice", mode)
	case !e.target.isOpenAI || e.target.refusals.has(fieldToolChoice):
		e.log.Add(lossChoiceNames, "choice.names")
		e.member("tool_choice", mode)
	default:
		e.sent |= fieldToolChoice
		e.writeAllowedTools(chosen, mode)
	}
}

// writeAllowedTools writes a choice from a list of tools.
func (e *encoder) writeAllowedTools(chosen []toolRef, mode string) {
	w := e.w
	w.Name("tool_choice")
	w.BeginObject()
	e.member("type", "allowed_tools")
	if !e.flatToolRefs() {
		w.Name("allowed_tools")
		w.BeginObject()
	}
	e.member("mode", mode)
	w.Name("tools")
	w.BeginArray()
	for _, p := range chosen {
		e.toolRef(p)
	}
	w.EndArray()
	if !e.flatToolRefs() {
		w.EndObject()
	}
	w.EndObject()
}

// toolRef writes a reference to a tool.
func (e *encoder) toolRef(p toolRef) {
	w := e.w
	w.BeginObject()
	switch {
	case p.kind != "":
		e.member("type", p.kind)
	case e.flatToolRefs():
		e.member("type", "function")
		e.member("name", p.name)
	default:
		e.member("type", "function")
		w.Name("function")
		w.BeginObject()
		e.member("name", p.name)
		w.EndObject()
	}
	w.EndObject()
}

// flatToolRefs reports whether the format refers to a function without a nested object.
func (e *encoder) flatToolRefs() bool { return e.format == ResponsesFormat }

// toolSchema returns the schema of a tool's arguments and whether it is strict.
func (e *encoder) toolSchema(t *content.Tool, path string) (bool, string) {
	path += ".input"
	if t.Strict {
		if schema.Fits(schema.OpenAIStrict, t.Input) {
			return true, t.Input.JSON
		}
		if input, losses := e.schemas.Input(schema.OpenAIStrict, t.Input); len(losses) == 0 && input != "" {
			return true, input
		}
		e.log.Add(lossToolStrict, path)
	}
	input, losses := e.schemas.Input(schema.JSONSchema, t.Input)
	schema.AddLosses(&e.log, path, losses)
	return false, input
}

// An outputForm is the form of the response text.
type outputForm uint8

const (
	formText   outputForm = iota
	formObject            // any JSON object
	formSchema            // JSON that matches a schema
	formOther             // not supported by OpenAI
)

const (
	jsonType        = "application/json"
	jsonInstruction = "Answer in JSON."
)

// outputForm returns the form that the request specifies.
func (e *encoder) outputForm() outputForm {
	o := &e.req.Output
	switch {
	case o.MediaType != "" && o.MediaType != jsonType && o.MediaType != "text/plain":
		return formOther
	case strings.HasPrefix(strings.TrimLeft(o.Schema.JSON, " \t\r\n"), "{"):
		return formSchema
	case o.MediaType == jsonType, o.Schema.JSON != "": // a Boolean schema allows everything or nothing
		return formObject
	}
	return formText
}

// checkOutputForm adds the losses of the response's form, and sets the instruction that
// the system text needs for it. unsupported is the loss of a form that the format does
// not have.
func (e *encoder) checkOutputForm(unsupported *loss.Rule) {
	o := &e.req.Output
	e.checkExtra(o.Extra, foreign.Output, "output.extra")
	switch e.outputForm() {
	case formOther:
		e.unsupportedForm(unsupported)
	case formObject:
		// Servers look for the word "JSON" in the conversation, each in other places.
		// The instruction is always added, so that the system text is the same in each
		// turn.
		e.log.Add(lossJSONObject, "output.media_type")
		e.systemSuffix = jsonInstruction
		if strings.TrimSpace(o.Schema.JSON) == "false" {
			e.log.Add(lossSchemaUnsatisfiable, "output.schema")
		}
	}
}

// unsupportedForm adds the loss of an unsupported form. A choice of a few values
// becomes an instruction.
func (e *encoder) unsupportedForm(r *loss.Rule) {
	if instruction := codec.EnumPrompt(e.req.Output.MediaType, e.req.Output.Schema.JSON); instruction != "" {
		r, e.systemSuffix = lossOutputEnum, instruction
	}
	e.log.Add(r, "output.media_type")
}

// outputSchema returns the schema of the response, strict if the strict schema is
// equivalent.
func (e *encoder) outputSchema(s content.Schema) (strict bool, text string) {
	if schema.Fits(schema.OpenAIStrict, s) {
		return true, s.JSON
	}
	text, losses := e.schemas.Output(schema.OpenAIStrict, s)
	// Objects in OpenAPI schemas list their members, so that it changes nothing to forbid
	// others.
	changed := func(l schema.Loss) bool { return !s.OpenAPI || l.Rule.Severity != content.LossHint }
	if text != "" && !slices.ContainsFunc(losses, changed) {
		schema.AddLosses(&e.log, "output.schema", losses)
		return true, text
	}
	e.log.Add(lossSchemaStrict, "output.schema")
	text, losses = e.schemas.Output(schema.JSONSchema, s)
	schema.AddLosses(&e.log, "output.schema", losses)
	return false, text
}

// requestedEffort returns the effort that the request specifies, independent of the
// model.
func (e *encoder) requestedEffort() string {
	t := &e.req.Thinking
	switch {
	case t.Mode == upstream.ThinkingOff:
		if t.Effort != "" {
			e.log.Add(lossEffortOff, "thinking.effort")
		}
		return "none"
	case t.Mode == upstream.ThinkingBetweenTools:
		e.log.Add(lossThinkingBetween, "thinking.mode")
	}
	switch {
	case effortRank(t.Effort) >= 0:
		return t.Effort
	case t.Effort != "":
		return "medium"
	case e.hasBudget():
		return effortOfBudget(*t.Budget)
	case t.Enabled() && e.target.family.defaultEffort == "none":
		return "medium"
	case t.Enabled() && e.target.neverThinks():
		e.log.Add(lossThinkingOn, "thinking.mode")
	}
	return ""
}

// hasBudget reports whether the request has a budget of thinking tokens.
func (e *encoder) hasBudget() bool {
	return e.req.Thinking.Mode == upstream.ThinkingBudget && e.req.Thinking.Budget != nil
}

// supportedEffort returns the effort of the model that is nearest to want, and adds the
// losses.
func (e *encoder) supportedEffort(want string) string {
	effort := nearestEffort(e.target.efforts(), want)
	switch {
	case e.target.refusals.has(fieldEffort):
		e.log.Add(lossEffortRefused, "thinking")
	case effort == "none" && want == "none":
	case want == "none":
		if effort != "" || e.target.isOpenAI && !e.target.family.known || e.target.dialect.Efforts != nil {
			e.log.Add(lossThinkingOff, "thinking.mode")
		}
	case effort == "" || effort == "none":
		if e.req.Thinking.Mode != "" {
			e.log.Add(lossThinkingOn, "thinking.mode")
		}
		if e.req.Thinking.Effort != "" {
			e.log.Add(lossThinkingOn, "thinking.effort")
		}
		if e.hasBudget() {
			e.log.Add(lossNoBudget, "thinking.budget")
		}
	default:
		e.addEffortLosses(effort)
	}
	return effort
}

// addEffortLosses adds the losses of sending effort.
func (e *encoder) addEffortLosses(effort string) {
	t := &e.req.Thinking
	switch {
	case t.Effort != "" && e.hasBudget():
		e.log.Add(lossNoBudget, "thinking.budget")
	case e.hasBudget():
		e.log.Add(lossBudget, "thinking.budget")
	case t.Effort == "":
		e.log.Add(lossThinkingAuto, "thinking.mode")
	}
	if t.Effort != "" && t.Effort != effort {
		e.log.Add(lossEffort, "thinking.effort")
	}
}

// neverThinks reports whether the model is known not to think.
func (t *target) neverThinks() bool { return t.family.known && t.family.defaultEffort == "" }

// maxTokens returns the limit of output tokens, lowered to the model's.
func (e *encoder) maxTokens() *int64 {
	n, lowered := adapter.CapTokens(e.req.MaxTokens, e.target.maxTokens)
	if lowered {
		e.log.Add(lossLimit, "max_tokens")
	}
	return n
}

// checkImageOptions adds losses for the aspect ratio and size of images.
func (e *encoder) checkImageOptions(r *loss.Rule) {
	if e.req.Output.AspectRatio != "" {
		e.log.Add(r, "output.aspect_ratio")
	}
	if e.req.Output.ImageSize != "" {
		e.log.Add(r, "output.image_size")
	}
}

// samplingNumber writes a sampling parameter. If it cannot be sent, that is a loss
// unless it has the default value.
func (e *encoder) samplingNumber(name string, v *float64, defaultValue float64, accepted bool, f field, r *loss.Rule) {
	switch {
	case v == nil:
	case accepted && !e.target.refusals.has(f):
		e.sent |= f
		e.w.Name(name)
		e.w.Float(*v)
	case *v != defaultValue || !e.target.isOpenAI && !e.target.family.known: // their defaults are unknown
		e.log.Add(r, name)
	}
}

// maxUserID is the limit of safety_identifier in bytes.
const maxUserID = 128

// identity writes the user id and the service tier.
func (e *encoder) identity() {
	if id := e.req.UserID; id != "" {
		switch {
		case !e.target.isOpenAI || e.target.refusals.has(fieldUser):
			e.log.Add(lossUser, "user_id")
		case len(id) > maxUserID:
			e.log.Add(lossUserDigest, "user_id")
			sum := sha256.Sum256([]byte(id))
			e.sent |= fieldUser
			e.member("safety_identifier", hex.EncodeToString(sum[:]))
		default:
			e.sent |= fieldUser
			e.member("safety_identifier", id)
		}
	}
	switch tier := e.req.ServiceTier; {
	case tier == "", tier == "unspecified", tier == "auto" && !e.target.isOpenAI: // default
	case e.target.isOpenAI && (tier == "auto" || tier == "default" || tier == "flex" || tier == "scale" || tier == "priority" || tier == "fast"):
		e.member("service_tier", tier)
	case e.target.isOpenAI && (tier == "standard_only" || tier == "standard"):
		e.member("service_tier", "default")
	default:
		e.log.Add(lossTier, "service_tier")
	}
}

// maxLinearTexts is the size up to which a textSet compares its texts one by one.
const maxLinearTexts = 16

// A textSet is a set of texts. It is fast for a few texts and for many long ones.
type textSet struct {
	list []string
	set  map[string]struct{} // of list; made by the first search in a long list
}

func (t *textSet) add(s string) {
	t.list = append(t.list, s)
	if t.set != nil {
		t.set[s] = struct{}{}
	}
}

func (t *textSet) has(s string) bool {
	if len(t.list) <= maxLinearTexts {
		return slices.Contains(t.list, s)
	}
	if t.set == nil {
		t.set = make(map[string]struct{}, len(t.list))
		for _, known := range t.list {
			t.set[known] = struct{}{}
		}
	}
	_, ok := t.set[s]
	return ok
}

func (t *textSet) reset() { t.list, t.set = t.list[:0], nil }
