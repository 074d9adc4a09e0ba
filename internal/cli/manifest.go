package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func newManifest(_ *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "manifest list|show|explain|diff|verify|replay|export",
		Short: "Look into the accounts of assembled contexts",
		Long: `A manifest is the sealed account of one context that "carrel assemble" made. It is
stored before the context is handed out. It says under which limits and by which
policy the context was made; for each segment its place, tokens, score and
reason; for each artifact that was left out the reason; and what sources said.

It holds no text: that stays in the store and can be purged, while the account
stays as it was sealed. A seal says that a document is unchanged since the seal
was written down: keep it elsewhere to show later that nobody exchanged both.

A manifest is named by its id, by the beginning of it, or as @last.`,
		Example: `  carrel manifest show @last
  carrel manifest diff m_3fa91c m_40bb12
  carrel manifest replay @last | cmp - context.txt`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"carrel manifest\"", args[0])
			}
			return usagef("manifest: name one of list, show, explain, diff, verify, replay, export")
		},
	}
	cmd.AddCommand(newManifestList(g), newManifestShow(g), newManifestExplain(g), newManifestDiff(g), newManifestVerify(g),
		newManifestReplay(g), newManifestExport(g))
	return cmd
}

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

func newManifestList(g *globals) *cobra.Command {
	var session string
	var limit int
	cmd := &cobra.Command{
		Use:   "list [--session SESSION] [--limit N]",
		Short: "List manifests, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usagef("--limit: %d is below 0", limit)
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) (err error) {
				var id transcript.SessionID
				if session != "" {
					if id, err = a.sessionID(ctx, session); err != nil {
						return err
					}
				}
				list, err := carrel.Items(a.Manifests(ctx, a.scope, &carrel.ManifestsRequest{Session: id, Cursor: carrel.Cursor{Limit: limit}}))
				if err != nil {
					return err
				}
				lines := make([]manifestLine, 0, len(list))
				for i := range list {
					lines = append(lines, newManifestLine(&list[i]))
				}
				return g.result(document{"manifests", map[string]any{"manifests": lines}, "manifests"}, func(p *page) {
					t := &table{head: []string{"id", "created", "format", "tier", "tok", "budget", "seal", "session"}}
					for i := range lines {
						l := &lines[i]
						seal := l.Seal
						if p.tty {
							seal = seal[:8]
						}
						t.add(p.id(l.ID), l.Created, l.Format, string(l.Tier), l.Tokens, l.Budget, seal, l.Session)
					}
					if len(lines) > 0 {
						p.table(t)
					}
				})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&session, "session", "", "only contexts with the window of `session`")
	f.IntVar(&limit, "limit", 0, "only the newest `n`; all by default")
	g.offerSession(cmd)
	return cmd
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
	Ref     string           `json:"ref"`
	Outcome manifest.Outcome `json:"outcome"`
	From    int64            `json:"from"`
	To      int64            `json:"to,omitempty"`
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

func newManifestShow(g *globals) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "show ID [--all]",
		Short: "Show what is in a context, and what is not",
		Long: `Show prints a manifest: under which limits the context was made, its segments in
their order, how many artifacts were left out for which reason, what sources
said, and what came of the context.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeManifest(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				m, err := a.Manifest(ctx, a.scope, &carrel.IDRequest{ID: args[0]})
				if err != nil {
					return err
				}
				sealed, err := m.Sealed()
				if err != nil {
					return err
				}
				s := newManifestShown(&m.Manifest, sealed)
				return g.result(document{name: "manifest-shown", value: s}, func(p *page) { printManifest(p, s, all) })
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list each artifact that was left out")
	return cmd
}

func printManifest(p *page, s *manifestShown, all bool) {
	tokens := func(n token.Count) string { return p.number(int64(n)) }
	took := fmt.Sprintf("%s of %s, %s reserved, %s demanded, counted by %s", tokens(s.Tokens), tokens(s.Budget), tokens(s.Reserve), tokens(s.Demand), s.Encoding)
	rows := [][]any{
		{"manifest", s.ID},
		{"sealed", s.Seal},
		{"created", s.Created},
		{"scope", s.Scope},
		{"by", s.Actor},
		{"format", fmt.Sprintf("%s, %s bytes", s.Format, p.number(int64(s.Bytes)))},
		{"tokens", took},
		{"tier", string(s.Tier)},
		{"candidates", fmt.Sprintf("%s, %d scored by %s", p.number(int64(s.Candidates)), s.SemanticCalls, cmp.Or(s.Semantic, "nothing"))},
		{"policy", s.Policy},
	}
	if s.Session != "" {
		rows = append(rows, []any{"session", string(s.Session)})
	}
	if s.Review {
		rows = append(rows, []any{"review", "a person should look"})
	}
	if s.Redacted > 0 {
		rows = append(rows, []any{"redacted", count(s.Redacted, "item")})
	}
	p.fields(rows...)
	p.line("")
	t := &table{head: []string{"kind", "tok", "ref", "class", "score", "reason", ""}, whole: true}
	for i := range s.Segments {
		g := &s.Segments[i]
		score := ""
		if g.Score != nil {
			score = milli(g.Score.Total)
		}
		t.add(string(g.Kind), g.Tokens, p.id(g.Ref), string(g.Class), score, string(g.Reason), segmentWords(g))
	}
	p.table(t)
	printLeft(p, s, all)
	if len(s.Fetches)+len(s.Outcomes) > 0 {
		p.line("")
	}
	t = &table{whole: true}
	for _, f := range s.Fetches {
		t.add("source", p.id(f.Ref), string(f.Outcome))
	}
	p.table(t)
	t = &table{whole: true}
	for i := range s.Outcomes {
		o := &s.Outcomes[i]
		t.add("outcome", o.Time, o.Actor, outcomeWords(p, o.Data))
	}
	p.table(t)
}

// outcomeWords says what came of a context.
func outcomeWords(p *page, data json.RawMessage) string {
	var g struct {
		Outcome    assembly.Outcome  `json:"outcome"`
		Reasons    []assembly.Reason `json:"reasons"`
		Evaluator  string            `json:"evaluator"`
		Confidence ratio.Ratio       `json:"confidence"`
		Artifact   string            `json:"artifact"`
		Decided    string            `json:"decided"`
	}
	if json.Unmarshal(data, &g) != nil || g.Outcome == "" {
		return string(data)
	}
	done := cmp.Or(g.Decided, map[assembly.Outcome]string{assembly.Commit: "committed", assembly.Hold: "held"}[g.Outcome])
	words := []string{strings.TrimSuffix(done+" "+p.id(g.Artifact), " ")}
	if g.Decided == "" && g.Evaluator != "" {
		words = append(words, fmt.Sprintf("confidence %s by %s", fine(g.Confidence), g.Evaluator))
	}
	for _, r := range g.Reasons {
		words = append(words, string(r))
	}
	return strings.Join(words, ", ")
}

// printLeft lists what was left out, by reason.
func printLeft(p *page, s *manifestShown, all bool) {
	t := &table{whole: true}
	for _, reason := range manifest.Excluded() {
		n := s.Left[reason]
		if n == 0 {
			continue
		}
		t.add("left out", n, leftWord(reason))
	}
	if len(t.rows) > 0 {
		p.line("")
		p.table(t)
	}
	if !all || len(t.rows) == 0 {
		return
	}
	t = &table{whole: true}
	for i := range s.Omitted {
		o := &s.Omitted[i]
		score := ""
		if o.Score != nil {
			score = milli(cmp.Or(o.Score.Total, o.Score.First))
		}
		t.add(p.id(o.Ref), string(o.Class), score, leftWord(o.Reason))
	}
	for _, set := range s.Sets {
		t.add("rows "+set.Rows, "", "", leftWord(set.Reason))
	}
	p.line("")
	p.table(t)
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
		words = append(words, count(s.Neutralized, "character")+" made visible")
	}
	return strings.Join(words, ", ")
}

func newManifestVerify(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "verify ID|FILE",
		Short: "Check that a manifest is as it was sealed",
		Long: `Verify checks a manifest of the store: its seal, each segment against its
commitment, and the context as a whole. What was purged cannot be checked and is
counted. Of a FILE that "carrel manifest export" wrote, or - for standard input,
it checks form and seal, without a store. What does not hold is exit code 6.`,
		Example: `  carrel manifest verify @last
  carrel manifest verify account.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeManifest(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if fi, err := os.Stat(g.path(args[0])); args[0] == "-" || err == nil && !fi.IsDir() {
				data, err := g.read(args[0])
				if err != nil {
					return err
				}
				res, err := carrel.VerifyDocument(data)
				if err != nil {
					return &hintedError{err, "it is not what was sealed; carrel manifest export writes it anew"}
				}
				return g.printVerified(res, true)
			}
			return g.with(ctx, false, func(a *access) error {
				res, err := a.VerifyManifest(ctx, a.scope, &carrel.IDRequest{ID: args[0]})
				if err != nil {
					return err
				}
				return g.printVerified(res, false)
			})
		},
	}
}

func (g *globals) printVerified(r *carrel.VerifyResult, offline bool) error {
	return g.result(document{name: "manifest-verified", value: r}, func(p *page) {
		what := fmt.Sprintf("%s, the whole context", count(r.Segments, "segment"))
		switch {
		case offline:
			what = "form and seal"
		case !r.Output:
			what = fmt.Sprintf("%s, not the whole context", count(r.Segments, "segment"))
		}
		rows := [][]any{{"ok", what}, {"manifest", r.Manifest}, {"sealed", r.Seal}}
		if r.Erased > 0 {
			rows = append(rows, []any{"erased", count(r.Erased, "segment")})
		}
		if r.Redacted > 0 {
			rows = append(rows, []any{"redacted", count(r.Redacted, "item")})
		}
		p.fields(rows...)
	})
}

func newManifestReplay(g *globals) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "replay ID [-o FILE]",
		Short: "Print the exact bytes of a context again",
		Long: `Replay rebuilds the context that a manifest is about, checks it, and prints the
same bytes that assemble did. If any of them were purged, the exit code is 4.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeManifest(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out.toFile() && g.json != "" {
				return usagef("-o and --json: the document holds the bytes")
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				data, err := a.Replay(ctx, a.scope, &carrel.IDRequest{ID: args[0]})
				if err != nil {
					if status(err) == exitNotFound {
						return &hintedError{err, "carrel manifest show " + args[0] + " says what was in it"}
					}
					return err
				}
				if g.json != "" {
					value := struct {
						Bytes   int    `json:"bytes"`
						Context string `json:"context"`
					}{len(data.Data), string(data.Data)}
					return g.result(document{name: "manifest-replayed", value: value}, nil)
				}
				return g.write(out, data.Data)
			})
		},
	}
	takesOutput(cmd, &out, "write to `file`; - is standard output")
	return cmd
}

func newManifestExport(g *globals) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "export ID [-o FILE]",
		Short: "Print the sealed document of a manifest",
		Long: `Export prints the document of a manifest as it was sealed: canonical JSON without
any text of a conversation or an artifact. Whoever has it and knows the seal can
check it with "carrel manifest verify FILE", or with a program of their own.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeManifest(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				sealed, err := carrel.SealedOf(a.Manifest(ctx, a.scope, &carrel.IDRequest{ID: args[0]}))
				if err != nil {
					return err
				}
				data := append(bytes.Clone(sealed.Bytes()), '\n')
				switch {
				case g.jq != "":
					data, err = query(g.jq, data)
				case g.template != "":
					data, err = fill(g.template, data)
				}
				if err != nil {
					return err
				}
				return g.write(out, data)
			})
		},
	}
	takesOutput(cmd, &out, "write to `file`; - is standard output")
	return cmd
}

// An explanation says what happened to an artifact or a block in a context.
type explanation struct {
	Manifest string           `json:"manifest"`
	Ref      string           `json:"ref"`
	In       bool             `json:"in"` // it is in the context
	Class    provenance.Class `json:"class,omitempty"`
	Reason   manifest.Reason  `json:"reason,omitempty"`
	Words    string           `json:"words"`
	Form     manifest.Form    `json:"form,omitempty"`
	Tokens   token.Count      `json:"tokens,omitempty"`
	Version  int64            `json:"version,omitempty"`
	Score    *scoreParts      `json:"score,omitempty"`
	Fetch    manifest.Outcome `json:"fetch,omitempty"` // what its source said
}

func newManifestExplain(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID ARTIFACT",
		Short: "Say what happened to one artifact in a context",
		Long: `Explain says whether an artifact, or a block of the session, is in a context and
why, or why it was left out, and what its score was made of. If the manifest does
not mention it, the exit code is 1.`,
		Example:           `  carrel manifest explain @last 77e0b1c2`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: g.completeReference,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				m, err := a.Manifest(ctx, a.scope, &carrel.IDRequest{ID: args[0]})
				if err != nil {
					return err
				}
				sealed, err := m.Sealed()
				if err != nil {
					return err
				}
				ref, row, err := a.findReference(cmd, sealed.Manifest(), args[1])
				if err != nil {
					return err
				}
				x := explain(sealed.Manifest(), ref, row)
				x.Manifest = m.ID
				if err := g.result(document{name: "manifest-explained", value: x}, func(p *page) { printExplanation(p, x) }); err != nil {
					return err
				}
				if x.Reason == "" {
					return errNo
				}
				return nil
			})
		},
	}
}

// findReference completes the id of an artifact or of a block: one that a
// manifest mentions, or else an artifact of the store, which may be in a set
// with no names.
func (a *access) findReference(cmd *cobra.Command, m *manifest.Manifest, word string) (string, int64, error) {
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
		rows, err := a.store.Pick(cmd.Context(), a.scope, &store.Pick{Prefix: word}, 2)
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
			return "", 0, &hintedError{fmt.Errorf("artifact %s: %w", word, store.ErrNotFound), "carrel manifest show " + m.Header.ID + " --all lists what it mentions"}
		case 1:
			return string(rows[0].ID), rows[0].Seq, nil
		}
		found = []string{string(rows[0].ID), string(rows[1].ID)}
	}
	slices.Sort(found)
	return "", 0, fmt.Errorf("%w: %s: %s and %s begin so", carrel.ErrAmbiguous, word, found[0], found[1])
}

func explain(m *manifest.Manifest, ref string, row int64) *explanation {
	x := &explanation{Ref: ref}
	it, reason, _ := m.Explain(ref, row)
	x.Reason = reason
	switch it := it.(type) {
	case *manifest.Segment:
		x.In, x.Class, x.Form, x.Tokens, x.Version, x.Score = true, it.Class, it.Form, it.Tokens, it.Version, newScoreParts(it.Score)
	case *manifest.Omission:
		x.Class, x.Tokens, x.Score = it.Class, it.Tokens, newScoreParts(it.Score)
	}
	for _, it := range m.Items {
		if f, ok := it.(*manifest.Fetch); ok && f.Ref == ref {
			x.Fetch = f.Outcome
		}
	}
	x.Words = explanations[reason]
	if reason == "" {
		x.Words = "not mentioned: it was no candidate, because it came later, or was removed, held or in another scope"
	}
	return x
}

// explanations say what each reason means.
var explanations = map[manifest.Reason]string{
	manifest.ReasonFits:              "it was worth a place, and all of it fitted",
	manifest.ReasonBrief:             "it was worth a place, and its brief form fitted",
	manifest.ReasonPinned:            "it is pinned, so it is in every context",
	manifest.ReasonSystem:            "it is the system text",
	manifest.ReasonWindow:            "it was in the window of the session",
	manifest.ReasonQuery:             "it is the query",
	manifest.ReasonFrame:             "the format needs it",
	manifest.ReasonNotice:            "it tells the model what fences mean",
	manifest.ReasonExpired:           "its time to live had passed",
	manifest.ReasonRefuted:           "it, or what it was made from, had been refuted",
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

func printExplanation(p *page, x *explanation) {
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
		words := p.number(int64(x.Tokens))
		if x.Form == manifest.FormBrief {
			words += ", brief"
		}
		rows = append(rows, []any{"tokens", words})
	}
	if s := x.Score; s != nil && s.Tag != "" {
		rows = append(rows, []any{"score", fmt.Sprintf("%s, %s: recency %s, provenance %s, similarity %s", milli(s.Total), s.Tag, milli(s.Recency), milli(s.Provenance), milli(s.Semantics))})
	} else if s != nil {
		rows = append(rows, []any{"score", fmt.Sprintf("%s at first: recency %s, provenance %s", milli(s.First), milli(s.Recency), milli(s.Provenance))})
	}
	if x.Fetch != "" {
		rows = append(rows, []any{"source", string(x.Fetch)})
	}
	p.fields(rows...)
}

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

func newManifestDiff(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Say how one context became another",
		Long: `Diff lists what is new in the second of two contexts (+), what is no longer in it
(-) and what is there in another form or version (~), each with its tokens and
the reason, and how much of the beginning is the same: what a provider's cache
can still use. If there is a difference, the exit code is 1.`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: g.completeManifest(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				d, err := a.DiffManifests(ctx, a.scope, &carrel.DiffRequest{ID: args[0], Other: args[1]})
				if err != nil {
					return err
				}
				s := newDeltaShown(d)
				if err := g.result(document{name: "manifest-diff", value: s}, func(p *page) { printDelta(p, s) }); err != nil {
					return err
				}
				if len(s.Added)+len(s.Removed)+len(s.Changed) > 0 {
					return errNo
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

func changeLines(changes []manifest.Change) []changeLine {
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
func changeNote(c *manifest.Change) string {
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

func printDelta(p *page, s *deltaShown) {
	number := func(n token.Count) string { return p.number(int64(n)) }
	p.line("%s → %s   +%d −%d ~%d   %s → %s tok   tier %s → %s   prefix kept: %s", p.id(s.From), p.id(s.To),
		len(s.Added), len(s.Removed), len(s.Changed), number(s.FromTokens), number(s.ToTokens), s.FromTier, s.ToTier, s.Kept.Percent())
	t := &table{whole: true}
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
			t.add(mark, p.id(cmp.Or(l.Ref, string(l.Kind))), cmp.Or(string(l.Class), string(l.Kind)), size, l.Note)
		}
	}
	add("+", s.Added)
	add("-", s.Removed)
	add("~", s.Changed)
	if len(t.rows) > 0 {
		p.table(t)
	}
	if s.Partial {
		p.line("something was taken out of one of them: there may be more")
	}
}
