package main

import "io"

// A contestant is a project with the routes that it has.
type contestant struct {
	name   string
	module string // path of its Go module
	routes map[route]translator
}

// A translator is a project's code for a route.
type translator struct {
	from, to  format // formats that it really reads and writes; empty means those of the route
	translate func(input []byte, out io.Writer) error
}

// contestants returns all projects, Polywire first.
func contestants() []*contestant {
	return []*contestant{polywire(), bifrost(), adkUtils(), ollama()}
}

// other reports whether the translator reads or writes another format than r requires.
func (t *translator) other(r route) bool {
	return t.source(r) != r.from || t.target(r) != r.to
}

func (t *translator) source(r route) format {
	if t.from != "" {
		return t.from
	}
	return r.from
}

func (t *translator) target(r route) format {
	if t.to != "" {
		return t.to
	}
	return r.to
}

// Models to which the requests are translated.
const (
	claudeModel = "claude-sonnet-4-5"
	geminiModel = "gemini-2.5-pro"
	chatModel   = "gpt-4.1"
)
