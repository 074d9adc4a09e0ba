package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

type searchArgs struct {
	Query   string `json:"query" jsonschema:"words to search for"`
	Session string `json:"session,omitempty" jsonschema:"only in this one: an id, the beginning of one, or @this for your own; all sessions by default"`
	Kind    string `json:"kind,omitempty" jsonschema:"only blocks of this kind"`
	Limit   int    `json:"limit,omitempty" jsonschema:"most blocks to return; 10 by default"`
}

type searchResult struct {
	Found []found `json:"found"` // best first
}

type found struct {
	ID      string               `json:"id"` // for the tool recall
	Session transcript.SessionID `json:"session"`
	Kind    transcript.Kind      `json:"kind"`
	Turn    int                  `json:"turn"`
	State   store.State          `json:"state"`
	Tokens  token.Count          `json:"tokens"`
	Score   ratio.Ratio          `json:"score"`
	Excerpt string               `json:"excerpt"`
}

func search() registrar {
	return &toolOf[searchArgs, searchResult]{
		Tool:  Tool{"search", []*ops.Operation{&ops.Search.Operation}},
		title: "Search conversations",
		about: "Find blocks of stored conversations by words, in the window or not. The ids are for the recall tool.",
		bound: func(p map[string]*jsonschema.Schema) {
			p["query"].MinLength, p["query"].MaxLength = new(1), new(maxText)
			p["limit"].Minimum, p["limit"].Maximum = new(1.0), new(100.0)
			p["kind"].MaxLength = nil
			p["kind"].Enum = []any{
				string(transcript.KindSystem), string(transcript.KindUser), string(transcript.KindAssistant),
				string(transcript.KindTool), string(transcript.KindSummary), string(transcript.KindOrphan),
			}
		},
		run: func(ctx context.Context, c *call, in *searchArgs) (*reply[searchResult], error) {
			req := &carrel.SearchRequest{Query: in.Query, Kind: transcript.Kind(in.Kind), Limit: in.Limit}
			if in.Session != "" {
				var err error
				if req.Session, err = c.session(ctx, in.Session); err != nil {
					return nil, err
				}
			}
			hits, err := carrel.Items(c.Search(ctx, c.scope, req))
			if err != nil {
				return nil, err
			}
			return searchReply(in, hits), nil
		},
	}
}

func searchReply(in *searchArgs, hits []carrel.Found) *reply[searchResult] {
	out := &searchResult{Found: []found{}}
	var lines []string
	for i := range hits {
		h := &hits[i]
		f := found{h.Block.Short(), h.Session, h.Kind, h.Turn, h.State, h.Tokens, h.Score, h.Excerpt}
		out.Found = append(out.Found, f)
		lines = append(lines, fmt.Sprintf("%s  session %s  turn %d  %s  %s  %d tokens  %s", f.ID, f.Session, f.Turn, f.Kind, f.State, f.Tokens, h.Line()))
	}
	if len(lines) == 0 {
		lines = []string{nothingFound(in)}
	}
	return &reply[searchResult]{text: []string{strings.Join(lines, "\n")}, out: out}
}

// nothingFound says what was searched for without a result.
func nothingFound(in *searchArgs) string {
	if terms, _ := retrieval.ContentTermsAndStems(in.Query); len(terms) == 0 {
		return "the query has no word to search for: give one with letters or digits"
	}
	blocks := "no block"
	if in.Kind != "" {
		blocks += " of kind " + in.Kind
	}
	if in.Session != "" {
		blocks += " of this session"
	}
	return blocks + " has any of these words"
}
