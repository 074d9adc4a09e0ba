package api

import (
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A SummaryResult is the summary of a session.
type SummaryResult struct {
	Session transcript.SessionID `json:"session"`
	SummaryInfo
	Text    string           `json:"text"`    // as it stands in the window
	Summary *summary.Summary `json:"summary"` // the whole
}

// A CheckSummaryRequest is a summary that somebody wrote of a session.
type CheckSummaryRequest struct {
	Session transcript.SessionID `json:"session"`
	Data    []byte               `json:"data"` // JSON or Markdown, see [summary.Parse]

	// Blocks is how many blocks of the session it covers, from the first. The
	// default is what it says itself, or else all of them.
	Blocks int `json:"blocks,omitempty"`

	// ProbeMin is as in [CompressRequest].
	ProbeMin *ratio.Ratio `json:"probe_min,omitempty"`
}

// A CheckSummaryResult says whether a summary can stand for what it is of.
type CheckSummaryResult struct {
	Session transcript.SessionID `json:"session"`
	Judgement
	Summary *summary.Summary `json:"summary,omitempty"` // as it was read
}

// A ProtocolState is the state of compression of a session, in the form of the
// context-compression skill (Context Protocol 2.0).
type ProtocolState struct {
	Compression CompressionState `json:"compression_state"`
}

// A CompressionState is what there is to know of a session's compressions.
type CompressionState struct {
	Session    transcript.SessionID `json:"session"`
	Summary    *summary.Summary     `json:"summary"` // nil if there is none
	Count      int                  `json:"compression_count"`
	At         string               `json:"last_compressed_at,omitempty"` // RFC 3339
	ProbeScore ratio.Ratio          `json:"probe_score"`                  // of the last
	Tokens     token.Count          `json:"tokens"`                       // as imported
	Window     token.Count          `json:"window"`                       // in the window now
}
