package account_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// edit adds a call that replaces a text of a file.
func (t *talk) edit(old, now string) *talk {
	return t.tool("Edit", map[string]any{"file_path": "lamp.go", "old_string": old, "new_string": now}, "ok")
}

// tool adds a call with arguments.
func (t *talk) tool(name string, in any, result string) *talk {
	b, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return t.call(name, string(b), result)
}

// lines returns some lines that differ.
func lines(what string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s number %d\n", what, i)
	}
	return b.String()
}

// An account has the lines that an edit takes away and puts there, and no line that stays.
func TestChanges(t *testing.T) {
	for _, test := range []struct{ name, old, now, want string }{
		{"a line more at the end", "first\nsecond\n", "first\nsecond\nthird\n", "+\nthird"},
		{"a line more at the beginning", "first\nsecond", "zeroth\nfirst\nsecond", "+\nzeroth"},
		{"a line less", "first\nsecond\nthird", "first\nthird", "-\nsecond"},
		{"nothing is left", "first\nsecond", "", "-\nfirst\nsecond"},
		{"all is new", "", "first\nsecond", "+\nfirst\nsecond"},
		{"the same line once more", "again\nagain", "again\nagain\nagain", "+\nagain"},
		{"the same", "first", "first", ""},
		{"two places", "one\nstays\ntwo", "three\nstays\nfour", "-\none\n+\nthree\n-\ntwo\n+\nfour"},
		{"a line that moves", "stays\nmoves\none\ntwo\nends", "stays\none\ntwo\nmoves\nends", "-\nmoves\n+\nmoves"},
		{"two lines that change places", "aaa\nbbb", "bbb\naaa", "-\naaa\n+\naaa"},
		{"lines between others", "aaa\nbbb\nccc\nddd", "xxx\nbbb\nyyy\nddd\nzzz", "-\naaa\n+\nxxx\n-\nccc\n+\nyyy\n+\nzzz"},
		{"most of the new text is older", "one\ntwo\nthree\nfour", "two\nfour\none", "-\none\n-\nthree\n+\none"},
		{"an end alone", "value = 1\nend", "value = 2\nfi\nend\nend", "-\nvalue = 1\n+\nvalue = 2\nend"},
		{"lines that say nothing", "{\n}", "{\n}\n}", ""},
		{"data that nobody reads", "aaa", strings.Repeat("0123456789", 8), "-\naaa"},
		{"letters that are long", "aaa", strings.Repeat("letters ", 10) + "end", "-\naaa\n+\n" + strings.Repeat("letters ", 10) + "end"},
		{"a dozen lines", "", lines("line", 12), "+\n" + strings.TrimSuffix(lines("line", 12), "\n")},
		{"a dozen lines in place of others", "gone", lines("line", 13), "-\ngone\n+\n" + strings.TrimSuffix(lines("line", 13), "\n")},
		{"a file", "", lines("line", 13), "+\n" + strings.TrimSuffix("  "+strings.ReplaceAll(lines("line", 13), "\n", "\n  "), "\n  ")},
		{"texts too long to compare", "begin\n" + lines("old", 600) + "same\nend", "begin\nsame\n" + lines("new", 600) + "end", "-\n" + lines("old", 600) + "same\n+\nsame\n" + strings.TrimSuffix(lines("new", 600), "\n")},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := strings.TrimSuffix("• Edit lamp.go\n"+test.want, "\n")
			if got := new(talk).edit(test.old, test.now).written(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Whatever a tool calls the texts and the files that it changes, they are found.
func TestToolsThatChange(t *testing.T) {
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{"several edits of a file", new(talk).call("MultiEdit", `{"file_path":"lamp.go","edits":[{"old_string":"one","new_string":"two"},{"old_string":"five","new_string":"six"}]}`, "ok"), "• MultiEdit lamp.go\n-\none\n+\ntwo\n-\nfive\n+\nsix"},
		{"an edit without texts", new(talk).call("Edit", `{"file_path":"lamp.go"}`, "ok"), "• Edit lamp.go"},
		{"a text that is none", new(talk).call("Edit", `{"file_path":"lamp.go","old_string":{"a":1},"old_str":"was","new_string":"","new_str":"is now"}`, "ok"), "• Edit lamp.go\n-\nwas\n+\nis now"},
		{"two texts for the whole file", new(talk).call("Write", `{"file_path":"lamp.go","content":"package lamp","file_text":"package bulb"}`, "ok"), "• Write lamp.go\n+\npackage lamp"},
		{"a file that was seen in part", new(talk).call("View", `{"path":"lamp.go","view_range":[1,1]}`, "package lamp").call("Write", `{"file_path":"lamp.go","content":"package lamp\nvar red"}`, "ok"), "• View lamp.go\n  package lamp\n• Write lamp.go\n+\npackage lamp\nvar red"},
		{"a file whose beginning was seen", new(talk).call("Read", `{"path":"lamp.go","limit":1}`, "package lamp").call("Write", `{"path":"lamp.go","content":"package lamp\nvar red"}`, "ok"), "• Read lamp.go\n  package lamp\n• Write lamp.go\n+\npackage lamp\nvar red"},
		{"a file whose end was seen", new(talk).call("Read", `{"path":"lamp.go","offset":2}`, "var blue").call("Write", `{"path":"lamp.go","content":"package lamp\nvar blue"}`, "ok"), "• Read from line 2 of lamp.go\n  var blue\n• Write lamp.go\n+\npackage lamp\nvar blue"},
		{"only what goes", new(talk).call("Edit", `{"file_path":"lamp.go","old_string":"was"}`, "ok"), "• Edit lamp.go\n-\nwas"},
		{"a patch of two files", new(talk).call("apply_patch", `{"patch":"*** Begin Patch\n*** Update File: lamp.go\n@@\n-old lamp\n+new lamp\n*** Update File: bulb.go\n@@\n-old bulb\n+new bulb\n*** End Patch"}`, "done"), "• apply_patch lamp.go bulb.go\n-\nold lamp\n+\nnew lamp\n-\nold bulb\n+\nnew bulb"},
		{"a patch that is the whole input", new(talk).call("apply_patch", `"*** Begin Patch\n*** Update File: lamp.go\n@@\n-old lamp\n+new lamp\n*** End Patch"`, "done"), "• apply_patch lamp.go\n-\nold lamp\n+\nnew lamp"},
		{"a patch that deletes and moves", new(talk).call("apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: bulb.go\n*** Update File: lamp.go\n*** Move to: lamps.go\n@@\n-old lamp\n+new lamp\n*** End Patch"}`, "done"), "• apply_patch bulb.go (deleted) lamps.go (from lamp.go)\n-\nold lamp\n+\nnew lamp"},
		{"a file that is deleted and one that is moved", new(talk).call("delete_file", `{"path":"lamp.go"}`, "ok").call("move_file", `{"source":"a.go","destination":"b.go"}`, "ok"), "• delete_file lamp.go\n• move_file b.go (from a.go)"},
		{"a file that was moved and is written", new(talk).call("Read", `{"path":"a.go"}`, "package lamp").call("move_file", `{"source":"a.go","destination":"b.go"}`, "ok").call("Write", `{"path":"b.go","content":"package lamp\nvar red"}`, "ok"), "• Read a.go\n  package lamp\n• move_file b.go (from a.go)\n• Write b.go\n+\nvar red"},
		{"a file that was deleted and is written", new(talk).call("Read", `{"path":"a.go"}`, "package lamp").call("delete_file", `{"path":"a.go"}`, "ok").call("Write", `{"path":"a.go","content":"package lamp\nvar red"}`, "ok"), "• Read a.go\n  package lamp\n• delete_file a.go\n• Write a.go\n+\npackage lamp\nvar red"},
		{"a file behind a change that failed", new(talk).call("Read", `{"path":"a.go"}`, "package lamp").ended("Edit", `{"path":"a.go","old_string":"lamp","new_string":"bulb"}`, "not now", true).call("Write", `{"path":"a.go","content":"package bulb"}`, "ok"), "• Read a.go\n  package lamp\n• Edit a.go\n→ failed: not now\n• Write a.go\n-\npackage lamp\n+\npackage bulb"},
		{"a file that was there", new(talk).call("Write", `{"file_path":"lamp.go","content":"package lamp"}`, "The file lamp.go has been overwritten."), "• Write lamp.go (overwritten)\n+\npackage lamp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.talk.written(); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
