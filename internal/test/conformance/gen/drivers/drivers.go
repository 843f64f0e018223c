// Package drivers derives the drivers of the Go SDK. They differ by import path
// between major versions, and by type names between the plain and the beta
// client.
package drivers

import "strings"

// From is the file from which the others are made.
const From = "gov2_test.go"

// Of returns the other files by name, made from the content v2 of From.
func Of(v2 string) map[string]string {
	v2 = "// Code generated from " + From + " by gen; DO NOT EDIT.\n\n" +
		strings.Replace(v2, "//go:generate go run ./gen\n\n", "", 1)
	v1 := strings.NewReplacer(
		"anthropic-sdk-go/v2", "anthropic-sdk-go",
		"goV2", "goV1",
		"version 2", "version 1",
	)
	beta := strings.NewReplacer(
		"anthropic.Message", "anthropic.BetaMessage",
		"anthropic.Model", "anthropic.BetaModel",
		"client.Messages", "client.Beta.Messages",
		"client.Models", "client.Beta.Models",
		"goV2", "goV2Beta",
		"goV1", "goV1Beta",
		"version 2", "version 2, by its beta client",
		"version 1", "version 1, by its beta client",
	)
	return map[string]string{
		"gov1_test.go":      v1.Replace(v2),
		"gov1_beta_test.go": beta.Replace(v1.Replace(v2)),
		"gov2_beta_test.go": beta.Replace(v2),
	}
}
