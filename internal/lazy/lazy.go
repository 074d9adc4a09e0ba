// Package lazy creates values on first use: sets of words, regular expressions, and others that
// take time to set up.
//
// A program initializes its package variables before main runs, also for a command that needs
// none of them. Carrel runs as a hook at every tool call of an agent, so it must start fast.
// Therefore every value larger than a small literal is made with this package:
//
//	var number = lazy.Regexp(`[0-9]+`)
//
//	if number.Get().MatchString(word) { … }
//
// The compiler puts such a variable into the program without code that runs before main, and
// the linker leaves it out of programs that do not use it. For that, the functions and texts of
// a value must be constant, too.
//
// A value is created once, even if several goroutines request it, and depends only on
// constants. So the time of its creation has no effect, and the core, which has no goroutines,
// may use this package.
package lazy

import (
	"regexp"
	"strings"
	"sync"
)

// A Value holds the result of Make.
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

// A Reading creates a value on first use. The first call of Get calls Read with Text, and every
// call of Get returns the result.
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

// A Set is a set of words.
type Set = Reading[map[string]bool]

// A Pattern is a regular expression.
type Pattern = Reading[*regexp.Regexp]

// Words returns the words of a text, separated by white space, as a set. Callers must not
// change the result of its Get.
func Words(text string) *Set { return &Set{Text: text, Read: set} }

func set(text string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		words[w] = true
	}
	return words
}

// Regexp returns a regular expression. If the pattern is invalid, Get panics, like
// [regexp.MustCompile]. A test of the repository compiles every pattern that Regexp is called
// with, so that users never see the panic.
func Regexp(pattern string) *Pattern { return &Pattern{Text: pattern, Read: regexp.MustCompile} }
