package foreign

import (
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// A Hosted is a call of a tool that several vendors run on their servers, or its result: a search of
// the web, or a run of code.
type Hosted struct {
	ID     string // of the call
	Search bool   // a search; otherwise a run of code
	Call   bool   // a call; otherwise a result
	Input  string // of a call: the query, or the code
	Shell  bool   // the code is for a shell; otherwise it is Python

	Output string  // of a run
	Failed bool    // the run or the search
	Files  bool    // the run has made files, which are stored at its vendor
	Found  []Found // by a search; some vendors have it in the call
}

// ServerPrefix begins the ids of calls in Messages. The id of another vendor may follow.
const ServerPrefix = "srvtoolu_"

// The rules for them in requests, and for files in responses.
var (
	FilesOfCode = loss.Dropped(loss.ResponseVendorPart, "files that code on a server has made are stored at another vendor; they were dropped")
	CodeAsText  = loss.Degraded(loss.VendorPart, "code that a server has run, and its output, are sent as text")
	QueryOfTool = loss.Hint(loss.VendorPart, "the query with which another vendor's server has searched was omitted")

	SearchOfTools = loss.Hint(loss.VendorPart, "the search for tools that another vendor's server has run was omitted; the tools that it found are part of the request")
)

// HostedIn returns what a part of a format other than client is about, or nil if no other vendor has
// such a tool. arguments are those of a call that has none itself.
func HostedIn(p content.Part, arguments string, client content.Format) *Hosted {
	var f content.Format
	h, kind, name, raw := Hosted{}, "", "", ""
	switch p := p.(type) { // other kinds are not of servers' tools
	case *content.ServerToolUse:
		h.Call = true
		if f, h.ID, kind, name, raw = p.Format, p.ID, p.Kind, p.Name, p.Input; raw == "" {
			raw = arguments
		}
	case *content.ServerToolResult:
		f, h.ID, kind, raw = p.Format, p.ID, p.Kind, p.Content
	case *content.Unknown:
		f, kind, raw = p.Format, p.Kind, p.Raw
	}
	read := dataOf(f).hosted
	if read == nil || f == client || !read(&h, kind, name, gjson.Parse(raw)) {
		return nil
	}
	return &h
}

// Text returns the code, or its output, as a text that others may follow.
func (h *Hosted) Text() (text string) {
	if h.Input != "" {
		text = "Code that the server has run:\n\n" + h.Input + "\n\n"
	}
	switch {
	case h.Failed:
		text += "The code has failed:\n\n" + h.Output + "\n\n"
	case h.Output != "":
		text += "Output of the code:\n\n" + h.Output + "\n\n"
	}
	return text
}

// hostedInMessages reads calls and results of Messages.
func hostedInMessages(h *Hosted, kind, name string, v gjson.Result) bool {
	switch kind + " " + name {
	case "server_tool_use web_search":
		h.Search, h.Input = true, v.Get("query").Str
	case "server_tool_use code_execution":
		h.Input = v.Get("code").Str
	case "server_tool_use bash_code_execution":
		h.Shell, h.Input = true, v.Get("command").Str
	case "web_search_tool_result ":
		h.Search, h.Failed = true, v.Get("error_code").Exists()
		h.addFound(v)
	case "code_execution_tool_result ", "bash_code_execution_tool_result ":
		h.Output = v.Get("stdout").Str + v.Get("stderr").Str + v.Get("error_code").Str
		h.Failed = v.Get("return_code").Int() != 0 || v.Get("error_code").Exists()
		h.Files = v.Get("content.0").Exists()
	default:
		return false
	}
	return true
}

// hostedInGemini reads calls and results of generateContent.
func hostedInGemini(h *Hosted, kind, _ string, v gjson.Result) bool {
	switch kind {
	case "executableCode":
		h.Input = v.Get("code").Str
	case "codeExecutionResult":
		h.Output = v.Get("output").Str
		h.Failed = v.Get("outcome").Str != "OUTCOME_OK"
	default:
		return false
	}
	return true
}

// hostedInItems reads items of Responses, and the parts that are decoded from them.
func hostedInItems(h *Hosted, kind, _ string, v gjson.Result) bool {
	switch kind {
	case "web_search_call":
		h.Search, h.Failed = true, v.Get("status").Str == "failed"
		if action := v.Get("action"); action.Exists() {
			h.Call, v = true, action
		}
		h.Input = v.Get("query").Str
		if h.Input == "" {
			h.Input = v.Get("queries.0").Str
		}
		h.addFound(v.Get("sources"))
	case "code_interpreter_call":
		h.Input = v.Get("code").Str
		status, outputs := v.Get("status").Str, v.Get("outputs")
		h.Failed = status == "failed" || status == "incomplete"
		if v.IsArray() {
			outputs = v
		}
		for _, o := range outputs.Array() {
			h.Output += o.Get("logs").Str
			h.Files = h.Files || o.Get("type").Str != "logs"
		}
	default:
		return false
	}
	return true
}

// addFound adds the results in a list.
func (h *Hosted) addFound(list gjson.Result) {
	for _, v := range list.Array() {
		// bounded by maxSources
		if url := v.Get("url").Str; url != "" && len(h.Found) < maxSources {
			h.Found = append(h.Found, Found{url, v.Get("title").Str})
		}
	}
}
