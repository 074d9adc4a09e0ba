package account

import (
	"strings"

	"github.com/carrel-dev/carrel/transcript"
)

// Text returns what stands in place of a block: those of its units that are kept, in their
// order, and the id of the block at the end if anything is missing. Whatever units quote
// is protected as by [transcript.Quote].
func Text(units []Unit, kept []bool, id transcript.BlockID) string {
	var b strings.Builder
	missing, gap := false, false
	head := int32(-1) // of the unit that was written last
	for i := range units {
		u := &units[i]
		if !kept[i] {
			missing, gap = true, true
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
		gap, head = false, u.Head
	}
	if missing || b.Len() == 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Mark(id))
	}
	return b.String()
}

// ellipsis stands below a line of code that the next one does not follow.
const ellipsis = "\n…"

// code reports whether a unit is of a text without numbers, in which a gap must be marked.
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

// Quotation returns what a unit takes in a window at most: its text as it stands there, with
// a mark of a gap where there may be one.
func (u *Unit) Quotation() string {
	s := transcript.Quote(u.Text)
	if u.code() {
		s += ellipsis
	}
	return s + "\n"
}

// Mark returns how an account names a block that is not all there.
func Mark(id transcript.BlockID) string { return "[" + id.Short() + "]" }

// Role returns in whose voice what stands in place of a block is.
func Role(b *transcript.Block) transcript.Role {
	switch b.Kind {
	case transcript.KindAssistant, transcript.KindTool:
		return transcript.RoleAssistant
	case transcript.KindUser, transcript.KindSystem, transcript.KindSummary, transcript.KindOrphan:
	}
	return transcript.RoleUser
}
