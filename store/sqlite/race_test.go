//go:build race

package sqlite_test

// raceDetector tells that the tests run under the race detector, where the
// engine takes twenty times as long: what is repeated is repeated less.
const raceDetector = true
