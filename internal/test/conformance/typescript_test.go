package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// noNode is the only reason for which a scenario may be skipped.
const noNode = "node is not installed"

// processes are the started drivers.
var processes struct {
	sync.Mutex
	list []*node
}

// node is the process of a driver: one process for all calls, one call at a
// time. Most drivers run in node.
type node struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

var theNode = sync.OnceValues(func() (*node, error) {
	return startNode("driver.mjs", "@anthropic-ai/sdk", "@anthropic-ai/bedrock-sdk", "@anthropic-ai/vertex-sdk")
})

// typeScript is the TypeScript SDK, by its plain or its beta client.
type typeScript struct {
	*node
	beta bool
}

func (s typeScript) ask(ctx context.Context, c call) (*answer, error) {
	c.Beta = s.beta
	return s.node.ask(c)
}

func (s typeScript) count(ctx context.Context, c call) (int64, error) {
	c.Op = "count"
	a, err := s.ask(ctx, c)
	if err != nil {
		return 0, err
	}
	return a.Input, nil
}

func (s typeScript) models(ctx context.Context, c call) ([]model, error) {
	c.Op = "models"
	a, err := s.ask(ctx, c)
	if err != nil {
		return nil, err
	}
	return a.Models, nil
}

func (s typeScript) model(ctx context.Context, c call) (model, error) {
	c.Op = "model"
	a, err := s.ask(ctx, c)
	if err != nil {
		return model{}, err
	}
	return a.Models[0], nil
}

func typescript(t *testing.T, beta bool) sdk {
	t.Helper()
	return typeScript{needNode(t, theNode), beta}
}

// needNode returns a process, or skips the test if node is missing.
func needNode(t *testing.T, started func() (*node, error)) *node {
	t.Helper()
	n, err := started()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(noNode)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// startNode starts a driver that needs packages.
func startNode(driver string, packages ...string) (*node, error) {
	path, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		if _, err := os.Stat("ts/node_modules/" + p); err != nil {
			return nil, fmt.Errorf("%s is not installed: run npm ci in internal/test/conformance/ts", p)
		}
	}
	return startDriver("ts", path, driver)
}

// startDriver starts a program in a directory.
func startDriver(dir, path string, args ...string) (*node, error) {
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	// Use a pipe: node makes inherited files non-blocking, and the test would
	// lose its own output.
	cmd.Stderr = struct{ io.Writer }{os.Stderr}
	// Do not pass environment variables that configure the vendor's service.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	n := &node{cmd: cmd, in: in, out: bufio.NewReader(out)}
	processes.Lock()
	defer processes.Unlock()
	processes.list = append(processes.list, n)
	return n, nil
}

// stop ends the process, which must have read all its input.
func (n *node) stop() error {
	n.in.Close()
	return n.cmd.Wait()
}

// roundTrip sends a call to the driver and returns the line of its reply.
func (n *node) roundTrip(call any) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := json.NewEncoder(n.in).Encode(call); err != nil {
		return nil, err
	}
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.cmd.Path, err)
	}
	return line, nil
}

func (n *node) ask(c call) (*answer, error) {
	line, err := n.roundTrip(c)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Answer  answer   `json:"answer"`
		Failure *failure `json:"failure"`
		Error   string   `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return nil, err
	}
	switch {
	case reply.Failure != nil:
		return &reply.Answer, reply.Failure
	case reply.Error != "":
		return &reply.Answer, errors.New(reply.Error)
	}
	return &reply.Answer, nil
}
