package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/store"
)

type pinArgs struct {
	IDs     []string `json:"ids" jsonschema:"ids of blocks, or of one artifact"`
	Unpin   bool     `json:"unpin,omitempty" jsonschema:"lift the pins"`
	Session string   `json:"session,omitempty" jsonschema:"pin them only if they belong to this session"`
}

type pinResult struct {
	Pinned  bool     `json:"pinned"`
	IDs     []string `json:"ids"`     // all named ids
	Changed []string `json:"changed"` // ids whose pin has changed
}

func pin() registrar {
	return &toolOf[pinArgs, pinResult]{
		Tool:       Tool{"pin", []*ops.Operation{&ops.Pin.Operation, &ops.PinArtifact.Operation}},
		title:      "Pin or unpin",
		about:      "Keep blocks in the window unchanged when other messages are compressed or discarded, or keep an artifact in every context. With unpin, remove the pins.",
		idempotent: true,
		bound: func(p map[string]*jsonschema.Schema) {
			p["ids"].MinItems = new(1)
		},
		run: func(ctx context.Context, c *call, in *pinArgs) (*reply[pinResult], error) {
			for _, id := range in.IDs {
				if in.Session == "" {
					break
				}
				res, err := c.Pin(ctx, c.scope, &carrel.PinRequest{Blocks: []string{id}, Unpin: in.Unpin, DryRun: true})
				if err != nil {
					return nil, err
				}
				if err := c.within(ctx, in.Session, id, res.Session); err != nil {
					return nil, err
				}
			}
			return c.pin(ctx, in)
		},
	}
}

// pin pins or unpins blocks, or one artifact if its id is not that of a block.
func (c *call) pin(ctx context.Context, in *pinArgs) (*reply[pinResult], error) {
	out := &pinResult{Pinned: !in.Unpin, IDs: []string{}, Changed: []string{}}
	res, err := c.Pin(ctx, c.scope, &carrel.PinRequest{Blocks: in.IDs, Unpin: in.Unpin})
	switch {
	case err == nil:
		for _, id := range res.Blocks {
			out.IDs = append(out.IDs, id.Short())
		}
		for _, id := range res.Changed {
			out.Changed = append(out.Changed, id.Short())
		}
	case errors.Is(err, store.ErrNotFound) && len(in.IDs) == 1:
		a, changed, artifactErr := c.pinArtifact(ctx, in.IDs[0], !in.Unpin)
		if errors.Is(artifactErr, store.ErrNotFound) {
			return nil, err
		}
		if artifactErr != nil {
			return nil, artifactErr
		}
		out.IDs = append(out.IDs, string(a.ID))
		if changed {
			out.Changed = append(out.Changed, string(a.ID))
		}
	default:
		return nil, err
	}
	word := "pinned"
	if in.Unpin {
		word = "unpinned"
	}
	return &reply[pinResult]{text: []string{fmt.Sprintf("%s  %s", strings.Join(out.IDs, " "), word)}, out: out}, nil
}

// pinArtifact pins or unpins an artifact. It reports whether that changed the pin.
func (c *call) pinArtifact(ctx context.Context, id string, pinned bool) (a *carrel.Artifact, changed bool, err error) {
	before, err := c.Get(ctx, c.scope, &carrel.GetRequest{ID: id, Info: true})
	if err != nil && !errors.Is(err, carrel.ErrGone) {
		return nil, false, err
	}
	// Of an artifact that is gone, the error below says that it cannot be pinned.
	a, err = c.PinArtifact(ctx, c.scope, &carrel.PinArtifactRequest{ID: id, Pinned: pinned})
	if err != nil {
		return nil, false, err
	}
	return a, before == nil || before.Pinned != pinned, nil
}
