package generatecontent

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestAnswerPath(t *testing.T) {
	d := new(dialect)
	for neutral, want := range map[string]string{
		"":                     "",
		"parts.2":              "candidates[0].content.parts[2]",
		"candidates.1.parts.2": "candidates[1].content.parts[2]",
		"candidates.3.stop":    "candidates[3].finish_reason",
		"stop":                 "candidates[0].finish_reason",
		"usage":                "usage_metadata",
		"candidates":           "generation_config.candidate_count", // of the request
		"turns.3.parts.1":      "contents[3].parts[1]",
		"top_k":                "generation_config.top_k",
	} {
		if got := d.WirePath(neutral); got != want {
			t.Errorf("%q: got %q, want %q", neutral, got, want)
		}
	}
}

// TestResponseFaults checks that an answer made by hand that cannot be written
// is an error that says where.
func TestResponseFaults(t *testing.T) {
	for _, tt := range []struct {
		name string
		res  Response
		path string
	}{
		{"nil part", Response{Candidates: []Candidate{{}, {Parts: []content.Part{&content.Text{Text: "a"}, nil}}}}, "candidates[1].content.parts[1]"},
		{"nil pointer", Response{Candidates: []Candidate{{Parts: []content.Part{(*content.Text)(nil)}}}}, "candidates[0].content.parts[0]"},
		{"foreign", Response{Candidates: []Candidate{{Parts: []content.Part{&content.Unknown{Format: "other", Raw: "{}"}}}}}, "candidates[0].content.parts[0]"},
		{"arguments", Response{Candidates: []Candidate{{Parts: []content.Part{&content.ToolUse{Name: "f", Input: "[]"}}}}}, "candidates[0].content.parts[0].function_call.args"},
		{"feedback", Response{PromptFeedback: "{"}, "prompt_feedback"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := tt.res.AppendJSON([]byte("x"))
			var fault *content.Violation
			if !errors.As(err, &fault) || fault.Path != tt.path || string(doc) != "x" {
				t.Errorf("got %v %s, want a fault at %s", err, doc, tt.path)
			}
		})
	}
}

// TestResponseExamples checks whole answers against those of the wire
// reference, as far as their order does not count.
func TestResponseExamples(t *testing.T) {
	const usage = `"usageMetadata":{"promptTokenCount":14,"candidatesTokenCount":0,"totalTokenCount":14}`
	counts := content.Usage{Input: 14}
	for _, tt := range []struct {
		name  string
		reply upstream.Response
		want  string
	}{
		{"a prompt that was blocked", upstream.Response{Usage: counts, Start: upstream.Start{ID: "r", Model: "m"},
			Stop: upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "SAFETY", Details: `{"promptFeedback":{"blockReason":"SAFETY"}}`}},
			`{"promptFeedback":{"blockReason":"SAFETY"},` + usage + `,"modelVersion":"m","responseId":"r"}`},
		{"a candidate that was", upstream.Response{Usage: counts, Stop: upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "SAFETY",
			Details: `{"safetyRatings":[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]}`}},
			`{"candidates":[{"content":{"role":"model"},"finishReason":"SAFETY","index":0,"safetyRatings":` +
				`[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]}],` + usage + `}`},
		{"feedback beside an answer", upstream.Response{Parts: []content.Part{&content.Text{Text: "a"}}, Extra: extra(`{"promptFeedback":{"safetyRatings":[]}}`)},
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP","index":0}],"promptFeedback":{"safetyRatings":[]}}`},
		{"another vendor's block", upstream.Response{Stop: upstream.Stop{Reason: content.StopSafety}},
			`{"candidates":[{"content":{"role":"model"},"finishReason":"SAFETY","index":0}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, _ := ResponseFromUpstream(&tt.reply)
			doc, err := res.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := sameJSON(t, tt.want, string(doc)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplyUntouched checks that a reply may be answered twice.
func TestReplyUntouched(t *testing.T) {
	for _, tt := range answers {
		reply, err := upstream.Collect(t.Context(), tt.up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		first, lost := ResponseFromUpstream(reply)
		again, lost2 := ResponseFromUpstream(reply)
		if diff := cmp.Diff(first, again) + cmp.Diff(lost, lost2); diff != "" {
			t.Errorf("%s (-first +second):\n%s", tt.name, diff)
		}
	}
}

// TestMatch checks how handlers of two formats can share the paths of models.
func TestMatch(t *testing.T) {
	h := NewHandler(hello, nil)
	for _, tt := range []struct {
		path  string
		other bool // the header of another format
		want  bool
	}{
		{plainPath, false, true}, {plainPath, true, true}, {"/v1/models", false, true}, {"/v1/models", true, false},
		{"/v1/models/m", false, true}, {"/v1/models/m", true, false}, {"/v1/messages", false, false},
	} {
		r := httptest.NewRequest("GET", tt.path, nil)
		if tt.other {
			r.Header.Set("anthropic-version", "2023-06-01")
		}
		if got := h.Match(r); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestWriteErrorInArray checks that middleware answers in the form of the answer.
func TestWriteErrorInArray(t *testing.T) {
	w := httptest.NewRecorder()
	NewHandler(hello, nil).WriteError(w, post(arrayPath, ""), &upstream.Error{Code: upstream.CodeQuota})
	if body := w.Body.String(); w.Code != 429 || !strings.HasPrefix(body, `[{"error":{"code":429,`) || !strings.HasSuffix(body, "}}]") {
		t.Errorf("%d %s", w.Code, body)
	}
}
