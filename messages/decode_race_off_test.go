//go:build !race

package messages

const poolsForget = false
