// Package sessions has the operations on whole conversations: import, export, recall, search and
// removal.
package sessions

import "github.com/carrel-dev/carrel/internal/engine/record"

// Sessions has the operations on whole conversations.
type Sessions struct {
	*record.Recorder
}
