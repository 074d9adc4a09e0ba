package artifact

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// A deltaShown is what is printed of the difference of two contexts.
type deltaShown struct {
	From       string       `json:"from"`
	To         string       `json:"to"`
	FromTier   tier.Tier    `json:"from_tier"`
	ToTier     tier.Tier    `json:"to_tier"`
	FromTokens token.Count  `json:"from_tokens"`
	ToTokens   token.Count  `json:"to_tokens"`
	Prefix     int          `json:"prefix"` // bytes that both begin with
	Kept       ratio.Ratio  `json:"kept"`   // their share of the first
	Partial    bool         `json:"partial,omitempty"`
	Added      []changeLine `json:"added"`
	Removed    []changeLine `json:"removed"`
	Changed    []changeLine `json:"changed"`
}

// A changeLine is one thing that is different.
type changeLine struct {
	Ref    string           `json:"ref,omitempty"`
	Kind   manifest.Kind    `json:"kind"`
	Class  provenance.Class `json:"class,omitempty"`
	Before token.Count      `json:"before"`
	After  token.Count      `json:"after"`
	Reason manifest.Reason  `json:"reason,omitempty"`
	Note   string           `json:"note,omitempty"`
}

func newManifestDiff(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Say how one context became another",
		Long: `Diff lists what is new in the second of two contexts (+), what is no longer in it
(-) and what is there in another form or version (~), each with its tokens and
the reason, and how much of the beginning is the same: what a provider's cache
can still use. If there is a difference, the exit code is 1.`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: job.AtMost(2, completeManifest(j)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				d, err := a.DiffManifests(ctx, a.Scope, &carrel.DiffRequest{ID: args[0], Other: args[1]})
				if err != nil {
					return err
				}
				s := newDeltaShown(d)
				if err := j.Result("manifest-diff", s, func(p *out.Page) { printDelta(p, s) }); err != nil {
					return err
				}
				if len(s.Added)+len(s.Removed)+len(s.Changed) > 0 {
					return out.ErrNo
				}
				return nil
			})
		},
	}
}

func newDeltaShown(d *manifest.Delta) *deltaShown {
	return &deltaShown{
		d.From, d.To, d.FromTier, d.ToTier, d.FromTotal, d.ToTotal, d.Prefix, d.Kept, d.Partial,
		changeLines(d.Added), changeLines(d.Removed), changeLines(d.Changed),
	}
}

func changeLines(changes []manifest.ItemChange) []changeLine {
	lines := []changeLine{}
	for i := range changes {
		c := &changes[i]
		l := changeLine{Ref: c.Ref, Reason: c.Reason, Note: changeNote(c)}
		if c.Before != nil {
			l.Kind, l.Class, l.Before = c.Before.Kind, c.Before.Class, c.Before.Tokens
		}
		if c.After != nil {
			l.Kind, l.Class, l.After = c.After.Kind, c.After.Class, c.After.Tokens
		}
		lines = append(lines, l)
	}
	return lines
}

// changeNote says why something is different.
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

func printDelta(p *out.Page, s *deltaShown) {
	number := func(n token.Count) string { return p.Number(int64(n)) }
	p.Line("%s → %s   +%d −%d ~%d   %s → %s tok   tier %s → %s   prefix kept: %s", p.ID(s.From), p.ID(s.To),
		len(s.Added), len(s.Removed), len(s.Changed), number(s.FromTokens), number(s.ToTokens), s.FromTier, s.ToTier, s.Kept.Percent())
	t := &out.Table{Whole: true}
	add := func(mark string, lines []changeLine) {
		for i := range lines {
			l := &lines[i]
			size := number(l.After)
			switch {
			case mark == "-":
				size = number(l.Before)
			case mark == "~" && l.Before != l.After:
				size = number(l.Before) + " → " + size
			}
			t.Add(mark, p.ID(cmp.Or(l.Ref, string(l.Kind))), cmp.Or(string(l.Class), string(l.Kind)), size, l.Note)
		}
	}
	add("+", s.Added)
	add("-", s.Removed)
	add("~", s.Changed)
	if len(t.Rows) > 0 {
		p.Table(t)
	}
	if s.Partial {
		p.Line("something was taken out of one of them: there may be more")
	}
}
