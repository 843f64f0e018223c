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

// readGenerate reads an answer as the simplest client does: of an event stream
// only "data: {…}" and blank pairs. An error comes last, in both of its forms.
func readGenerate(a *answer, m mode) {
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

func readGenerateStream(a *answer) {
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
				a.broken("behind an error there is %.60q", rest)
			}
			a.chunk([]byte(event), false)
			a.Whole = false
			return
		}
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok || strings.ContainsAny(data, "\r\n") {
			a.broken("an event that clients cannot read: %.60q", event)
			continue
		}
		a.chunk([]byte(data), false)
	}
	a.Whole = a.Stop != "" && rest == "" && !a.Aborted
	if rest != "" {
		a.broken("a stray end %.60q", rest)
	}
}

func readGenerateArray(a *answer) {
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

// chunk reads one response.
func (a *answer) chunk(raw []byte, whole bool) {
	var c generateChunk
	if err := json.Unmarshal(raw, &c); err != nil {
		a.broken("no JSON: %v in %.80q", err, raw)
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

func (a *answer) content(raw json.RawMessage, whole bool) {
	var c struct {
		Role  string         `json:"role"`
		Parts []generatePart `json:"parts"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		a.broken("a content is no JSON: %v", err)
		return
	}
	if c.Role != "model" {
		a.broken("a content of role %q", c.Role)
	}
	a.Turn = append(a.Turn, raw)
	for _, p := range c.Parts {
		a.part(&p, whole)
	}
}

// part notes a part. Pieces of one text are joined as clients join them.
func (a *answer) part(p *generatePart, _ bool) {
	if _, err := base64.StdEncoding.DecodeString(p.Signature); err != nil {
		a.broken("a signature that Go clients refuse: %q", p.Signature)
	}
	s := said{Sig: p.Signature}
	switch {
	case p.Call != nil:
		s.Kind, s.ID, s.Name, s.Args = "call", p.Call.ID, p.Call.Name, "{}"
		if len(p.Call.Args) > 0 {
			s.Args = canonical(p.Call.Args)
		}
		if s.Args[0] != '{' {
			a.broken("the arguments of a call are no object: %s", s.Args)
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
		if n := len(a.Said); n > 0 && a.Said[n-1].Kind == s.Kind && a.Said[n-1].Sig == "" {
			a.Said[n-1].Text += s.Text
			a.Said[n-1].Sig = s.Sig
			return
		}
		if s.Text == "" && s.Sig == "" {
			return
		}
	}
	a.Said = append(a.Said, s)
}
