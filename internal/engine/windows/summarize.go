package windows

import (
	"crypto/sha256"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
)

// inputsOf returns digests of what the first n blocks of a session say, for each n
// from 0: each is of the one before and a text. So the digest of what a summary
// covers does not depend on how many compressions it took.
func inputsOf(h *hold.Held) []digest.Digest {
	all := make([]digest.Digest, len(h.Blocks)+1)
	for i, text := range h.Texts() {
		sum := sha256.New()
		sum.Write(all[i][:])
		sum.Write([]byte(text))
		sum.Sum(all[i+1][:0])
	}
	return all
}

func summaryInfo(s *hold.StandIn, d *drafted) *api.SummaryInfo {
	info := &api.SummaryInfo{
		ID: s.ID, Covers: s.Covers, Tokens: s.Tokens, Count: s.Summary.Count, Depth: s.Summary.Depth, Model: s.Summary.Model,
	}
	if d != nil {
		info.Fresh, info.Merged, info.Edits, info.Left = d.fresh, d.merged, d.edits, d.left
	}
	return info
}

func newProbeRound(r *probe.Report) *api.ProbeRound {
	p := &api.ProbeRound{Tally: r.Tally, Score: r.Score, Critical: r.Critical, Ordinary: r.Ordinary, Types: r.Types}
	for i := range r.Results {
		list := idsOf(p, r.Results[i].Place)
		*list = append(*list, r.Results[i].Probe.ID)
	}
	return p
}

func idsOf(p *api.ProbeRound, place probe.Place) *[]string {
	switch place {
	case probe.Window:
		return &p.Window
	case probe.Recall:
		return &p.Recall
	case probe.Lost:
	}
	return &p.Lost
}

// report returns what DriftOf needs of the report.
func reportOf(p *api.ProbeRound) *probe.Report {
	r := &probe.Report{Tally: p.Tally, Score: p.Score, Critical: p.Critical, Ordinary: p.Ordinary, Types: p.Types}
	for _, place := range [...]probe.Place{probe.Window, probe.Recall, probe.Lost} {
		for _, id := range *idsOf(p, place) {
			r.Results = append(r.Results, probe.Result{Probe: probe.Probe{ID: id}, Place: place})
		}
	}
	return r
}

// figure writes the figures of an outcome into its new summary.
func (o *outcome) figure(h *hold.Held) {
	s := o.kept.Summary
	s.TokensBefore, s.TokensAfter = int64(h.Head.Window), int64(o.plan.After)
	s.Ratio = ratio.One - ratio.Of(o.plan.After, h.Head.Window)
	if o.report != nil {
		s.ProbeScore = o.report.Score
	}
}

// keepSummary adds the cell of a new summary to a change, with edges to what it
// was made from.
func (e *Windows) keepSummary(c *store.Change, h *hold.Held, o *outcome, data *hold.Paged) error {
	s, d := o.kept, o.drafted
	o.figure(h)
	data.Round = &api.Round{
		Strategy: o.strategy, Model: s.Summary.Model, Calls: d.calls, Covers: s.Covers, Fresh: d.fresh, Count: s.Summary.Count, Tokens: s.Tokens,
		Before: h.Head.Window, After: o.plan.After, Edits: d.edits, Left: d.left,
	}
	if o.report != nil {
		data.Round.Probes = newProbeRound(o.report)
	}
	cell, err := e.JSONCell(store.CellSummary, s)
	if err != nil {
		return err
	}
	c.Cells = append(c.Cells, cell)
	made := make(map[store.CellID]bool)
	from := func(rows []store.Block) {
		for i := range rows {
			for _, id := range rows[i].Cells {
				if !made[id] {
					made[id] = true
					c.Edges = append(c.Edges, store.Edge{Derived: cell.ID, Source: id, Rel: "summary"})
				}
			}
		}
	}
	for i := range h.Earlier {
		from(h.Earlier[i].Rows)
	}
	from(h.Rows[s.Covers-d.fresh : s.Covers])
	if d.merged {
		c.Edges = append(c.Edges, store.Edge{Derived: cell.ID, Source: h.Head.Summary, Rel: "merge"})
	}
	data.Summary = &hold.SummaryMove{From: h.Head.Summary, To: cell.ID, FromTokens: h.Summary.Size(), ToTokens: s.Tokens}
	c.Head.Summary = cell.ID
	return nil
}
