//go:build !race

package bothformats

const raceEnabled = false
