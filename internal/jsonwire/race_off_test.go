//go:build !race

package jsonwire

// raceEnabled reports whether the race detector is on.
const raceEnabled = false
