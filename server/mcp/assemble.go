package mcp

import (
	"context"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

type assembleArgs struct {
	Query   string `json:"query,omitempty" jsonschema:"the question that the context is for"`
	Budget  int    `json:"budget" jsonschema:"most tokens of the context, including the reserve"`
	Reserve int    `json:"reserve,omitempty" jsonschema:"tokens of the budget to keep free for the reply"`
	Session string `json:"session,omitempty" jsonschema:"session whose window goes in: an id, the beginning of one, or @this for your own; none by default"`
	System  string `json:"system,omitempty" jsonschema:"system text to begin with"`
	Format  string `json:"format,omitempty" jsonschema:"form of the context; text by default"`
}

type assembleResult struct {
	Manifest string                  `json:"manifest"` // id of the context's manifest
	Format   string                  `json:"format"`
	Budget   token.Count             `json:"budget"`
	Tokens   token.Count             `json:"token_count"`
	Demand   token.Count             `json:"demand"` // tokens of the artifacts before any was cut
	Tier     tier.Tier               `json:"tier"`
	Review   bool                    `json:"review"` // a person should review the context
	Warning  string                  `json:"warning,omitempty"`
	Used     []used                  `json:"used"`
	Left     map[manifest.Reason]int `json:"left"` // artifacts left out, by reason
	Context  string                  `json:"context"`
}

type used struct {
	ID     store.ArtifactID `json:"id"` // for the tool recall
	Class  provenance.Class `json:"class"`
	Title  string           `json:"title,omitempty"`
	Tokens token.Count      `json:"tokens"` // in the context
}

func assemble() registrar {
	return &toolOf[assembleArgs, assembleResult]{
		Tool:  Tool{"assemble", []*ops.Operation{&ops.Assemble.Operation}},
		title: "Assemble a context",
		about: "Make a context for a question from stored artifacts and, if you name a session, its window. It never exceeds the budget. A sealed manifest lists what is in it and what was left out.",
		bound: func(p map[string]*jsonschema.Schema) {
			p["budget"].Minimum, p["reserve"].Minimum = new(1.0), new(0.0)
			p["query"].MaxLength, p["system"].MaxLength = new(maxText), new(maxText)
			p["format"].MaxLength = nil
			p["format"].Enum = []any{carrel.FormatText, "openai", "anthropic", "responses"}
		},
		run: func(ctx context.Context, c *call, in *assembleArgs) (*reply[assembleResult], error) {
			req := &carrel.AssembleRequest{
				Query: in.Query, Budget: token.Count(in.Budget), Reserve: token.Count(in.Reserve), System: in.System, Format: in.Format,
			}
			if in.Session != "" {
				var err error
				if req.Session, err = c.session(ctx, in.Session); err != nil {
					return nil, err
				}
			}
			res, err := c.Assemble(ctx, c.scope, req)
			if err != nil {
				return nil, err
			}
			return assembleReply(res), nil
		},
	}
}

func assembleReply(res *carrel.AssembleResult) *reply[assembleResult] {
	out := &assembleResult{
		Manifest: res.Manifest, Format: res.Format, Budget: res.Budget, Tokens: res.TokenCount, Demand: res.Demand,
		Tier: res.Tier, Review: res.Review, Warning: res.Warning, Used: []used{}, Left: map[manifest.Reason]int{},
		Context: string(res.Data),
	}
	left := 0
	for reason, n := range res.Left {
		out.Left[reason] = n
		left += n
	}
	for i := range res.Used {
		u := &res.Used[i]
		out.Used = append(out.Used, used{u.ID, u.Class, u.Title, u.InContext})
	}
	note := fmt.Sprintf("[manifest %s: %d of %d tokens, tier %s; %d artifacts used, %d left out]",
		res.Manifest, res.TokenCount, res.Budget, res.Tier, len(res.Used), left)
	if res.Review {
		note += " A person should look at it."
	}
	if res.Warning != "" {
		note += " Warning: " + res.Warning + "."
	}
	return &reply[assembleResult]{text: []string{out.Context, note}, out: out}
}
