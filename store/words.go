package store

import (
	"iter"

	"github.com/carrel-dev/carrel/internal/text"
)

// Words yields the words of a text as [Artifacts.Hits] finds them: the runs
// of letters, digits and "_", in lower case. The order is that of the text.
func Words(s string) iter.Seq[string] { return text.Words(s) }
