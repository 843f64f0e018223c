package openai

import "github.com/polywire/polywire/internal/legal"

// What names of tools and ids of calls may look like. Compatible servers want
// their own ids back as they were.
var (
	chatRules = &legal.Rules{
		Name: legal.Rule{MaxBytes: 64, Punctuation: "_-"},
		ID:   legal.Rule{MaxBytes: 40, Punctuation: "_-.:/|+=@#"},
	}
	compatibleRules = &legal.Rules{
		Name: legal.Rule{MaxBytes: 64, Punctuation: "_-"},
		ID:   legal.Rule{Punctuation: "_-.:/|+=@#"},
	}
)
