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
	for i := range units {
		u := &units[i]
		if !kept[i] {
			missing, gap = true, true
			continue
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
		gap = false
	}
	if missing || b.Len() == 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Mark(id))
	}
	return b.String()
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
