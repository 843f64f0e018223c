package generatecontent

func (e *encoder) toolConfig(r *Request) {
	c := r.ToolConfig
	if c == nil {
		return
	}
	e.Begin("toolConfig")
	if f := c.FunctionCalling; f != nil {
		e.Begin("functionCallingConfig")
		e.Text(f, "mode", f.Mode)
		e.Strings(f, "allowedFunctionNames", f.AllowedFunctionNames)
		e.extra(f.Extra, callingFields, callingTyped)
		e.End()
	}
	e.OptRaw(c, "retrievalConfig", c.RetrievalConfig)
	e.Flag(c, "includeServerSideToolInvocations", c.IncludeServerSideToolInvocations)
	e.extra(c.Extra, toolConfigFields, toolConfigTyped)
	e.End()
}

func (e *encoder) safety(r *Request) {
	if len(r.SafetySettings) == 0 {
		e.AsNoted(r, "safetySettings")
		return
	}
	e.W.Name("safetySettings")
	e.W.BeginArray()
	e.Path.Push("safety_settings")
	for i := range r.SafetySettings {
		s := &r.SafetySettings[i]
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.Text(s, "category", s.Category)
		e.Text(s, "threshold", s.Threshold)
		e.extra(s.Extra, safetyFields, safetyTyped)
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

func (e *encoder) config(r *Request) {
	c := r.GenerationConfig
	if c == nil {
		return
	}
	e.Begin("generationConfig")
	e.OptNumber(c, "temperature", c.Temperature)
	e.OptNumber(c, "topP", c.TopP)
	e.OptInt(c, "topK", c.TopK)
	if c.CandidateCount == 0 {
		e.AsNoted(c, "candidateCount")
	} else {
		e.Int(c, "candidateCount", c.CandidateCount)
	}
	e.OptInt(c, "maxOutputTokens", c.MaxOutputTokens)
	e.Strings(c, "stopSequences", c.StopSequences)
	e.OptNumber(c, "presencePenalty", c.PresencePenalty)
	e.OptNumber(c, "frequencyPenalty", c.FrequencyPenalty)
	e.OptInt(c, "seed", c.Seed)
	e.Flag(c, "responseLogprobs", c.ResponseLogprobs)
	e.OptInt(c, "logprobs", c.Logprobs)
	e.Text(c, "responseMimeType", c.ResponseMimeType)
	if c.ResponseSchema != "" {
		e.Free("responseSchema", c.ResponseSchema)
	}
	e.OptRaw(c, "responseJsonSchema", c.ResponseJSONSchema)
	e.OptRaw(c, "responseFormat", c.ResponseFormat)
	e.Strings(c, "responseModalities", c.ResponseModalities)
	e.imageConfig(c.ImageConfig)
	e.thinking(c.ThinkingConfig)
	e.OptRaw(c, "speechConfig", c.SpeechConfig)
	e.Text(c, "mediaResolution", c.MediaResolution)
	e.extra(c.Extra, configFields, configTyped)
	e.End()
}

func (e *encoder) imageConfig(c *ImageConfig) {
	if c == nil {
		return
	}
	e.Begin("imageConfig")
	e.Text(c, "aspectRatio", c.AspectRatio)
	e.Text(c, "imageSize", c.ImageSize)
	e.extra(c.Extra, imageFields, imageTyped)
	e.End()
}

func (e *encoder) thinking(c *ThinkingConfig) {
	if c == nil {
		return
	}
	e.Begin("thinkingConfig")
	e.OptFlag(c, "includeThoughts", c.IncludeThoughts)
	e.OptInt(c, "thinkingBudget", c.ThinkingBudget)
	e.Text(c, "thinkingLevel", c.ThinkingLevel)
	e.extra(c.Extra, thinkingFields, thinkingTyped)
	e.End()
}
