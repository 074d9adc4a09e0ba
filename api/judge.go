package api

import (
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
)

// A Judgement says whether the text of a summary may replace blocks of a
// session. carrel.Engine.CheckSummary, carrel.Engine.RunProbes with a text,
// and the attempts of carrel.Engine.Compress use the same rules: the summary
// must be complete, state only facts of the original, and answer the probes
// in [probe.Essentials]. Contradictions to the original are not detected.
// Shortness is a red flag of the verdict, but no reason to refuse.
//
// If every entry (an item of a section) of the text is an entry of the session's own summary, the
// other checks are skipped and only the probes count, because those entries were taken from the
// originals or checked before. Compress also asks probes of the whole window, some of them for
// verbatim text.
//
// If the required share of probes is 0, problems are only warnings. A text
// that cannot be parsed as a summary is never accepted.
type Judgement struct {
	Accepted bool              `json:"accepted"`
	Blocks   int               `json:"blocks"` // number of blocks that it covers
	Before   token.Count       `json:"before"` // their tokens, and those of windows before a compaction by the client
	After    token.Count       `json:"after"`  // tokens of the summary
	Problems []summary.Problem `json:"problems"`
	Probes   *probe.Report     `json:"probes,omitempty"`
	Verdict  *probe.Acceptance `json:"verdict,omitempty"`
}
