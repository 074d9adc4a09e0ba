// Package arch has the tests about the whole repository: the layers of packages, their
// conventions, and text that no file may contain.
//
// It has only tests, and nothing imports it. Each rule is a function from plain values to a
// list of violations. So one test applies it to the repository, and another proves on an
// invented example that it finds violations.
package arch
