// Package provenance says what a piece of context is and where it comes from:
// the [Class] on which depend how far it is trusted, how fast it ages, and what
// is given up first.
//
// The classes are those of the OS-paged context engine: human-verified memory,
// retrieved chunk, tool output, agent scratchpad. Transcripts and documents
// join them, and memories that passed the gate but no person has verified.
package provenance

import (
	"errors"
	"fmt"
)

// A Class says what a piece of context is. It is stored as its text.
type Class string

// The classes, in the order of their rank.
const (
	Verified   Class = "verified"   // a memory that a person has verified
	Retrieved  Class = "retrieved"  // a chunk that a retriever found
	Document   Class = "document"   // a document, or a part of one
	Memory     Class = "memory"     // what an agent remembers, past the gate
	Transcript Class = "transcript" // of a conversation
	Tool       Class = "tool"       // what a tool returned
	Scratchpad Class = "scratchpad" // an agent's note to itself
)

// Classes returns all classes in the order of their rank.
func Classes() []Class {
	return []Class{Verified, Retrieved, Document, Memory, Transcript, Tool, Scratchpad}
}

// ErrClass means that a text names no class.
var ErrClass = errors.New("unknown class")

// ParseClass returns the class that a text names. It takes the names of the
// classes, and "rag" and "doc", which people use.
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

// Rank returns the place of c among the classes, from 0 for the most trusted,
// or -1 if there is no such class.
func (c Class) Rank() int {
	for i, other := range Classes() {
		if c == other {
			return i
		}
	}
	return -1
}
