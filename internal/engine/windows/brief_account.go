package windows

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A briefAccount is the account from which a brief is made. It covers all windows of the session.
// The text of the summary at the start of the present window counts as known to the agent.
type briefAccount struct {
	chapter
	units []account.Unit
	of    [][2]int // the units of block i are units[of[i][0]:of[i][1]]
	plan  *account.Plan
	state *account.State
}

// makeBriefAccount makes the account of all windows of a session, of at most limit tokens. If
// summed is true, the summary in the present window is text that the agent already has.
func (e *Windows) makeBriefAccount(scope governance.Scope, h *hold.Snapshot, limit token.Count, count func(string) token.Count, summed bool) (*briefAccount, error) {
	all, behind := h.WithEarlier(), h.Behind()
	msgs := all.Session.Messages
	r := &briefAccount{chapter: chapterOf(msgs, all.Blocks, all.Rows), of: make([][2]int, len(all.Blocks))}
	r.units, r.state = account.Read(msgs, all.Blocks, &account.Options{Tools: e.Opts.Tools, Project: h.Session.Project})
	for i := range r.units {
		if at := &r.of[r.units[i].Block]; at[1] == 0 {
			*at = [2]int{i, i + 1}
		} else {
			at[1] = i + 1
		}
	}
	pieces := e.PiecesOf(scope, msgs, all.Blocks)
	req := &account.Request{
		Units: r.units, Worth: account.NewWorth(r.units, pieces, facts.Estimate(pieces, e.Opts.Model), e.Opts.Prior),
		Blocks: make([]account.Block, len(all.Blocks)), Budget: limit,
		Count: func(i int) token.Count { return count(r.units[i].Text) + 1 },
	}
	for i := range req.Blocks {
		b := &req.Blocks[i]
		b.Tokens, b.Cut = limit, true // a brief contains no block whole
		b.Frame = count("- [12345678]\n")
		if all.Blocks[i].Kind == transcript.KindSummary {
			b.Fixed, b.Tokens = summed && i >= behind, 0
			b.Absent = !b.Fixed
		}
	}
	var err error
	r.plan, err = account.Make(req)
	return r, err
}

// says returns the text of the units of one kind in a block, so far as the account kept them. The
// first unit is always included, even if the account did not keep it. If the account kept no unit,
// says returns "", unless everything is true. If everything is true and all units together are
// short, says returns all of them. It returns "" for summaries and for calls of Carrel's own tools.
func (r *briefAccount) says(block int, kind account.Kind, everything bool) string {
	var whole, kept []string
	some := everything
	for i := r.of[block][0]; i < r.of[block][1]; i++ {
		u := &r.units[i]
		if u.Kind != kind {
			continue
		}
		some = some || r.plan.Kept[i]
		if len(whole) == 0 || r.plan.Kept[i] {
			kept = append(kept, u.Text)
		}
		whole = append(whole, u.Text)
	}
	if !some || r.own(block) || r.blocks[block].Kind == transcript.KindSummary {
		return ""
	}
	all := strings.Join(whole, " ")
	if everything && (len(all) <= longestEntry || len(kept) == 1) || len(kept) == len(whole) {
		return all
	}
	return strings.Join(kept, " … ")
}

// words returns the user's messages, the newest first, without those that the summary contains.
func (b *briefing) words() []string {
	var list []string
	for i := range slices.Backward(b.account.blocks) {
		said := b.account.says(i, account.Words, true)
		if !b.summarized(said) {
			list = append(list, entry(strings.TrimPrefix(said, "- "), b.account.ids[i]))
		}
	}
	return list
}

// replies returns the agent's reports to the user, the newest first. The newest report is whole if
// it is not too long; from each other report it has the units that the account kept. Sentences
// before a tool call are not reports.
func (b *briefing) replies() []string {
	var list []string
	for i := range slices.Backward(b.account.blocks) {
		if b.account.blocks[i].Kind != transcript.KindAssistant {
			continue
		}
		if said := b.account.says(i, account.Sentence, len(list) == 0); !b.summarized(said) {
			list = append(list, entry(strings.TrimPrefix(said, "- "), b.account.ids[i]))
		}
	}
	return list
}

// stands returns the state of the work at the end: commits, changes that are not committed, and
// running sub-agents.
func (b *briefing) stands() []string {
	var list []string
	s := b.account.state
	for i := range s.Places {
		list = append(list, entry(s.Places[i].String(), ""))
	}
	if len(s.Loose) > 0 {
		list = append(list, entry("changed, not committed: "+strings.Join(s.Loose, ", "), ""))
	}
	for _, a := range s.Agents {
		list = append(list, entry("sub-agent runs: "+a, ""))
	}
	return list
}

// tasks returns the unfinished entries of the agent's own to-do list.
func (b *briefing) tasks() []string {
	var list []string
	for _, t := range b.account.state.Tasks {
		if t.Status != "completed" && t.Status != "deleted" && t.Subject != "" {
			list = append(list, entry("to do: "+t.Subject, ""))
		}
	}
	return list
}

// runs returns the commands with their outcomes. If a command was tried several times, it returns
// only the newest attempt.
func (b *briefing) runs() []string {
	newest := make(map[string]bool)
	for _, r := range b.account.state.Runs {
		newest[b.account.ids[r.Block]] = true
	}
	return b.each(facts.FactCommand, func(c *chapter, f *facts.Fact) (subject, text string) {
		if !newest[c.ids[f.Block]] || f.Status == facts.StatusOK && b.summarized(f.Subject) {
			return "", ""
		}
		return ran(f)
	})
}

// summarized reports whether the summary in the window contains a text, ignoring case and marks
// of emphasis.
func (b *briefing) summarized(said string) bool {
	return bare(said) == "" || strings.Contains(b.summary, bare(said))
}

// bare returns s in lower case and on one line, without asterisks and backquotes, and without
// spaces and periods at its ends.
func bare(s string) string {
	return strings.Trim(strings.ToLower(text.Fold(strings.NewReplacer("`", "", "*", "").Replace(s))), " .")
}
