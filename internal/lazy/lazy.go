// Package lazy makes values when they are first asked for: tables of words,
// regular expressions, whatever takes work to set up.
//
// A program does the work of its package variables before main runs, also for a
// command that needs none of them. Carrel runs as a hook at every tool call of
// an agent, so a start has to be cheap: what is more than a small literal goes
// through this package.
//
//	var number = lazy.Regexp(`[0-9]+`)
//
//	if number().MatchString(word) { … }
//
// A value is made once, whatever goroutines ask for it, and depends on nothing
// that changes: when it is made cannot be seen. That is why the core, which
// knows no goroutines, may use this package.
package lazy

import (
	"regexp"
	"strings"
	"sync"
)

// Value returns a function that returns what f does. It calls f once, when it is
// first called itself. If f panics, every call panics with the same value.
func Value[T any](f func() T) func() T { return sync.OnceValue(f) }

// Words is a [Value] of the words of a text, parted by white space, as a set. Callers
// must not change it.
func Words(text string) func() map[string]bool {
	return Value(func() map[string]bool {
		words := make(map[string]bool)
		for w := range strings.FieldsSeq(text) {
			words[w] = true
		}
		return words
	})
}

// Regexp is a [Value] of the regular expression of a pattern. If the pattern is
// none, its use panics, as [regexp.MustCompile] does. So that no user is the
// first to see that, a test of the repository compiles every pattern that Regexp
// is called with.
func Regexp(pattern string) func() *regexp.Regexp {
	return Value(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
