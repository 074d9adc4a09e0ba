package account_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/account"
)

// seen returns, for the first unit with a text in it, the bins of its features by name.
func seen(t *testing.T, talk *talk, text string) map[string]string {
	t.Helper()
	r := request(talk)
	i := slices.IndexFunc(r.Units, func(u account.Unit) bool { return strings.Contains(u.Text, text) })
	if i < 0 {
		t.Fatalf("no unit has %q", text)
	}
	m := make(map[string]string)
	for k, f := range account.Features() {
		m[f.Name] = f.Bins[r.Worth.Sights[i][k]]
	}
	return m
}

// What is seen of a unit is what its text and its place say.
func TestSights(t *testing.T) {
	calls := func(n int) *talk {
		return new(talk).agent("I look.").many(n, func(t *talk, _ int) { t.bash("make", "") })
	}
	turns := func(n int) *talk {
		return new(talk).user("First.").agent("I look.").bash("make", "").many(n, func(t *talk, _ int) { t.user("go on\nand on") })
	}
	words := func(n int) *talk {
		return new(talk).user("First.").user("I look.").many(n, func(t *talk, _ int) { t.user("go on") })
	}
	long := func(n int) *talk { return new(talk).agent("I look." + strings.Repeat("\n"+strings.Repeat("z", 99), n)) }
	for _, test := range []struct {
		name          string
		talk          *talk
		text          string
		feature, want string
	}{
		{"a rule", new(talk).user("You must look."), "look", "binds", "yes"},
		{"a rule in capitals", new(talk).user("NEVER look."), "look", "binds", "yes"},
		{"a rule with an apostrophe", new(talk).user("Don't look."), "look", "binds", "yes"},
		{"part of a word", new(talk).user("A mustard look."), "look", "binds", "no"},
		{"a reason", new(talk).user("Look because it is dark."), "dark", "decides", "yes"},
		{"no reason", new(talk).user("It is dark."), "dark", "decides", "no"},
		{"a word of fifteen letters", new(talk).user("antidisestablishing because"), "because", "decides", "yes"},
		{"a word that is not kept", new(talk).user("completedxxxxxxxxxx"), "xx", "ends", "no"},
		{"a long word of ours", new(talk).user("successfully"), "success", "ends", "well"},
		{"well", new(talk).user("It works."), "works", "ends", "well"},
		{"badly", new(talk).user("It fails."), "fails", "ends", "badly"},
		{"badly, between braces", new(talk).user("It {fails}."), "fails", "ends", "badly"},
		{"both", new(talk).user("It works, and then it fails."), "fails", "ends", "both"},
		{"neither", new(talk).user("It glows."), "glows", "ends", "no"},
		{"a number", new(talk).user("Lamp 7."), "Lamp", "number", "yes"},
		{"a nine", new(talk).user("Lamp9"), "Lamp", "number", "yes"},
		{"a nought", new(talk).user("Lamp0"), "Lamp", "number", "yes"},
		{"no number", new(talk).user("Lamp."), "Lamp", "number", "no"},
		{"the first of a text", new(talk).agent("One.\nTwo.\nThree.").bash("make", "done"), "One", "place", "first"},
		{"the middle of a text", new(talk).agent("One.\nTwo.\nThree.").bash("make", "done"), "Two", "place", "middle"},
		{"the last of a text", new(talk).agent("One.\nTwo.\nThree.").bash("make", "done"), "Three", "place", "last"},
		{"the middle of a text in a conversation without commands", new(talk).agent("One.\nTwo.\nThree."), "Two", "place", "only"},
		{"all of a text", new(talk).user("One."), "One", "place", "only"},
		{"the first line of an output", new(talk).call("brew", `{}`, "one\ntwo\nthree"), "one", "place", "first"},
		{"the middle of an output", new(talk).call("brew", `{}`, "one\ntwo\nthree"), "two", "place", "middle"},
		{"the last line of an output", new(talk).call("brew", `{}`, "one\ntwo\nthree"), "three", "place", "last"},
		{"the only line of an output", new(talk).call("brew", `{}`, "one"), "one", "place", "only"},
		{"the first span of a file", new(talk).call("Read", `{"file_path":"a.go"}`, "one\n\ntwo\n\nthree"), "one", "place", "first"},
		{"the middle of a file", new(talk).call("Read", `{"file_path":"a.go"}`, "one\n\ntwo\n\nthree"), "two", "place", "middle"},
		{"the last span of a file", new(talk).call("Read", `{"file_path":"a.go"}`, "one\n\ntwo\n\nthree"), "three", "place", "last"},
		{"a heading", new(talk).agent("# Lamp"), "Lamp", "form", "heading"},
		{"code", new(talk).agent("```\nlamp()\n```"), "lamp", "form", "code"},
		{"code in a long message of the user", new(talk).user(strings.Repeat("Mend it. ", 150) + "\n```\nlamp()\n```"), "lamp", "form", "quoted"},
		{"a line that an edit adds", new(talk).edit("bulb", "the new socket"), "new socket", "form", "plain"},
		{"a line that an edit removes", new(talk).edit("the old socket", "bulb"), "old socket", "form", "removed"},
		{"an entry of a list", new(talk).agent("  - lamp"), "lamp", "form", "item"},
		{"an entry with a star", new(talk).agent("* lamp"), "lamp", "form", "item"},
		{"an entry with a number", new(talk).agent("12. lamp"), "lamp", "form", "item"},
		{"a number that is none of a list", new(talk).agent("12.5 lamps"), "lamp", "form", "plain"},
		{"a sentence that begins with a dot", new(talk).agent(". lamp"), "lamp", "form", "plain"},
		{"an entry in a report", new(talk).call("Task", `{"description":"look"}`, "- lamp"), "lamp", "form", "item"},
		{"an entry in an argument", new(talk).call("brew", `{"a":"- lamp\n- bulb"}`, ""), "  - bulb", "form", "item"},
		{"a line of an output", new(talk).call("brew", `{}`, "- lamp"), "lamp", "form", "plain"},
		{"2 calls", calls(2), "I look", "calls", "<3"},
		{"3 calls", calls(3), "I look", "calls", "<8"},
		{"7 calls", calls(7), "I look", "calls", "<8"},
		{"8 calls", calls(8), "I look", "calls", "<20"},
		{"20 calls", calls(20), "I look", "calls", "<50"},
		{"50 calls", calls(50), "I look", "calls", "<100"},
		{"99 calls", calls(99), "I look", "calls", "<100"},
		{"100 calls", calls(100), "I look", "calls", "more"},
		{"the newest words", turns(0), "I look", "turns", "0"},
		{"one turn later", turns(1), "I look", "turns", "1"},
		{"two turns later", turns(2), "I look", "turns", "2-3"},
		{"three turns later", turns(3), "I look", "turns", "2-3"},
		{"four turns later", turns(4), "I look", "turns", "more"},
		{"an answer to a person, four turns later", new(talk).agent("I look.").many(5, func(t *talk, _ int) { t.user("go on") }), "I look", "turns", "reply"},
		{"calls after an answer to a person", new(talk).agent("I look.").user("Go on.").many(9, func(t *talk, _ int) { t.bash("make", "") }), "I look", "calls", "reply"},
		{"how long ago a person spoke", words(4), "I look", "turns", "person"},
		{"what came after a person spoke", words(4), "I look", "calls", "person"},
		{"words that are the newest", words(0), "I look", "words", "newest"},
		{"words before the newest", words(1), "I look", "words", "newest"},
		{"older words", words(2), "I look", "words", "talk"},
		{"older words beside commands", words(2).bash("make", ""), "I look", "words", "short"},
		{"599 bytes of older words", new(talk).user("First.").user(strings.Repeat("z", 599)).user("a").user("b").bash("make", ""), "zz", "words", "short"},
		{"600 bytes of older words", new(talk).user("First.").user(strings.Repeat("z", 600)).user("a").user("b").bash("make", ""), "zz", "words", "long"},
		{"5999 bytes of older words", new(talk).user("First.").user(strings.Repeat("zzz ", 1499)+"zzz").user("a").user("b").bash("make", ""), "zz", "words", "long"},
		{"6000 bytes of older words", new(talk).user("First.").user(strings.Repeat("zzz ", 1499)+"zzzz").user("a").user("b").bash("make", ""), "zz", "words", "pasted"},
		{"the task", words(4), "First", "words", "task"},
		{"what comes next", new(talk).agent("**Let me look.**"), "look", "says", "next"},
		{"what was found", new(talk).agent("The bulb is broken."), "bulb", "says", "found"},
		{"an answer to a person", new(talk).bash("make", "").agent("I looked.").agent("The bulb is broken. Let me know.").user("Mend it."), "bulb", "says", "reply"},
		{"an answer where there are no commands", new(talk).agent("The bulb is broken. Let me know.").user("Mend it."), "bulb", "says", "talk"},
		{"a question to a person", new(talk).agent("Shall I mend the bulb?").user(strings.Repeat("Paint the lamp. ", 11)), "bulb", "says", "question"},
		{"a question that a person answered", new(talk).agent("Shall I mend the bulb?").user("Yes.").bash("make", ""), "bulb", "says", "asked"},
		{"a question that a person answered where there are no commands", new(talk).agent("Shall I mend the bulb?").user("Yes."), "bulb", "says", "question"},
		{"a question that no person answered", new(talk).agent("Where is the bulb?").bash("ls", "").agent("Done."), "bulb", "says", "found"},
		{"what was said before an answer", new(talk).agent("I looked.").bash("make", "").agent("The bulb is broken.").user("Yes."), "I looked", "says", "found"},
		{"a rule in a file", new(talk).call("Read", `{"file_path":"AGENTS.md"}`, "Never touch the socket."), "socket", "binds", "guide"},
		{"no rule in a file", new(talk).call("Read", `{"file_path":"AGENTS.md"}`, "The socket is red."), "socket", "binds", "no"},
		{"an entry of a file of rules", new(talk).call("Read", `{"file_path":"docs/AGENTS.md"}`, "# Lamps\n- The socket is red."), "socket", "binds", "rule"},
		{"an entry below a heading that says rules", new(talk).call("Read", `{"file_path":"lamp.md"}`, "## House rules\n1. The socket is red."), "socket", "binds", "rule"},
		{"an entry of a file that the user named", new(talk).user("lamp.md holds.").call("Read", `{"file_path":"docs/lamp.md"}`, "# Lamps\n- The socket is red."), "socket", "binds", "rule"},
		{"an entry of a file that nobody named", new(talk).user("bulb.md holds.").call("Read", `{"file_path":"docs/lamp.md"}`, "# Lamps\n- The socket is red."), "socket", "binds", "no"},
		{"an entry of a file that is shown beside a listing", new(talk).bash("cat AGENTS.md; ls", "# Lamps\n- The socket is red.\nlamp.go"), "socket", "binds", "rule"},
		{"an entry below the next heading", new(talk).call("Read", `{"file_path":"lamp.md"}`, "## House rules\n1. Look.\n## Lamps\n2. The socket is red."), "socket", "binds", "no"},
		{"how long a rule was read ago", new(talk).call("Read", `{"file_path":"AGENTS.md"}`, "- The socket is red.").many(9, func(t *talk, _ int) { t.bash("make", "") }), "socket", "calls", "reply"},
		{"a rule in code", new(talk).call("Read", `{"file_path":"lamp.go"}`, "// Never touch the socket."), "socket", "binds", "yes"},
		{"a row of a table", new(talk).bash("lamps", "1 | red | here\n22 | blue | there\n"), "red", "again", "no"},
		{"a line that a later edit removes", new(talk).edit("bulb", "the red lamp").edit("the red lamp", "bulb"), "red lamp", "again", "removed"},
		{"a line of a file that a later edit removes", new(talk).tool("Read", map[string]any{"file_path": "lamp.go"}, "     1→package lamp\n     2→var red = lamp()").edit("var red = lamp()", ""), "red", "again", "removed"},
		{"a line that an earlier edit removed", new(talk).edit("the red lamp", "").edit("bulb", "a red lamp"), "a red", "again", "no"},
		{"a call that the state lists", new(talk).call("order_lamp", `{"n":7}`, "ok"), "order_lamp", "again", "later"},
		{"a call that changed nothing", new(talk).call("order_lamp", `{"n":7}`, `{"ok":false}`), "order_lamp", "again", "no"},
		{"a line that is printed again", new(talk).bash("lamps", "1 | red | here").bash("lamps", "1 | red | here"), "red", "again", "later"},
		{"a figure that was printed", new(talk).bash("make", "7 lamps\ndone"), "7 lamps", "figure", "printed"},
		{"a figure in a list", new(talk).bash("make", "7 lamps\n"+strings.Repeat("zzz\n", 100)), "7 lamps", "figure", "listed"},
		{"a figure at the end of a short output", new(talk).bash("make", "done\n7 lamps"), "7 lamps", "figure", "result"},
		{"a figure that sums up", new(talk).bash("make", "Lamps in all: 7\n"+strings.Repeat("zzz\n", 250)), "7", "figure", "result"},
		{"a figure that sums up a list of 1499 bytes", new(talk).bash("make", "Lamps in all: 7\n"+strings.Repeat("zzz\n", 370)+"zzz"), "7", "figure", "result"},
		{"a figure that sums up a list of 1500 bytes", new(talk).bash("make", "Lamps in all: 7\n"+strings.Repeat("zzz\n", 370)+"zzzz"), "7", "figure", "listed"},
		{"a figure that sums up a long list", new(talk).bash("make", "Lamps in all: 7\n"+strings.Repeat("zzz\n", 375)), "7", "figure", "listed"},
		{"a figure at the end of a long list", new(talk).bash("make", strings.Repeat("z\n", 750)+"7 lamps"), "7 lamps", "figure", "listed"},
		{"a figure that was said", new(talk).agent("I saw 7 lamps."), "7 lamps", "figure", "said"},
		{"a figure of a person", new(talk).user("I saw 7 lamps."), "7 lamps", "figure", "no"},
		{"no figure", new(talk).bash("make", "lamps"), "lamps", "figure", "no"},
		{"what a person says", new(talk).user("Let me look."), "look", "says", "other"},
		{"lines that numbers alone tell apart", new(talk).bash("make", "lamp 1\nlamp 22\nbulb"), "lamp 1", "again", "no"},
		{"no words", new(talk).agent("I look."), "I look", "words", "other"},
		{"a short text", long(2), "I look", "size", "<300"},
		{"a text of 307 bytes", long(3), "I look", "size", "<1500"},
		{"a text of 1507 bytes", long(15), "I look", "size", "<6000"},
		{"a text of 6007 bytes", long(60), "I look", "size", "more"},
		{"a short unit", new(talk).agent("One."), "One", "length", "<30"},
		{"a unit of a person", new(talk).user("One."), "One", "length", "person"},
		{"a unit of 99 bytes", long(1), "zz", "length", "<100"},
		{"a unit of 100 bytes", new(talk).agent(strings.Repeat("zz ", 33) + "z"), "zz", "length", "<180"},
		{"a unit of 180 bytes", new(talk).agent(strings.Repeat("z", 180)), "zz", "length", "more"},
		{"a call that failed", new(talk).ended("brew", `{}`, "no water", true), "brew", "failed", "yes"},
		{"a call that passed", new(talk).call("brew", `{}`, "tea"), "brew", "failed", "no"},
		{"what a command printed that failed", new(talk).ended("Bash", `{"command":"make"}`, "Exit code 2\nlamp one\nerror: no bulb", true), "lamp one", "failed", "yes"},
		{"what a command printed that did not", new(talk).bash("make", "lamp one\ndone"), "lamp one", "failed", "no"},
		{"a command that failed", new(talk).ended("Bash", `{"command":"make"}`, "Exit code 2\nlamp one\nerror: no bulb", true), "make", "failed", "yes"},
		{"a change that failed", new(talk).ended("Edit", `{"file_path":"lamp.go","old_string":"x","new_string":"y"}`, "not found", true), "Edit", "failed", "yes"},
		{"a question that failed", new(talk).ended("AskUserQuestion", `{"question":"Why?"}`, "not found", true), "Ask", "failed", "yes"},
		{"a task that failed", new(talk).ended("TaskUpdate", `{"taskId":"1"}`, "not found", true), "TaskUpdate", "failed", "yes"},
		{"a page that failed", new(talk).ended("WebFetch", `{"url":"https://lamps.example"}`, "not found", true), "WebFetch", "failed", "yes"},
		{"said again later", new(talk).agent("I look.").user("Go on.").agent("  I look."), "I look", "again", "later"},
		{"a result that the state has", new(talk).call("set_lamp", `{"n":1}`, "It is lit."), "It is lit", "again", "later"},
		{"a result that the state does not have", new(talk).call("get_lamp", `{"n":1}`, "It is lit."), "It is lit", "again", "no"},
		{"not said again", new(talk).agent("I look.").user("Go on."), "I look", "again", "no"},
		{"all that is needed", new(talk).user("Mend src/lamp.go now."), "Mend", "need", "<300%"},
		{"what nobody needs", new(talk).user("One."), "One", "need", "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := seen(t, test.talk, test.text)[test.feature]; got != test.want {
				t.Errorf("%s is %s, want %s", test.feature, got, test.want)
			}
		})
	}
}

// Needed are the units that have the names which are, however much stands before them.
func TestUnitsWithNamesAreNeeded(t *testing.T) {
	for name, before := range map[string]int{"a short conversation": 0, "a long one": 500} {
		talk := new(talk).user("Mend src/lamp.go now.").many(before, func(t *talk, _ int) { t.agent(strings.Repeat("so it is and so it was ", 100)) }).
			agent("It is dark.\nSee src/lamp.go there.\nSo be it.").agent("It was dark.")
		for text, want := range map[string]bool{"It is dark.": false, "See src/lamp.go there.": true, "So be it.": false, "It was dark.": false} {
			if got := seen(t, talk, text)["need"]; (got != "none") != want {
				t.Errorf("%s: %q is needed: %s, want %v", name, text, got, want)
			}
		}
	}
}

// A prior that nobody could read as what it is is refused, and the error says where.
func TestPriorsThatAreNone(t *testing.T) {
	whole := account.DefaultPrior().String()
	replaced := func(old, now string) string { return strings.Replace(whole, old, now, 1) }
	failedAt := strings.Index(whole, "\nfailed ")
	for _, test := range []struct{ name, text, want string }{
		{"an unknown feature", "# a remark\n\n" + whole + "color red=1\n", `line 20 of a prior: no feature is called "color"`},
		{"no number", whole[:failedAt] + strings.Replace(whole[failedAt:], "no=", "no=x", 1), `line 2 of a prior: "no=x`},
		{"a bin too many", whole[:failedAt] + strings.Replace(whole[failedAt:], "\nbinds", " maybe=1\nbinds", 1), `line 2 of a prior: "maybe=1": want the weights of no, yes`},
		{"another order", "failed yes=1 no=1", `line 1 of a prior: "yes=1"`},
		{"a feature too few", replaced("again ", "# again "), "feature again: has 0 weights, want one for each of its 3 bins"},
		{"too large a weight", "failed no=16001 yes=0\n", "feature kind: has 0 weights"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := account.ParsePrior(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	for _, test := range []struct {
		name, text string
		bad        bool
	}{
		{"the largest weight", "failed no=16000 yes=-16000", false},
		{"a larger one", "failed no=16001 yes=0", true},
		{"a smaller one", "failed no=0 yes=-16001", true},
		{"the last line counts", "failed no=99999 yes=0\nfailed no=1 yes=2", false},
	} {
		p, err := account.ParsePrior(whole + test.text)
		if (err != nil) != test.bad {
			t.Errorf("%s: %v", test.name, err)
		}
		if err == nil && !strings.Contains(p.String(), test.text[strings.LastIndexByte(test.text, '\n')+1:]) {
			t.Errorf("%s: it is not in\n%s", test.name, p)
		}
	}
	if _, err := account.NewPrior(nil); err == nil {
		t.Error("a prior of no weights is one")
	}
}

// A weight is found by its names, and what is changed of it changes nobody's prior.
func TestWeight(t *testing.T) {
	weights := make([][]int, len(account.Features()))
	for i, f := range account.Features() {
		weights[i] = make([]int, len(f.Bins))
		for k := range f.Bins {
			weights[i][k] = 100*i + k
		}
	}
	p, err := account.NewPrior(weights)
	if err != nil {
		t.Fatal(err)
	}
	weights[0][0] = 7
	for _, test := range []struct {
		feature, bin string
		want         int
	}{{"kind", "words", 0}, {"kind", "sentence", 1}, {"failed", "yes", 101}, {"binds", "yes", 201}, {"again", "later", 1401}, {"kind", "yes", 0}, {"color", "red", 0}} {
		if got := p.Weight(test.feature, test.bin); got != test.want {
			t.Errorf("%s=%s weighs %d, want %d", test.feature, test.bin, got, test.want)
		}
	}
}

// kindPrior returns a prior that knows kinds alone.
func kindPrior(t *testing.T, by map[string]int) *account.Prior {
	t.Helper()
	weights := make([][]int, len(account.Features()))
	for i, f := range account.Features() {
		weights[i] = make([]int, len(f.Bins))
		for k, name := range f.Bins {
			if i == 0 {
				weights[i][k] = by[name]
			}
		}
	}
	p, err := account.NewPrior(weights)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
