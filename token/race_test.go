//go:build race

package token

// raceEnabled reports whether the race detector is on.
const raceEnabled = true
