//go:build race

package proxy

// raceDetector tells that the tests run under the race detector.
const raceDetector = true
