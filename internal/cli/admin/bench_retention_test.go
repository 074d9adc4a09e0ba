package admin

import (
	"testing"

	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

func TestRetentionIsPrinted(t *testing.T) {
	r := &retentionResult{Sessions: 1, Cases: 2, Tokens: 1500, Needs: 2.25}
	if got, want := r.counts(), "1 session, 2 cases, on average of 1,500 tokens and 2.2 names that were needed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Short, r.Min, r.Idle, r.Skipped, r.Left = 1, 1000, 2, 1, 2
	if got, want := r.counts(), "1 session, 2 cases, on average of 1,500 tokens and 2.2 names that were needed · 1 too short (--min 1000) · 2 with too little that is used again · 1 file without a conversation · 2 files left (--max)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	scores := map[retention.Score]retention.Estimate{
		retention.ScoreGround: {Mean: 0.5, Low: 0.25, High: 0.75}, retention.ScoreOver: {Mean: 0.001},
	}
	r.Rows = []retentionRow{{Budget: "10%", Method: "window", Scores: scores}, {Budget: "20%", Method: "window"}}
	(&clitest.Printing{
		Name: "rows", Print: func(p *out.Page) { r.print(p) },
		Pipe: "sessions\t1\ncases\t2\nshort\t1\nidle\t2\nskipped\t1\nleft\t2\n10%\twindow\t0.500\t0.250\t0.750\t\t\t\t\t\t\t\t0.001\n20%\twindow\t\t\t\t\t\t\t\t\t\t\t\n",
		TTY: r.counts() + "\n\nat 10%  ground               line    stub  complete  valid  used  over\nwindow  0.50    [0.25–0.75]  –       –     –         –      –     0.00\n" +
			"\nat 20%  ground    line    stub  complete  valid  used  over\nwindow  –         –       –     –         –      –     –\n\n" +
			"ground, line: of the names used and the lines copied later, those in the window [95%];\nstub: or one recall away; complete: steps with all their names; used: of the budget\n" +
			"over: of the windows, those above the budget, as rules held more; compress refuses such\n",
	}).Test(t)
}
