package gemini

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
)

type seenPart struct {
	Text             string
	Thought          bool
	ThoughtSignature string
	FunctionCall     *struct {
		ID, Name string
		Args     json.RawMessage
	}
	InlineData *struct{ MIMEType, Data string }
}

type seenResponse struct {
	Candidates []struct {
		Content      struct{ Parts []seenPart }
		FinishReason string
	}
	PromptFeedback *struct{ BlockReason string }
	UsageMetadata  map[string]any
	ResponseID     string
}

// joined joins chunks as the reference describes for clients.
func joined(chunks []seenResponse) (parts []seenPart, reason string, usage map[string]any) {
	for _, c := range chunks {
		usage = c.UsageMetadata
		for _, k := range c.Candidates {
			reason += k.FinishReason
			for _, p := range k.Content.Parts {
				if n := len(parts); n > 0 && p.FunctionCall == nil && p.InlineData == nil && parts[n-1].FunctionCall == nil && parts[n-1].Thought == p.Thought {
					parts[n-1].Text += p.Text
					parts[n-1].ThoughtSignature += p.ThoughtSignature
					continue
				}
				if p.Text != "" || p.FunctionCall != nil || p.InlineData != nil || p.ThoughtSignature != "" {
					parts = append(parts, p)
				}
			}
		}
	}
	return parts, reason, usage
}

func events(t *testing.T, body string) []seenResponse {
	t.Helper()
	var out []seenResponse
	for _, e := range strings.Split(strings.TrimSuffix(body, "\r\n\r\n"), "\r\n\r\n") {
		data, ok := strings.CutPrefix(e, "data: ")
		var r seenResponse
		if !ok || json.Unmarshal([]byte(data), &r) != nil {
			t.Fatalf("event %q", e)
		}
		out = append(out, r)
	}
	return out
}

// TestForms sends the same turns in all three forms. An independent reader must
// find the same content.
func TestForms(t *testing.T) {
	thinks := config(`"thinkingConfig":{"includeThoughts":true}`)
	turns := map[string][]fake.Piece{
		"text": {fake.Thinking("I wonder about it."), fake.Text("Ünïcode text that is long enough."), fake.Usage{Input: 3, CacheRead: 4, Output: 5, Thinking: 6}},
		"call": {fake.Text("Let me see."), fake.Together{fake.Call("f", `{"a":{"b":[1,2.50]}}`), fake.Call("g", "")}},
		"stop": {fake.Stop{Reason: "MAX_TOKENS"}},
	}
	for name, script := range turns {
		t.Run(name, func(t *testing.T) {
			get := func(path string) string {
				s := NewHandler(Options{})
				s.Say(script...)
				return fake.Read(t, s.post("/v1beta/models/gemini-3.8-flash:"+path, thinks))
			}
			var whole seenResponse
			if err := json.Unmarshal([]byte(get("generateContent")), &whole); err != nil {
				t.Fatal(err)
			}
			var array []seenResponse
			if err := json.Unmarshal([]byte(get("streamGenerateContent")), &array); err != nil {
				t.Fatal(err)
			}
			parts, reason, usage := joined([]seenResponse{whole})
			for form, chunks := range map[string][]seenResponse{"SSE": events(t, get("streamGenerateContent?alt=sse")), "array": array} {
				p, r, u := joined(chunks)
				if name == "stop" { // a stream ends with an empty, signed text
					p = nil
				}
				if diff := cmp.Diff(parts, p); diff != "" {
					t.Errorf("%s differs:\n%s", form, diff)
				}
				if r != reason || !cmp.Equal(u, usage) {
					t.Errorf("%s: reason %q, usage %v; want %q, %v", form, r, u, reason, usage)
				}
			}
		})
	}
}

func TestThoughtsOnlyIfAsked(t *testing.T) {
	s := NewHandler(Options{})
	s.Always(fake.Thinking("hm"), fake.Text("x"))
	if body := fake.Read(t, s.post("/v1beta/models/gemini-3.8-flash:generateContent", talk(hi))); strings.Contains(body, "hm") {
		t.Errorf("thoughts in %s", body)
	}
}

func TestUsage(t *testing.T) {
	s := NewHandler(Options{})
	s.Say(fake.Text("x"), fake.Usage{Input: 1, CacheRead: 2, CacheWrite: 4, ToolPrompt: 8, Output: 16, Thinking: 32})
	var got seenResponse
	if err := json.NewDecoder(s.post("/v1beta/models/m:generateContent", talk(hi)).Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"promptTokenCount": 7, "cachedContentTokenCount": 2, "toolUsePromptTokenCount": 8, "candidatesTokenCount": 16, "thoughtsTokenCount": 32, "totalTokenCount": 63}
	for k, v := range want {
		if got.UsageMetadata[k] != v {
			t.Errorf("%s = %v, want %v", k, got.UsageMetadata[k], v)
		}
	}
}

// TestReplay sends a signed tool call back unchanged, and with each change that
// the fake must detect.
func TestReplay(t *testing.T) {
	s := NewHandler(Options{NoDummies: true, KeepSignatures: true})
	s.Say(fake.Together{fake.Call("f", `{"x":1,"y":"z"}`), fake.Call("g", `{}`)})
	var m struct {
		Candidates []struct {
			Content struct{ Parts []json.RawMessage }
		}
	}
	const path = "/v1beta/models/gemini-3.8-flash:generateContent"
	if err := json.NewDecoder(s.post(path, talk(hi)).Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	first, second := string(m.Candidates[0].Content.Parts[0]), string(m.Candidates[0].Content.Parts[1])
	sub := func(old, new string) string {
		if !strings.Contains(first, old) {
			t.Fatalf("no %s in %s", old, first)
		}
		return strings.Replace(first, old, new, 1)
	}
	results := turn("user", `{"functionResponse":{"name":"f","response":{}}}`, `{"functionResponse":{"name":"g","response":{}}}`)
	tests := []struct{ name, call, rule string }{
		{"unchanged", first, ""},
		{"keys in another order", sub(`{"x":1,"y":"z"}`, `{"y":"z","x":1}`), ""},
		{"other arguments", sub(`"x":1`, `"x":2`), "signature"},
		{"other bytes", sub(`"thoughtSignature":"Z2`, `"thoughtSignature":"Z3`), "signature"},
		{"placeholder signature", strings.Replace(call1, `"id":"1",`, "", 1), "signature-dummy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.post(path, talk(hi, turn("model", tt.call, second), results))
			if got := s.Last(); got.Rule != tt.rule {
				t.Errorf("rule %q, want %q: %s", got.Rule, tt.rule, got.Message)
			}
		})
	}
	s.post(path, talk(hi, turn("model", `{"text":"x","thoughtSignature":"AAAA"}`), hi))
	if got := s.Last().Rule; got != "signature-kept" {
		t.Errorf("foreign signature on text: rule %q", got)
	}
}

func TestFailures(t *testing.T) {
	s := NewHandler(Options{})
	s.Say(fake.Status{Code: 429, Details: RetryInfo("31s")})
	res := s.post("/v1beta/models/m:generateContent", talk(hi))
	if body := fake.Read(t, res); res.StatusCode != 429 || !strings.Contains(body, `"status":"RESOURCE_EXHAUSTED"`) || !strings.Contains(body, `"retryDelay":"31s"`) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	s.Say(fake.Text("Once"), fake.Status{Code: 503})
	body := fake.Read(t, s.post("/v1beta/models/m:streamGenerateContent?alt=sse", talk(hi)))
	if !strings.HasSuffix(body, "\r\n\r\n{\"error\":{\"code\":503,\"message\":\"The model is overloaded. Please try again later.\",\"status\":\"UNAVAILABLE\"}}") {
		t.Errorf("stream %q", body)
	}
	s.Say(fake.Status{Code: 500})
	if body := fake.Read(t, s.post("/v1beta/models/m:streamGenerateContent", talk(hi))); !strings.HasPrefix(body, `[{"error"`) {
		t.Errorf("array %q", body)
	}
	s.Say(fake.Text("x"), Grounding(`{"webSearchQueries":["q"]}`))
	if body := fake.Read(t, s.post("/v1beta/models/m:generateContent", talk(hi))); !strings.Contains(body, `"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["q"]},"index":0}`) {
		t.Errorf("grounding: %s", body)
	}
	s.Say(fake.Blocked("SAFETY"))
	var got seenResponse
	if err := json.NewDecoder(s.post("/v1beta/models/m:generateContent", talk(hi)).Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.PromptFeedback == nil || len(got.Candidates) > 0 {
		t.Errorf("blocked prompt: %+v", got)
	}
}

func TestModels(t *testing.T) {
	s := New(t, Options{Models: []string{"a", "b", "c"}})
	var seen []string
	token := ""
	for range 5 {
		res, err := http.Get(s.URL + "/v1beta/models?key=k&pageSize=2" + token)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Models        []struct{ Name string }
			NextPageToken string
		}
		err = json.NewDecoder(res.Body).Decode(&page)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Models {
			seen = append(seen, m.Name)
		}
		if page.NextPageToken == "" {
			break
		}
		token = "&pageToken=" + page.NextPageToken
	}
	if diff := cmp.Diff([]string{"models/a", "models/b", "models/c"}, seen); diff != "" {
		t.Error(diff)
	}
}
