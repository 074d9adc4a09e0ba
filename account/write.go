package account

import (
	"strings"

	"github.com/carrel-dev/carrel/transcript"
)

// Text returns the text in place of a block: its kept units in order, and the
// text of [Mark] at the end if a unit is missing or the units have a gap.
// units are all units of the block; kept has a value for each. Quoted text is
// escaped as by [transcript.Quote].
func Text(units []Unit, kept []bool, id transcript.BlockID) string {
	var b strings.Builder
	missing, gap := false, false
	cut := false      // the end of a text of code is missing
	head := int32(-1) // head of the unit that was written last
	for i := range units {
		u := &units[i]
		if !kept[i] {
			missing, gap = true, true
			cut = cut || b.Len() > 0 && u.code() && u.Head == head
			continue
		}
		if gap && u.code() && u.Head == head {
			b.WriteString(ellipsis)
		}
		switch {
		case b.Len() == 0:
		case u.Same && !gap:
			b.WriteByte(' ')
		case u.Same:
			b.WriteString(" … ")
		default:
			b.WriteByte('\n')
		}
		b.WriteString(transcript.Quote(u.Text))
		gap, cut, head = false, false, u.Head
		missing = missing || u.Gap
	}
	if cut {
		b.WriteString(ellipsis)
	}
	if missing || b.Len() == 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Mark(id))
	}
	return b.String()
}

// ellipsis marks a gap below a line of code.
const ellipsis = "\n…"

// code reports whether a unit is a line of a file without its number. A gap
// beside it must be marked, because no number shows it.
func (u *Unit) code() bool {
	switch u.Kind {
	case Change, Written:
		return true
	case Span:
		number, _ := withoutPlace(u.Text)
		return number == ""
	case Words, Sentence, Report, Look, Run, Edit, Step, Argument, Output, Sign, kinds:
	}
	return false
}

// Quotation returns the longest text that the unit can have in a window: its text, the mark of a
// gap if a gap can occur there, and a line feed.
func (u *Unit) Quotation() string {
	s := transcript.Quote(u.Text)
	if u.code() {
		s += ellipsis
	}
	return s + "\n"
}

// Mark returns the last line of the text of an incomplete block, such as
// "[3f2a91bc]".
func Mark(id transcript.BlockID) string { return "[" + id.Short() + "]" }

// Role returns the role of the text in place of a block.
func Role(b *transcript.Block) transcript.Role {
	switch b.Kind {
	case transcript.KindAssistant, transcript.KindTool:
		return transcript.RoleAssistant
	case transcript.KindUser, transcript.KindSystem, transcript.KindSummary, transcript.KindOrphan:
	}
	return transcript.RoleUser
}
