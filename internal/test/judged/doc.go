// Package judged tests that providers would accept Carrel's output: repaired requests, and
// exports of windows at any budget. Two validators judge each: that of its format, and one in
// package upstream that shares no code with it. The tests also compare the two validators.
package judged
