package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/response"
)

// Servers of other formats list what they have searched the web for, and what they have found, in
// members of the response. A client with a tool for web search receives them as this vendor's
// blocks, at the end of the response, and as the count in the usage. No server needs the blocks
// back: see [foreign.IsCopy].

// searchName is the name of the tool.
const searchName = "web_search"

// isWebSearch reports whether t is this vendor's tool for web search.
func isWebSearch(t content.Tool) bool {
	return t.Format == Format && strings.HasPrefix(t.Kind, searchName)
}

// addSearch adds what members of another format have about a search.
func (s *responseEncoder) addSearch(x *content.Extra) {
	if !s.knowsSearch {
		return
	}
	s.search.Add(x)
	for _, f := range s.search.Found {
		s.sources.Cite(&content.Citation{URL: f.URL, Extra: x})
	}
}

// writeSearch writes the searches. The first one has all results, because servers do not report
// which search has found them.
func (s *responseEncoder) writeSearch() {
	for i, q := range s.search.Queries {
		id := "srvtoolu_pw" + strconv.Itoa(s.turns) + "_" + strconv.Itoa(i) // of one response of a conversation
		input := string(jsonwire.AppendString([]byte(`{"query":`), q)) + "}"
		s.writeWhole(&content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: id, Name: searchName}, input)
		result := &content.ServerToolResult{Format: Format, Kind: "web_search_tool_result", ID: id, Content: "[]",
			Extra: &content.Extra{Format: Format, JSON: `{"caller":{"type":"direct"}}`}}
		if i == 0 {
			result.Content = searchResults(s.search.Found)
		}
		s.writeWhole(result, "")
	}
}

// searchResults returns the content of a block with results. They have no encrypted content.
func searchResults(found []foreign.Found) string {
	var w jsonwire.Writer
	w.BeginArray()
	for _, f := range found {
		w.BeginObject()
		w.Member("type", "web_search_result")
		w.Member("url", f.URL)
		w.Member("title", f.Title)
		w.Member("encrypted_content", "")
		w.RawMember("page_age", "null")
		w.EndObject()
	}
	w.EndArray()
	return w.Text()
}

// searchCount returns the members of usage for a number of searches.
func searchCount(n int) *content.Extra {
	return &content.Extra{Format: Format, JSON: `{"server_tool_use":{"web_search_requests":` + strconv.Itoa(n) + `,"web_fetch_requests":0}}`}
}

// writeWhole writes a block that is not of the upstream. input are the arguments of a call.
func (s *responseEncoder) writeWhole(p content.Part, input string) {
	b := &sentBlock{Part: p, Kind: response.KindOf(p), State: sentState{out: s.next}}
	s.next++
	s.to.startBlock(b, p)
	if input != "" {
		s.to.writeText(b, input, nil)
	}
	s.to.stopBlock(b)
}
