package responses

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// A search for tools that the server has run belongs to the turn of the assistant, with what it found (recorded).
func TestServerSearch(t *testing.T) {
	n, _, err := DecodeRequest(`{"model":"gpt-5.4","input":[{"role":"user","content":"What is the USD/EUR exchange rate?"},
		{"arguments":{"queries":["get_exchange_rate"]},"call_id":null,"execution":"server","id":"tsc_1","status":"completed","type":"tool_search_call"},
		{"call_id":null,"execution":"server","id":"tso_1","status":"completed","tools":[{"type":"function","name":"get_exchange_rate","defer_loading":true}],"type":"tool_search_output"},
		{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_exchange_rate","namespace":"get_exchange_rate","arguments":"{}"},
		{"type":"function_call_output","call_id":"call_1","output":"0.92"}],
		"tools":[{"type":"tool_search"},{"type":"function","name":"get_exchange_rate","defer_loading":true}]}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	var roles []content.Role
	for _, turn := range n.Turns {
		roles = append(roles, turn.Role)
	}
	if diff := cmp.Diff([]content.Role{content.RoleUser, content.RoleAssistant, content.RoleUser}, roles); diff != "" || len(n.Turns[1].Parts) != 3 {
		t.Errorf("%d parts (-want +got):\n%s", len(n.Turns[1].Parts), diff)
	}
}
