package windows

import (
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
)

// judged judges a text as the summary of the first blocks of a session: of as many as
// are asked for, or else as many as it says itself, or else of all.
func (e *Windows) judged(h *hold.Held, data []byte, asked int, least *ratio.Ratio) (*api.Judgement, *summary.Summary, error) {
	n, err := h.First(asked)
	if err != nil {
		return nil, nil, err
	}
	if own, err := summary.Parse(data); err == nil && asked == 0 && own.Messages > 0 {
		n = min(own.Messages, n)
	}
	m, err := e.MeterFor(h.Session, h.Head.Encoding)
	if err != nil {
		return nil, nil, err
	}
	by := &judging{blocks: n, found: e.FactsOf(h, n, 0), counter: m.Counter, policy: policyOf(least)}
	if h.Summary != nil && h.Summary.Covers == n {
		by.made = h.Summary.Whole()
	}
	j, s := e.judge(h, data, by)
	return j, s, nil
}

// judging is what a summary is judged by.
type judging struct {
	blocks  int              // that it covers, from the first
	found   []facts.Fact     // of those
	made    *summary.Summary // of the session itself, or nil
	counter token.Counter
	policy  *probe.Policy
}

// judge judges a text as a summary, and returns the summary that it was read as, or
// nil. There is no other judgement of a summary.
func (e *Windows) judge(h *hold.Held, data []byte, by *judging) (*api.Judgement, *summary.Summary) {
	j := &api.Judgement{Blocks: by.blocks, After: by.counter.Count(string(data))}
	for i := range by.blocks {
		j.Before += h.Rows[i].Tokens
	}
	for i := range h.Earlier { // it may speak of these, too
		for k := range h.Earlier[i].Rows {
			j.Before += h.Earlier[i].Rows[k].Tokens
		}
	}
	s, err := summary.Parse(data)
	if err != nil || !by.has(s) {
		s, j.Problems = summary.Examine(data, e.source(h, by.blocks, by.found))
	}
	var intent string
	var entries []string
	if s != nil {
		intent = s.Intent
		for _, entry := range s.Entries() {
			entries = append(entries, entry.Text)
		}
	}
	j.Probes = probe.GradeAuthored(probe.Essentials(withoutByproducts(by.found), probingOf(h, 0)), intent, entries)
	j.Verdict = j.Probes.Judge(by.policy, j.Before, j.After)
	if n := len(j.Problems); n > 0 {
		list := &j.Verdict.Reasons
		if s != nil && by.policy.Overall < 0 {
			list = &j.Verdict.Warnings
		}
		word := "problems"
		if n == 1 {
			word = "problem"
		}
		*list = append(*list, fmt.Sprintf("%d %s in the summary", n, word))
	}
	j.Problems = append([]summary.Problem{}, j.Problems...) // a list in JSON, too
	j.Accepted = len(j.Verdict.Reasons) == 0
	j.Verdict.Accepted = j.Accepted
	return j, s
}

// has reports whether a summary says what the session's own does, entry by entry. That
// may have been printed and read again.
func (by *judging) has(s *summary.Summary) bool {
	if by.made == nil {
		return false
	}
	printed, err := summary.Parse([]byte(by.made.Markdown()))
	return slices.Equal(s.Entries(), by.made.Entries()) || err == nil && slices.Equal(s.Entries(), printed.Entries())
}
