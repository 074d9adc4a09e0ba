package windows

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// callsShare limits the length of the calls that stay in the window as calls, see
// [pass.unanswered]. The limit is the budget divided by callsShare.
const callsShare = 16

// unanswered returns the index of the last block if it ends in results of tools that the agent has
// not answered yet, and otherwise -1. In place of this block the window must not end in a reply of
// the agent, because providers refuse such a request or let the model continue the reply. So if the
// block does not stay whole, it keeps its calls, with other results. If the calls are too long for
// that, its stub is a message to the agent, and not one by the agent.
func (p *pass) unanswered() int {
	h := p.held
	last := len(h.Session.Messages) - 1
	if last < 0 || h.Session.Messages[last].Role == transcript.RoleAssistant || len(h.Session.Messages[last].Results()) == 0 {
		return -1
	}
	i := len(h.Blocks) - 1
	if h.Blocks[i].Kind != transcript.KindTool || !slices.Contains(h.Blocks[i].Messages, last) {
		return -1
	}
	return i
}

// callsFrame returns the tokens of block i with its calls, and with results that have no text.
func (p *pass) callsFrame(i int) token.Count {
	b := &p.held.Blocks[i]
	s := pager.Stub{Results: map[string]string{}}
	for _, r := range p.resultsOf(i) {
		s.Results[r.CallID] = ""
	}
	return p.meter.Entries(pager.Entries(p.held.Session.Messages, b, pager.Calls, s))
}

func (p *pass) resultsOf(i int) (all []transcript.ToolResult) {
	for _, m := range p.held.Blocks[i].Messages {
		all = append(all, p.held.Session.Messages[m].Results()...)
	}
	return all
}

// callsStub returns the stub of the block that [pass.unanswered] returns, with its calls. The kept
// units of each call stand in place of its result. A result whose units are all kept stays
// unchanged.
func (p *pass) callsStub(i int, made *account.Plan) pager.Stub {
	h, a := p.held, p.account
	results := p.resultsOf(i)
	parts := a.callParts(i, len(results))
	s := pager.Stub{Results: make(map[string]string, len(results))}
	for k, r := range results {
		from, to := parts[k][0], parts[k][1]
		end := k == len(results)-1 && a.holder == i
		if from < to && !end && !slices.Contains(made.Kept[from:to], false) {
			continue // the result itself says as much
		}
		text := account.Text(withoutCommand(a.units[from:to]), made.Kept[from:to], h.Blocks[i].ID)
		if end {
			text += "\n\n" + a.end
		}
		s.Results[r.CallID] = text
	}
	return s
}

// callParts returns the units of each call of block i, which has n results: from its own unit up to
// the next call. If the calls are not n, all units stand in place of the last result.
func (a *accountInput) callParts(i, n int) (parts [][2]int) {
	from, to := a.of[i][0], a.of[i][1]
	for k := from; k < to; k++ {
		if kind := a.units[k].Kind; kind < account.Look || kind > account.Step {
			continue
		}
		if n := len(parts); n > 0 {
			parts[n-1][1] = k
		}
		parts = append(parts, [2]int{k, to})
	}
	if len(parts) != n {
		parts = make([][2]int, n)
		parts[n-1] = a.of[i]
	}
	return parts
}

// withoutCommand returns the units of a call without the text of the command, because the call
// itself shows the command. Of the first unit only the line with the outcome remains.
func withoutCommand(units []account.Unit) []account.Unit {
	if len(units) == 0 {
		return nil
	}
	units = slices.Clone(units)
	if at := strings.LastIndex(units[0].Text, "\n→ "); at >= 0 {
		units[0].Text = units[0].Text[at+1:]
	}
	return units
}
