package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
)

func newReview(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "review [list|show|approve|reject|edit]",
		Short: "Decide about memories that the gate holds",
		Long: `Review lists the memories that the gate holds, oldest first, with the reasons. A
held memory enters no context until a person approves it. An approved memory, edited or not,
counts as verified by that person. Each decision is in the log.`,
		Example: `  carrel review
  carrel review show 5d11aa90
  carrel review approve 5d11aa90 --by dana
  carrel review edit 5d11aa90 --text "The staging VPN is profile B."`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return out.Usagef("unknown command %q for \"carrel review\"", args[0])
			}
			return listReviews(j, cmd)
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:     "list",
			Short:   "List the memories that wait for a decision",
			Example: `  carrel review list`,
			Args:    cobra.NoArgs,
			RunE:    func(cmd *cobra.Command, _ []string) error { return listReviews(j, cmd) },
		},
		newReviewShow(j),
		newDecision(j, "approve", "Let a memory into contexts", "Approve lets a memory into contexts, as verified by the person who approves it."),
		newDecision(j, "reject", "Keep a memory out for good", "Reject keeps a memory out of contexts for good. Its text stays: see purge."),
		newDecision(j, "edit", "Approve a memory in other words", "Edit replaces the proposed text, and approves it."),
	)
	return cmd
}

func listReviews(j *job.Job, cmd *cobra.Command) error {
	ctx := cmd.Context()
	return j.With(ctx, false, func(a *job.Access) error {
		list, err := carrel.Items(a.Reviews(ctx, a.Scope, &carrel.None{}))
		if err != nil {
			return err
		}
		for i := range list {
			tidyReview(&list[i])
		}
		value := &carrel.List[carrel.ReviewEntry]{Items: append([]carrel.ReviewEntry{}, list...)}
		return j.List("reviews", value, "items", func(p *out.Page) {
			if p.TTY {
				p.Line("%d waiting", len(list))
			}
			threshold := a.Opts.Confidence
			t := &out.Table{}
			for i := range list {
				r := &list[i]
				text, _ := assembly.Neutralize(cmp.Or(r.Title, r.Text))
				text = out.Visible(headOf(text))
				if p.TTY {
					text = `"` + out.Cut(text, 34) + `"`
					t.Add("", p.ID(string(r.ID)), string(r.Class), text, gateWords(r.Reasons, r.Confidence, threshold), p.ID(cameFrom(r)))
				} else {
					t.Add(string(r.ID), string(r.Class), text, gateWords(r.Reasons, r.Confidence, threshold), cameFrom(r))
				}
			}
			if len(list) > 0 {
				p.Table(t)
			}
			if p.TTY && len(list) > 0 {
				id := out.ShortRef(string(list[0].ID))
				p.Line("approve: carrel review approve %s    reject: carrel review reject %s", id, id)
			}
		})
	})
}

// tidyReview replaces nil lists by empty ones, for JSON.
func tidyReview(r *carrel.ReviewEntry) {
	r.Reasons = append([]assembly.Reason{}, r.Reasons...)
	r.From = append([]carrel.Artifact{}, r.From...)
}

// cameFrom returns the id of the context from which a memory was proposed.
func cameFrom(r *carrel.ReviewEntry) string { return cmp.Or(r.Manifest, "no context") }

func newReviewShow(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a memory, why it is held, and its sources",
		Long: `Show prints a memory that was proposed to the gate, with invisible characters made
visible, the reason why the gate holds it, and the artifacts that it was made from.`,
		Example:           `  carrel review show 5d11aa90`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeReview(j),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				r, err := a.Review(ctx, a.Scope, &carrel.IDRequest{ID: args[0]})
				if err != nil {
					return reviewHint(err)
				}
				tidyReview(r)
				return j.Result("review", r, func(p *out.Page) { printReview(p, r, a) })
			})
		},
	}
}

func printReview(p *out.Page, r *carrel.ReviewEntry, a *job.Access) {
	text, hidden := assembly.Neutralize(r.Text)
	rows := [][]any{
		{"id", string(r.ID)},
		{"status", string(r.Status)},
		{"class", string(r.Class)},
		{"created", r.Created},
		{"verdict", fmt.Sprintf("confidence %s by %s", fine(r.Confidence), cmp.Or(r.Evaluator, "nobody"))},
		{"reasons", gateWords(r.Reasons, r.Confidence, a.Opts.Confidence)},
		{"context", cameFrom(r)},
	}
	if r.Title != "" {
		rows = append(rows, []any{"title", r.Title})
	}
	if r.Reason != "" {
		rows = append(rows, []any{"decided", "because " + r.Reason})
	}
	if hidden > 0 {
		rows = append(rows, []any{"hidden", out.Count(hidden, "character") + " made visible"})
	}
	p.Fields(rows...)
	t := &out.Table{}
	for i := range r.From {
		f := &r.From[i]
		t.Add("from", p.ID(string(f.ID)), string(f.Class), string(f.Status), f.Title)
	}
	p.Table(t)
	p.Line("")
	for line := range strings.Lines(text) {
		p.Line("%s", out.Visible(strings.TrimSuffix(line, "\n")))
	}
}

// reviewHint adds a hint to an error about a memory: if the id is wrong, the command that lists the
// reviews; if the text is refused, the commands that edit or reject it.
func reviewHint(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, carrel.ErrRequest) {
		return out.Hinted(err, "carrel review lists the memories that wait for a decision")
	}
	if errors.Is(err, carrel.ErrPolicy) {
		return out.Hinted(err, "carrel review edit, with a text that holds none, or carrel review reject")
	}
	return err
}

// newDecision returns the command for one decision: approve, reject or edit.
func newDecision(j *job.Job, verb, short, long string) *cobra.Command {
	d := &carrel.DecideRequest{Approve: verb != "reject"}
	var file string
	cmd := &cobra.Command{
		Use:               verb + " ID [--by WHO] [--reason WHY]",
		Short:             short,
		Long:              long,
		Example:           "  carrel review " + verb + " 5d11aa90 --by dana",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeReview(j),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			d.ID = args[0]
			if verb == "edit" {
				if d.Text, err = j.FlagOrFile("--text", d.Text, "--file", file); err != nil {
					return err
				}
				if strings.TrimSpace(d.Text) == "" {
					return out.Usagef("review edit: give the new text with --text or --file")
				}
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.Decide(ctx, a.Scope, d)
				if err != nil {
					return reviewHint(err)
				}
				j.Wrote = true
				return j.Result("decision", res, func(p *out.Page) {
					done := map[string]string{"approve": "approved", "reject": "rejected", "edit": "edited"}[verb]
					by := ""
					if res.VerifiedBy != "" {
						by = "verified by " + res.VerifiedBy
					}
					t := &out.Table{Whole: true}
					t.Add(done, p.ID(string(res.ID)), string(res.Status), res.Tokens, by)
					p.Table(t)
				})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.By, "by", "", "`name` of the person who decides; user by default")
	f.StringVar(&d.Reason, "reason", "", "`reason`, which is recorded")
	if verb == "edit" {
		cmd.Use = "edit ID (--text T|--file F) [--by WHO] [--reason WHY]"
		cmd.Example = `  carrel review edit 5d11aa90 --text "The staging VPN is profile B."`
		f.StringVar(&d.Text, "text", "", "`text` in place of the proposed one")
		f.StringVar(&file, "file", "", "take the text from `file`; - is standard input")
	}
	return cmd
}

// completeReview returns a function that offers the memories that wait for a decision.
func completeReview(j *job.Job) cobra.CompletionFunc {
	return job.AtMost(1, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return j.Complete(cmd, func(a *job.Access) (found []cobra.Completion, err error) {
			list, err := carrel.Items(a.Reviews(cmd.Context(), a.Scope, &carrel.None{}))
			for i := range list {
				found = append(found, cobra.CompletionWithDesc(string(list[i].ID), out.Visible(headOf(list[i].Text))))
			}
			return found, err
		})
	})
}
