package api

import (
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A SummaryInfo says what stands in the window for older blocks.
type SummaryInfo struct {
	ID     transcript.BlockID `json:"id"`     // by which the whole of it is recalled
	Covers int                `json:"covers"` // how many blocks, from the first
	Fresh  int                `json:"fresh"`  // of them, how many were new
	Tokens token.Count        `json:"tokens"` // in the window
	Count  int                `json:"compression_count"`
	Depth  int                `json:"depth"`
	Model  string             `json:"model,omitempty"`
	Merged bool               `json:"merged"`          // with a summary that was there
	Edits  []summary.Edit     `json:"edits,omitempty"` // what the merge changed of that
	Left   []summary.Elision  `json:"left,omitempty"`  // what only a recall shows
}

// A Round is what the journal keeps of how a new summary came to be. It holds no
// text of the conversation.
type Round struct {
	Strategy Strategy          `json:"strategy"`
	Model    string            `json:"model,omitempty"`
	Calls    int               `json:"calls,omitempty"` // of the model
	Covers   int               `json:"covers"`
	Fresh    int               `json:"fresh"`
	Count    int               `json:"compression_count"`
	Tokens   token.Count       `json:"tokens"`           // of the summary in the window
	Before   token.Count       `json:"before"`           // of the window
	After    token.Count       `json:"after"`            // of the window
	Probes   *ProbeRound       `json:"probes,omitempty"` // nil if none were asked
	Edits    []summary.Edit    `json:"edits,omitempty"`
	Left     []summary.Elision `json:"left,omitempty"`
}

// A ProbeRound is a report without texts: the ids of the probes, by what answered
// them.
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
