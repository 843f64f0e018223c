package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	openairesponses "github.com/polywire/polywire/upstream/openai/responses"
)

// TestResponsesStored continues a stored response with each client over each vendor.
func TestResponsesStored(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		bothOpenAI(t, func(t *testing.T, c openaiSDK, stream bool) {
			up, f := v.start(t)
			s := serveResponses(t, up, &openairesponses.Options{Store: openairesponses.NewMemoryStore(1 << 20)})
			f.Say(fake.Thinking("Two tools for that."), fake.Text("Looking."), fake.Call("weather", `{"city":"Rome"}`))
			f.Say(fake.Text("Sunny."))
			params := obj{"model": v.model, "input": "Weather in Rome?", "tools": responseTools(), "reasoning": obj{"effort": "high", "summary": "auto"}}
			if v.name == "chat" {
				delete(params, "reasoning")
			}
			a := s.mustAskOpenAI(t, c, call{Format: responsesFormat, Stream: stream, Params: params}, f)
			ids, names, _ := a.called()
			params["previous_response_id"], params["input"] = a.ID, responseResults(outcomes(ids, names))
			b := s.mustAskOpenAI(t, c, call{Format: responsesFormat, Stream: stream, Params: params}, f)
			if b.text() != "Sunny." {
				t.Errorf("text %q, want Sunny.", b.text())
			}
			for _, want := range []string{"Weather in Rome?", "result 0 of weather"} {
				if !strings.Contains(string(f.Last().Body), want) {
					t.Errorf("the vendor did not receive %q: %.3000s", want, f.Last().Body)
				}
			}
			for _, r := range f.Refused() {
				t.Errorf("%s rejected a request by rule %s: %s", v.name, r.Rule, r.Message)
			}
		})
	})
}

// TestResponsesNotStored checks that clients understand that nothing is stored.
func TestResponsesNotStored(t *testing.T) {
	bothOpenAI(t, func(t *testing.T, c openaiSDK, stream bool) {
		up, f := startAnthropic(t)
		s := serveResponses(t, up, nil)
		_, err := c.ask(t.Context(), call{BaseURL: s.url, Key: key, Format: responsesFormat, Stream: stream, Params: obj{
			"model": "claude-sonnet-4-5", "input": "And?", "previous_response_id": "resp_1",
		}})
		s.wantOpenAIFailure(t, err, failure{
			Status: 400, Type: "invalid_request_error", Code: "previous_response_not_found", Param: "previous_response_id", Message: "store",
		})
		if n := len(f.Requests()); n != 0 {
			t.Errorf("the vendor received %d requests", n)
		}
	})
}

// TestResponsesEvents checks the events as the clients pass them on: numbers without gaps, the
// same ids in all events of an item, and the whole output in the last one.
func TestResponsesEvents(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		eachOpenAI(t, func(t *testing.T, c openaiSDK) {
			up, f := v.start(t)
			s := serveResponses(t, up, nil)
			f.Say(fake.Thinking("Hm."), fake.Text("Looking."), fake.Call("weather", `{"city":"Rome"}`))
			params := obj{
				"model": v.model, "input": "Weather in Rome?", "tools": responseTools(), "store": false,
				"reasoning": obj{"effort": "high", "summary": "auto"}, "include": arr{"reasoning.encrypted_content"},
			}
			a := s.mustAskOpenAI(t, c, call{Format: responsesFormat, Stream: true, Params: params}, f)
			ids := map[int]string{}
			for i, raw := range a.Events {
				var e struct {
					Type   string `json:"type"`
					Number *int   `json:"sequence_number"`
					Index  *int   `json:"output_index"`
					ItemID string `json:"item_id"`
					Item   struct {
						ID string `json:"id"`
					} `json:"item"`
					Response responseDocument `json:"response"`
				}
				if err := json.Unmarshal([]byte(raw), &e); err != nil {
					t.Fatal(err)
				}
				if e.Number == nil || *e.Number != i {
					t.Errorf("event %d has no or another number: %.300s", i, raw)
				}
				if e.Index != nil {
					id := e.ItemID + e.Item.ID
					if known, ok := ids[*e.Index]; ok && known != id {
						t.Errorf("item %d has ids %q and %q", *e.Index, known, id)
					}
					ids[*e.Index] = id
				}
				if e.Type != "response.completed" {
					continue
				}
				for k, item := range e.Response.Output {
					var x responseItem
					if err := json.Unmarshal(item, &x); err != nil {
						t.Fatal(err)
					}
					if x.ID != ids[k] {
						t.Errorf("item %d has id %q at the end, %q before", k, x.ID, ids[k])
					}
				}
				if len(e.Response.Output) != len(ids) {
					t.Errorf("%d items at the end, %d before", len(e.Response.Output), len(ids))
				}
			}
			if len(ids) < 2 {
				t.Errorf("items %v", fmt.Sprint(ids))
			}
		})
	})
}
