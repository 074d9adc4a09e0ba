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

// A recounted session is the account that a brief is made from: of all windows, beside
// what a summary at the beginning of the present one says.
type recounted struct {
	chapter
	units []account.Unit
	of    [][2]int // units of each block
	plan  *account.Plan
	state *account.State
}

// recount makes the account of all windows of a session, of so many tokens. What the
// summary in the window says is there already, if there is one.
func (e *Windows) recount(scope governance.Scope, h *hold.Snapshot, limit token.Count, count func(string) token.Count, summed bool) (*recounted, error) {
	all, behind := h.Entire(), h.Behind()
	msgs := all.Session.Messages
	r := &recounted{chapter: chapterOf(msgs, all.Blocks, all.Rows), of: make([][2]int, len(all.Blocks))}
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
		b.Tokens, b.Cut = limit, true // none of a brief is a block as it is
		b.Frame = count("- [12345678]\n")
		if all.Blocks[i].Kind == transcript.KindSummary {
			b.Fixed, b.Tokens, b.Absent = summed && i >= behind, 0, !summed || i < behind
		}
	}
	var err error
	r.plan, err = account.Make(req)
	return r, err
}

// says returns what the units of a kind in a block say: all of it if that is short, and
// otherwise what the account has of it, behind the first unit. It is empty if the account
// has nothing of it, unless everything is asked for.
func (r *recounted) says(block int, kind account.Kind, everything bool) string {
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

// words returns what persons said, the newest first, without what the summary says.
func (b *briefing) words() []string {
	var list []string
	for i := range slices.Backward(b.told.blocks) {
		said := b.told.says(i, account.Words, true)
		if !b.summarized(said) {
			list = append(list, entry(strings.TrimPrefix(said, "- "), b.told.ids[i]))
		}
	}
	return list
}

// replies returns what the account has of what the agent reported to the person, the newest
// first, and all of the newest. What it said before a call was of that call.
func (b *briefing) replies() []string {
	var list []string
	for i := range slices.Backward(b.told.blocks) {
		if b.told.blocks[i].Kind != transcript.KindAssistant {
			continue
		}
		if said := b.told.says(i, account.Sentence, len(list) == 0); !b.summarized(said) {
			list = append(list, entry(strings.TrimPrefix(said, "- "), b.told.ids[i]))
		}
	}
	return list
}

// stands returns how the work stands in the end: where it was committed, what was not, and
// which sub-agents run.
func (b *briefing) stands() []string {
	var list []string
	s := b.told.state
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

// tasks returns what the agent's own list says is to be done.
func (b *briefing) tasks() []string {
	var list []string
	for _, t := range b.told.state.Tasks {
		if t.Status != "completed" && t.Status != "deleted" && t.Subject != "" {
			list = append(list, entry("to do: "+t.Subject, ""))
		}
	}
	return list
}

// runs returns the newest commands of those that are attempts at the same thing, with their
// outcomes.
func (b *briefing) runs() []string {
	newest := make(map[string]bool)
	for _, r := range b.told.state.Runs {
		newest[b.told.ids[r.Block]] = true
	}
	return b.each(facts.FactCommand, func(c *chapter, f *facts.Fact) (subject, text string) {
		if !newest[c.ids[f.Block]] || f.Status == facts.StatusOK && b.summarized(f.Subject) {
			return "", ""
		}
		return ran(f)
	})
}

// summarizedBy reports whether the summary in the window says a text, whatever its case and
// marks of emphasis are.
func (b *briefing) summarized(said string) bool {
	return bare(said) == "" || strings.Contains(b.summary, bare(said))
}

// bare returns a text in lower case, on one line, without marks of emphasis.
func bare(s string) string {
	return strings.Trim(strings.ToLower(text.Fold(strings.NewReplacer("`", "", "*", "").Replace(s))), " .")
}
