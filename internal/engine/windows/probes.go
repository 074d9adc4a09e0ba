package windows

import (
	"context"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/summary/abstractive"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Probes generates probes from the original blocks of a session.
func (e *Windows) Probes(ctx context.Context, scope governance.Scope, req *api.ProbesRequest) (_ *api.ProbesResult, err error) {
	defer base.During("probes", &err, "of session "+string(req.Session))

	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	n, err := h.FirstBlocks(req.Blocks)
	if err != nil {
		return nil, err
	}
	return &api.ProbesResult{Session: req.Session, Blocks: n, Probes: e.probesFrom(h, n, e.FactsOf(h, n, 0))}, nil
}

// RunProbes asks probes of the window of a session, or of a text.
func (e *Windows) RunProbes(ctx context.Context, scope governance.Scope, req *api.RunProbesRequest) (_ *api.RunProbesResult, err error) {
	defer base.During("run probes", &err)

	res := &api.RunProbesResult{Session: req.Session}
	probes, ev := req.Probes, &probe.Evidence{}
	var before, after token.Count
	if req.Session != "" {
		h, err := e.Load(ctx, scope, req.Session)
		if err != nil {
			return nil, err
		}
		if req.Text != nil && probes == nil && !req.Model {
			j, _, err := e.judged(h, []byte(*req.Text), 0, req.ProbeMin)
			if err != nil {
				return nil, err
			}
			res.Report, res.Verdict, res.Problems = j.Probes, j.Verdict, j.Problems
			return res, nil
		}
		if probes == nil {
			probes = e.probesFrom(h, len(h.Blocks), e.FactsOf(h, len(h.Blocks), 0))
		}
		if req.Text == nil {
			before, after = h.Head.Tokens, h.Head.Window
		}
		if ev, err = e.evidence(ctx, scope, h); err != nil {
			return nil, err
		}
	} else if req.Text == nil || probes == nil {
		return nil, fmt.Errorf("%w: nothing to ask: give a session, or a text and probes", api.ErrRequest)
	}
	if req.Text != nil {
		ev.Recall, ev.Window = append(ev.Recall, ev.Window...), []string{*req.Text}
	}
	if req.Model {
		if res.Report, err = e.answered(ctx, probes, ev, res); err != nil {
			return nil, err
		}
	} else {
		res.Report = probe.Grade(probes, ev)
	}
	res.Verdict = res.Report.Judge(policyOf(req.ProbeMin), before, after)
	return res, nil
}

// answered lets the generator answer probes from the window.
func (e *Windows) answered(ctx context.Context, probes []probe.Probe, ev *probe.Evidence, res *api.RunProbesResult) (*probe.Report, error) {
	if e.Opts.Generator == nil {
		return nil, fmt.Errorf("%w: no model is set that could answer the probes: the settings generate.url and generate.ceiling say which one, and how many tokens it may take", api.ErrPolicy)
	}
	questions := make([]abstractive.Question, len(probes))
	for i := range probes {
		questions[i] = abstractive.Question{ID: probes[i].ID, Text: probes[i].Question}
	}
	window := strings.Join(ev.Window, "\n")
	ctx, cancel := context.WithTimeout(ctx, e.Opts.Patience)
	defer cancel()
	answers, rec, err := abstractive.Answer(ctx, e.Opts.Generator, window, questions)
	if err != nil {
		return nil, err
	}
	res.Model, res.Calls = rec.Model, rec.Calls
	return probe.GradeAnswers(probes, answers), nil
}

// ProbeReport returns the rounds of compression of a session, and the drift of the share of
// answered probes.
func (e *Windows) ProbeReport(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.ProbeReport, err error) {
	id := req.Session
	defer base.During("probe report", &err, "of session "+string(id))

	res := &api.ProbeReport{Session: id, Rounds: []api.RoundEntry{}}
	if res.Rounds, err = e.rounds(ctx, scope, id); err != nil {
		return nil, err
	}
	var counted []probe.Round
	for i := range res.Rounds {
		if r := &res.Rounds[i]; !r.Undone && r.Probes != nil {
			counted = append(counted, probe.Round{Number: r.Count, Report: reportOf(r.Probes)})
		}
	}
	res.Drift = probe.DriftOf(counted)
	return res, nil
}

// rounds returns the rounds of compression of a session, oldest first.
func (e *Windows) rounds(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]api.RoundEntry, error) {
	ops, err := e.Ops(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	rounds := []api.RoundEntry{}
	for i := range ops {
		o := &ops[i]
		if o.Op != hold.OpPage {
			continue
		}
		var data struct {
			Round *api.Round `json:"round"`
		}
		if err := hold.ReadEntry(&o.Entry, &data); err != nil {
			return nil, err
		}
		if data.Round != nil {
			rounds = append(rounds, api.RoundEntry{Op: o.ID, Time: o.Time, Undone: o.Undone, Round: *data.Round})
		}
	}
	return rounds, nil
}

// reportOf returns the fields of a report that [probe.DriftOf] reads.
func reportOf(p *api.ProbeRound) *probe.Report {
	r := &probe.Report{Tally: p.Tally, Score: p.Score, Critical: p.Critical, Ordinary: p.Ordinary, Types: p.Types}
	for _, place := range [...]probe.Location{probe.Window, probe.Recall, probe.Lost} {
		for _, id := range *idsOf(p, place) {
			r.Results = append(r.Results, probe.Result{Probe: probe.Probe{ID: id}, Place: place})
		}
	}
	return r
}
