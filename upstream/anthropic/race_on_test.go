//go:build race

package anthropic

// raced says that the race detector is on, under which pools forget at random.
const raced = true
