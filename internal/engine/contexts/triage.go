package contexts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/triage"
)

// Triage scores the artifacts of a scope for a query, as carrel.Engine.Assemble does, and
// assembles nothing.
func (e *Contexts) Triage(ctx context.Context, scope governance.Scope, req *api.TriageRequest) (_ *api.TriageResult, err error) {
	defer base.During("triage", &err)

	s, err := base.Retry(ctx, func() (*selection, error) { return e.selectArtifacts(ctx, scope, req.Query) })
	if err != nil {
		return nil, err
	}
	res := &api.TriageResult{
		Candidates: s.candidates, Pinned: len(s.pins), Tally: s.tally, Tags: tags(s.scored, s.left),
		Semantic: s.semantic, SemanticCalls: s.calls, Warning: s.warning,
	}
	for i := range s.scored {
		w := &s.scored[i]
		entry := api.ScoredEntry{
			Artifact: e.DescribeArtifact(&w.page.Row, &w.page.Note), Tag: w.Tag, Score: w.Score, Recency: w.Recency,
			Provenance: w.Provenance, Semantics: w.Semantic, First: w.First, Hit: w.Hit,
		}
		if w.fetch != nil {
			entry.Fetch = w.fetch.Outcome
			if w.fetch.Err != nil {
				entry.Problem = w.fetch.Err.Error()
			}
		}
		res.Scored = append(res.Scored, entry)
	}
	return res, nil
}

// A selection is the result of triage over the artifacts of a scope. Every candidate is in
// exactly one of pins, scored and left.
type selection struct {
	at         time.Time
	version    store.Version
	candidates int
	tally      triage.Tally
	pins       []selected
	scored     []selected // best first
	left       []manifest.Item
	fetches    []manifest.Item
	semantic   string
	calls      int
	warning    string
}

// tags counts the tags of triage. Expired and refuted artifacts count as black.
func tags(scored []selected, left []manifest.Item) triage.Tags {
	var t triage.Tags
	for i := range scored {
		t.Add(scored[i].Tag, 1)
	}
	for reason, n := range omitted(left) {
		if reason.Dead() {
			t.Black += n
		}
	}
	return t
}

// omitted yields, for each item of the list left, the reason and the number of artifacts that the
// item leaves out. The list has only omissions and sets.
func omitted(left []manifest.Item) iter.Seq2[manifest.Reason, int] {
	return func(yield func(manifest.Reason, int) bool) {
		for _, it := range left {
			reason, n := manifest.Reason(""), 0
			switch it := it.(type) {
			case *manifest.Omission:
				reason, n = it.Reason, 1
			case *manifest.Set:
				reason, n = it.Reason, it.Count
			}
			if !yield(reason, n) {
				return
			}
		}
	}
}

// A selected is an artifact that is pinned or that the second pass of triage scored. Comments call
// it a pick.
type selected struct {
	triage.Scored
	page  *stacks.Resident
	fetch *stacks.Fetch // nil if it has no source
}

// usable reports whether the content of the pick may be used. It may not if the pick has a source
// and the source could not be asked whether the content is still valid.
func (p *selected) usable() bool { return p.fetch == nil || p.fetch.Err == nil }

// fetched reports whether the source of the pick had changed and was fetched again.
func (p *selected) fetched() bool {
	return p.fetch != nil && p.fetch.Outcome == manifest.OutcomeChanged
}

const (
	// hitsWanted is how many lexical hits triage asks the store for.
	hitsWanted = 200

	// listed is the most artifacts rejected by the first pass that a manifest lists one by one.
	// If there are more, it has one set per reason.
	listed = 100
)

// selectArtifacts runs triage for a query.
func (e *Contexts) selectArtifacts(ctx context.Context, scope governance.Scope, query string) (*selection, error) {
	hits, err := e.Store.Hits(ctx, scope, retrieval.Keys(query), hitsWanted)
	if err != nil {
		return nil, err
	}
	rows := make([]int, len(hits))
	for i, seq := range hits {
		rows[i] = int(seq - 1)
	}
	k, err := e.Catalog(ctx, scope)
	if err != nil {
		return nil, err
	}
	s := &selection{at: e.Now(), version: k.Version, semantic: "lexical/1"}
	used, _ := e.Passes.Get().(*triage.First)
	first := e.Policy.First(&k.Table, s.at, rows, used)
	defer e.Passes.Put(first)
	s.tally = first.Tally
	spots := make(map[int]stacks.Location, len(first.Admitted)+len(k.Pins))
	for _, c := range first.Admitted {
		spots[c.Row] = k.Location(c.Row)
	}
	pinned := slices.Sorted(maps.Keys(k.Pins))
	for _, row := range pinned {
		spots[row] = k.Location(row)
	}
	s.leave(k, first)
	k.Mu.RUnlock()

	if err := e.openPins(ctx, scope, s, pinned, spots); err != nil {
		return nil, err
	}
	if err := e.score(ctx, scope, s, first, spots, query); err != nil {
		return nil, err
	}
	for _, c := range first.Admitted[len(first.Shortlist()):] {
		s.left = append(s.left, &manifest.Omission{
			Ref: string(spots[c.Row].ID), Row: int64(c.Row + 1), Class: c.Class, Reason: manifest.ReasonNotScored,
			Score: &manifest.Score{Recency: c.Recency, Provenance: c.Provenance, First: c.First},
		})
	}
	s.candidates += len(first.Admitted) + len(pinned)
	return s, nil
}

// leftOut maps reasons of the first pass to reasons of a manifest.
var leftOut = map[triage.Reason]manifest.Reason{
	triage.ReasonCrowded:    manifest.ReasonCrowded,
	triage.ReasonDistrusted: manifest.ReasonDistrusted,
	triage.ReasonExpired:    manifest.ReasonExpired,
	triage.ReasonRefuted:    manifest.ReasonRefuted,
}

// leave records the artifacts that the first pass rejected: one by one, or as sets if there are
// too many.
func (s *selection) leave(k *stacks.Catalog, first *triage.First) {
	t := first.Tally
	n := t.Crowded + t.Distrusted + t.Expired + t.Refuted
	s.candidates = n
	if n > listed {
		for _, r := range []triage.Reason{triage.ReasonExpired, triage.ReasonRefuted, triage.ReasonDistrusted, triage.ReasonCrowded} {
			rows := manifest.BitRows(first.Bits(r)) // row 0 of the table is row 1 of the manifest
			if n := rows.Len(); n > 0 {
				s.left = append(s.left, &manifest.Set{Reason: leftOut[r], Count: int(n), Rows: rows})
			}
		}
		return
	}
	for row := range k.Table.Len() {
		if reason, ok := leftOut[first.Reason(row)]; ok {
			s.left = append(s.left, &manifest.Omission{
				Ref: string(k.ID(row)), Row: int64(row + 1), Class: k.Table.Row(row).Class, Reason: reason,
			})
		}
	}
}

// openPins reads the pinned artifacts. Every context contains them, except those that have
// expired or cannot be fetched, which are left out with that reason.
func (e *Contexts) openPins(ctx context.Context, scope governance.Scope, s *selection, rows []int, spots map[int]stacks.Location) error {
	var open []stacks.Location
	for _, row := range rows {
		open = append(open, spots[row])
	}
	pages, fetches, err := e.open(ctx, scope, open, func(p *stacks.Resident) bool { return !stacks.Expired(&p.Row, s.at) })
	if err != nil {
		return err
	}
	for i, p := range pages {
		pk := selected{page: p, fetch: fetches[i], Scored: triage.Scored{Candidate: triage.Candidate{Row: rows[i], Class: p.Row.Class}}}
		s.note(&pk)
		switch {
		case stacks.Expired(&p.Row, s.at):
			s.left = append(s.left, pk.omission(manifest.ReasonExpired))
		case !pk.usable():
			s.left = append(s.left, pk.omission(unusable(pk.fetch)))
		default:
			s.pins = append(s.pins, pk)
		}
	}
	return nil
}

// open returns the artifacts at the locations in spots. If the function wanted returns true for an
// artifact, open asks the source of the artifact and returns its present content.
func (e *Contexts) open(ctx context.Context, scope governance.Scope, spots []stacks.Location, wanted func(*stacks.Resident) bool) ([]*stacks.Resident, []*stacks.Fetch, error) {
	pages, err := e.Fault(ctx, scope, spots)
	if err != nil {
		return nil, nil, err
	}
	ask := slices.Clone(pages)
	for i, p := range pages {
		if p == nil { // written since the catalog was read
			return nil, nil, errors.Join(fmt.Errorf("artifact %s has changed meanwhile: %w", spots[i].ID, store.ErrConflict), e.DiscardStale(ctx, scope))
		}
		if !wanted(p) {
			ask[i] = nil
		}
	}
	fetches, err := e.CheckSources(ctx, scope, ask)
	if err != nil {
		return nil, nil, err
	}
	for i, p := range ask {
		if p != nil {
			pages[i] = p
		}
	}
	return pages, fetches, nil
}

// score runs the second pass of triage.
func (e *Contexts) score(ctx context.Context, scope governance.Scope, s *selection, first *triage.First, spots map[int]stacks.Location, query string) error {
	fetches := make(map[int]*stacks.Fetch)
	byRow := make(map[int]*stacks.Resident)
	policy := *e.Policy
	if query == "" {
		policy.Floor = 0 // without a query nothing is similar
	}
	scored, err := policy.Second(first, func(rows []int) ([]ratio.Ratio, error) {
		var open []stacks.Location
		for _, row := range rows {
			open = append(open, spots[row])
		}
		pages, got, err := e.open(ctx, scope, open, func(*stacks.Resident) bool { return true })
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			byRow[row], fetches[row] = pages[i], got[i]
		}
		return e.similar(ctx, scope, s, query, pages)
	})
	if err != nil {
		return err
	}
	for _, sc := range scored {
		pk := selected{Scored: sc, page: byRow[sc.Row], fetch: fetches[sc.Row]}
		s.note(&pk)
		s.scored = append(s.scored, pk)
	}
	return nil
}

// note records the fetch of a pick, if it has one.
func (s *selection) note(p *selected) {
	if p.fetch != nil {
		s.fetches = append(s.fetches, &manifest.Fetch{
			Ref: string(p.page.Row.ID), Outcome: p.fetch.Outcome, From: int64(p.fetch.From), To: int64(p.fetch.To),
		})
	}
}

// omission returns the item of a manifest that says why an artifact is left out.
func (p *selected) omission(reason manifest.Reason) *manifest.Omission {
	return &manifest.Omission{
		Ref: string(p.page.Row.ID), Row: int64(p.Row + 1), Class: p.page.Row.Class, Tokens: p.page.Row.Tokens,
		Score: p.score(), Reason: reason,
	}
}

// score returns the parts of the pick's score for the manifest, or nil if the pick has no score.
func (p *selected) score() *manifest.Score {
	if p.Tag == "" {
		return nil
	}
	return &manifest.Score{
		Recency: p.Recency, Provenance: p.Provenance, Semantic: p.Semantic, First: p.First, Total: p.Score,
		Tag: p.Tag,
	}
}

// unusable returns the reason that a manifest gives for leaving out an artifact whose fetch failed.
func unusable(f *stacks.Fetch) manifest.Reason {
	switch f.Outcome {
	case manifest.OutcomeGone:
		return manifest.ReasonSourceGone
	case manifest.OutcomeForbidden:
		return manifest.ReasonSourceForbidden
	case manifest.OutcomeUnavailable, manifest.OutcomeUnchanged, manifest.OutcomeChanged:
	}
	return manifest.ReasonSourceUnavailable
}

// embedded is the most bytes of a text that are sent to an embedder.
const embedded = 8 << 10

// similar returns the similarity of each page to a query. It compares the vectors of the embedder.
// If there is no embedder, or it fails, similar compares words and parts of words.
func (e *Contexts) similar(ctx context.Context, scope governance.Scope, s *selection, query string, pages []*stacks.Resident) ([]ratio.Ratio, error) {
	s.calls = len(pages)
	if embedder := e.CatalogOf(scope).Embedder; embedder != nil && query != "" && len(pages) > 0 {
		likeness, err := embed(ctx, embedder, query, pages)
		if err == nil {
			s.semantic = record.NameFor("embedder", cmp.Or(embedder.Name(), "unnamed"))
			return likeness, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.warning = fmt.Sprintf("scored by words: %v", err)
		e.Opts.Logger.WarnContext(ctx, "embedder not used", "scope", scope, "error", err)
	}
	words := make([]*retrieval.Analysis, len(pages))
	for i, p := range pages {
		words[i] = p.Words()
	}
	return retrieval.Similar(query, words), nil
}

// embed returns the similarity of each page to a query by an embedder.
func embed(ctx context.Context, embedder llm.Embedder, query string, pages []*stacks.Resident) ([]ratio.Ratio, error) {
	texts := make([]string, 0, len(pages)+1)
	for _, p := range pages {
		texts = append(texts, text.Head(p.Note.Title+"\n"+p.Text, embedded))
	}
	vectors, err := embedder.Embed(ctx, append(texts, text.Head(query, embedded)))
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(pages)+1 {
		return nil, fmt.Errorf("the embedder returned %d vectors for %d texts", len(vectors), len(pages)+1)
	}
	likeness := make([]ratio.Ratio, len(pages))
	for i := range pages {
		likeness[i] = max(0, retrieval.CosineFloats(vectors[i], vectors[len(pages)]))
	}
	return likeness, nil
}

// wins reports whether artifacts with a tag belong in the context.
func wins(t manifest.Tag) bool { return t == manifest.TagRed || t == manifest.TagYellow }
