// Package sessions takes conversations in and gives them out: import, export, recall, search, removal.
package sessions

import "github.com/carrel-dev/carrel/internal/engine/record"

// Sessions does the jobs on conversations as a whole.
type Sessions struct {
	*record.Recorder
}
