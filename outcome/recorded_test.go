package outcome

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// What programs printed, judged as a call of which the status is known, as one that goes
// into a pipe, and as one of a runner that does not say what it runs. The status with which
// the program ended is the truth. A verdict that is said must be right.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded outputs: %v", err)
	}
	all := map[string][3]int{}
	for _, file := range files {
		tool := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(tool, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			known := map[string][3]int{}
			for _, part := range archive.Files {
				f := strings.SplitN(part.Name, " ", 3)
				status, err := strconv.Atoi(f[1])
				if err != nil || len(f) != 3 {
					t.Fatalf("%q is no number, status and command", part.Name)
				}
				line, printed := f[2], string(part.Data)
				truth := Passed
				if status != 0 {
					truth = Failed
				}
				for mode, o := range map[string]Outcome{
					"status": Builtin().Of(bash(line), result(exit(status, printed), status != 0)),
					"pipe":   Builtin().Of(bash("("+line+") 2>&1 | cat"), result(printed, false)),
					"runner": Builtin().Of(bash("make check 2>&1 | cat"), result(printed, false)),
				} {
					n := known[mode]
					n[0]++
					switch {
					case o.Verdict == truth:
						n[1]++
					case o.Verdict != Unknown:
						n[2]++
						if !slices.Contains(wrong, tool+" "+mode+" "+f[0]) {
							t.Errorf("%s, %s: %s, %q; want %s\n%s", part.Name, mode, o.Verdict, o.Text, truth, printed)
						}
					}
					known[mode] = n
					if testing.Verbose() {
						fmt.Printf("%s %s [%s] %s | %s\n", tool, part.Name, mode, o.Verdict, o.Text)
					}
				}
			}
			for _, mode := range []string{"status", "pipe", "runner"} {
				n := known[mode]
				t.Logf("%s: %s: n %d, right %d, wrong %d", tool, mode, n[0], n[1], n[2])
				sum := all[mode]
				for i := range n {
					sum[i] += n[i]
				}
				all[mode] = sum
			}
		})
	}
	for mode, percent := range map[string]int{"status": 97, "pipe": 85, "runner": 55} {
		n := all[mode]
		t.Logf("%s: n %d, right %d, wrong %d", mode, n[0], n[1], n[2])
		if n[1]*100 < n[0]*percent {
			t.Errorf("%s: %d of %d outputs are judged, want %d%%", mode, n[1], n[0], percent)
		}
	}
}

// wrong are the outputs that are known to be judged wrongly: file, mode and number.
var wrong = []string{
	"playwright pipe 01", "playwright runner 01", // a test that passes prints "1 failed", which is what Playwright says
	"playwright pipe 08", "playwright runner 08",
	"playwright pipe 10", "playwright runner 10",
	"pylint pipe 10", // it reports something and ends with 0, since it was told to
}

// exit returns an output as Claude Code writes it.
func exit(status int, printed string) string {
	if status == 0 {
		return printed
	}
	return fmt.Sprintf("Exit code %d\n%s", status, printed)
}
