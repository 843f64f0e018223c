package openai

import "github.com/polywire/polywire/internal/legal"

// What names of tools and ids of calls may look like. Compatible servers want
// their own ids back as they were.
var (
	chatRules = &legal.Rules{
		Name: legal.Rule{Most: 64, Others: "_-"},
		ID:   legal.Rule{Most: 40, Others: "_-.:/|+=@#"},
	}
	compatibleRules = &legal.Rules{
		Name: legal.Rule{Most: 64, Others: "_-"},
		ID:   legal.Rule{Others: "_-.:/|+=@#"},
	}
)
