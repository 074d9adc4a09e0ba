package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Purpose is the use of a brief. It is sent as its text.
type Purpose string

// A BriefRequest asks for a brief of a session.
type BriefRequest struct {
	Session transcript.SessionID `json:"session"`
	Tokens  token.Count          `json:"tokens,omitempty"` // BriefTokens by default
	For     Purpose              `json:"for,omitempty"`    // PurposeRestart by default
}

// A BriefResult is a brief: the text about a session that must survive a
// compaction.
type BriefResult struct {
	Session transcript.SessionID `json:"session"`
	For     Purpose              `json:"for"`
	Text    string               `json:"text"` // empty if there are no entries
	Tokens  token.Count          `json:"tokens"`
	Entries int                  `json:"entries"` // number of entries in Text, such as orders, decisions and changed files
	Left    int                  `json:"left"`    // number of entries that did not fit
}

// The purposes.
const (
	// PurposeCompaction is a brief for the model that summarizes the session.
	PurposeCompaction Purpose = "compaction"

	// PurposeRestart is a brief for an agent that starts from a summary or
	// continues after a pause.
	PurposeRestart Purpose = "restart"

	// PurposeMemory is a brief for an agent that begins another session of
	// the same project: orders, rules, state and decisions.
	PurposeMemory Purpose = "memory"
)

const (
	// BriefTokens is the default of BriefRequest.Tokens.
	BriefTokens token.Count = 2000

	// LeastBriefTokens is the least BriefRequest.Tokens; less is an [ErrRequest].
	LeastBriefTokens token.Count = 200
)
