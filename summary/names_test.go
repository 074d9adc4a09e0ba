package summary

import (
	"strings"
	"testing"
)

// What an entry may name is what the source has: as it is, in a part, or from another
// root, and never in the middle of a longer word.
func TestNamesOfTheSource(t *testing.T) {
	const source = `user: look at pool/dial.go and at retryBudget.
tool: read C:\\work\\gate\\open.rs
tool: {"text":"first\nsecondName is here","path":"web/forms/input.ts"}
tool: cd cmd/serve && make build --target="release all"
tool: ls lib
helper_table.py
assistant: The dial_timeout is 1,204 ms, one_two_three_four too. MAX-AGE is set. Élan is a name_é_x. {abc}`
	for _, tt := range []struct {
		text string
		has  bool
	}{
		{"`retryBudget`", true},
		{"`RetryBudget`", true}, // case does not count
		{"`udg`", false},
		{"`imeo`", true},
		{"`ime`", false},
		{"`abc`", true},          // between braces
		{"`retry_budget`", true}, // written in another way
		{"`dialTimeout`", true},
		{"`dial`", true},
		{"`imeout`", true}, // a piece of four letters or more is taken for another way of writing
		{"`out`", false},
		{"`out.x`", false},
		{"`secondName`", true}, // behind a line feed as strings write it
		{"`econdName`", true},
		{"`two_three`", true},
		{"`x`", false}, // a part of a name with a letter of no ASCII
		{"`pool/dial.go`", true},
		{"`dial.go`", true},
		{"dial.go", true},
		{"ial.go", false},
		{"dial.py", false},
		{"`/srv/app/pool/dial.go`", true}, // the directory of the source is named
		{"`/srv/app/gool/dial.go`", false},
		{"`/helper_table.py`", true},
		{"`lib/helper_table.py`", true},
		{"`src/helper_table.py`", false},
		{"`table.py`", false}, // the end of another name
		{"`gate/open.rs`", true},
		{"`gate\\open.rs`", true},
		{"`forms/input.ts`", true},
		{"`rms/input.ts`", false},
		{"`forms/dial.go`", false}, // dial.go is in another directory
		{"`cmd/serve`", true},
		{"pool/forms", true},    // words that a writer joins
		{"`pool/forms`", false}, // but not as code
		{"pool/nothing_here", false},
		{"pool/forms/lib", true},
		{"pool/forms/lib/cmd", false},
		{"`make build`", true},
		{"`make  build`", true},
		{"`make build --target release`", true}, // its words in one line
		{"`make test`", false},
		{"`dial timeout`", true},
		{"`look open`", false}, // words of two lines
		{"1,204 ms and 1204 ms", true},
		{"1205 ms", false},
		{"`1204ms`", true},
		{"…/dial.xx… and +17 lines", true}, // what is cut off or counted
	} {
		s := &Summary{Intent: "Look at the pool", State: "Now at " + tt.text + " as asked", Files: Files{}}
		has := true
		for _, p := range Check(s, &Original{Text: source}) {
			if p.Rule == ruleInvented {
				has = false
				if !strings.Contains(p.Text, "the source has no ") {
					t.Errorf("%s: %s", tt.text, p.Text)
				}
			}
		}
		if has != tt.has {
			t.Errorf("%s: %v, want %v", tt.text, has, tt.has)
		}
	}
}
