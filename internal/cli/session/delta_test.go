package session

import (
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func TestDifferencesOfWindowsArePrinted(t *testing.T) {
	noon := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	size := func(n token.Count) *token.Count { return &n }
	delta := &carrel.SessionDelta{
		From: api.SessionMoment{Revision: 1, Window: size(2000)}, To: api.SessionMoment{Revision: 3, Kind: "page"},
		Ops: []api.DeltaOp{
			{Op: "op_1", Kind: "import", Actor: "user", Time: noon, Added: 1, Before: size(0), After: size(2000)},
			{Op: "op_2", Kind: "page", Actor: "user", Time: noon, Blocks: 2, Undone: true, Added: 3},
			{Op: "op_3", Kind: "pin", Actor: "user", Time: noon, Blocks: 1},
		},
		Blocks: []api.BlockDelta{
			{Block: "1234567890abcdef", Turn: 2, Kind: transcript.KindTool, From: pager.Whole, To: pager.Line, Before: 1500, After: 9, Step: "cover", Preview: "make"},
			{Block: "2234567890abcdef", Turn: 3, Kind: transcript.KindUser, From: pager.Line, To: pager.Whole, Pinned: new(true), Before: 9, After: 70, Rule: pager.RulePin, Step: "cover", Preview: "go"},
			{Block: "3234567890abcdef", Turn: 4, Pinned: new(false)},
			{Block: "4234567890abcdef", Turn: 5, Pinned: new(true)},
		},
	}
	for _, tt := range []clitest.Printing{
		{
			Name: "a difference", Print: func(p *out.Page) { printSessionDelta(p, delta) },
			Pipe: "revision 1 (begin, 2000 tokens) → revision 3 (page, unknown tokens)\n" +
				"\nop_1\t2026-02-03T12:00:00Z\timport\tuser\t0\t0\t2000\tadded 1 block\nop_2\t2026-02-03T12:00:00Z\tpage\tuser\t2\t\t\tundone\nop_3\t2026-02-03T12:00:00Z\tpin\tuser\t1\t\t\t\n" +
				"\n12345678\t2\ttool\twhole → line\t1500\t9\tcover\tmake\n22345678\t3\tuser\tline → whole\t9\t70\tpin\tgo\n32345678\t4\t\tunpinned\t0\t0\t\t\n42345678\t5\t\tpinned\t0\t0\t\t\n",
			TTY: "revision 1 (begin, 2,000 tokens) → revision 3 (page, unknown tokens)\n" +
				"\noperation  time              what    who   blocks  before  after\n" +
				"op_1       2026-02-03 12:00  import  user       0  0       2,000  added 1 block\n" +
				"op_2       2026-02-03 12:00  page    user       2                 undone\n" +
				"op_3       2026-02-03 12:00  pin     user       1\n" +
				"\nblock     turn  kind  became        before  after  why    text\n" +
				"12345678     2  tool  whole → line   1,500      9  cover  make\n" +
				"22345678     3  user  line → whole       9     70  pin    go\n" +
				"32345678     4        unpinned           0      0\n" +
				"42345678     5        pinned             0      0\n",
		},
		{Name: "no difference", Print: func(p *out.Page) { printSessionDelta(p, &carrel.SessionDelta{}) }, Pipe: "revision 0 (begin, unknown tokens) → revision 0 (begin, unknown tokens)\n\nevery block is as it was\n"},
		{
			Name: "a window that is watched", Print: func(p *out.Page) {
				r := &carrel.ContextResult{Used: 40, Capacity: 100, Level: "ok"}
				r.Revision = 7
				printWatched(p, r, noon)
			}, Pipe: "context\t2026-02-03T12:00:00Z\t7\t40\t100\tok\n",
		},
	} {
		tt.Test(t)
	}
}
