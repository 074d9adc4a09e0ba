package api

import (
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/triage"
)

// A TriageRequest asks for the scores of a scope's artifacts for a query. Triage has two passes, by
// recency and provenance and by similarity: see package triage.
type TriageRequest struct {
	Query string `json:"query"`
}

// A TriageResult has the scores of a scope's artifacts.
type TriageResult struct {
	Candidates    int           `json:"candidates"`        // live, expired or refuted artifacts; removed and held ones do not count
	Pinned        int           `json:"pinned"`            // pinned artifacts, which are not scored
	Tally         triage.Tally  `json:"tally"`             // of the first pass
	Tags          triage.Tags   `json:"tags"`              // of both passes
	Semantic      string        `json:"semantic"`          // name of the semantic scorer
	SemanticCalls int           `json:"semantic_calls"`    // texts that the scorer compared with the query
	Warning       string        `json:"warning,omitempty"` // why Options.Embedder failed and was not used
	Scored        []ScoredEntry `json:"scored"`            // best first
}

// A ScoredEntry is an artifact that both passes of triage scored.
type ScoredEntry struct {
	Artifact
	Tag        manifest.Tag          `json:"tag"`
	Score      ratio.Ratio           `json:"score"`
	Recency    ratio.Ratio           `json:"recency"`
	Provenance ratio.Ratio           `json:"provenance"`
	Semantics  ratio.Ratio           `json:"semantics"`
	First      ratio.Ratio           `json:"first"`         // score of the first pass
	Hit        int                   `json:"hit,omitempty"` // rank among the lexical hits, from 1
	Fetch      manifest.FetchOutcome `json:"fetch,omitempty"`
	Problem    string                `json:"problem,omitempty"` // why it cannot be used
}
