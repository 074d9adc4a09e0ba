package stacks

import (
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// StashMark is the first line of a pointer. A model that has not been told anything
// about Carrel must be able to act on it.
func StashMark(id store.ArtifactID, text string) string {
	return fmt.Sprintf(transcript.Mark+": stashed %d bytes, %d lines as %s. For all of it use the recall tool of the carrel server, id %s, or run: carrel stash get %s]",
		len(text), LinesIn(text), id, id, id)
}

// LinesIn returns how many lines a text has.
func LinesIn(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// Lined returns a text with a line end.
func Lined(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// shortPointer is the pointer that a context carries, which has many pieces: head and
// tail alone.
func shortPointer(id store.ArtifactID, content string) string {
	mark := StashMark(id, content) + "\n"
	if len(content) <= 2*headTail {
		return mark + transcript.Escape(content)
	}
	head, tail := text.Head(content, headTail), text.Tail(content, headTail)
	if i := strings.LastIndexByte(head, '\n'); i > headTail/2 {
		head = head[:i+1]
	}
	if line, rest, ok := strings.Cut(tail, "\n"); ok && len(line) < headTail/2 {
		tail = rest
	}
	left := fmt.Sprintf(transcript.Mark+": %d bytes left out here]\n", len(content)-len(head)-len(tail))
	return mark + Lined(transcript.Escape(head)) + left + transcript.Escape(tail)
}
