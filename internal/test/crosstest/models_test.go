package crosstest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// modelList returns an upstream that lists one model, m1.
func modelList() *formattest.Able {
	return &formattest.Able{List: func(context.Context) ([]upstream.Model, error) { return []upstream.Model{{ID: "m1"}}, nil }}
}

// A modelError is an error for a query of the list of models.
type modelError struct{ name, query, text string }

// TestModelErrors checks the errors of lists of models, and of upstreams that cannot list
// them.
func TestModelErrors(t *testing.T) {
	fails := func(err error) *formattest.Able {
		return &formattest.Able{List: func(context.Context) ([]upstream.Model, error) { return nil, err }}
	}
	type row struct {
		name, path string // below the list
		up         upstream.Upstream
		code       upstream.Code
		text       string
	}
	eachFormat(t, func(t *testing.T, s wireFormat) {
		rows := []row{
			{"unknown", "/nope", modelList(), upstream.CodeNotFound, s.errorText("model in the path")},
			{"cannot list", "", hello, upstream.CodeNotFound, s.errorText("cannot list")},
			{"upstream's error", "", fails(&upstream.Error{Code: upstream.CodeOverloaded}), upstream.CodeOverloaded, s.errorText("overloaded")},
			{"fails to list", "", fails(fmt.Errorf("down: %w", http.ErrNotSupported)), upstream.CodeInternal, ""},
			{"other error", "", fails(errors.New("secret")), upstream.CodeInternal, ""},
			{"panic", "", &formattest.Able{}, upstream.CodeInternal, ""},
		}
		for _, e := range s.modelErrors {
			rows = append(rows, row{e.name, e.query, modelList(), upstream.CodeInvalid, e.text})
		}
		for _, tt := range rows {
			t.Run(tt.name, func(t *testing.T) {
				a := s.serve(t, s.handler(tt.up, upstream.HandlerOptions{}), mode{}, newRequest("GET", s.models+tt.path, ""))
				a.wants(t, s.failure(tt.code), tt.text)
				if strings.Contains(a.body, "secret") {
					t.Error(a.body)
				}
			})
		}
		// An upstream that lists models serves requests, too.
		if a := s.ask(t, s.handler(modelList(), upstream.HandlerOptions{}), s.modes[0]); a.status == 404 {
			t.Error(a.body)
		}
	})
}

// TestUnknownModel checks the error for a model that the upstream does not know.
func TestUnknownModel(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		h := s.handler(failing{err: &upstream.Error{Code: upstream.CodeNotFound}}, upstream.HandlerOptions{})
		method, _, _ := strings.Cut(m.path[strings.LastIndexByte(m.path, ':')+1:], "?")
		s.ask(t, h, m).wants(t, s.failure(upstream.CodeNotFound), strings.Replace(s.errorText("unknown model"), "METHOD", method, 1))
	})
}

// A countCase is a token count.
type countCase struct {
	name               string
	up                 upstream.Upstream
	body               string
	messages, generate string // empty: not a request of the format
	responses          string
}

const responses57 = `{"object":"response.input_tokens","input_tokens":57`

// TestCountTokens checks counts of the upstream, estimates, and errors.
func TestCountTokens(t *testing.T) {
	eachCounting(t, func(t *testing.T, s wireFormat) {
		const text = "How many words are in this sentence?"
		var counted *upstream.Request
		counts := func(n upstream.TokenCount, err error) *formattest.Able {
			return &formattest.Able{Count: func(_ context.Context, r *upstream.Request) (upstream.TokenCount, error) {
				counted = r
				return n, err
			}}
		}
		body := strings.Replace(s.modes[0].body, "Hi", text, 1)
		body = strings.Replace(body, `"max_tokens":64,`, "", 1)
		count := func(up upstream.Upstream, body string) *answer {
			t.Helper()
			return s.serve(t, s.handler(up, upstream.HandlerOptions{}), mode{}, newRequest("POST", s.count, body))
		}
		more := upstream.TokenCount{Tokens: 57, Cached: 7, Extra: &content.Extra{Format: s.format, JSON: s.countExtra}}
		for _, tt := range []countCase{
			{"upstream", counts(upstream.TokenCount{Tokens: 57}, nil), body, `{"input_tokens":57}`, `{"totalTokens":57}`, responses57 + `}`},
			{"upstream with more", counts(more, nil), body, `{"input_tokens":57,"context_management":{"original_input_tokens":60}}`,
				`{"totalTokens":57,"cachedContentTokenCount":7,"promptTokensDetails":[{"modality":"TEXT","tokenCount":57}]}`, responses57 + `,"note":"n"}`},
			// Eight words, a punctuation mark and the overhead of a turn.
			{"estimate", hello, body, `{"input_tokens":12}`, `{"totalTokens":12}`, `{"object":"response.input_tokens","input_tokens":12}`},
			// The estimate includes the system prompt that Edit adds.
			{"estimate behind an edit", upstream.Edit(hello, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
				r = r.Clone()
				r.System = []content.Part{&content.Text{Text: "one two three"}}
				return r, nil
			}), body, `{"input_tokens":15}`, `{"totalTokens":15}`, `{"object":"response.input_tokens","input_tokens":15}`},
			{"whole request", counts(upstream.TokenCount{Tokens: 57}, nil),
				`{"generateContentRequest":{"model":"models/m","systemInstruction":{"parts":[{"text":"s"}]},` + body[1:] + `}`, "", `{"totalTokens":57}`, ""},
			// Agents count media in this way: a result without its call.
			{"result without call", counts(upstream.TokenCount{Tokens: 57}, nil),
				`{"contents":[{"parts":[{"functionResponse":{"id":"x","name":"f","response":{"output":"a"}}}]}]}`, "", `{"totalTokens":57}`, ""},
		} {
			want := s.counts(&tt)
			if want == "" {
				continue
			}
			if a := count(tt.up, tt.body); a.status != 200 || a.body != want {
				t.Errorf("%s: %d %s, want %s", tt.name, a.status, a.body, want)
			}
		}
		count(counts(upstream.TokenCount{Tokens: 57}, nil), body)
		if counted.Model != "m" || len(counted.Turns) != 1 || snapshot.DocumentOf(counted, s.format) == nil {
			t.Errorf("the upstream counts %+v", counted)
		}
		count(counts(upstream.TokenCount{}, &upstream.Error{Code: upstream.CodeRateLimit}), body).wants(t, s.failure(upstream.CodeRateLimit), "")
		// If the upstream fails to count, the handler does not estimate.
		count(counts(upstream.TokenCount{}, fmt.Errorf("down: %w", http.ErrNotSupported)), body).wants(t, s.failure(upstream.CodeInternal), "")
		a := count(hello, s.emptyCount)
		a.wants(t, s.failure(upstream.CodeInvalid), s.errorText("count without turns"))
		if s.name == "generatecontent" && !strings.Contains(a.body, `{"field":"contents","description":"contents is not specified"}`) {
			t.Error(a.body)
		}
	})
}
