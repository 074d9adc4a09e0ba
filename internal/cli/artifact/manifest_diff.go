package artifact

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/token"
)

func newManifestDiff(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Say how one context became another",
		Long: `Diff lists the items that only the second of two contexts has (+), those that only
the first has (-), and those that differ in form or version (~), each with its tokens and the
reason. It also prints the size of the common beginning, which a provider's cache can still use. If
there is a difference, the exit code is 1.`,
		Example:           `  carrel manifest diff m_3fa91c @last`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: job.AtMost(2, completeManifest(j)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				d, err := a.DiffManifests(ctx, a.Scope, &carrel.DiffRequest{ID: args[0], Other: args[1]})
				if err != nil {
					return err
				}
				if err := j.Result("manifest-diff", d, func(p *out.Page) { printDelta(p, d) }); err != nil {
					return err
				}
				if len(d.Added)+len(d.Removed)+len(d.Changed) > 0 {
					return out.ErrNo
				}
				return nil
			})
		},
	}
}

// changeNote returns in words how an item differs between two contexts.
func changeNote(c *manifest.ItemChange) string {
	before, after := c.Before, c.After
	switch {
	case after == nil && c.Reason == "":
		return "no longer a candidate"
	case after == nil:
		return leftWord(c.Reason)
	case after.Fetched:
		return "refetched: the source has changed"
	case before == nil && c.Reason == manifest.ReasonFits:
		return ""
	case before == nil:
		return leftWord(c.Reason)
	case before.Form != after.Form:
		return fmt.Sprintf("%s, was %s", after.Form, before.Form)
	case before.Version != after.Version:
		return fmt.Sprintf("version %d, was %d", after.Version, before.Version)
	case before.Kind != after.Kind:
		return fmt.Sprintf("%s, was %s", after.Kind, before.Kind)
	case before.Bytes == after.Bytes && (after.Version > 0 && after.Form == manifest.FormWhole || after.Kind == manifest.KindNotice):
		return "the same, sealed anew"
	}
	return "other text"
}

func printDelta(p *out.Page, d *manifest.Delta) {
	number := func(n token.Count) string { return p.Number(int64(n)) }
	p.Line("%s → %s   +%d −%d ~%d   %s → %s tok   tier %s → %s   prefix kept: %s", p.ID(d.From), p.ID(d.To),
		len(d.Added), len(d.Removed), len(d.Changed), number(d.FromTotal), number(d.ToTotal), d.FromTier, d.ToTier, d.Kept.Percent())
	t := &out.Table{Whole: true}
	add := func(mark string, changes []manifest.ItemChange) {
		for i := range changes {
			c := &changes[i]
			now := cmp.Or(c.After, c.Before)
			size := number(now.Tokens)
			if mark == "~" && c.Before.Tokens != c.After.Tokens {
				size = number(c.Before.Tokens) + " → " + size
			}
			t.Add(mark, p.ID(cmp.Or(c.Ref, string(now.Kind))), cmp.Or(string(now.Class), string(now.Kind)), size, changeNote(c))
		}
	}
	add("+", d.Added)
	add("-", d.Removed)
	add("~", d.Changed)
	p.Table(t)
	if d.Partial {
		p.Line("parts of one document were redacted: there may be more differences")
	}
}
