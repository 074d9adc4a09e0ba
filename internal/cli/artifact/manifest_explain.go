package artifact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// An explanation says why an artifact or block is in a context, or why not.
type explanation struct {
	Manifest string                `json:"manifest"`
	Ref      string                `json:"ref"`
	In       bool                  `json:"in"` // it is in the context
	Class    provenance.Class      `json:"class,omitempty"`
	Reason   manifest.Reason       `json:"reason,omitempty"`
	Words    string                `json:"words"`
	Form     manifest.Form         `json:"form,omitempty"`
	Tokens   token.Count           `json:"tokens,omitempty"`
	Version  int64                 `json:"version,omitempty"`
	Score    *manifest.Score       `json:"score,omitempty"`
	Fetch    manifest.FetchOutcome `json:"fetch,omitempty"` // result of asking its source
}

func newManifestExplain(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID ARTIFACT",
		Short: "Explain the place of one artifact in a context",
		Long: `Explain says whether an artifact, or a block of the session, is in a context and
why, or why it was left out, and what its score was made of. If the manifest does not mention it,
the exit code is 1.`,
		Example:           `  carrel manifest explain @last 77e0b1c2`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeReference(j),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				m, err := a.Manifest(ctx, a.Scope, &carrel.IDRequest{ID: args[0]})
				if err != nil {
					return err
				}
				sealed, err := m.Sealed()
				if err != nil {
					return err
				}
				ref, row, err := findReference(a, cmd, sealed.Manifest(), args[1])
				if err != nil {
					return err
				}
				x := explain(sealed.Manifest(), ref, row)
				x.Manifest = m.ID
				if err := j.Result("manifest-explained", x, func(p *out.Page) { printExplanation(p, x) }); err != nil {
					return err
				}
				if x.Reason == "" {
					return out.ErrNo
				}
				return nil
			})
		},
	}
}

// findReference finds the artifact or block whose id begins with word. First it searches the
// manifest. If no id in the manifest begins so, it searches the store, because a manifest may list
// many artifacts only as a set of row numbers. For an artifact from the store the second result is
// its row number.
func findReference(a *job.Access, cmd *cobra.Command, m *manifest.Manifest, word string) (string, int64, error) {
	var found []string
	for _, it := range m.Items {
		ref := ""
		switch it := it.(type) {
		case *manifest.Segment:
			ref = it.Ref
		case *manifest.Omission:
			ref = it.Ref
		}
		if ref == word {
			return word, 0, nil
		}
		if strings.HasPrefix(ref, word) {
			found = append(found, ref)
		}
	}
	if len(found) == 1 {
		return found[0], 0, nil
	}
	if len(found) == 0 {
		rows, err := a.Store.Pick(cmd.Context(), a.Scope, &store.Pick{Prefix: word}, 2)
		if err != nil {
			return "", 0, err
		}
		for i := range rows {
			if string(rows[i].ID) == word {
				rows = rows[i : i+1]
				break
			}
		}
		switch len(rows) {
		case 0:
			return "", 0, out.Hinted(fmt.Errorf("artifact %q of the manifest: %w", word, store.ErrNotFound), "carrel manifest show "+m.Header.ID+" --all lists its artifacts")
		case 1:
			return string(rows[0].ID), rows[0].Seq, nil
		}
		found = []string{string(rows[0].ID), string(rows[1].ID)}
	}
	slices.Sort(found)
	return "", 0, fmt.Errorf("artifact %q is %w: it could be %s or %s", word, carrel.ErrAmbiguous, found[0], found[1])
}

func explain(m *manifest.Manifest, ref string, row int64) *explanation {
	x := &explanation{Ref: ref}
	it, reason, _ := m.Explain(ref, row)
	x.Reason = reason
	switch it := it.(type) {
	case *manifest.Segment:
		x.In, x.Class, x.Form, x.Tokens, x.Version, x.Score = true, it.Class, it.Form, it.Tokens, it.Version, it.Score
	case *manifest.Omission:
		x.Class, x.Tokens, x.Score = it.Class, it.Tokens, it.Score
	}
	for _, it := range m.Items {
		if f, ok := it.(*manifest.Fetch); ok && f.Ref == ref {
			x.Fetch = f.Outcome
		}
	}
	x.Words = explanations.Get()[reason]
	if reason == "" {
		x.Words = "not mentioned: it was no candidate, because it came later, or was removed, held or in another scope"
	}
	return x
}

// explanations say what each reason means.
var explanations = lazy.Value[map[manifest.Reason]string]{Make: func() map[manifest.Reason]string {
	return map[manifest.Reason]string{
		manifest.ReasonFits:              "it was worth a place, and all of it fitted",
		manifest.ReasonBrief:             "it was worth a place, and its brief form fitted",
		manifest.ReasonPinned:            "it is pinned, so it is in every context",
		manifest.ReasonSystem:            "it is the system text",
		manifest.ReasonWindow:            "it was in the window of the session",
		manifest.ReasonQuery:             "it is the query",
		manifest.ReasonFrame:             "the format needs it",
		manifest.ReasonNotice:            "it explains fences to the model",
		manifest.ReasonExpired:           "its time to live had passed",
		manifest.ReasonRefuted:           "it, or an artifact that it was made from, had been refuted",
		manifest.ReasonDistrusted:        "artifacts of its class are not trusted enough for a context",
		manifest.ReasonHeld:              "the gate held it",
		manifest.ReasonPolicy:            "a policy forbade it",
		manifest.ReasonSecret:            "it looked as if it held a credential",
		manifest.ReasonSuperseded:        "there was a later version of it",
		manifest.ReasonDuplicate:         "another artifact with the same text was in",
		manifest.ReasonCrowded:           "others were more recent, of a better class, or nearer to the query in words",
		manifest.ReasonNotScored:         "it passed the first look, but others took the places of the second",
		manifest.ReasonMinor:             "its score was too low (tagged green)",
		manifest.ReasonOverBudget:        "it was worth a place, but there was no room for it in any form",
		manifest.ReasonTier:              "the tier left it out",
		manifest.ReasonSourceGone:        "its source no longer had it",
		manifest.ReasonSourceForbidden:   "its source may not be asked",
		manifest.ReasonSourceUnavailable: "its source did not answer",
		manifest.ReasonErased:            "its text was erased",
	}
}}

func printExplanation(p *out.Page, x *explanation) {
	state := "left out"
	if x.In {
		state = "in"
	}
	if x.Reason == "" {
		state = "unknown"
	}
	rows := [][]any{{"ref", x.Ref}, {"manifest", x.Manifest}, {"state", state}, {"reason", cmp.Or(leftWord(x.Reason), "none")}, {"because", x.Words}}
	if x.Class != "" {
		rows = append(rows, []any{"class", string(x.Class)})
	}
	if x.Tokens > 0 {
		words := p.Number(int64(x.Tokens))
		if x.Form == manifest.FormBrief {
			words += ", brief"
		}
		rows = append(rows, []any{"tokens", words})
	}
	if s := x.Score; s != nil && s.Tag != "" {
		rows = append(rows, []any{"score", fmt.Sprintf("%s, %s: recency %s, provenance %s, similarity %s", out.Milli(s.Total), s.Tag, out.Milli(s.Recency), out.Milli(s.Provenance), out.Milli(s.Semantic))})
	} else if s != nil {
		rows = append(rows, []any{"score", fmt.Sprintf("%s at first: recency %s, provenance %s", out.Milli(s.First), out.Milli(s.Recency), out.Milli(s.Provenance))})
	}
	if x.Fetch != "" {
		rows = append(rows, []any{"source", string(x.Fetch)})
	}
	p.Fields(rows...)
}
