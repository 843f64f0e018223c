package recorded

import (
	"os"
	"testing"

	"github.com/polywire/polywire/internal/test/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(suite{m})) }

// A suite runs the tests with a loopback server.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	network = newLoopback()
	defer network.close()
	code := s.m.Run()
	if testing.Verbose() {
		printTable(os.Stdout)
	}
	return code
}
