//go:build !race

package judged

// raceDetector tells that the tests run under the race detector.
const raceDetector = false
