//go:build !race

package openai

const poolsForget = false
