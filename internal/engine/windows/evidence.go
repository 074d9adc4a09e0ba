package windows

import (
	"context"
	"strings"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// evidence returns the texts in the window of the session h, and the texts that the agent can get
// with a single recall: the whole summary, and the blocks whose ids are in the window.
func (e *Windows) evidence(ctx context.Context, scope governance.Scope, h *hold.Snapshot) (*probe.Evidence, error) {
	stubs, err := e.Stubs(ctx, scope, h.Rows)
	if err != nil {
		return nil, err
	}
	return evidenceOf(h, h.Rows, stubs, h.Summary), nil
}

// evidenceOf returns the texts in a window, and the texts that one recall brings back: the whole
// summary, and the blocks whose ids are in the window.
func evidenceOf(h *hold.Snapshot, rows []store.Block, stubs map[transcript.BlockID]pager.Stub, sum *hold.WindowSummary) *probe.Evidence {
	ev := &probe.Evidence{}
	named := make(map[string]bool)
	if sum != nil {
		ev.Window = append(ev.Window, sum.Text)
		ev.Recall = append(ev.Recall, sum.Whole().Markdown())
		addShortIDs(named, sum.Text)
	}
	for i := range rows {
		switch form := pager.Form(rows[i].Form); form {
		case pager.Whole, pager.Bare:
			ev.Window = append(ev.Window, h.Texts()[i])
		case pager.Calls, pager.Lines, pager.Line:
			ev.Window = append(ev.Window, textOf(pager.Entries(h.Session.Messages, &h.Blocks[i], form, stubs[rows[i].ID])))
			ev.Recall = append(ev.Recall, h.Texts()[i])
		case pager.Gone:
			if named[rows[i].ID.Short()] {
				ev.Recall = append(ev.Recall, h.Texts()[i])
			}
		}
	}
	return ev
}

// textOf returns the text, calls and results of entries.
func textOf(entries []transcript.Entry) string {
	var b strings.Builder
	for i := range entries {
		for _, p := range entries[i].Parts {
			switch p := p.(type) {
			case transcript.Text:
				b.WriteString(string(p))
			case transcript.ToolCall:
				b.WriteString(p.Name + " " + string(p.Input))
			case transcript.ToolResult:
				b.WriteString(p.Text())
			case transcript.Thinking, transcript.Media, transcript.Opaque:
				continue
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// addShortIDs adds to ids the words of a text that look like the short id of a block.
func addShortIDs(ids map[string]bool, text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) {
		if len(word) == 8 {
			ids[word] = true
		}
	}
}
