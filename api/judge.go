package api

import (
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
)

// A Judgement says whether the text of a summary could stand for blocks of a
// session. carrel.Engine.CheckSummary, carrel.Engine.RunProbes with a text, and the attempts of
// carrel.Engine.Compress judge alike: the summary must be whole, say nothing that the
// original does not say, and answer the probes that any summary must, see
// [probe.Essentials]. Whether it says the contrary is not judged. That it is short is a red flag of the
// verdict, but no reason to refuse it.
//
// What the session's own summary says was taken from the originals, or checked when a
// model wrote it: a text that says that, entry by entry, is only asked the probes. A
// window is judged besides, by other probes: those ask for what was said verbatim,
// which a window must carry, and no summary need.
//
// Where nothing is asked of it, because the
// share of the probes is 0, its problems are warnings. What cannot be read as a
// summary is never accepted.
type Judgement struct {
	Accepted bool              `json:"accepted"`
	Blocks   int               `json:"blocks"` // that it covers
	Before   token.Count       `json:"before"` // tokens of those, and of the windows before a compaction by the client
	After    token.Count       `json:"after"`  // tokens of the summary
	Problems []summary.Problem `json:"problems"`
	Probes   *probe.Report     `json:"probes,omitempty"`
	Verdict  *probe.Acceptance `json:"verdict,omitempty"`
}
