package api

import (
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Purpose says what a brief is for. It is sent as its text.
type Purpose string

// A BriefRequest asks what of a session must survive.
type BriefRequest struct {
	Session transcript.SessionID `json:"session"`
	Tokens  token.Count          `json:"tokens,omitempty"` // BriefTokens by default
	For     Purpose              `json:"for,omitempty"`    // PurposeRestart by default
}

// A BriefResult is what of a session must survive.
type BriefResult struct {
	Session transcript.SessionID `json:"session"`
	For     Purpose              `json:"for"`
	Text    string               `json:"text"` // empty if there is nothing to say
	Tokens  token.Count          `json:"tokens"`
	Entries int                  `json:"entries"`
	Left    int                  `json:"left"` // entries for which there was no room
}

// The purposes.
const (
	// PurposeCompaction is to tell whoever summarizes a session what to keep.
	PurposeCompaction Purpose = "compaction"

	// PurposeRestart is to tell an agent that begins with a summary, or goes on
	// after a while, how things stand.
	PurposeRestart Purpose = "restart"
)

const (
	// BriefTokens is how large a brief is by default.
	BriefTokens token.Count = 2000

	// LeastBriefTokens is the smallest size that may be asked for.
	LeastBriefTokens token.Count = 200
)
