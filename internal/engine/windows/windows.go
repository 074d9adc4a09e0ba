// Package windows decides what stays in the window of a session: it pages, compresses, discards, pins, undoes, explains, and tells what must survive.
package windows

import "github.com/carrel-dev/carrel/internal/engine/record"

// Windows does the jobs on the window of a session.
type Windows struct {
	*record.Recorder
}
