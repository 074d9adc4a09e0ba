// Package provenance classifies pieces of context by their origin. The [Class] decides how far
// a piece is trusted, how fast it ages, and in which order pieces are given up.
//
// Classes are compared by [Class.Rank]. The package has no state.
package provenance

import (
	"errors"
	"fmt"
)

// A Class is the kind of origin of a piece of context. It is stored as its text.
type Class string

// The classes, in the order of their rank.
const (
	Verified   Class = "verified"   // a memory that a person has verified
	Retrieved  Class = "retrieved"  // a chunk that a retriever found
	Document   Class = "document"   // a document, or a part of one
	Memory     Class = "memory"     // a memory of an agent that has passed the gate
	Transcript Class = "transcript" // a part of a conversation
	Tool       Class = "tool"       // output of a tool
	Scratchpad Class = "scratchpad" // an agent's note to itself
)

// Classes returns all classes in the order of their rank.
func Classes() []Class {
	return []Class{Verified, Retrieved, Document, Memory, Transcript, Tool, Scratchpad}
}

// ErrClass means that a text is not the name of a class.
var ErrClass = errors.New("unknown class")

// ParseClass returns the class with a name. It also accepts "rag" for [Retrieved] and "doc" for
// [Document]. For other names it fails with [ErrClass].
func ParseClass(s string) (Class, error) {
	switch s {
	case "rag":
		return Retrieved, nil
	case "doc":
		return Document, nil
	}
	for _, c := range Classes() {
		if s == string(c) {
			return c, nil
		}
	}
	return "", fmt.Errorf("%w %q: want one of %v", ErrClass, s, Classes())
}

// Rank returns the position of c in [Classes], 0 for the most trusted, or -1 for an unknown
// class.
func (c Class) Rank() int {
	for i, other := range Classes() {
		if c == other {
			return i
		}
	}
	return -1
}
