package api

import (
	"time"

	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

// A ProbesRequest selects the blocks that probes are generated from.
type ProbesRequest struct {
	Session transcript.SessionID `json:"session"`

	// Blocks is the number of blocks, from the first. The default is all.
	Blocks int `json:"blocks,omitempty"`
}

// A ProbesResult has probes about a session.
type ProbesResult struct {
	Session transcript.SessionID `json:"session"`
	Blocks  int                  `json:"blocks"`
	Probes  []probe.Probe        `json:"probes"`
}

// A RunProbesRequest asks probes of a session's window or of a text.
type RunProbesRequest struct {
	Session transcript.SessionID `json:"session,omitempty"`

	// Probes are the probes to ask. The default is those generated from the
	// session.
	Probes []probe.Probe `json:"probes,omitempty"`

	// Text, if not nil, is asked instead of the window. It is judged as a
	// summary of the session, see [Judgement]. If Probes or Model is set, Text
	// may be any text, and only the answers count. A request with Text and
	// Probes needs no session.
	Text *string `json:"text,omitempty"`

	// Model requests that Options.Generator of the engine answers the probes. It sees only the
	// window, or Text, and its answers are graded. Without a generator, the error is an
	// [ErrPolicy].
	Model bool `json:"model,omitempty"`

	// ProbeMin is the share of probes that must be answered, besides all
	// critical ones; 0 accepts every text. The default is that of [probe.DefaultPolicy].
	ProbeMin *ratio.Ratio `json:"probe_min,omitempty"`
}

// A RunProbesResult has the graded answers.
type RunProbesResult struct {
	Session transcript.SessionID `json:"session,omitempty"`
	Model   string               `json:"model,omitempty"`
	Calls   int                  `json:"calls,omitempty"` // calls of the generator
	Report  *probe.Report        `json:"report"`
	Verdict *probe.Acceptance    `json:"verdict"`

	// Problems are those of a text that was judged as a summary.
	Problems []summary.Problem `json:"problems,omitempty"`
}

// A RoundEntry is a compression as recorded in the journal.
type RoundEntry struct {
	Op     string    `json:"op"`
	Time   time.Time `json:"time"`
	Undone bool      `json:"undone,omitempty"`
	Round
}

// A ProbeReport has the probe results of a session's compressions.
type ProbeReport struct {
	Session transcript.SessionID `json:"session"`
	Rounds  []RoundEntry         `json:"rounds"` // oldest first
	Drift   *probe.Drift         `json:"drift"`  // over compressions that were not undone
}
