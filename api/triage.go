package api

import (
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/triage"
)

// A TriageRequest asks which artifacts of a scope are worth a place.
type TriageRequest struct {
	Query string `json:"query"`
}

// A TriageResult is what became of the artifacts of a scope.
type TriageResult struct {
	Candidates    int           `json:"candidates"` // live, expired or refuted; not those removed or held
	Pinned        int           `json:"pinned"`     // in any case, and not scored
	Tally         triage.Tally  `json:"tally"`      // of pass one
	Tags          triage.Tags   `json:"tags"`       // of both passes
	Semantic      string        `json:"semantic"`   // what scored semantics
	SemanticCalls int           `json:"semantic_calls"`
	Warning       string        `json:"warning,omitempty"` // why an embedder was not used
	Scored        []ScoredEntry `json:"scored"`            // best first
}

// A ScoredEntry is an artifact that both passes scored.
type ScoredEntry struct {
	Artifact
	Tag        manifest.Tag          `json:"tag"`
	Score      ratio.Ratio           `json:"score"`
	Recency    ratio.Ratio           `json:"recency"`
	Provenance ratio.Ratio           `json:"provenance"`
	Semantics  ratio.Ratio           `json:"semantics"`
	First      ratio.Ratio           `json:"first"`         // score of pass one
	Hit        int                   `json:"hit,omitempty"` // place among the lexical hits, from 1
	Fetch      manifest.FetchOutcome `json:"fetch,omitempty"`
	Problem    string                `json:"problem,omitempty"` // why it cannot be used
}
