package store

import (
	"iter"

	"github.com/carrel-dev/carrel/internal/text"
)

// Words yields the words of s that [Artifacts.Hits] matches, in order: runs of
// letters, digits and "_", in lower case.
func Words(s string) iter.Seq[string] { return text.Words(s) }
