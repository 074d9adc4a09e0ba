package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func newMessages(j *job.Job) *cobra.Command {
	var tree, allIDs bool
	var limit int
	var after string
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "messages [SESSION] [--tree | --all-ids] [--limit N] [--after ID]",
		Short: "List the blocks of a conversation",
		Long: `Messages lists the blocks of a conversation in order: user messages, and replies
with the results of their tool calls. Each has an id for recall, why and pin, its state, the rule
that keeps it, its tokens, and its tokens in the present window. A block that "carrel discard" may
take out shows its discard category; --json also has the reason why another block is kept, and the
target and the floor of the window.

Blocks that the client compacted come first: they are cold and belong to an earlier window, in
which their turns are counted.

--all-ids prints only the ids. --tree shows replies under the message that they answer, and lists
messages outside of the conversation (rewinds, sub-agents) after them.`,
		Example:           `  carrel messages @prev --tree`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if allIDs && tree {
				return out.Usagef("--all-ids and --tree: use only one")
			}
			if allIDs && j.JSON != "" {
				return out.Usagef("--all-ids and --json: use only one")
			}
			if limit < 0 {
				return out.Usagef("--limit: %d is below 0", limit)
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				id, err := s.Find(ctx, a, args)
				if err != nil {
					return err
				}
				res, err := a.Messages(ctx, a.Scope, &carrel.MessagesRequest{Session: id})
				if err != nil {
					return err
				}
				all := res.Messages
				if res.Messages, err = excerptOf(res.Messages, after, limit); err != nil {
					return err
				}
				return j.List("messages", res, "messages", func(p *out.Page) {
					if allIDs {
						for i := range res.Messages {
							p.Line("%s", res.Messages[i].ID)
						}
						return
					}
					printBlocks(p, res, all, tree)
				})
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().BoolVar(&tree, "tree", false, "put replies under messages, and list branches")
	cmd.Flags().BoolVar(&allIDs, "all-ids", false, "print the ids of the blocks alone")
	cmd.Flags().IntVar(&limit, "limit", 0, "list `n` blocks at most")
	cmd.Flags().StringVar(&after, "after", "", "begin after the block with this `id`")
	return cmd
}

// excerptOf returns the blocks behind one block, the first whose id begins with the second
// argument. If that is "", it begins with the first block. It returns at most limit blocks, or all
// if limit is 0.
func excerptOf(blocks []carrel.BlockInfo, after string, limit int) ([]carrel.BlockInfo, error) {
	if after != "" {
		at := slices.IndexFunc(blocks, func(b carrel.BlockInfo) bool { return strings.HasPrefix(string(b.ID), after) })
		if at < 0 {
			return nil, &out.Error{Text: fmt.Sprintf("--after: the session has no block %q", after), Err: api.About(api.SubjectBlock, store.ErrNotFound)}
		}
		blocks = blocks[at+1:]
	}
	if limit > 0 {
		blocks = blocks[:min(limit, len(blocks))]
	}
	return blocks, nil
}

// mayGo returns the number of the blocks that a discard may take out, and their tokens in the window.
func mayGo(blocks []carrel.BlockInfo) (may int, free token.Count) {
	for i := range blocks {
		if b := &blocks[i]; b.Discardable && b.Rule == "" {
			may, free = may+1, free+b.Window
		}
	}
	return may, free
}

// printBlocks prints the blocks in res. The argument all has all blocks of the session, for the
// figures of its window.
func printBlocks(p *out.Page, res *carrel.MessagesResult, all []carrel.BlockInfo, tree bool) {
	t := &out.Table{Head: []string{"id", "turn", "kind", "state", "tokens", "window", "preview"}}
	for i := range res.Messages {
		b := &res.Messages[i]
		preview := b.Preview
		if tree && b.Kind != transcript.KindUser && b.Kind != transcript.KindSystem {
			preview = "  " + preview
		}
		if b.Earlier > 0 && p.TTY {
			preview = fmt.Sprintf("[earlier window %d] %s", b.Earlier, preview)
		}
		switch {
		case !p.TTY:
			t.Add(b.ID, b.Turn, string(b.Kind), b.State, string(b.Form), string(b.Rule), b.Tokens, b.Window, preview, string(b.Class))
			continue
		case b.Rule != "" && b.Earlier == 0:
			preview = "[" + string(b.Rule) + "] " + preview
		case b.Discardable:
			preview = "(" + string(b.Class) + ") " + preview
		}
		t.Add(b.ID, b.Turn, string(b.Kind), b.State, b.Tokens, b.Window, preview)
	}
	p.Table(t)
	if p.TTY {
		may, free := mayGo(all)
		p.Line("")
		p.Line("window  %s; %s of %s tokens may go", measureWords(res.Total, &res.Figures), out.Count(may, "block"), out.Thousands(free))
		p.Line("target  discard tidies to %s tokens, compress cuts to %s, neither by itself below %s",
			out.Thousands(res.Target), out.Thousands(res.Figures.Target), out.Thousands(res.Floor))
	}
	if !tree || len(res.Branches) == 0 {
		return
	}
	if p.TTY {
		p.Line("")
	}
	t = &out.Table{Whole: true, Head: []string{"branch", "kind", "messages", "from", "to"}}
	for i := range res.Branches {
		b := &res.Branches[i]
		t.Add(b.Root, string(b.Kind), b.Messages, b.Parent, b.Leaf)
	}
	p.Table(t)
}
