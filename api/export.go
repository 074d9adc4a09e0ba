package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An ExportRequest says which session is wanted in which format.
type ExportRequest struct {
	Session transcript.SessionID `json:"session"`
	To      string               `json:"to,omitempty"`    // format; the session's own by default
	Whole   bool                 `json:"whole,omitempty"` // as it was imported, whatever is in the window

	// As, if not empty, is the id of a new session of an agent's that the export
	// begins, in lower case: a UUID for the formats claudecode and codex, which alone can
	// begin one. Its rows get ids of their own, which follow from it.
	As transcript.SessionID `json:"as,omitempty"`
}

// An ExportResult is a window in a format.
type ExportResult struct {
	Session    transcript.SessionID   `json:"session"` // the new one's id, if the format made one
	Format     string                 `json:"format"`
	Data       []byte                 `json:"data,omitempty"` // the conversation
	Bytes      int                    `json:"bytes"`
	Tokens     token.Count            `json:"tokens"` // of the window, by the session's counter
	Intact     bool                   `json:"intact"` // byte for byte what was imported
	Losses     []transcript.Loss      `json:"losses"`
	Repairs    []transcript.Fix       `json:"repairs"`
	Violations []transcript.Violation `json:"violations"` // only of an intact export: what was wrong before
}
