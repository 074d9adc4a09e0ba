package windows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/token"
)

// ledgerShare is the part of a summary that its ledger may take.
const ledgerShare = 8

// ledger returns the ledger of the first n blocks: the files and commands that they
// worked with, the last used first, how each stands and by which block what is known
// of it comes back. It is no larger than the limit, and empty if there is nothing to
// list.
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
	for i := range nodes {
		line := "\n- " + p.standing(&nodes[i])
		if p.meter.Counter.Count(text+line) > limit {
			break
		}
		text += line
		lines++
	}
	if lines == 0 {
		return ""
	}
	return text
}

// standing says in one line how a file or a command stands, with the last block of
// each act.
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

// firstLine returns the first line of a text, of 100 characters at most.
func firstLine(s string) string { return text.Short(text.FirstLine(s), 100) }
