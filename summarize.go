package carrel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A standIn is what stands in the window for the older blocks of a session, as
// its summary cell holds it.
type standIn struct {
	ID      transcript.BlockID `json:"id"`     // by which it is recalled
	After   transcript.BlockID `json:"after"`  // the block that it stands behind; empty: it comes first
	Text    string             `json:"text"`   // as it is sent
	Tokens  token.Count        `json:"tokens"` // of Text, in the window
	Covers  int                `json:"covers"` // how many blocks, from the first
	Input   digest.Digest      `json:"input"`  // of what they say
	Summary *summary.Summary   `json:"summary"`

	// Before is the summary of the windows before a compaction by the client, or nil.
	// The client left a text of its own for them, so the window has none of it.
	Before *summary.Summary `json:"before,omitempty"`
}

// whole returns all that there is to recall: the summary, merged with that of the
// earlier windows.
func (s *standIn) whole() *summary.Summary {
	if s.Before == nil {
		return s.Summary
	}
	all, _ := s.Before.Merge(s.Summary)
	all.Meta = s.Summary.Meta
	return all
}

// summaryPrefix begins the ids of summaries.
const summaryPrefix = "sum_"

// summaryID returns the id of a session's summary. It stays the same from one
// compression to the next, so that what names it stays true.
func summaryID(id transcript.SessionID) transcript.BlockID {
	sum := sha256.Sum256([]byte("summary/v1\x00" + string(id)))
	return transcript.BlockID(summaryPrefix + hex.EncodeToString(sum[:4]))
}

// standIn reads what a summary cell holds.
func (e *Engine) standIn(ctx context.Context, scope governance.Scope, cell store.CellID) (*standIn, error) {
	if cell == "" {
		return nil, nil //nolint:nilnil // most sessions have none
	}
	bodies, err := e.bodies(ctx, scope, []store.CellID{cell})
	if err != nil {
		return nil, err
	}
	s := &standIn{}
	if err := json.Unmarshal(bodies[0], s); err != nil {
		return nil, fmt.Errorf("%w: summary cell %s: %w", store.ErrCorrupt, cell, err)
	}
	return s, nil
}

// tokens returns what a summary takes in the window; nil takes nothing.
func (s *standIn) tokens() token.Count {
	if s == nil {
		return 0
	}
	return s.Tokens
}

// covered returns the id of a summary and how many blocks it covers; of nil, nothing.
func (s *standIn) covered() (id string, blocks int) {
	if s == nil {
		return "", 0
	}
	return string(s.ID), s.Covers
}

// tells returns of how many blocks a model's text says what the agent said; of a summary
// by a program, or none, of no block.
func (s *standIn) tells() int {
	if s == nil || s.Summary.Model == "" {
		return 0
	}
	return s.Covers
}

// entry returns a summary as an entry of a window.
func (s *standIn) entry() transcript.Entry { return transcript.Stub(s.ID, s.Text) }

// inputsOf returns digests of what the first n blocks of a session say, for each n
// from 0: each is of the one before and a text. So the digest of what a summary
// covers does not depend on how many compressions it took.
func inputsOf(h *held) []digest.Digest {
	all := make([]digest.Digest, len(h.blocks)+1)
	for i, text := range h.texts() {
		sum := sha256.New()
		sum.Write(all[i][:])
		sum.Write([]byte(text))
		sum.Sum(all[i+1][:0])
	}
	return all
}

func summaryInfo(s *standIn, d *drafted) *SummaryInfo {
	info := &SummaryInfo{
		ID: s.ID, Covers: s.Covers, Tokens: s.Tokens, Count: s.Summary.Count, Depth: s.Summary.Depth, Model: s.Summary.Model,
	}
	if d != nil {
		info.Fresh, info.Merged, info.Edits, info.Left = d.fresh, d.merged, d.edits, d.left
	}
	return info
}

func newProbeRound(r *probe.Report) *ProbeRound {
	p := &ProbeRound{Tally: r.Tally, Score: r.Score, Critical: r.Critical, Ordinary: r.Ordinary, Types: r.Types}
	for i := range r.Results {
		list := idsOf(p, r.Results[i].Place)
		*list = append(*list, r.Results[i].Probe.ID)
	}
	return p
}

func idsOf(p *ProbeRound, place probe.Place) *[]string {
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
func reportOf(p *ProbeRound) *probe.Report {
	r := &probe.Report{Tally: p.Tally, Score: p.Score, Critical: p.Critical, Ordinary: p.Ordinary, Types: p.Types}
	for _, place := range [...]probe.Place{probe.Window, probe.Recall, probe.Lost} {
		for _, id := range *idsOf(p, place) {
			r.Results = append(r.Results, probe.Result{Probe: probe.Probe{ID: id}, Place: place})
		}
	}
	return r
}

// figure writes the figures of an outcome into its new summary.
func (o *outcome) figure(h *held) {
	s := o.kept.Summary
	s.TokensBefore, s.TokensAfter = int64(h.head.Window), int64(o.plan.After)
	s.Ratio = ratio.One - ratio.Of(o.plan.After, h.head.Window)
	if o.report != nil {
		s.ProbeScore = o.report.Score
	}
}

// keepSummary adds the cell of a new summary to a change, with edges to what it
// was made from.
func (e *Engine) keepSummary(c *store.Change, h *held, o *outcome, data *paged) error {
	s, d := o.kept, o.drafted
	o.figure(h)
	data.Round = &Round{
		Strategy: o.strategy, Model: s.Summary.Model, Calls: d.calls, Covers: s.Covers, Fresh: d.fresh, Count: s.Summary.Count, Tokens: s.Tokens,
		Before: h.head.Window, After: o.plan.After, Edits: d.edits, Left: d.left,
	}
	if o.report != nil {
		data.Round.Probes = newProbeRound(o.report)
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	cell, err := e.cell(store.CellSummary, body)
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
	for i := range h.earlier {
		from(h.earlier[i].rows)
	}
	from(h.rows[s.Covers-d.fresh : s.Covers])
	if d.merged {
		c.Edges = append(c.Edges, store.Edge{Derived: cell.ID, Source: h.head.Summary, Rel: "merge"})
	}
	data.Summary = &summaryMove{From: h.head.Summary, To: cell.ID, FromTokens: h.summary.tokens(), ToTokens: s.Tokens}
	c.Head.Summary = cell.ID
	return nil
}
