package windows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// judged judges whether data is a good summary of the first blocks of a session. The argument asked
// is the number of these blocks; 0 means the number that the summary gives or, if it gives none,
// all blocks.
func (e *Windows) judged(h *hold.Snapshot, data []byte, asked int, least *ratio.Ratio) (*api.Judgement, *summary.Summary, error) {
	n, err := h.FirstBlocks(asked)
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

// judging holds the standard by which a summary is judged.
type judging struct {
	blocks  int              // number of blocks that the summary covers, from the first
	found   []facts.Fact     // facts of those blocks
	made    *summary.Summary // the session's own summary, or nil
	counter token.Counter
	policy  *probe.Criteria
}

// judge judges a text as a summary. It returns the judgement and the summary parsed from the
// text, or nil. Every judgement of a summary goes through this function.
func (e *Windows) judge(h *hold.Snapshot, data []byte, by *judging) (*api.Judgement, *summary.Summary) {
	j := &api.Judgement{Blocks: by.blocks, After: by.counter.Count(string(data))}
	for i := range by.blocks {
		j.Before += h.Rows[i].Tokens
	}
	for i := range h.Earlier { // the summary may speak of earlier windows, too
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
	j.Problems = append([]summary.Problem{}, j.Problems...) // an empty list in JSON, not null
	j.Accepted = len(j.Verdict.Reasons) == 0
	j.Verdict.Accepted = j.Accepted
	return j, s
}

// has reports whether s has the same entries as the session's own summary. Entries also count as
// the same if they differ only because s was parsed from Markdown.
func (by *judging) has(s *summary.Summary) bool {
	if by.made == nil {
		return false
	}
	printed, err := summary.Parse([]byte(by.made.Markdown()))
	return slices.Equal(s.Entries(), by.made.Entries()) || err == nil && slices.Equal(s.Entries(), printed.Entries())
}

// source returns the original against which a summary of the first n blocks is checked.
func (e *Windows) source(h *hold.Snapshot, n int, found []facts.Fact) *summary.Original {
	src := &summary.Original{Names: identifiers}
	all, to := h.WithEarlier(), h.Behind()+n // a summary may speak of earlier windows, too
	texts := slices.Clip(all.Texts()[:to])
	for i := range n {
		texts = append(texts, h.Rows[i].ID.Short()) // a summary may name a block
	}
	src.Text = strings.Join(append(texts, ""), "\n")
	seen := make(map[string]bool)
	for i := range found {
		if f := &found[i]; f.Kind == facts.FactChange && !byproduct(f) && !seen[f.Subject] {
			seen[f.Subject] = true
			src.Changed = append(src.Changed, f.Subject)
		}
	}
	src.Asked = askedOf(all, to)
	return src
}

// byproduct reports whether a file was created as the output of a command. A summary need not
// name it.
func byproduct(f *facts.Fact) bool { return f.Status == facts.StatusCreated && f.Text == "" }

// withoutByproducts returns the facts without the files that are byproducts of commands.
func withoutByproducts(found []facts.Fact) []facts.Fact {
	return slices.DeleteFunc(slices.Clone(found), func(f facts.Fact) bool { return f.Kind == facts.FactChange && byproduct(&f) })
}

// askedOf returns the user's messages in the first n blocks.
func askedOf(h *hold.Snapshot, n int) (all []string) {
	for i := range n {
		for _, k := range h.Blocks[i].Messages {
			if m := &h.Session.Messages[k]; m.Role == transcript.RoleUser && m.Text() != "" {
				all = append(all, m.Text())
			}
		}
	}
	return all
}

// identifiers returns the identifiers of a text, each once, without quantities, which a summary
// may word differently.
func identifiers(text string) []string {
	var all []string
	seen := make(map[string]bool)
	facts.Each(text, func(id facts.Identifier, _ int) {
		if id.Kind != facts.KindQuantity && !seen[id.Text] {
			seen[id.Text] = true
			all = append(all, id.Text)
		}
	})
	return all
}

// probesFrom generates probes from the facts of a session's first n blocks.
func (e *Windows) probesFrom(h *hold.Snapshot, n int, found []facts.Fact) []probe.Probe {
	return probe.Generate(found, probingOf(h, n))
}

// probingOf returns the options of probes that are asked about a session's first n blocks.
func probingOf(h *hold.Snapshot, n int) *probe.Options {
	return &probe.Options{
		Ref:       func(block int) string { return h.Rows[block].ID.Short() },
		Turn:      func(block int) int { return h.Blocks[block].Turn },
		Originals: h.Texts()[:n],
	}
}

// policyOf returns the criteria that decide whether enough probes passed. If least is nil, they are
// the defaults of package probe. If *least is 0, every criterion is met, whatever probes passed.
// Otherwise they are the defaults, but with *least as the share of all probes that must pass.
func policyOf(least *ratio.Ratio) *probe.Criteria {
	policy := probe.DefaultPolicy()
	switch {
	case least == nil:
	case *least == 0:
		policy = probe.Criteria{Overall: -1, Critical: -1, Ordinary: -1, RedFlag: -1, MaxRatio: ratio.One}
	default:
		policy.Overall = *least
	}
	return &policy
}
