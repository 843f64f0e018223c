//go:build race

package openai

// poolsForget says that pools drop what they are given at random, as they do
// under the race detector.
const poolsForget = true
