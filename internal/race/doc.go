// Package race tells tests whether the race detector is on. Under it pools
// drop what they are given at random, so that allocations cannot be counted, and
// everything takes several times as long.
package race
