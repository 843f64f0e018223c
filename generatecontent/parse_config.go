package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// config reads how to answer.
func (p *parser) config(w *whole, v jsonwire.Value, name string) {
	if !p.enter(v, requestFields, fGenConfig, name) {
		return
	}
	defer p.path.Pop()
	c, m, o, more := &w.config, configFields, opened{m: configFields}, false
	w.request.GenerationConfig = c
	for name, x := range v.Members() {
		i := p.field(&o, name)
		switch i {
		case fTemperature:
			c.Temperature = p.number(c, x, m, i, name, &w.heat)
		case fTopP:
			c.TopP = p.number(c, x, m, i, name, &w.topP)
		case fTopK:
			c.TopK = p.integer(x, m, i, name, &w.topK)
		case fMaxTokens:
			c.MaxOutputTokens = p.integer(x, m, i, name, &w.maxTokens)
		case fStop:
			c.StopSequences = p.strings(c, x, m, i)
		case fMimeType:
			c.ResponseMimeType = p.text(c, x, m, i, name)
		case fModalities:
			c.ResponseModalities = p.modalities(c, x)
		case fImage:
			c.ImageConfig = p.imageConfig(x, name)
		case fThinking:
			c.ThinkingConfig = p.thinking(x, name)
		default:
			if !p.rareConfig(c, i, x, name) {
				more = true
			}
		}
	}
	if more {
		c.Extra = p.extraBut(v, m, 1<<configTyped-1|1<<fOlderSchema)
	}
}

// rareConfig reads the fields that few requests have.
func (p *parser) rareConfig(c *GenerationConfig, i int, x jsonwire.Value, name string) bool {
	m := configFields
	switch i {
	case fCandidates:
		var n int64
		if p.integer(x, m, i, name, &n) != nil && n == 0 {
			p.note(c, m.camel[i], "0")
		}
		c.CandidateCount = n
	case fPresence:
		c.PresencePenalty = p.number(c, x, m, i, name, new(float64))
	case fFrequency:
		c.FrequencyPenalty = p.number(c, x, m, i, name, new(float64))
	case fSeed:
		c.Seed = p.integer(x, m, i, name, new(int64))
	case fLogprobsOn:
		c.ResponseLogprobs = p.flag(c, x, m, i, name)
	case fLogprobs:
		c.Logprobs = p.integer(x, m, i, name, new(int64))
	case fSchema:
		if p.quota.Schema(x.Size()) {
			c.ResponseSchema = p.kept(x, m, i, name)
		}
	case fJSONSchema, fOlderSchema:
		if x.Kind() == jsonwire.Null || !p.quota.Schema(x.Size()) {
			break
		}
		if c.ResponseJSONSchema != "" {
			p.fault(content.CodeUnknown, p.unknownName(name, "The field is already set in another spelling."))
		}
		c.ResponseJSONSchema = x.Raw()
	case fFormat:
		if p.quota.Schema(x.Size()) {
			c.ResponseFormat = p.kept(x, m, i, name)
		}
	case fSpeech:
		c.SpeechConfig = p.kept(x, m, i, name)
	case fResolution:
		c.MediaResolution = p.choice(c, x, m, i, name)
	default:
		return false
	}
	return true
}

func (p *parser) modalities(c *GenerationConfig, v jsonwire.Value) []string {
	n := size(v)
	if n == 0 {
		p.noteEmpty(c, v, "responseModalities")
		return nil
	}
	list := make([]string, n)
	p.each(v, configFields, fModalities, func(k int, x jsonwire.Value) {
		if list[k] = modality.read(x); list[k] == "" {
			p.wrongKind(x, &configFields.fields[fModalities], configFields)
		}
	})
	return list
}

func (p *parser) imageConfig(v jsonwire.Value, name string) *ImageConfig {
	if !p.enter(v, configFields, fImage, name) {
		return nil
	}
	defer p.path.Pop()
	c, m, o, more := &ImageConfig{}, imageFields, opened{m: imageFields}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fAspectRatio:
			c.AspectRatio = p.text(c, x, m, i, name)
		case fImageSize:
			c.ImageSize = p.text(c, x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		c.Extra = p.extra(v, m, imageTyped)
	}
	return c
}

func (p *parser) thinking(v jsonwire.Value, name string) *ThinkingConfig {
	if !p.enter(v, configFields, fThinking, name) {
		return nil
	}
	defer p.path.Pop()
	c, m, o, more := &ThinkingConfig{}, thinkingFields, opened{m: thinkingFields}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fIncludeThoughts:
			c.IncludeThoughts = p.optFlag(x, m, i, name)
		case fBudget:
			c.ThinkingBudget = p.integer(x, m, i, name, new(int64))
		case fLevel:
			c.ThinkingLevel = p.choice(c, x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		c.Extra = p.extra(v, m, thinkingTyped)
	}
	return c
}
