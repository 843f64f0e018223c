package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"
)

// tsGenai is the TypeScript SDK, in the current version or in the old one that
// agents bundle.
type tsGenai struct {
	*node
	old bool
}

var googleNode = sync.OnceValues(func() (*node, error) { return startNode("google.mjs", "@google/genai", "genai-old") })

func googleDriver(t *testing.T) *node {
	t.Helper()
	return needNode(t, googleNode)
}

// chats counts the chats and gives each its name.
var chats atomic.Int64

// A googleReply is the result of a call.
type googleReply struct {
	Chunks  []*genai.GenerateContentResponse `json:"chunks"`
	Tokens  int32                            `json:"tokens"`
	Models  []model                          `json:"models"`
	Pages   int                              `json:"pages"`
	Turns   int                              `json:"turns"`
	Left    bool                             `json:"left"`
	Error   string                           `json:"error"`
	Failure *struct {
		Class string `json:"class"`
		Code  int    `json:"code"`
		Text  string `json:"text"`
	} `json:"failure"`
}

// run makes a call and returns its error.
func (g tsGenai) run(c googleCall) (*googleReply, error) {
	c.Old = g.old
	line, err := g.roundTrip(c)
	if err != nil {
		return nil, err
	}
	var r googleReply
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("%.500s: %w", line, err)
	}
	switch {
	case r.Failure != nil:
		f := &googleFailure{Class: r.Failure.Class, Code: r.Failure.Code}
		// In a stream the SDK puts its own text before the envelope.
		if err := f.read(r.Failure.Text[max(0, strings.IndexByte(r.Failure.Text, '{')):]); err != nil {
			return &r, err
		}
		return &r, f
	case r.Left && c.Leave > 0:
		return &r, errLeft
	case r.Error != "":
		return &r, errors.New(r.Error)
	}
	return &r, nil
}

// answer makes a call whose response consists of chunks.
func (g tsGenai) answer(c googleCall) (*googleAnswer, error) {
	a := newGoogleAnswer()
	r, err := g.run(c)
	if r != nil {
		for _, chunk := range r.Chunks {
			a.add(chunk)
		}
	}
	return a, err
}

func (g tsGenai) ask(_ context.Context, c googleCall) (*googleAnswer, error) { return g.answer(c) }

func (g tsGenai) count(_ context.Context, c googleCall) (int32, error) {
	c.Op = "count"
	r, err := g.run(c)
	if err != nil {
		return 0, err
	}
	return r.Tokens, nil
}

func (g tsGenai) models(_ context.Context, c googleCall) ([]model, int, error) {
	c.Op = "models"
	r, err := g.run(c)
	if err != nil {
		return nil, 0, err
	}
	return r.Models, r.Pages, nil
}

func (g tsGenai) model(_ context.Context, c googleCall) (model, error) {
	c.Op = "model"
	r, err := g.run(c)
	if err != nil {
		return model{}, err
	}
	return r.Models[0], nil
}

type tsChat struct {
	tsGenai
	call googleCall
}

func (g tsGenai) chat(_ context.Context, c googleCall) (googleChat, error) {
	c.Chat = strconv.FormatInt(chats.Add(1), 10)
	return tsChat{g, c}, nil
}

func (c tsChat) send(_ context.Context, stream bool, parts []*genai.Part) (*googleAnswer, error) {
	call := c.call
	call.Op, call.Stream, call.Parts = "chat", stream, parts
	return c.answer(call)
}

func (c tsChat) turns(context.Context) (int, error) {
	call := c.call
	call.Op = "history"
	r, err := c.run(call)
	if err != nil {
		return 0, err
	}
	return r.Turns, nil
}
