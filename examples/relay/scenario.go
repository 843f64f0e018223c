package main

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/workload"
)

// A scenario compares two loads with the same number of connections.
type scenario struct {
	name    string
	load    load   // on the gateway
	same    *load  // on the same gateway, without a translation; nil compares with another program
	portkey string // the provider, if the other program is Portkey's gateway; "" means ReverseProxy
	goal    goals
}

// The goals of a scenario are the greatest ratios; 0 means that there is none.
type goals struct{ p50, cpu float64 }

// A load is a request that clients send again and again.
type load struct {
	path, body string
	header     map[string]string
	conns      int
	events     int    // in each response; 0 if the responses are not streams
	last       string // in the last event of a complete stream
}

// unit returns the name of the units that are counted.
func (l *load) unit() string {
	if l.events > 0 {
		return "events"
	}
	return "requests"
}

// Models by the format of their server. The gateway chooses the upstream by the beginning of
// the name, the server its response by the end.
const (
	messagesModel = "claude-sonnet-4-5"
	geminiModel   = "gemini-3.1-pro"
	chatModel     = "gpt-5.2"
)

// messagesLoad returns a load of Messages requests.
func messagesLoad(body, model string, r response, conns int) load {
	return load{
		path: "/v1/messages", body: withModel(body, model, r), header: map[string]string{"Anthropic-Version": "2023-06-01"},
		conns: conns, events: r.events, last: "event: message_stop",
	}
}

// chatLoad returns a load of requests of Chat Completions.
func chatLoad(body, model string, r response, conns int) load {
	return load{path: "/v1/chat/completions", body: withModel(body, model, r), conns: conns, events: r.events, last: "data: [DONE]"}
}

// withModel sets the model of a body, which is its first member, and whether it asks for a stream.
// Both come first, so that the server finds the model in the first bytes.
func withModel(body, model string, r response) string {
	_, rest, _ := strings.Cut(body, ",")
	for _, member := range []string{`,"stream":true`, `,"stream_options":{"include_usage":true}`} {
		rest = strings.Replace(rest, member, "", 1)
	}
	return `{"model":"` + model + r.suffix + `","stream":` + strconv.FormatBool(r.events > 0) + `,` + rest
}

// generateLoad returns a load of generateContent requests.
func generateLoad(body, model string, r response, conns int) load {
	method := ":generateContent"
	if r.events > 0 {
		method = ":streamGenerateContent?alt=sse"
	}
	return load{path: "/v1beta/models/" + model + r.suffix + method, body: body, conns: conns, events: r.events, last: `"finishReason":`}
}

// portkeyScenarios returns the scenarios against Portkey's gateway.
func portkeyScenarios() (list []scenario) {
	for _, b := range []struct {
		name, messages, chat string
		r                    response
	}{
		{"small body", workload.Small(), workload.CompletionsSmall(), whole},
		{"chat body", workload.Chat(), workload.CompletionsChat(), whole},
		{"agent body", workload.Agent(), workload.CompletionsAgent(), whole},
		{"stream unpaced", workload.Small(), workload.CompletionsSmall(), flood},
	} {
		list = append(list,
			scenario{name: b.name + ", Messages", load: messagesLoad(b.messages, messagesModel, b.r, 8), portkey: "anthropic"},
			scenario{name: b.name + ", Chat Completions", load: chatLoad(b.chat, chatModel, b.r, 8), portkey: "openai"},
			scenario{name: b.name + ", Chat Completions to Messages", load: chatLoad(b.chat, messagesModel, b.r, 8), portkey: "anthropic"})
	}
	return list
}

// scenarios returns all scenarios but those against Portkey: those against ReverseProxy, then translations.
func scenarios() []scenario {
	small, chat, agent := workload.Small(), workload.Chat(), workload.Agent()
	relayed := func(name, body string, r response, conns int, goal goals) scenario {
		name += ", " + strconv.Itoa(conns) + " connection"
		if conns > 1 {
			name += "s"
		}
		return scenario{name: name, load: messagesLoad(body, messagesModel, r, conns), goal: goal}
	}
	list := []scenario{
		relayed("small body", small, whole, 1, goals{p50: 1.2}),
		relayed("small body", small, whole, 8, goals{p50: 1.2}),
		relayed("chat body", chat, whole, 1, goals{p50: 1.2}),
		relayed("chat body", chat, whole, 8, goals{p50: 1.2}),
		relayed("agent body", agent, whole, 1, goals{cpu: 2}),
		relayed("agent body", agent, whole, 8, goals{cpu: 2}),
		relayed("stream unpaced", small, flood, 1, goals{p50: 1.2}),
		relayed("stream unpaced", small, flood, 8, goals{p50: 1.2}),
		relayed("stream paced", small, paced, 8, goals{p50: 1.2}),
		relayed("pdf", workload.PDF(), whole, 4, goals{}),
	}

	generateSmall, generateChat, generateAgent := workload.GenerateSmall(), workload.GenerateChat(), workload.GenerateAgent()
	for _, d := range []struct {
		name               string
		small, chat, agent string
		load               func(body, model string, r response, conns int) load
		model, own         string // of the server; of a server with the format of the client
	}{
		{"generateContent to Messages", generateSmall, generateChat, generateAgent, generateLoad, messagesModel, geminiModel},
		{"Messages to generateContent", small, chat, agent, messagesLoad, geminiModel, messagesModel},
		{"Messages to Chat Completions", small, chat, agent, messagesLoad, chatModel, messagesModel},
	} {
		translated := func(name, body string, r response) {
			same := d.load(body, d.own, r, 8)
			list = append(list, scenario{name: name + ", " + d.name, load: d.load(body, d.model, r, 8), same: &same, goal: goals{p50: 1.5, cpu: 1.5}})
		}
		translated("small body", d.small, whole)
		translated("chat body", d.chat, whole)
		translated("agent body", d.agent, whole)
		translated("stream unpaced", d.small, flood)
	}
	return list
}
