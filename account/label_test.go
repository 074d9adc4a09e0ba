package account

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/transcript"
)

func TestLabelsOfCommands(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"for r in 10 44; do echo rate $r; render $r; done", "rate 10|rate 44"},
		{"for f in *.go; do echo \"== $f\"; cat $f; done", "==…"},
		{"echo -e before; a; echo -n after: $x; b", "before|after:…"},
		{"a; echo status $?", ""},
		{"a; echo -n; b; echo -e -n; c", ""},
		{"echo; echo x; echo $x; echo \"a b\" > f; y=$(echo inner); printf z", ""},
	} {
		l, err := shell.Parse(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range labelsOf(l) {
			got = append(got, one.text+map[bool]string{true: "…"}[one.open])
		}
		if got := strings.Join(got, "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

// A line of an output stands below the label that was printed before it, and a label only above such a
// line. What stands below a label has a first and a last line of its own.
func TestOutputsHaveTheirLabels(t *testing.T) {
	call := transcript.ToolCall{ID: "1", Name: "Bash", Input: []byte(`{"command":"for r in 10 44; do echo rate $r; ./render $r; done; ./sum"}`)}
	result := transcript.ToolResult{CallID: "1", Content: []transcript.Part{transcript.Text(
		"begin\nrate 10\nframes 1511 of the show\n12 lamps\nrate 44\nframes 6628 of the show\n")}}
	msgs := []transcript.Message{{Role: transcript.RoleAssistant, Parts: []transcript.Part{call}}, {Role: transcript.RoleTool, Parts: []transcript.Part{result}}}
	units, _ := Read(msgs, transcript.Group("s", 0, msgs), nil)
	var got []string
	for i := range units {
		if u := &units[i]; u.Kind == Output {
			head, opens := "", ""
			if units[u.Head].Kind == Output {
				head = strings.TrimSpace(units[u.Head].Text) + " > "
			}
			if u.Opens {
				opens = ":"
			}
			ends := map[bool]string{true: "^"}[u.First] + map[bool]string{true: "$"}[u.Last]
			got = append(got, head+strings.TrimSpace(u.Text)+opens+ends)
		}
	}
	want := "[begin^$ rate 10: rate 10 > frames 1511 of the show^ rate 10 > 12 lamps$ rate 44: rate 44 > frames 6628 of the show^$]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// A figure that a short output repeats stands there once, with how often; but below each label anew.
func TestFiguresThatAreRepeated(t *testing.T) {
	const (
		line  = `{"command":"for r in 1 2; do echo lamp $r; ./check $r; done"}`
		check = "155 days, 0 differ\n155 days, 0 differ\ndone\ndone\n"
	)
	for _, tt := range []struct{ printed, want string }{
		{check, "155 days, 0 differ (×2)|done|done$"},
		{"155 days\n3 lamps\n155 days\n155 days", "155 days (×3)$|3 lamps"},
		{"lamp 1\n155 days\nlamp 2\n155 days", "lamp 1|155 days$|lamp 2|155 days$"},
		{check + strings.Repeat("x", mostRepeated-len(check)-1), "155 days, 0 differ (×2)|done|done"},
		{check + strings.Repeat("x", mostRepeated-len(check)), "155 days, 0 differ|155 days, 0 differ|done|done"},
	} {
		msgs := []transcript.Message{
			{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.ToolCall{ID: "1", Name: "Bash", Input: []byte(line)}}},
			{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "1", Content: []transcript.Part{transcript.Text(tt.printed)}}}},
		}
		units, _ := Read(msgs, transcript.Group("s", 0, msgs), nil)
		var got []string
		for i := range units {
			if u := &units[i]; u.Kind == Output && !strings.Contains(u.Text, "xxx") {
				got = append(got, strings.TrimSpace(u.Text)+map[bool]string{true: "$"}[u.Last])
			}
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("of %.60q there is %q, want %s", tt.printed, got, tt.want)
		}
	}
}
