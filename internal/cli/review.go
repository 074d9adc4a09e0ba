package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/store"
)

func newReview(_ *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "review [list|show|approve|reject|edit]",
		Short: "Decide about memories that the gate holds",
		Long: `Review lists the memories that the gate holds, oldest first, with the reasons.
None of them enters a context before a person approves it. What is approved, as
it is or edited, counts as verified by that person. Each decision is in the log.`,
		Example: `  carrel review
  carrel review show 5d11aa90
  carrel review approve 5d11aa90 --by dana
  carrel review edit 5d11aa90 --text "The staging VPN is profile B."`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"carrel review\"", args[0])
			}
			return g.listReviews(cmd)
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "list",
			Short: "List what waits for a decision",
			Args:  cobra.NoArgs,
			RunE:  func(cmd *cobra.Command, _ []string) error { return g.listReviews(cmd) },
		},
		newReviewShow(g),
		newDecision(g, "approve", "Let a memory into contexts", "Approve lets a memory into contexts, as verified by who approves it."),
		newDecision(g, "reject", "Keep a memory out for good", "Reject keeps a memory out of contexts for good. Its text stays: see purge."),
		newDecision(g, "edit", "Approve a memory in other words", "Edit puts another text in the place of the one that was proposed, and approves it."),
	)
	return cmd
}

func (g *globals) listReviews(cmd *cobra.Command) error {
	ctx := cmd.Context()
	return g.with(ctx, false, func(a *access) error {
		list, err := carrel.Items(a.Reviews(ctx, a.scope, &carrel.None{}))
		if err != nil {
			return err
		}
		for i := range list {
			tidyReview(&list[i])
		}
		value := map[string]any{"reviews": append([]carrel.ReviewEntry{}, list...)}
		return g.result(document{"reviews", value, "reviews"}, func(p *page) {
			if p.tty {
				p.line("%d waiting", len(list))
			}
			threshold := a.opts.Confidence
			t := &table{}
			for i := range list {
				r := &list[i]
				text, _ := assembly.Neutralize(cmp.Or(r.Title, r.Text))
				text = visible(headOf(text))
				if p.tty {
					text = `"` + cut(text, 34) + `"`
					t.add("", p.id(string(r.ID)), string(r.Class), text, gateWords(r.Reasons, r.Confidence, threshold), p.id(cameFrom(r)))
				} else {
					t.add(string(r.ID), string(r.Class), text, gateWords(r.Reasons, r.Confidence, threshold), cameFrom(r))
				}
			}
			if len(list) > 0 {
				p.table(t)
			}
			if p.tty && len(list) > 0 {
				id := shortRef(string(list[0].ID))
				p.line("approve: carrel review approve %s    reject: carrel review reject %s", id, id)
			}
		})
	})
}

// tidyReview gives a review its lists, empty if need be.
func tidyReview(r *carrel.ReviewEntry) {
	r.Reasons = append([]assembly.Reason{}, r.Reasons...)
	r.From = append([]carrel.Artifact{}, r.From...)
}

// cameFrom returns the context that a memory came from.
func cameFrom(r *carrel.ReviewEntry) string { return cmp.Or(r.Manifest, "no context") }

func newReviewShow(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a memory, why it is held, and what it was made from",
		Long: `Show prints a memory that was at the gate, with what cannot be seen made visible,
why the gate holds it, and the artifacts that it was made from.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeReview,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				r, err := a.Review(ctx, a.scope, &carrel.IDRequest{ID: args[0]})
				if err != nil {
					return reviewHint(err)
				}
				tidyReview(r)
				return g.result(document{name: "review", value: r}, func(p *page) { printReview(p, r, a) })
			})
		},
	}
}

func printReview(p *page, r *carrel.ReviewEntry, a *access) {
	text, hidden := assembly.Neutralize(r.Text)
	rows := [][]any{
		{"id", string(r.ID)},
		{"status", string(r.Status)},
		{"class", string(r.Class)},
		{"created", r.Created},
		{"verdict", fmt.Sprintf("confidence %s by %s", fine(r.Confidence), cmp.Or(r.Evaluator, "nobody"))},
		{"reasons", gateWords(r.Reasons, r.Confidence, a.opts.Confidence)},
		{"context", cameFrom(r)},
	}
	if r.Title != "" {
		rows = append(rows, []any{"title", r.Title})
	}
	if r.Reason != "" {
		rows = append(rows, []any{"decided", "because " + r.Reason})
	}
	if hidden > 0 {
		rows = append(rows, []any{"hidden", count(hidden, "character") + " made visible"})
	}
	p.fields(rows...)
	t := &table{}
	for i := range r.From {
		f := &r.From[i]
		t.add("from", p.id(string(f.ID)), string(f.Class), string(f.Status), f.Title)
	}
	if len(t.rows) > 0 {
		p.table(t)
	}
	p.line("")
	for line := range strings.Lines(text) {
		p.line("%s", visible(strings.TrimSuffix(line, "\n")))
	}
}

// reviewHint says where the ids of reviews are, if the error is about one.
func reviewHint(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, carrel.ErrRequest) {
		return &hintedError{err, "carrel review lists what waits for a decision"}
	}
	if errors.Is(err, carrel.ErrPolicy) {
		return &hintedError{err, "carrel review edit, with a text that holds none, or carrel review reject"}
	}
	return err
}

// newDecision returns the command for a decision: approve, reject or edit.
func newDecision(g *globals, verb, short, long string) *cobra.Command {
	d := &carrel.DecideRequest{Approve: verb != "reject"}
	var file string
	cmd := &cobra.Command{
		Use:               verb + " ID [--by WHO] [--reason WHY]",
		Short:             short,
		Long:              long,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeReview,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			d.ID = args[0]
			if verb == "edit" {
				if d.Text, err = g.either("--text", d.Text, "--file", file); err != nil {
					return err
				}
				if strings.TrimSpace(d.Text) == "" {
					return usagef("edit: give the new text with --text or --file")
				}
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				out, err := a.Decide(ctx, a.scope, d)
				if err != nil {
					return reviewHint(err)
				}
				return g.result(document{name: "decision", value: out}, func(p *page) {
					done := map[string]string{"approve": "approved", "reject": "rejected", "edit": "edited"}[verb]
					by := ""
					if out.VerifiedBy != "" {
						by = "verified by " + out.VerifiedBy
					}
					t := &table{whole: true}
					t.add(done, p.id(string(out.ID)), string(out.Status), out.Tokens, by)
					p.table(t)
				})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.By, "by", "", "`name` of who decides; user by default")
	f.StringVar(&d.Reason, "reason", "", "`why`, for whoever asks later")
	if verb == "edit" {
		cmd.Use = "edit ID (--text T|--file F) [--by WHO] [--reason WHY]"
		f.StringVar(&d.Text, "text", "", "`text` in place of the one that was proposed")
		f.StringVar(&file, "file", "", "take the text from `file`; - is standard input")
	}
	return cmd
}

// completeReview offers memories that wait for a decision.
func (g *globals) completeReview(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offers []cobra.Completion
	if len(args) == 0 {
		_ = g.with(cmd.Context(), false, func(a *access) error { // a shell wants no errors
			list, err := carrel.Items(a.Reviews(cmd.Context(), a.scope, &carrel.None{}))
			for i := range list {
				offers = append(offers, cobra.CompletionWithDesc(string(list[i].ID), visible(headOf(list[i].Text))))
			}
			return err
		})
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
