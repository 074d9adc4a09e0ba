package artifact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A manifestLine is a manifest in a list.
type manifestLine struct {
	ID      string               `json:"id"`
	Version int64                `json:"version"`
	Created time.Time            `json:"created"`
	Session transcript.SessionID `json:"session,omitempty"`
	Format  string               `json:"format"`
	Tier    tier.Tier            `json:"tier"`
	Tokens  token.Count          `json:"tokens"`
	Budget  token.Count          `json:"budget"`
	Seal    string               `json:"seal"`
}

func newManifestLine(m *store.Manifest) manifestLine {
	return manifestLine{m.ID, int64(m.Version), m.Created, m.Session, m.Format, m.Tier, m.Total, m.Budget, m.Seal.String()}
}

// A manifestShown is what is printed of a manifest.
type manifestShown struct {
	manifestLine
	Scope         string                  `json:"scope"`
	Actor         string                  `json:"actor"`
	Policy        string                  `json:"policy"`
	Encoding      string                  `json:"encoding"`
	Reserve       token.Count             `json:"reserve"`
	Demand        token.Count             `json:"demand"`
	Review        bool                    `json:"review"`
	Semantic      string                  `json:"semantic"`
	SemanticCalls int                     `json:"semantic_calls"`
	Candidates    int                     `json:"candidates"`
	Bytes         int                     `json:"bytes"`
	Redacted      int                     `json:"redacted"`
	Segments      []segmentLine           `json:"segments"`
	Left          map[manifest.Reason]int `json:"left"`
	Omitted       []omissionLine          `json:"omitted"`
	Sets          []setLine               `json:"sets"` // those that are too many to be listed
	Fetches       []fetchLine             `json:"fetches"`
	Outcomes      []outcomeLine           `json:"outcomes"`
}

type segmentLine struct {
	Kind        manifest.Kind    `json:"kind"`
	Start       int              `json:"start"`
	Bytes       int              `json:"bytes"`
	Tokens      token.Count      `json:"tokens"`
	Ref         string           `json:"ref,omitempty"`
	Version     int64            `json:"version,omitempty"`
	Class       provenance.Class `json:"class,omitempty"`
	Form        manifest.Form    `json:"form,omitempty"`
	Score       *scoreParts      `json:"score,omitempty"`
	Reason      manifest.Reason  `json:"reason"`
	Neutralized int              `json:"neutralized,omitempty"`
	Fetched     bool             `json:"fetched,omitempty"`
	Commit      string           `json:"commit"`
}

type scoreParts struct {
	Total      ratio.Ratio  `json:"total"`
	Recency    ratio.Ratio  `json:"recency"`
	Provenance ratio.Ratio  `json:"provenance"`
	Semantics  ratio.Ratio  `json:"semantics"`
	First      ratio.Ratio  `json:"first"`
	Tag        manifest.Tag `json:"tag,omitempty"`
}

type omissionLine struct {
	Ref    string           `json:"ref"`
	Class  provenance.Class `json:"class,omitempty"`
	Tokens token.Count      `json:"tokens,omitempty"`
	Score  *scoreParts      `json:"score,omitempty"`
	Reason manifest.Reason  `json:"reason"`
}

type setLine struct {
	Reason manifest.Reason `json:"reason"`
	Count  int             `json:"count"`
	Rows   string          `json:"rows"`
}

type fetchLine struct {
	Ref     string                `json:"ref"`
	Outcome manifest.FetchOutcome `json:"outcome"`
	From    int64                 `json:"from"`
	To      int64                 `json:"to,omitempty"`
}

type outcomeLine struct {
	Version int64           `json:"version"`
	Time    time.Time       `json:"time"`
	Actor   string          `json:"actor"`
	Data    json.RawMessage `json:"data"`
}

func newScoreParts(s *manifest.Score) *scoreParts {
	if s == nil {
		return nil
	}
	return &scoreParts{s.Total, s.Recency, s.Provenance, s.Semantic, s.First, s.Tag}
}

func newManifestShown(m *store.Manifest, sealed *manifest.Sealed) *manifestShown {
	h := &sealed.Manifest().Header
	s := &manifestShown{
		manifestLine: newManifestLine(m), Scope: h.Scope, Actor: h.Actor, Policy: h.Policy, Encoding: h.Encoding, Reserve: h.Reserve,
		Demand: h.Demand, Review: h.Review, Semantic: h.Semantic, SemanticCalls: h.SemanticCalls, Candidates: h.Candidates,
		Redacted: sealed.Redacted(), Segments: []segmentLine{}, Left: map[manifest.Reason]int{}, Omitted: []omissionLine{},
		Sets: []setLine{}, Fetches: []fetchLine{}, Outcomes: []outcomeLine{},
	}
	for _, it := range sealed.Manifest().Items {
		switch it := it.(type) {
		case *manifest.Segment:
			s.Segments = append(s.Segments, segmentLine{
				it.Kind, it.Start, it.Bytes, it.Tokens, it.Ref, it.Version, it.Class, it.Form, newScoreParts(it.Score), it.Reason,
				it.Neutralized, it.Fetched, it.Commit.String(),
			})
		case *manifest.Omission:
			s.Left[it.Reason]++
			s.Omitted = append(s.Omitted, omissionLine{it.Ref, it.Class, it.Tokens, newScoreParts(it.Score), it.Reason})
		case *manifest.Set:
			s.Left[it.Reason] += it.Count
			s.Sets = append(s.Sets, setLine{it.Reason, it.Count, it.Rows.String()})
		case *manifest.Fetch:
			s.Fetches = append(s.Fetches, fetchLine{it.Ref, it.Outcome, it.From, it.To})
		case *manifest.Output:
			s.Bytes = it.Bytes
		}
	}
	for i := range m.Made {
		o := &m.Made[i]
		s.Outcomes = append(s.Outcomes, outcomeLine{int64(o.Version), o.Time, string(o.Actor), o.Data})
	}
	return s
}

func newManifestShow(j *job.Job) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "show ID [--all]",
		Short: "Show what is in a context, and what is not",
		Long: `Show prints a manifest: under which limits the context was made, its segments in
their order, how many artifacts were left out for which reason, what sources
said, and what came of the context.`,
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
				s := newManifestShown(&m.Manifest, sealed)
				return j.Result("manifest-shown", s, func(p *out.Page) { printManifest(p, s, all) })
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list each artifact that was left out")
	return cmd
}

func printManifest(p *out.Page, s *manifestShown, all bool) {
	tokens := func(n token.Count) string { return p.Number(int64(n)) }
	took := fmt.Sprintf("%s of %s, %s reserved, %s demanded, counted by %s", tokens(s.Tokens), tokens(s.Budget), tokens(s.Reserve), tokens(s.Demand), s.Encoding)
	rows := [][]any{
		{"manifest", s.ID},
		{"sealed", s.Seal},
		{"created", s.Created},
		{"scope", s.Scope},
		{"by", s.Actor},
		{"format", fmt.Sprintf("%s, %s bytes", s.Format, p.Number(int64(s.Bytes)))},
		{"tokens", took},
		{"tier", string(s.Tier)},
		{"candidates", fmt.Sprintf("%s, %d scored by %s", p.Number(int64(s.Candidates)), s.SemanticCalls, cmp.Or(s.Semantic, "nothing"))},
		{"policy", s.Policy},
	}
	if s.Session != "" {
		rows = append(rows, []any{"session", string(s.Session)})
	}
	if s.Review {
		rows = append(rows, []any{"review", "a person should look"})
	}
	if s.Redacted > 0 {
		rows = append(rows, []any{"redacted", out.Count(s.Redacted, "item")})
	}
	p.Fields(rows...)
	p.Line("")
	t := &out.Table{Head: []string{"kind", "tok", "ref", "class", "score", "reason", ""}, Whole: true}
	for i := range s.Segments {
		g := &s.Segments[i]
		score := ""
		if g.Score != nil {
			score = out.Milli(g.Score.Total)
		}
		t.Add(string(g.Kind), g.Tokens, p.ID(g.Ref), string(g.Class), score, string(g.Reason), segmentWords(g))
	}
	p.Table(t)
	printLeft(p, s, all)
	if len(s.Fetches)+len(s.Outcomes) > 0 {
		p.Line("")
	}
	t = &out.Table{Whole: true}
	for _, f := range s.Fetches {
		t.Add("source", p.ID(f.Ref), string(f.Outcome))
	}
	p.Table(t)
	t = &out.Table{Whole: true}
	for i := range s.Outcomes {
		o := &s.Outcomes[i]
		t.Add("outcome", o.Time, o.Actor, outcomeWords(p, o.Data))
	}
	p.Table(t)
}

// outcomeWords says what came of a context.
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

// printLeft lists what was left out, by reason.
func printLeft(p *out.Page, s *manifestShown, all bool) {
	t := &out.Table{Whole: true}
	for _, reason := range manifest.Excluded() {
		n := s.Left[reason]
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
	for i := range s.Omitted {
		o := &s.Omitted[i]
		score := ""
		if o.Score != nil {
			score = out.Milli(cmp.Or(o.Score.Total, o.Score.First))
		}
		t.Add(p.ID(o.Ref), string(o.Class), score, leftWord(o.Reason))
	}
	for _, set := range s.Sets {
		t.Add("rows "+set.Rows, "", "", leftWord(set.Reason))
	}
	p.Line("")
	p.Table(t)
}

// segmentWords says what is special about a segment.
func segmentWords(s *segmentLine) string {
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
