package admin

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/ratio"
)

func TestRetentionIsPrinted(t *testing.T) {
	r := &retentionResult{Sessions: 1, Cases: 2, Tokens: 1500, Needs: 2.25}
	if got, want := r.counts(), "1 session, 2 cases, on average of 1,500 tokens and 2.2 names that were needed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&retentionResult{Idle: 1, Left: 1}).counts(); !strings.HasSuffix(got, "· 1 with too little that is used again · 1 file left (--max)") {
		t.Errorf("%q does not have one of each", got)
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
	r.Rows = append(r.Rows[1:], retentionRow{Budget: "20%", Method: "pager"})
	(&clitest.Printing{
		Name: "rows of one budget, none of them over it", Print: func(p *out.Page) { r.print(p) },
		TTY: r.counts() + "\n\nat 20%  ground    line    stub  complete  valid  used  over\nwindow  –         –       –     –         –      –     –\npager   –         –       –     –         –      –     –\n\n" +
			"ground, line: of the names used and the lines copied later, those in the window [95%];\nstub: or one recall away; complete: steps with all their names; used: of the budget\n",
	}).Test(t)
}

// Rows for programs have each end of an interval in a cell.
func TestExamsArePrinted(t *testing.T) {
	estimate := exam.Estimate{Mean: ratio.One / 2, Low: ratio.One / 4, High: ratio.One}
	report := &exam.Report{Share: 40, Sessions: 1, Questions: 2, Strings: 3, Bytes: 1200, Rows: []exam.Row{
		{Method: "window", Strings: estimate, Questions: estimate, Used: 900_000, Over: 1, Sessions: []exam.SessionRow{
			{Session: "dome", Score: exam.Score{Strings: 1, AllStrings: 3, Questions: 1, AllQuestions: 2, Bytes: 400, Limit: 480}},
		}},
	}}
	next := ratio.One / 2
	scores := &exam.Scores{Seed: 7, Sessions: 1, Questions: 2, Share: 40, Rows: []exam.ScoreRow{{Method: "window", Score: estimate, Right: 1, Part: 2, Unknown: 3, Wrong: 4, Next: &next}}}
	for _, tt := range []clitest.Printing{
		{
			Name: "an exam", Print: func(p *out.Page) { (&examBench{each: true}).print(p, report) },
			Pipe: "sessions\t1\nquestions\t2\nstrings\t3\nwindow\t0.500\t0.250\t1.000\t0.500\t0.250\t1.000\t0.900\t1\nwindow\tdome\t1\t3\t1\t2\t400\t480\n",
			TTY: "1 session, 2 questions, 3 strings, of 1,200 bytes\n\nat 40%  strings               questions               used     over\n" +
				"window  0.50     [0.25–1.00]  0.50       [0.25–1.00]  0.90     1\n  dome  1/3                   1/2                     400/480\n" +
				"\nstrings: of those that answers need, those in the window [95%];\nquestions: those with all of their strings; used: of the bytes\n",
		},
		{
			Name: "grades", Print: func(p *out.Page) { printScores(p, scores) },
			Pipe: "sessions\t1\nquestions\t2\nseed\t7\nwindow\t0.500\t0.250\t1.000\t1\t2\t3\t4\t0.500\t\n",
			TTY: "1 session, 2 questions\n\nat 40%  score               right  part  unknown  wrong  next  rating\nwindow  0.50   [0.25–1.00]      1     2        3      4  0.50  –\n" +
				"\nscore: mean grade of an answer, −0.5 to 1 [95%]; next: of the next steps, 0 to 3;\nrating: by the readers, 1 to 5\n",
		},
	} {
		tt.Test(t)
	}
}
