package workload_test

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/test/workload"
)

func TestBodies(t *testing.T) {
	tests := []struct {
		name     string
		make     func() string
		from, to int
	}{
		{"Small", workload.Small, 250, 450},
		{"Chat", workload.Chat, 27_000, 33_000},
		{"Agent", workload.Agent, 340_000, 365_000},
		{"Intl", workload.Intl, 27_000, 36_000},
		{"Image", workload.Image, 1_000_000, 1_100_000},
		{"PDF", workload.PDF, 33_333_000, 32 << 20},
		{"GenerateSmall", workload.GenerateSmall, 250, 450},
		{"GenerateChat", workload.GenerateChat, 27_000, 33_000},
		{"GenerateAgent", workload.GenerateAgent, 330_000, 365_000},
		{"GenerateIntl", workload.GenerateIntl, 27_000, 36_000},
		{"GenerateImage", workload.GenerateImage, 1_000_000, 1_100_000},
		{"GeneratePDF", workload.GeneratePDF, 33_333_000, 32 << 20},
		{"CompletionsSmall", workload.CompletionsSmall, 250, 450},
		{"CompletionsChat", workload.CompletionsChat, 27_000, 33_000},
		{"CompletionsAgent", workload.CompletionsAgent, 320_000, 365_000},
		{"CompletionsImage", workload.CompletionsImage, 1_000_000, 1_100_000},
		{"CompletionsPDF", workload.CompletionsPDF, 33_333_000, 32 << 20},
		{"ResponsesSmall", workload.ResponsesSmall, 250, 450},
		{"ResponsesChat", workload.ResponsesChat, 27_000, 33_000},
		{"ResponsesAgent", workload.ResponsesAgent, 340_000, 365_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := tt.make()
			if len(body) < tt.from || len(body) > tt.to {
				t.Errorf("got %d bytes, want %d to %d", len(body), tt.from, tt.to)
			}
			if err := jsonwire.Valid(body, jsonwire.Limits{}); err != nil {
				t.Error(err)
			}
			if body != tt.make() {
				t.Error("a second call returned a different body")
			}
		})
	}
}

func TestAgentEscapes(t *testing.T) {
	body := workload.Agent()
	if n := strings.Count(body, `\`); n < 13_000 || n > 16_000 {
		t.Errorf("got %d escapes, want 13,000 to 16,000", n)
	}
}
