package responses

import (
	"testing"

	"github.com/polywire/polywire/internal/test/formattest"
)

// readStream reads a whole stream.
func readStream(t *testing.T, data string) *formattest.ResponseStream {
	t.Helper()
	r, err := formattest.ReadResponses(data)
	if err != nil {
		t.Fatalf("%v in the stream\n%s", err, data)
	}
	return r
}
