//go:build !race

package sqlite_test

// raceDetector says that the tests do not run under the race detector.
const raceDetector = false
