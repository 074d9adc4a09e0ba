package api

import (
	"time"

	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

// A ProbesRequest says what is to be probed.
type ProbesRequest struct {
	Session transcript.SessionID `json:"session"`

	// Blocks is how many blocks the probes are about, from the first. The default
	// is all of them.
	Blocks int `json:"blocks,omitempty"`
}

// A ProbesResult has the probes about a session.
type ProbesResult struct {
	Session transcript.SessionID `json:"session"`
	Blocks  int                  `json:"blocks"`
	Probes  []probe.Probe        `json:"probes"`
}

// A RunProbesRequest asks probes of a session's window, or of a text.
type RunProbesRequest struct {
	Session transcript.SessionID `json:"session,omitempty"`

	// Probes are asked. The default are those that the session's originals give.
	Probes []probe.Probe `json:"probes,omitempty"`

	// Text is asked in place of the window, if it is not nil. It is judged as a
	// summary of the session, see [Judgement]; with Probes, which need no session, or
	// with Model it is any text, and only what is asked counts.
	Text *string `json:"text,omitempty"`

	// Model lets the generator of the options answer, from the window alone, and
	// grades its answers.
	Model bool `json:"model,omitempty"`

	// ProbeMin is as in [CompressRequest].
	ProbeMin *ratio.Ratio `json:"probe_min,omitempty"`
}

// A RunProbesResult says which probes were answered.
type RunProbesResult struct {
	Session transcript.SessionID `json:"session,omitempty"`
	Model   string               `json:"model,omitempty"`
	Calls   int                  `json:"calls,omitempty"` // of the model
	Report  *probe.Report        `json:"report"`
	Verdict *probe.Acceptance    `json:"verdict"`

	// Problems are those of a text that was judged as a summary.
	Problems []summary.Problem `json:"problems,omitempty"`
}

// A RoundEntry is a round of compression as the journal has it.
type RoundEntry struct {
	Op     string    `json:"op"`
	Time   time.Time `json:"time"`
	Undone bool      `json:"undone,omitempty"`
	Round
}

// A ProbeReport says how a session fared over its compressions.
type ProbeReport struct {
	Session transcript.SessionID `json:"session"`
	Rounds  []RoundEntry         `json:"rounds"` // oldest first
	Drift   *probe.Drift         `json:"drift"`  // over those that were not undone
}
