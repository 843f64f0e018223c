package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
)

// Servers of other formats report what they have searched the web for in calls, or in members of the
// response together with what they have found. A client with a tool for web search receives this as
// this vendor's blocks, those of members at the end of the response, and as the count in the usage. No
// server needs the blocks back: see [foreign.IsCopy]. Runs of code become blocks, too.

// searchName is the name of the tool, copyPrefix the beginning of the ids of blocks that only show what
// another vendor's server has done.
const (
	searchName = "web_search"
	copyPrefix = "srvtoolu_pw"
)

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

// openHosted prepares the block of a call of another vendor's tool, or of its result: see
// [responseEncoder.OpenBlock].
func (s *responseEncoder) openHosted(b *sentBlock, h *foreign.Hosted) response.When {
	report := s.LossesOf(b)
	if partfield.SignatureOf(b.Part).Data != "" {
		report(lossTextSignature)
	}
	if x := partfield.ExtraOf(b.Part); x != nil {
		foreign.ResponseMembersOfPart(x, report)
	}
	if h.Search && !s.knowsSearch {
		s.sources.AddFound(h.Found)
		report(foreign.QueriesLoss)
		return response.Never
	}
	b.State.hosted = true
	return response.AtEnd
}

// writeHosted writes the blocks of such a call or result. The vendor of this format never leaves a call
// without a result.
func (s *responseEncoder) writeHosted(b *sentBlock) {
	h := foreign.HostedIn(b.Part, b.Arguments(), Format)
	switch {
	case h.Search && h.Failed && s.result != nil:
		s.result.Content = `{"type":"web_search_tool_result_error","error_code":"unavailable"}`
		s.writeResult()
	case h.Search && h.Input == "":
		s.sources.AddFound(h.Found)
		s.Lose(b, foreign.QueriesLoss)
	case h.Search:
		s.searches++
		s.writeServerCall(copyPrefix+strconv.Itoa(s.turns)+"_"+strconv.Itoa(b.Index)+"_0", searchName, "query", h.Input)
		s.result.Content = searchResults(h.Found) // unless it has failed
	case h.Call:
		id := foreign.ServerPrefix + h.ID
		if strings.HasPrefix(id, copyPrefix) || !isServerID(id) {
			id = foreign.ServerPrefix + "run" + strconv.Itoa(s.turns) + "_" + strconv.Itoa(b.Index)
		}
		name, member := "code_execution", "code"
		if h.Shell {
			name, member = "bash_code_execution", "command"
		}
		s.writeServerCall(id, name, member, h.Input)
		s.result.Content = runResult(name, new(foreign.Hosted)) // unless one follows
	case s.result == nil:
		s.Lose(b, lossResponseTool)
	default:
		if h.Files {
			s.Lose(b, foreign.FilesOfCode)
		}
		s.result.Content = runResult(strings.TrimSuffix(s.result.Kind, "_tool_result"), h)
		s.writeResult()
	}
}

// writeServerCall writes a call of a tool, of which text is the only argument. Its result follows.
func (s *responseEncoder) writeServerCall(id, name, member, text string) {
	s.writeResult()
	s.writeWhole(&content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: id, Name: name},
		string(append(jsonwire.AppendString([]byte(`{"`+member+`":`), text), '}')))
	s.result = &content.ServerToolResult{Format: Format, Kind: resultKind(name), ID: id}
	if name == searchName {
		s.result.Extra = &content.Extra{Format: Format, JSON: `{"caller":{"type":"direct"}}`}
	}
}

// writeResult writes the result of the last call.
func (s *responseEncoder) writeResult() {
	if r := s.result; r != nil {
		s.result = nil
		s.writeWhole(r, "")
	}
}

// runResult returns the content of a block with the output of a tool.
func runResult(name string, h *foreign.Hosted) string {
	out, err, code := h.Output, "", int64(0)
	if h.Failed {
		out, err, code = "", h.Output, 1
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("type", name+"_result")
	w.Member("stdout", out)
	w.Member("stderr", err)
	w.IntMember("return_code", code)
	w.RawMember("content", "[]")
	if name == "code_execution" {
		w.RawMember("abort_reason", "null")
	}
	w.EndObject()
	return w.Text()
}

// writeSearch writes the searches. The first one has all results, because servers do not report
// which search has found them.
func (s *responseEncoder) writeSearch() {
	for i, q := range s.search.Queries {
		// The ids differ from those of other responses of a conversation.
		s.writeServerCall(copyPrefix+strconv.Itoa(s.turns)+"_"+strconv.Itoa(i), searchName, "query", q)
		s.result.Content = "[]"
		if i == 0 {
			s.result.Content = searchResults(s.search.Found)
		}
		s.writeResult()
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
