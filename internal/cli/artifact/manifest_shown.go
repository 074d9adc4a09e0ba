package artifact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// A page is a manifest as it is printed for people: the record in the store, and the items of its
// document by kind.
type page struct {
	*store.Manifest
	header   *manifest.Header
	bytes    int // size of the context
	redacted int
	segments []*manifest.Segment
	left     map[manifest.Reason]int
	omitted  []*manifest.Omission
	sets     []*manifest.Set // sets of artifacts too many to list one by one
	fetches  []*manifest.Fetch
}

func newPage(m *store.Manifest, sealed *manifest.Sealed) *page {
	s := &page{Manifest: m, header: &sealed.Manifest().Header, redacted: sealed.Redacted(), left: map[manifest.Reason]int{}}
	for _, it := range sealed.Manifest().Items {
		switch it := it.(type) {
		case *manifest.Segment:
			s.segments = append(s.segments, it)
		case *manifest.Omission:
			s.left[it.Reason]++
			s.omitted = append(s.omitted, it)
		case *manifest.Set:
			s.left[it.Reason] += it.Count
			s.sets = append(s.sets, it)
		case *manifest.Fetch:
			s.fetches = append(s.fetches, it)
		case *manifest.Output:
			s.bytes = it.Bytes
		}
	}
	return s
}

func newManifestShow(j *job.Job) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "show ID [--all]",
		Short: "Show the parts of a context, and the artifacts left out",
		Long: `Show prints a manifest: under which limits the context was made, its segments in
their order, how many artifacts were left out for which reason, what sources said, and what came
of the context.`,
		Example:           `  carrel manifest show @last --all`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, completeManifest(j)),
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
				return j.Result("manifest-shown", m, func(p *out.Page) { printManifest(p, newPage(&m.Manifest, sealed), all) })
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list each artifact that was left out")
	return cmd
}

func printManifest(p *out.Page, s *page, all bool) {
	h := s.header
	tokens := func(n token.Count) string { return p.Number(int64(n)) }
	took := fmt.Sprintf("%s of %s, %s reserved, %s demanded, counted by %s", tokens(s.Total), tokens(s.Budget), tokens(h.Reserve), tokens(h.Demand), h.Encoding)
	rows := [][]any{
		{"manifest", s.ID},
		{"sealed", s.Seal.String()},
		{"created", s.Created},
		{"scope", h.Scope},
		{"by", h.Actor},
		{"format", fmt.Sprintf("%s, %s bytes", s.Format, p.Number(int64(s.bytes)))},
	}
	if s.Budget > 0 { // otherwise it is the manifest of a call
		rows = append(
			rows, []any{"tokens", took}, []any{"tier", string(s.Tier)},
			[]any{"candidates", fmt.Sprintf("%s, %d scored by %s", p.Number(int64(h.Candidates)), h.SemanticCalls, cmp.Or(h.Semantic, "nothing"))},
		)
	}
	rows = append(rows, []any{"policy", h.Policy})
	if s.Session != "" {
		rows = append(rows, []any{"session", string(s.Session)})
	}
	if h.Review {
		rows = append(rows, []any{"review", "a person should look"})
	}
	if s.redacted > 0 {
		rows = append(rows, []any{"redacted", out.Count(s.redacted, "item")})
	}
	p.Fields(rows...)
	p.Line("")
	t := &out.Table{Head: []string{"kind", "tok", "ref", "class", "score", "reason", ""}, Whole: true}
	for _, g := range s.segments {
		score := ""
		if g.Score != nil {
			score = out.Milli(g.Score.Total)
		}
		t.Add(string(g.Kind), g.Tokens, p.ID(g.Ref), string(g.Class), score, string(g.Reason), segmentWords(g))
	}
	p.Table(t)
	printLeft(p, s, all)
	if len(s.fetches)+len(s.Made) > 0 {
		p.Line("")
	}
	t = &out.Table{Whole: true}
	for _, f := range s.fetches {
		t.Add("source", p.ID(f.Ref), string(f.Outcome))
	}
	p.Table(t)
	t = &out.Table{Whole: true}
	for i := range s.Made {
		o := &s.Made[i]
		t.Add("outcome", o.Time, string(o.Actor), outcomeWords(p, o.Data))
	}
	p.Table(t)
}

// outcomeWords describes the outcome of a context.
func outcomeWords(p *out.Page, data json.RawMessage) string {
	var g struct {
		Outcome    assembly.GateOutcome `json:"outcome"`
		Reasons    []assembly.Reason    `json:"reasons"`
		Evaluator  string               `json:"evaluator"`
		Confidence ratio.Ratio          `json:"confidence"`
		Artifact   string               `json:"artifact"`
		Decided    string               `json:"decided"`
	}
	if json.Unmarshal(data, &g) != nil || g.Outcome == "" {
		return string(data)
	}
	done := cmp.Or(g.Decided, map[assembly.GateOutcome]string{assembly.Commit: "committed", assembly.Hold: "held"}[g.Outcome])
	words := []string{strings.TrimSuffix(done+" "+p.ID(g.Artifact), " ")}
	if g.Decided == "" && g.Evaluator != "" {
		words = append(words, fmt.Sprintf("confidence %s by %s", fine(g.Confidence), g.Evaluator))
	}
	for _, r := range g.Reasons {
		words = append(words, string(r))
	}
	return strings.Join(words, ", ")
}

// printLeft prints the artifacts left out, by reason.
func printLeft(p *out.Page, s *page, all bool) {
	t := &out.Table{Whole: true}
	for _, reason := range manifest.Excluded() {
		n := s.left[reason]
		if n == 0 {
			continue
		}
		t.Add("left out", n, leftWord(reason))
	}
	if len(t.Rows) > 0 {
		p.Line("")
		p.Table(t)
	}
	if !all || len(t.Rows) == 0 {
		return
	}
	t = &out.Table{Whole: true}
	for _, o := range s.omitted {
		score := ""
		if o.Score != nil {
			score = out.Milli(cmp.Or(o.Score.Total, o.Score.First))
		}
		t.Add(p.ID(o.Ref), string(o.Class), score, leftWord(o.Reason))
	}
	for _, set := range s.sets {
		t.Add("rows "+set.Rows.String(), "", "", leftWord(set.Reason))
	}
	p.Line("")
	p.Table(t)
}

// segmentWords returns remarks about a segment.
func segmentWords(s *manifest.Segment) string {
	var words []string
	if s.Form == manifest.FormBrief {
		words = append(words, "brief")
	}
	if s.Fetched {
		words = append(words, "refetched")
	}
	if s.Neutralized > 0 {
		words = append(words, out.Count(s.Neutralized, "character")+" made visible")
	}
	return strings.Join(words, ", ")
}
