// Package judged tests that providers take what Carrel writes: requests that were mended,
// and exports of windows at any budget. Each is judged by the validator of its format and by
// one that shares no code with it, see package upstream; and the two are held against each
// other.
package judged
