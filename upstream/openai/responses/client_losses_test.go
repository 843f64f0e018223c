package responses

import (
	"testing"

	"github.com/polywire/polywire/internal/test/losstable"
)

func TestClientLossTable(t *testing.T) {
	losstable.Check(t, "openai-responses-answer", clientLosses...)
}
