package windows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// setSummary sets the summary of an outcome. The length of the summary has two limits: its share of
// the budget, and the space that the blocks under hard rules leave.
func (c *compression) setSummary(o *outcome, d *drafted, w way, req *pager.Request) {
	h := c.pass.held
	room := req.Budget - c.least(w.plans(), req)
	limit := min(token.Count(w.detail.Scale(int64(req.Budget))), room)
	s := &hold.WindowSummary{ID: hold.SummaryID(h.Head.ID), After: c.anchor(d.covers), Covers: d.covers, Input: c.inputs[d.covers], Summary: d.summary, Before: c.earlier()}
	head := fmt.Sprintf(transcript.Mark+" %s: summary of blocks 1 to %d, %d tokens; recall any id]\n", s.ID, d.covers, c.tokensOf(d.covers))
	cost := func(text string) token.Count {
		return c.pass.meter.Entries([]transcript.Entry{transcript.Stub(s.ID, text)}) + c.pass.end()
	}
	var left []summary.Elision
	switch {
	case w.account && w.detail == 0:
		s.Text = strings.TrimRight(head, "\n")
	case w.strategy == api.StrategyOpaque:
		s.Text = head + transcript.Quote(c.dense(d.covers, min(limit, opaqueLimit)))
	default:
		var text string
		ledger := ""
		if w.strategy == api.StrategyAnchored {
			ledger = c.pass.ledger(d.covers, limit/ledgerShare)
		}
		text, left, _ = d.summary.Fit(&summary.FitOptions{
			Limit: max(limit-cost(head+ledger), 1), ID: string(s.ID), Size: c.pass.meter.Counter.Count,
		})
		s.Text = head + transcript.Quote(strings.TrimRight(text, "\n")+ledger)
	}
	s.Tokens = cost(s.Text)
	if s.Tokens > room {
		o.warnings = append(o.warnings, fmt.Sprintf("no summary fits: rules hold all but %d tokens of the budget", max(room, 0)))
		return
	}
	d.left = left
	o.kept, o.drafted = s, d
	if d.warning != "" {
		o.warnings = append(o.warnings, d.warning)
	}
}

// least returns the fewest tokens that the window can have beside the summary.
func (c *compression) least(s api.Strategy, req *pager.Request) token.Count {
	low := *req
	low.Budget, low.Fixed = -1, c.pass.meter.Fixed(c.pass.held.Session)
	plan := pager.Slide
	if s == api.StrategyAccount {
		plan = c.pass.planAccount
	}
	_, err := plan(&low)
	if f, ok := errors.AsType[*pager.FloorError](err); ok {
		return f.Need
	}
	return 0
}

// anchor returns the block behind which a summary of the first n blocks stands: the first task
// among them, or else the last system text at the start. If the provider compacted the session,
// anchor returns the last such compaction, because the provider reads nothing before it.
func (c *compression) anchor(n int) transcript.BlockID {
	h := c.pass.held
	var at transcript.BlockID
	tasked := false
	for i := range n {
		switch {
		case c.pass.rules[i] == pager.RuleFirstTask && !tasked, pager.Compaction(h.Session.Messages, &h.Blocks[i]):
			at, tasked = h.Blocks[i].ID, true
		case !tasked && h.Blocks[i].Kind == transcript.KindSystem && (i == 0 || h.Blocks[i-1].ID == at):
			at = h.Blocks[i].ID
		}
	}
	return at
}

func (c *compression) tokensOf(n int) token.Count {
	var sum token.Count
	for i := range n {
		sum += c.pass.held.Rows[i].Tokens
	}
	return sum
}

// opaqueLimit is the most tokens of an opaque summary (context-compression skill, Opaque
// Compression: max_tokens).
const opaqueLimit = 500

// dense returns the names of the facts in the first n blocks on one line, each once, those of the newest
// facts first, up to limit tokens. This is the opaque summary: a model can go on from it, but people can
// hardly read it.
func (c *compression) dense(n int, limit token.Count) string {
	found := c.factsOf(n)
	seen := make(map[string]bool)
	text := ""
	for _, f := range slices.Backward(found) {
		for _, name := range f.Names {
			if seen[name] {
				continue
			}
			seen[name] = true
			if next := text + name + " "; c.pass.meter.Counter.Count(next) > limit {
				return text
			}
			text += name + " "
		}
	}
	return text
}

// ledgerShare limits the ledger of a summary. The ledger may take the limit of the summary divided
// by ledgerShare.
const ledgerShare = 8

// ledger returns a list of the files and commands of the first n blocks, the last used first,
// each with its status and the block to recall. It has at most limit tokens, and is empty if
// there is nothing to list.
func (p *pass) ledger(n int, limit token.Count) string {
	h := p.held
	graph := facts.NewGraph(h.Session.Messages, h.Blocks[:n], &facts.Options{Tools: p.engine.Opts.Tools, Project: h.Session.Project})
	nodes := slices.DeleteFunc(slices.Clone(graph.Nodes()), func(f facts.Node) bool {
		return f.Kind != facts.NodeFile && f.Kind != facts.NodeCommand || len(f.Uses) == 0
	})
	slices.SortStableFunc(nodes, func(a, b facts.Node) int {
		return cmp.Compare(b.Uses[len(b.Uses)-1].Block, a.Uses[len(a.Uses)-1].Block)
	})
	text, lines := "\n\n## Ledger", 0
	tally := token.NewTally(p.meter.Counter)
	tally.Add(text)
	for i := range nodes {
		line := "\n- " + p.standing(&nodes[i])
		if tally.With(line) > limit {
			break
		}
		tally.Add(line)
		text += line
		lines++
	}
	if lines == 0 {
		return ""
	}
	return text
}

// standing returns a line about a file or command: its name, and what was done with it, such as
// "read". Each act comes with the id of the last block that did it.
func (p *pass) standing(n *facts.Node) string {
	last := make(map[facts.Act]int)
	for _, u := range n.Uses {
		last[u.Act] = u.Block
	}
	var said []string
	for _, act := range [...]facts.Act{facts.ActWrite, facts.ActRead, facts.ActRun, facts.ActFail} {
		if block, ok := last[act]; ok {
			word := string(act)
			switch {
			case act == facts.ActWrite && n.Status != "":
				word = string(n.Status)
			case act == facts.ActRun && n.Status != "":
				word = string(n.Status)
			}
			said = append(said, fmt.Sprintf("%s [%s]", word, p.held.Rows[block].ID.Short()))
		}
	}
	return fmt.Sprintf("%s: %s", firstLine(n.Name), strings.Join(said, ", "))
}

// firstLine returns the first line of a text, cut to 100 characters.
func firstLine(s string) string { return text.Short(text.FirstLine(s), 100) }
