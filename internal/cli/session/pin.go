package session

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

func newPin(j *job.Job) *cobra.Command {
	return pinCommand(j, false, &cobra.Command{
		Use:   "pin ID...",
		Short: "Keep blocks in the window, or artifacts in every context",
		Long: `Pin makes rules keep blocks: no compression and no discard touches a pinned block.
Pin does not bring back a block that has left the window; see "carrel recall" and "carrel undo".
An id may also name an artifact: every context of the scope then contains the artifact.`,
		Example: `  carrel pin 77e0b1c2`,
	})
}

func newUnpin(j *job.Job) *cobra.Command {
	return pinCommand(j, true, &cobra.Command{Use: "unpin ID...", Short: "Lift pins", Long: "Unpin removes the pins of blocks and artifacts.", Example: "  carrel unpin 77e0b1c2"})
}

// A pinned lists the blocks and artifacts that were pinned or unpinned.
type pinned struct {
	*carrel.PinResult
	Artifacts []carrel.Artifact `json:"artifacts"`
}

func pinCommand(j *job.Job, unpin bool, cmd *cobra.Command) *cobra.Command {
	req := &carrel.PinRequest{Unpin: unpin}
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		blocks, directive := j.CompleteBlock(cmd, args, word)
		artifacts, _ := j.CompleteArtifacts(carrel.ArtifactsRequest{})(cmd, args, word)
		return append(blocks, artifacts...), directive
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req.Blocks = args
		ctx := cmd.Context()
		return j.With(ctx, false, func(a *job.Access) error {
			res, err := pinAll(ctx, a, req)
			if err != nil {
				return err
			}
			return j.Result("pin", res, func(p *out.Page) { res.print(p, req) })
		})
	}
	job.Writes(cmd, &req.DryRun)
	return cmd
}

func (r *pinned) print(p *out.Page, req *carrel.PinRequest) {
	word, changed := "pinned", make(map[transcript.BlockID]bool)
	if req.Unpin {
		word = "unpinned"
	}
	for _, b := range r.Changed {
		changed[b] = true
	}
	t := &out.Table{}
	for _, b := range r.Blocks {
		was := "already"
		if changed[b] {
			was = "now"
		}
		t.Add(b, word, was)
	}
	for i := range r.Artifacts {
		t.Add(r.Artifacts[i].ID, word, "artifact")
	}
	p.Table(t)
	if p.TTY && req.DryRun {
		p.Line("dry run: nothing was written")
	}
}

// pinAll pins blocks, and artifacts for ids that name no block. If an id names neither, it pins
// nothing.
func pinAll(ctx context.Context, a *job.Access, req *carrel.PinRequest) (*pinned, error) {
	out := &pinned{PinResult: &carrel.PinResult{Pinned: !req.Unpin, Blocks: []transcript.BlockID{}, Changed: []transcript.BlockID{}}, Artifacts: []carrel.Artifact{}}
	res, err := a.Pin(ctx, a.Scope, req)
	if err == nil {
		out.PinResult = res
		return out, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	trial, dryRunErr := a.DryRun(nil)
	if dryRunErr != nil {
		return nil, dryRunErr
	}
	var blocks, artifacts []string
	for _, id := range req.Blocks {
		_, blockErr := a.Pin(ctx, a.Scope, &carrel.PinRequest{Blocks: []string{id}, Unpin: req.Unpin, DryRun: true})
		if blockErr == nil {
			blocks = append(blocks, id)
			continue
		}
		got, artifactErr := trial.PinArtifact(ctx, a.Scope, &carrel.PinArtifactRequest{ID: id, Pinned: !req.Unpin})
		switch {
		case errors.Is(artifactErr, store.ErrNotFound):
			return nil, blockErr
		case artifactErr != nil:
			return nil, artifactErr
		}
		artifacts = append(artifacts, id)
		out.Artifacts = append(out.Artifacts, *got)
	}
	if len(blocks) > 0 {
		some := *req
		some.Blocks = blocks
		if out.PinResult, err = a.Pin(ctx, a.Scope, &some); err != nil {
			return nil, err
		}
	}
	if req.DryRun {
		return out, nil
	}
	for i, id := range artifacts {
		got, err := a.PinArtifact(ctx, a.Scope, &carrel.PinArtifactRequest{ID: id, Pinned: !req.Unpin})
		if err != nil {
			return nil, err
		}
		out.Artifacts[i] = *got
	}
	return out, nil
}
