package api

import (
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A SearchRequest looks for blocks by words.
type SearchRequest struct {
	Query   string               `json:"query"`
	Session transcript.SessionID `json:"session,omitempty"` // only in this session
	Kind    transcript.Kind      `json:"kind,omitempty"`    // only of this kind
	Limit   int                  `json:"limit,omitempty"`   // 10 by default
}

// A Found is a block that has words of the query, or that stands beside such a block.
type Found struct {
	Session transcript.SessionID `json:"session"`
	Block   transcript.BlockID   `json:"block"`
	Kind    transcript.Kind      `json:"kind"`
	Earlier int                  `json:"earlier,omitempty"` // as in a [BlockInfo]
	Turn    int                  `json:"turn"`              // as in a [BlockInfo]
	State   store.State          `json:"state"`
	Tokens  token.Count          `json:"tokens"`
	Score   ratio.Ratio          `json:"score"`
	Terms   []string             `json:"terms"`   // words of the query that the block has, in any inflection; empty if it only stands beside a block with such words
	Excerpt string               `json:"excerpt"` // text around the first of Terms, or the beginning of the block
}

// Line returns the excerpt, and says so if the block only stands beside one that has words of
// the query.
func (f *Found) Line() string {
	if len(f.Terms) == 0 {
		return "(beside a match) " + f.Excerpt
	}
	return f.Excerpt
}
