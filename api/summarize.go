package api

import (
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A SummaryInfo describes the summary in the window.
type SummaryInfo struct {
	ID     transcript.BlockID `json:"id"`                // id by which the whole summary is recalled
	Covers int                `json:"covers"`            // number of blocks that it covers, from the first
	Fresh  int                `json:"fresh"`             // number of those that were new
	Tokens token.Count        `json:"tokens"`            // in the window
	Count  int                `json:"compression_count"` // number of compressions that went into it
	Depth  int                `json:"depth"`             // number of times that a summary was the input of a summary
	Model  string             `json:"model,omitempty"`
	Merged bool               `json:"merged"`          // it was merged with an earlier summary
	Edits  []summary.Edit     `json:"edits,omitempty"` // changes of the merge to the earlier summary
	Left   []summary.Elision  `json:"left,omitempty"`  // parts that only a recall returns
}

// A Round is the journal's record of how a summary was made. It holds no text
// of the conversation.
type Round struct {
	Strategy Strategy          `json:"strategy"`
	Model    string            `json:"model,omitempty"`
	Calls    int               `json:"calls,omitempty"`   // of the model
	Covers   int               `json:"covers"`            // as in [SummaryInfo]
	Fresh    int               `json:"fresh"`             // as in [SummaryInfo]
	Count    int               `json:"compression_count"` // as in [SummaryInfo]
	Tokens   token.Count       `json:"tokens"`            // of the summary in the window
	Before   token.Count       `json:"before"`            // of the window
	After    token.Count       `json:"after"`             // of the window
	Probes   *ProbeRound       `json:"probes,omitempty"`  // nil if none were asked
	Edits    []summary.Edit    `json:"edits,omitempty"`
	Left     []summary.Elision `json:"left,omitempty"`
}

// A ProbeRound is a probe report without texts. It lists the ids of the
// probes that the window answers, of those that only a recall answers, and of
// those that nothing answers.
type ProbeRound struct {
	probe.Tally
	Score    ratio.Ratio       `json:"score"`
	Critical probe.Tally       `json:"critical"`
	Ordinary probe.Tally       `json:"ordinary"`
	Types    []probe.TypeTally `json:"types"`
	Window   []string          `json:"window_ids,omitempty"`
	Recall   []string          `json:"recall_ids,omitempty"`
	Lost     []string          `json:"lost_ids,omitempty"`
}
