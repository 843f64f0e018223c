package lower

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// OutputRules describes which forms of the response a target accepts.
type OutputRules struct {
	// Types lists the media types of texts. A target without the type of JSON has JSON
	// only with a schema, or, with Objects, as any object.
	Types   []string
	Objects bool

	Schema       schema.Dialect // of the response
	AnySchema    bool           // schemas that are not objects, such as true, are sent
	Strict       bool           // an equivalent schema in StrictSchema is sent where there is one
	StrictSchema schema.Dialect
	OpenAPI      bool // with Types: schemas in the OpenAPI dialect stay as they are
	NoTools      bool // with Types: the model accepts JSON and functions only one without the other

	// OwnSchema reports whether the own members of a request have the form o already,
	// so that it is sent as it is. It may be nil.
	OwnSchema func(x *content.Extra, o *upstream.Output) bool

	Names     *Charset // of schemas, which have a description, too; nil: they have neither
	Verbosity bool     // of texts

	Modalities   []string // beside text
	EachModality bool     // unknown modalities are left out; otherwise one makes all text
	AspectRatios []string
	ImageSizes   []string
}

const (
	jsonType  = "application/json"
	plainType = "text/plain"
)

// jsonInstruction is added to the system text of a request for any JSON object. Servers
// look for the word "JSON" in the conversation, each in other places. It is added in each
// turn, so that the system text stays the same, unless the word is there already.
var jsonInstruction = &content.Text{Text: "Answer in JSON."}

// output lowers the form of the response.
func (l *lowering) output() {
	o := &l.to.Output
	o.Extra = l.extra(o.Extra, At("output"), false, foreign.Output)
	l.images()
	l.modalities()
	if o.Verbosity != "" && !l.t.Output.Verbosity {
		l.lose(OutputVerbosity, At("output.verbosity"))
		o.Verbosity = ""
	}
	switch {
	case o.MediaType == "" && o.Schema.JSON == "":
	case len(l.t.Output.Types) > 0:
		l.typedOutput()
	default:
		l.schemaOutput()
	}
	l.schemaName()
}

// schemaName lowers the name and the description of the schema of the response.
func (l *lowering) schemaName() {
	o, rules := &l.to.Output, l.t.Output.Names
	has := rules != nil && o.Schema.JSON != ""
	if o.Name != "" && !(has && rules.valid(o.Name)) {
		l.lose(OutputName, At("output.name"))
		if o.Name = ""; has {
			o.Name = rules.convert(l.n.Output.Name, 0)
		}
	}
	if o.Description != "" && !has {
		l.lose(OutputDescription, At("output.description"))
		o.Description = ""
	}
}

// images lowers the settings of images.
func (l *lowering) images() {
	o, rules := &l.to.Output, &l.t.Output
	if o.AspectRatio != "" && !slices.Contains(rules.AspectRatios, o.AspectRatio) { // bounded by Target
		l.lose(OutputImage, At("output.aspect_ratio"))
		o.AspectRatio = ""
	}
	if o.ImageSize != "" && !slices.Contains(rules.ImageSizes, o.ImageSize) { // bounded by Target
		l.lose(OutputImage, At("output.image_size"))
		o.ImageSize = ""
	}
}

// modalities lowers the kinds of output. The result is empty if the target needs none.
func (l *lowering) modalities() {
	o, rules := &l.to.Output, &l.t.Output
	unknown := func(m string) bool {
		// bounded by Target
		return m != "text" && !slices.ContainsFunc(rules.Modalities, func(known string) bool { return strings.EqualFold(known, m) })
	}
	switch {
	case slices.ContainsFunc(o.Modalities, unknown): // one pass
		l.lose(OutputModalities, At("output.modalities"))
		if rules.EachModality {
			o.Modalities = slices.DeleteFunc(slices.Clone(o.Modalities), unknown)
		} else {
			o.Modalities = nil
		}
	case len(rules.Modalities) == 0:
		o.Modalities = nil // text
	}
}

// schemaOutput lowers the type and the schema of the response, for a target that has
// schemas and no media types.
func (l *lowering) schemaOutput() {
	o, rules := &l.to.Output, &l.t.Output
	switch o.MediaType {
	case "", plainType, jsonType:
	default:
		if text := enumPrompt(o.MediaType, o.Schema.JSON); text != "" {
			l.lose(OutputEnum, At("output.media_type"))
			l.suffix = &content.Text{Text: text}
		} else {
			l.lose(OutputType, At("output.media_type"))
		}
		o.MediaType, o.Schema = "", content.Schema{}
		return
	}
	switch {
	case rules.AnySchema && o.Schema.JSON != "":
		l.anySchema()
	case jsonwire.IsObject(o.Schema.JSON):
		l.strictSchema()
	case o.MediaType != jsonType && o.Schema.JSON == "":
		o.MediaType = ""
	case rules.Objects: // a Boolean schema allows everything or nothing
		l.anyObject()
	default:
		l.lose(OutputNoJSON, At("output.media_type"))
		o.MediaType, l.suffix = "", jsonInstruction
	}
}

// anyObject lowers a request for JSON without a schema.
func (l *lowering) anyObject() {
	o := &l.to.Output
	if strings.TrimSpace(o.Schema.JSON) == "false" {
		l.lose(OutputUnsatisfiable, At("output.schema"))
	}
	o.MediaType, o.Schema = jsonType, content.Schema{}
	l.to.Object = true
	switch named := l.namesJSON(); {
	case !named:
		l.lose(OutputObject, At("output.media_type"))
		l.suffix = jsonInstruction
	case !foreign.SameVendor(l.n.Defaults.Format, l.t.Format): // others of the vendor mean objects, too
		l.lose(OutputOnlyObject, At("output.media_type"))
	}
}

// namesJSON reports whether the beginning of the prompt, which later requests have too, has the word "JSON"
// where the server looks for it.
func (l *lowering) namesJSON() bool {
	isNamed := func(p content.Part) bool {
		t, ok := p.(*content.Text)
		return ok && t != nil && (strings.Contains(t.Text, "JSON") || strings.Contains(t.Text, "json"))
	}
	return !l.t.Conversation.SentenceTurn && slices.ContainsFunc(l.n.System, isNamed) || // one pass
		len(l.n.Turns) > 0 && slices.ContainsFunc(l.n.Turns[0].Parts, isNamed)
}

// strictSchema lowers the schema of the response. It is strict if the strict schema is
// equivalent, unless the client asks for less.
func (l *lowering) strictSchema() {
	o, rules := &l.to.Output, &l.t.Output
	switch {
	case !rules.Strict, o.Strict == nil && l.n.Defaults.LooseOutput, o.Strict != nil && !*o.Strict:
		l.responseSchema(rules.Schema)
		return
	case schema.Fits(rules.StrictSchema, o.Schema):
		o.Strict = new(true)
		return
	}
	text, losses := l.schemas.Output(rules.StrictSchema, o.Schema)
	if text != "" && !slices.ContainsFunc(losses, changesModel) { // one pass
		l.schemaLosses(losses, At("output.schema"))
		o.Schema, o.Strict = content.Schema{JSON: text}, new(true)
		return
	}
	l.lose(OutputStrict, At("output.schema"))
	o.Strict = &notStrict
	l.responseSchema(rules.Schema)
}

// changesModel reports whether a loss of a schema is more than a hint, such as that members which
// the schema does not list are forbidden: models do not make them up.
func changesModel(x schema.Loss) bool { return x.Rule.Severity != content.LossHint }

// responseSchema translates the schema of the response.
func (l *lowering) responseSchema(d schema.Dialect) {
	o := &l.to.Output
	text, losses := l.schemas.Output(d, o.Schema)
	l.schemaLosses(losses, At("output.schema"))
	o.Schema = content.Schema{JSON: text}
}

// anySchema lowers a schema of any kind.
func (l *lowering) anySchema() {
	o, rules := &l.to.Output, &l.t.Output
	if rules.OwnSchema != nil && rules.OwnSchema(l.to.Extra, o) {
		return
	}
	was := o.Schema
	text, losses := l.schemas.Output(rules.Schema, o.Schema)
	l.schemaLosses(losses, At("output.schema"))
	switch text {
	case "true": // any JSON value
		text = "{}"
	case "false": // no value
		text = ""
		l.lose(OutputUnsatisfiable, At("output.schema"))
	}
	if text != "" && len(losses) == 0 && !was.OpenAPI && text != was.JSON {
		l.lose(OutputSchema, At("output.schema"))
	}
	if o.Schema = (content.Schema{JSON: text}); text == "" {
		o.MediaType = ""
	}
}

// typedOutput lowers the type and the schema of the response, for a target that has
// media types.
func (l *lowering) typedOutput() {
	o, rules := &l.to.Output, &l.t.Output
	if rules.OwnSchema != nil && l.to.Extra != nil && rules.OwnSchema(l.to.Extra, o) {
		return
	}
	if o.MediaType != "" && !slices.Contains(rules.Types, o.MediaType) { // bounded by Target
		l.lose(OutputType, At("output.media_type"))
		o.MediaType = ""
	}
	if o.Schema.JSON != "" && o.MediaType == "" {
		l.lose(OutputTypeAdded, At("output.media_type"))
		o.MediaType = jsonType
	}
	if rules.NoTools && o.MediaType == jsonType && l.hasFunctions() {
		l.lose(OutputWithTools, At("output"))
		l.suffix = jsonInstruction
		if o.Schema.JSON != "" {
			if o.Schema.OpenAPI {
				l.responseSchema(schema.JSONSchema)
			}
			l.suffix = &content.Text{Text: "When you respond without a tool call, respond with one JSON value that matches this JSON schema, and with nothing else:\n" + o.Schema.JSON}
		}
		o.MediaType, o.Schema = "", content.Schema{}
	}
	if o.Schema.JSON == "" {
		return
	}
	if !rules.OpenAPI || !o.Schema.OpenAPI {
		l.responseSchema(rules.Schema)
	}
}

// hasFunctions reports whether the request has functions, or tools that become functions.
func (l *lowering) hasFunctions() bool {
	for i := range l.n.Tools {
		if _, ok := l.functionName(&l.n.Tools[i]); ok {
			return true
		}
	}
	return false
}
