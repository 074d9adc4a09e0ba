package carrel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary/abstractive"
	"github.com/carrel-dev/carrel/transcript"
)

// Probes generates probes from the originals of a session.
func (e *Engine) Probes(ctx context.Context, scope governance.Scope, req *ProbesRequest) (_ *ProbesResult, err error) {
	defer during("probes of session "+string(req.Session), &err)

	h, err := e.load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	n, err := h.first(req.Blocks)
	if err != nil {
		return nil, err
	}
	return &ProbesResult{Session: req.Session, Blocks: n, Probes: e.probesFrom(h, n, e.factsOf(h, n, 0))}, nil
}

// RunProbes asks probes of what is in the window of a session, or of a text. It
// changes nothing.
func (e *Engine) RunProbes(ctx context.Context, scope governance.Scope, req *RunProbesRequest) (_ *RunProbesResult, err error) {
	defer during("run probes", &err)

	res := &RunProbesResult{Session: req.Session}
	probes, ev := req.Probes, &probe.Evidence{}
	var sizes probe.Sizes
	if req.Session != "" {
		h, err := e.load(ctx, scope, req.Session)
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
			probes = e.probesFrom(h, len(h.blocks), e.factsOf(h, len(h.blocks), 0))
		}
		if req.Text == nil {
			sizes = probe.Sizes{Before: h.head.Tokens, After: h.head.Window}
		}
		if ev, err = e.evidence(ctx, scope, h); err != nil {
			return nil, err
		}
	} else if req.Text == nil || probes == nil {
		return nil, fmt.Errorf("%w: neither a session nor a text with probes", ErrRequest)
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
	res.Verdict = res.Report.Judge(policyOf(req.ProbeMin), sizes)
	return res, nil
}

// answered lets the generator answer probes from a window.
func (e *Engine) answered(ctx context.Context, probes []probe.Probe, ev *probe.Evidence, res *RunProbesResult) (*probe.Report, error) {
	if e.opts.Generator == nil {
		return nil, fmt.Errorf("%w: no model is set that could answer: see the settings generate.url and generate.ceiling", ErrPolicy)
	}
	questions := make([]abstractive.Question, len(probes))
	for i := range probes {
		questions[i] = abstractive.Question{ID: probes[i].ID, Text: probes[i].Question}
	}
	window := strings.Join(ev.Window, "\n")
	ctx, cancel := context.WithTimeout(ctx, e.opts.Patience)
	defer cancel()
	answers, rec, err := abstractive.Answer(ctx, e.opts.Generator, window, questions)
	if err != nil {
		return nil, err
	}
	res.Model, res.Calls = rec.Model, rec.Calls
	return probe.GradeAnswers(probes, answers), nil
}

// evidenceOf returns what the window of a session has as it is, and what is one
// recall away.
func (e *Engine) evidence(ctx context.Context, scope governance.Scope, h *held) (*probe.Evidence, error) {
	stubs, err := e.stubs(ctx, scope, h.rows)
	if err != nil {
		return nil, err
	}
	return evidenceOf(h, h.rows, stubs, h.summary), nil
}

// ProbeReport returns the rounds of compression of a session, and how the share of
// answered probes drifted.
func (e *Engine) ProbeReport(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *ProbeReport, err error) {
	id := req.Session
	defer during("probe report of session "+string(id), &err)

	res := &ProbeReport{Session: id, Rounds: []RoundEntry{}}
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
func (e *Engine) rounds(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]RoundEntry, error) {
	rounds := []RoundEntry{}
	for entry, err := range e.store.Entries(ctx, scope, id, 0) {
		if err != nil {
			return nil, err
		}
		if entry.Op != "page" && entry.Op != "undo" {
			continue
		}
		var data struct {
			Round  *Round `json:"round"`
			Undoes string `json:"undoes"`
		}
		if err := json.Unmarshal(entry.Data, &data); err != nil {
			return nil, fmt.Errorf("%w: journal entry %s: %w", store.ErrCorrupt, entry.ID, err)
		}
		if i := slices.IndexFunc(rounds, func(r RoundEntry) bool { return r.Op == data.Undoes }); i >= 0 {
			rounds[i].Undone = true
		}
		if data.Round != nil {
			rounds = append(rounds, RoundEntry{Op: entry.ID, Time: entry.Time, Round: *data.Round})
		}
	}
	return rounds, nil
}

// policyOf returns when probes are answered well enough; nil is as package probe
// says.
func policyOf(least *ratio.Ratio) *probe.Policy {
	policy := probe.DefaultPolicy()
	switch {
	case least == nil:
	case *least == 0:
		policy = probe.Policy{Overall: -1, Critical: -1, Ordinary: -1, RedFlag: -1, MaxRatio: ratio.One}
	default:
		policy.Overall = *least
	}
	return &policy
}
