// Package arch holds the tests that are about the repository as a whole:
// its layers and the habits of its packages, and what no file in it may
// contain.
//
// It has tests only and nothing imports it. Each rule is a function from
// plain values to a list of violations, so that one test applies it to the
// repository and another proves on a made-up one that it bites.
package arch
