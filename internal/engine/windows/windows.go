// Package windows decides what stays in the window of a session: it pages, compresses, discards,
// pins and undoes, explains its decisions, and writes briefs of what must survive a compaction.
package windows

import "github.com/carrel-dev/carrel/internal/engine/record"

// Windows has the operations on the window of a session.
type Windows struct {
	*record.Recorder
}
