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
	Text    string           `json:"text"`    // as in the window
	Summary *summary.Summary `json:"summary"` // the whole summary
}

// A CheckSummaryRequest asks whether a text by any author may be the summary of a session.
type CheckSummaryRequest struct {
	Session transcript.SessionID `json:"session"`
	Data    []byte               `json:"data"` // JSON or Markdown, see [summary.Parse]

	// Blocks is the number of blocks that it covers, from the first. The
	// default is the number in the summary, or else all.
	Blocks int `json:"blocks,omitempty"`

	// ProbeMin is the share of probes that must be answered, besides all
	// critical ones; 0 accepts every text. The default is that of [probe.DefaultPolicy].
	ProbeMin *ratio.Ratio `json:"probe_min,omitempty"`
}

// A CheckSummaryResult says whether a summary may replace the blocks that it
// covers.
type CheckSummaryResult struct {
	Session transcript.SessionID `json:"session"`
	Judgement
	Summary *summary.Summary `json:"summary,omitempty"` // the parsed summary
}

// A ProtocolState is the state of compression of a session, in the form that the
// context-compression skill of agents reads (Context Protocol 2.0). It is the result of State.
type ProtocolState struct {
	Compression CompressionState `json:"compression_state"`
}

// A CompressionState is the state of a session's compressions.
type CompressionState struct {
	Session    transcript.SessionID `json:"session"`
	Summary    *summary.Summary     `json:"summary"` // nil if there is none
	Count      int                  `json:"compression_count"`
	At         string               `json:"last_compressed_at,omitempty"` // RFC 3339
	ProbeScore ratio.Ratio          `json:"probe_score"`                  // of the last compression
	Tokens     token.Count          `json:"tokens"`                       // imported tokens
	Window     token.Count          `json:"window"`                       // tokens now in the session's window
}
