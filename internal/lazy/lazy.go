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
//	if number.Get().MatchString(word) { … }
//
// The compiler writes such a variable into the program as it stands: nothing is done for
// it before main runs, and a program that does not ask for it does not carry it. For that,
// functions and texts that a value is made of have to be constant, too.
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

// A Value is what Make returns.
type Value[T any] struct {
	Make func() T

	once sync.Once
	made func() T
}

// Get returns the value. The first call calls Make; if that panics, every call panics
// with the same value.
func (v *Value[T]) Get() T {
	v.once.Do(func() { v.made = sync.OnceValue(v.Make) })
	return v.made()
}

// A Reading is what Read returns of Text.
type Reading[T any] struct {
	Text string
	Read func(text string) T

	once sync.Once
	made func() T
}

// Get returns the value. The first call calls Read; if that panics, every call panics
// with the same value.
func (r *Reading[T]) Get() T {
	r.once.Do(func() { r.made = sync.OnceValue(func() T { return r.Read(r.Text) }) })
	return r.made()
}

// A Set is words as a set.
type Set = Reading[map[string]bool]

// A Pattern is a regular expression.
type Pattern = Reading[*regexp.Regexp]

// Words returns the words of a text, parted by white space, as a set. Callers of its Get
// must not change it.
func Words(text string) *Set { return &Set{Text: text, Read: set} }

func set(text string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		words[w] = true
	}
	return words
}

// Regexp returns the regular expression of a pattern. If the pattern is none, its use
// panics, as [regexp.MustCompile] does. So that no user is the first to see that, a test
// of the repository compiles every pattern that Regexp is called with.
func Regexp(pattern string) *Pattern { return &Pattern{Text: pattern, Read: regexp.MustCompile} }
