package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An ExportRequest asks for the window of a session, or its whole conversation, in a format.
type ExportRequest struct {
	Session transcript.SessionID `json:"session"`
	To      string               `json:"to,omitempty"`    // format; by default the session's own
	Whole   bool                 `json:"whole,omitempty"` // the whole conversation as imported, not the window

	// As, if not empty, makes the export a new session with this id, for an agent to resume. It
	// is a lower-case UUID for the formats claudecode, codex and geminicli, and "ses_" with 8 or
	// more letters and digits for opencode; other formats refuse it. It differs from Session. In
	// claudecode and opencode, lines and messages get new ids derived from it.
	As transcript.SessionID `json:"as,omitempty"`
}

// An ExportResult is a window, or a whole conversation, in a format.
type ExportResult struct {
	Session    transcript.SessionID   `json:"session"` // session in Data: that of the request, or As, or a new one if the format needs an id of its own
	Format     string                 `json:"format"`
	Data       []byte                 `json:"data,omitempty"` // the conversation
	Bytes      int                    `json:"bytes"`
	Tokens     token.Count            `json:"tokens"` // tokens of the window, by the session's counter
	Intact     bool                   `json:"intact"` // byte for byte as imported
	Losses     []transcript.Loss      `json:"losses"`
	Repairs    []transcript.Fix       `json:"repairs"`
	Violations []transcript.Violation `json:"violations"` // of an intact export: violations in the imported conversation
}
