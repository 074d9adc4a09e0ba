package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

type compressArgs struct {
	Session  string   `json:"session,omitempty" jsonschema:"id of the session or the beginning of one; your own by default"`
	Target   int      `json:"target,omitempty" jsonschema:"tokens of the window after the compression; the default is the target that status reports, or with the strategy opaque a twentieth of the conversation"`
	Smallest bool     `json:"smallest,omitempty" jsonschema:"make the window as small as the strategy can, instead of a target"`
	Strategy string   `json:"strategy,omitempty" jsonschema:"name of the strategy; the default is in the settings"`
	Intent   []string `json:"intent,omitempty" jsonschema:"words about your next steps; text about them stays longest"`
	DryRun   bool     `json:"dry_run,omitempty" jsonschema:"report the result but change nothing"`
}

type compressResult struct {
	Session  transcript.SessionID `json:"session"`
	Op       string               `json:"op,omitempty"` // empty if nothing was changed
	Strategy carrel.Strategy      `json:"strategy"`
	Budget   token.Count          `json:"budget"`
	Figures  pager.Figures        `json:"figures"`
	Sent     token.Count          `json:"sent,omitempty"` // tokens of the client's newest request; 0 if unknown
	Before   token.Count          `json:"before"`         // tokens of the window that Carrel holds
	After    token.Count          `json:"after"`          // tokens of the window that Carrel holds
	Changed  int                  `json:"changed"`
	Live     int64                `json:"live"` // blocks
	Stubs    int64                `json:"stubs"`
	Cold     int64                `json:"cold"`
	Summary  transcript.BlockID   `json:"summary,omitempty"` // id of the summary, for the tool recall
	Warnings []string             `json:"warnings,omitempty"`
	Note     string               `json:"note"`
}

func compress() registrar {
	return &toolOf[compressArgs, compressResult]{
		Tool:        Tool{"compress", []*ops.Operation{&ops.Compress.Operation}},
		title:       "Compress the window",
		about:       "Make the window that Carrel holds of your session smaller. This makes your requests smaller only if they go through Carrel's proxy, or once the session is exported and resumed; the answer says which. The parts needed least become stubs that can be recalled, or leave; parts under rules and pins stay.",
		destructive: true, idempotent: true, // a window that fits is left alone
		bound: func(p map[string]*jsonschema.Schema) {
			p["target"].Minimum = new(1.0)
			p["strategy"].MaxLength = nil
			for _, s := range carrel.Strategies() {
				p["strategy"].Enum = append(p["strategy"].Enum, string(s))
			}
		},
		run: func(ctx context.Context, c *call, in *compressArgs) (*reply[compressResult], error) {
			id, err := c.session(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			note, err := c.note(ctx, id, unchanged) // before the write, so that a failure changes nothing
			if err != nil {
				return nil, err
			}
			res, err := c.Compress(ctx, c.scope, &carrel.CompressRequest{
				Session: id, Target: carrel.Target{Tokens: token.Count(in.Target)}, Smallest: in.Smallest, Strategy: carrel.Strategy(in.Strategy), Intent: in.Intent, DryRun: in.DryRun,
			})
			if err != nil {
				return nil, err
			}
			return compressReply(res, in.DryRun, note), nil
		},
	}
}

func compressReply(res *carrel.CompressResult, dry bool, note string) *reply[compressResult] {
	out := &compressResult{
		Session: res.Session, Op: res.Op, Strategy: res.Strategy, Budget: res.Budget, Figures: res.Figures, Sent: res.Sent, Before: res.Before, After: res.After,
		Changed: res.Changed, Live: res.Blocks.Live, Stubs: res.Blocks.Stub, Cold: res.Blocks.Cold, Warnings: res.Warnings,
		Note: note,
	}
	text := fmt.Sprintf("session %s: the window that Carrel holds %d → %d tokens, budget %d; %d blocks live, %d stubs, %d out of the window; strategy %s",
		res.Session, res.Before, res.After, res.Budget, res.Blocks.Live, res.Blocks.Stub, res.Blocks.Cold, res.Strategy)
	text += "\n" + measured("the budget", res.Budget, &res.Figures) + "\n" + sent(res.Sent)
	if res.Summary != nil {
		out.Summary = res.Summary.ID
		text += fmt.Sprintf("\n%s is the summary of blocks 1 to %d", res.Summary.ID, res.Summary.Covers)
	}
	if len(res.Warnings) > 0 {
		text += "\nwarning: " + strings.Join(res.Warnings, "; ")
	}
	switch {
	case dry:
		text += "\nnothing was changed: it was a dry run"
	case res.Changed == 0:
		text += "\nnothing had to change"
	}
	text += "\n" + note
	return &reply[compressResult]{text: []string{text}, out: out}
}
