//go:build race

package sqlite_test

// raceDetector says that the tests run under the race detector. SQLite is twenty times slower
// there, so tests repeat less.
const raceDetector = true
