package crosstest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// modelList returns an upstream that lists one model, m1.
func modelList() *formattest.Able {
	return &formattest.Able{List: func(context.Context) ([]upstream.Model, error) { return []upstream.Model{{ID: "m1"}}, nil }}
}

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
	const unknown = " is not found for API version v1beta, or is not supported for this method. Call ListModels"
	eachFormat(t, func(t *testing.T, s wireFormat) {
		for _, tt := range append([]row{
			{"unknown", "/nope", modelList(), upstream.CodeNotFound, pick(s, "model: nope", "models/nope"+unknown)},
			{"cannot list", "", hello, upstream.CodeNotFound, pick(s, "models: ", "The models of this service")},
			{"upstream's error", "", fails(&upstream.Error{Code: upstream.CodeOverloaded}), upstream.CodeOverloaded, pick(s, "Overloaded", "The model is overloaded")},
			{"fails to list", "", fails(fmt.Errorf("down: %w", http.ErrNotSupported)), upstream.CodeInternal, ""},
			{"other error", "", fails(errors.New("secret")), upstream.CodeInternal, ""},
			{"panic", "", &formattest.Able{}, upstream.CodeInternal, ""},
		}, pick(s, []row{
			{"limit", "?limit=0", modelList(), upstream.CodeInvalid, "limit: Input should be greater than or equal to 1"},
			{"limit too large", "?limit=1001", modelList(), upstream.CodeInvalid, "limit: Input should be less than or equal to 1000"},
			{"limit not a number", "?limit=x", modelList(), upstream.CodeInvalid, "limit: Input should be a valid integer"},
			{"after_id and before_id", "?after_id=m1&before_id=m1", modelList(), upstream.CodeInvalid, "after_id and before_id"},
			{"unknown after_id", "?after_id=m9", modelList(), upstream.CodeInvalid, "after_id: unknown model"},
			{"lifecycle", "?lifecycle[]=dead", modelList(), upstream.CodeInvalid, "lifecycle.0: "},
		}, []row{
			{"size", "?pageSize=-1", modelList(), upstream.CodeInvalid, "page_size "},
			{"not a number", "?pageSize=x", modelList(), upstream.CodeInvalid, `Invalid value at 'page_size' (TYPE_INT32), "x"`},
			{"token", "?pageToken=%21", modelList(), upstream.CodeInvalid, "page_token "},
			{"token of another list", "?pageToken=bm9wZQ", modelList(), upstream.CodeInvalid, "page_token "},
		})...) {
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
		s.ask(t, h, m).wants(t, s.failure(upstream.CodeNotFound), pick(s, "", "models/m is not found for API version v1beta, or is not supported for "+
			method+". Call ListModels to see the list of available models and their supported methods."))
	})
}

// TestCountTokens checks counts of the upstream, estimates, and errors.
func TestCountTokens(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
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
		more := upstream.TokenCount{Tokens: 57, Cached: 7, Extra: pick(s,
			&content.Extra{Format: messages.Format, JSON: `{"context_management":{"original_input_tokens":60}}`},
			&content.Extra{Format: generatecontent.Format, JSON: `{"totalTokens":1,"promptTokensDetails":[{"modality":"TEXT","tokenCount":57}]}`})}
		for _, tt := range []struct {
			name               string
			up                 upstream.Upstream
			body               string
			messages, generate string // empty: not a request of the format
		}{
			{"upstream", counts(upstream.TokenCount{Tokens: 57}, nil), body, `{"input_tokens":57}`, `{"totalTokens":57}`},
			{"upstream with more", counts(more, nil), body, `{"input_tokens":57,"context_management":{"original_input_tokens":60}}`,
				`{"totalTokens":57,"cachedContentTokenCount":7,"promptTokensDetails":[{"modality":"TEXT","tokenCount":57}]}`},
			// Eight words, a punctuation mark and the overhead of a turn.
			{"estimate", hello, body, `{"input_tokens":12}`, `{"totalTokens":12}`},
			// The estimate includes the system prompt that Edit adds.
			{"estimate behind an edit", upstream.Edit(hello, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
				r = r.Clone()
				r.System = []content.Part{&content.Text{Text: "one two three"}}
				return r, nil
			}), body, `{"input_tokens":15}`, `{"totalTokens":15}`},
			{"whole request", counts(upstream.TokenCount{Tokens: 57}, nil),
				`{"generateContentRequest":{"model":"models/m","systemInstruction":{"parts":[{"text":"s"}]},` + body[1:] + `}`, "", `{"totalTokens":57}`},
			// Agents count media in this way: a result without its call.
			{"result without call", counts(upstream.TokenCount{Tokens: 57}, nil),
				`{"contents":[{"parts":[{"functionResponse":{"id":"x","name":"f","response":{"output":"a"}}}]}]}`, "", `{"totalTokens":57}`},
		} {
			want := pick(s, tt.messages, tt.generate)
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
		a := count(hello, pick(s, `{"model":"m"}`, `{}`))
		a.wants(t, s.failure(upstream.CodeInvalid), pick(s, "messages: Field required", "* GenerateContentRequest.contents: contents is not specified"))
		if s.name == "generatecontent" && !strings.Contains(a.body, `{"field":"contents","description":"contents is not specified"}`) {
			t.Error(a.body)
		}
	})
}
