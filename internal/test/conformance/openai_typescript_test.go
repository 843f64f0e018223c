package conformance

import (
	"context"
	"sync"
)

// tsOpenAI is the TypeScript SDK in a major version.
type tsOpenAI struct {
	*node
	major string // the folder in ts/majors
}

var openaiNode = sync.OnceValues(func() (*node, error) {
	return startNode("openai.mjs", "openai", "major-openai-4/node_modules/openai")
})

func (s tsOpenAI) ask(_ context.Context, c call) (*answer, error) {
	c.Major = s.major
	a, err := s.node.ask(c)
	if err != nil {
		return a, err
	}
	return a, a.readDocument(c.Format)
}
