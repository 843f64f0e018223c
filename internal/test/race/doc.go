// Package race reports whether the race detector is enabled. Tests of allocations
// cannot run with it, because sync.Pool then drops values at random. All code
// takes several times as long.
package race
