package messages

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

const grounding = `{"groundingMetadata":{"webSearchQueries":["capital of France","Paris"],"searchEntryPoint":{"renderedContent":"<div>x</div>"},` +
	`"groundingChunks":[{"web":{"uri":"https://e.org/","title":"e"}},{"web":{"uri":"https://f.org/","title":"f"}}],` +
	`"groundingSupports":[{"segment":{"endIndex":6,"text":"Paris."},"groundingChunkIndices":[0]}]}}`

// TestSearches checks that a client with a tool for web search gets the searches of another
// vendor's server as blocks and as a count, and that they are not sent back.
func TestSearches(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Paris.")
		return w.Send([]upstream.Event{{Kind: upstream.EventExtra, Extra: &content.Extra{Format: theirs, JSON: grounding}}})
	})
	blocks := formattest.Value(t, `[{"type":"text","text":"Paris."},
		{"type":"server_tool_use","id":"srvtoolu_pw0_0","name":"web_search","input":{"query":"capital of France"},"caller":{"type":"direct"}},
		{"type":"web_search_tool_result","tool_use_id":"srvtoolu_pw0_0","content":[
			{"type":"web_search_result","url":"https://e.org/","title":"e","encrypted_content":"","page_age":null},
			{"type":"web_search_result","url":"https://f.org/","title":"f","encrypted_content":"","page_age":null}],"caller":{"type":"direct"}},
		{"type":"server_tool_use","id":"srvtoolu_pw0_1","name":"web_search","input":{"query":"Paris"},"caller":{"type":"direct"}},
		{"type":"web_search_tool_result","tool_use_id":"srvtoolu_pw0_1","content":[],"caller":{"type":"direct"}}]`)
	for name, tt := range map[string]struct {
		where placement
		want  any
		count any
		lost  []string
	}{
		"with the tool": {placement{knowsSearch: true}, blocks, formattest.Value(t, `{"web_search_requests":2,"web_fetch_requests":0}`),
			[]string{"degraded groundingMetadata.searchEntryPoint"}},
		"without": {placement{}, blocks.([]any)[:1], nil,
			[]string{"degraded groundingMetadata.searchEntryPoint", "dropped groundingMetadata", "hint groundingMetadata.webSearchQueries"}},
	} {
		stream, lost := encodeIn(tt.where, batchesOf(t, up))
		a, err := formattest.ReadMessage(stream)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		res, wholeLost := convertResponse(reply, nil, tt.where)
		doc, _ := res.AppendJSON(nil)
		m, err := formattest.DecodeObject(doc)
		if err != nil {
			t.Fatal(err)
		}
		for how, m := range map[string]map[string]any{"streamed": a.Object, "whole": m} {
			got := []any{m["content"], m["usage"].(map[string]any)["server_tool_use"]}
			if diff := cmp.Diff([]any{tt.want, tt.count}, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, how, diff)
			}
		}
		if diff := cmp.Diff([][]string{tt.lost, tt.lost}, [][]string{lossNames(lost), lossNames(wholeLost)}); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", name, diff)
		}
	}
}

// TestReturnedSearches returns such blocks to the handler: the vendor of this format, which did not
// make them, does not receive the document.
func TestReturnedSearches(t *testing.T) {
	n, losses, err := DecodeRequest([]byte(`{"model":"m","max_tokens":9,"tools":[{"type":"web_search_20250305","name":"web_search"}],"messages":[{"role":"user","content":"a"},`+
		`{"role":"assistant","content":[{"type":"text","text":"Paris."},{"type":"server_tool_use","id":"srvtoolu_pw0_0","name":"web_search","input":{"query":"q"}},`+
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_pw0_0","content":[]}]},{"role":"user","content":"b"}]}`), nil)
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	if snapshot.DocumentOf(n, Format) != nil {
		t.Error("the document is forwarded")
	}
	if !placementOf(n).knowsSearch {
		t.Error("the client is not known to have the tool")
	}
	r, lost, err := RequestFromUpstream(n)
	if err != nil || len(lost) > 0 {
		t.Fatal(err, lost)
	}
	doc, err := r.AppendJSON(nil)
	if err != nil || strings.Contains(string(doc), "srvtoolu_pw") || !strings.Contains(string(doc), "Paris.") {
		t.Errorf("%v\n%s", err, doc)
	}
}
