package e2e

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

type generatePart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Inline *struct {
		MIME string `json:"mimeType"`
		Data string `json:"data"`
	} `json:"inlineData"`
}

type generateError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []struct {
		Type  string `json:"@type"`
		Delay string `json:"retryDelay"`
	} `json:"details"`
}

type generateChunk struct {
	Candidates []struct {
		Content json.RawMessage `json:"content"`
		Finish  string          `json:"finishReason"`
		Message string          `json:"finishMessage"`
	} `json:"candidates"`
	Feedback *struct {
		Reason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage  map[string]json.RawMessage `json:"usageMetadata"`
	Model  string                     `json:"modelVersion"`
	ID     string                     `json:"responseId"`
	Error  *generateError             `json:"error"`
	Tokens *int                       `json:"totalTokens"`
}

// readGenerate reads a response as the simplest clients do: an event stream
// consists of "data: {…}" lines separated by blank lines. An error comes last,
// in either form.
func readGenerate(a *response, m mode) {
	kind := a.Header.Get("Content-Type")
	switch {
	case m == sse && strings.HasPrefix(kind, "text/event-stream"):
		readGenerateStream(a)
	case m == array:
		readGenerateArray(a)
	default:
		a.chunk([]byte(a.Body), true)
		if m == count && a.Err == nil && a.Broken == "" {
			return
		}
		if a.Err == nil && a.Stop == "" {
			a.broken("no finishReason")
		}
		a.Whole = a.Stop != "" && a.Status == http.StatusOK && !a.Aborted
	}
}

func readGenerateStream(a *response) {
	end := "\n\n"
	if strings.Contains(a.Body, "\r\n\r\n") {
		end = "\r\n\r\n"
	}
	rest := a.Body
	for {
		event, more, found := strings.Cut(rest, end)
		if !found {
			break
		}
		rest = more
		if event == "" {
			continue
		}
		if strings.HasPrefix(event, `{"error":`) {
			if rest != "data: "+event+end {
				a.broken("data after an error: %.60q", rest)
			}
			a.chunk([]byte(event), false)
			a.Whole = false
			return
		}
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok || strings.ContainsAny(data, "\r\n") {
			a.broken("unreadable event: %.60q", event)
			continue
		}
		a.chunk([]byte(data), false)
	}
	a.Whole = a.Stop != "" && rest == "" && !a.Aborted
	if rest != "" {
		a.broken("incomplete last event %.60q", rest)
	}
}

func readGenerateArray(a *response) {
	if a.Status != http.StatusOK && !strings.HasPrefix(a.Body, "[") {
		a.chunk([]byte(a.Body), false)
		return
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(a.Body), &list); err != nil {
		if !a.Aborted {
			a.broken("no JSON array: %v", err)
		}
		return
	}
	for _, raw := range list {
		a.chunk(raw, false)
	}
	a.Whole = a.Stop != "" && a.Err == nil && !a.Aborted
}

// chunk reads one GenerateContentResponse.
func (a *response) chunk(raw []byte, whole bool) {
	var c generateChunk
	if err := json.Unmarshal(raw, &c); err != nil {
		a.broken("invalid JSON: %v in %.80q", err, raw)
		return
	}
	if c.Error != nil {
		a.Err = &failure{Code: c.Error.Code, Type: c.Error.Status, Message: c.Error.Message}
		for _, d := range c.Error.Details {
			if strings.HasSuffix(d.Type, "RetryInfo") {
				a.Err.Retry = d.Delay
			}
		}
		return
	}
	if c.Tokens != nil {
		a.Tokens, a.Whole = *c.Tokens, true
		return
	}
	if a.ID != "" && a.ID != c.ID {
		a.broken("the responseId changes")
	}
	a.ID, a.Model = c.ID, c.Model
	a.usage(c.Usage)
	if c.Feedback != nil {
		a.Stop, a.Detail = "blocked", c.Feedback.Reason
	}
	for _, cand := range c.Candidates {
		if len(cand.Content) > 0 {
			a.content(cand.Content, whole)
		}
		if cand.Finish != "" {
			a.Stop, a.Detail = cand.Finish, cand.Message
		}
	}
}

func (a *response) content(raw json.RawMessage, whole bool) {
	var c struct {
		Role  string         `json:"role"`
		Parts []generatePart `json:"parts"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		a.broken("invalid JSON in a content: %v", err)
		return
	}
	if c.Role != "model" {
		a.broken("content with role %q", c.Role)
	}
	a.Turn = append(a.Turn, raw)
	for _, p := range c.Parts {
		a.part(&p, whole)
	}
}

// part adds a part. It joins the pieces of a text as clients do.
func (a *response) part(p *generatePart, _ bool) {
	if _, err := base64.StdEncoding.DecodeString(p.Signature); err != nil {
		a.broken("signature that Go clients reject: %q", p.Signature)
	}
	s := element{Sig: p.Signature}
	switch {
	case p.Call != nil:
		s.Kind, s.ID, s.Name, s.Args = "call", p.Call.ID, p.Call.Name, "{}"
		if len(p.Call.Args) > 0 {
			s.Args = canonical(p.Call.Args)
		}
		if s.Args[0] != '{' {
			a.broken("arguments of a tool call: want an object: %s", s.Args)
		}
	case p.Inline != nil:
		s.Kind, s.Text = "image", p.Inline.MIME+" "+p.Inline.Data
	case p.Text == nil:
		s.Kind = "other"
	default:
		s.Kind, s.Text = "text", *p.Text
		if p.Thought {
			s.Kind = "thinking"
		}
		if n := len(a.Elements); n > 0 && a.Elements[n-1].Kind == s.Kind && a.Elements[n-1].Sig == "" {
			a.Elements[n-1].Text += s.Text
			a.Elements[n-1].Sig = s.Sig
			return
		}
		if s.Text == "" && s.Sig == "" {
			return
		}
	}
	a.Elements = append(a.Elements, s)
}
