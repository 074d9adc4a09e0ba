package account_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/transcript"
)

// A unit as a test says it: how far below others it stands, its kind, and its text.
func outline(units []account.Unit) string {
	names := account.Features()[0].Bins
	depth := make([]int, len(units))
	var b strings.Builder
	for i := range units {
		u := &units[i]
		if u.Head >= 0 {
			depth[i] = depth[u.Head] + 1
		}
		b.WriteString(strings.Repeat(">", depth[i]) + names[u.Kind] + " " + strings.ReplaceAll(strings.TrimSpace(u.Text), "\n", " / ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// long is a word and a half line of prose.
const long = "One sentence that is not short at all, so that lines of it are soon too long to be left as they are"

// Each unit is of one kind, and has as its head what it says nothing without.
func TestUnits(t *testing.T) {
	image := []transcript.Part{transcript.Media{Kind: "image"}, transcript.Media{}}
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{
			"words about a selection", new(talk).call("Read", `{"file_path":"/srv/lamp/go/a.go"}`, "package lamp").user("<ide_selection>The user selected the lines 7 to 8 from /srv/lamp/go/b.go:\nlight()\nwait()\n\nThis may or may not be related to the current task.</ide_selection>Do it there, too.").user("And test it."),
			"look • Read a.go\n>span package lamp\nwords [selected lines 7 to 8 from b.go: light() wait()]\n>words Do it there, too.\nwords And test it.",
		},
		{"headings", new(talk).agent("Before.\n# Lamp\nIt is dark.\n\n## Bulb\nIt is gone."), "sentence Before.\nsentence # Lamp\n>sentence It is dark.\nsentence ## Bulb\n>sentence It is gone."},
		{"code between sentences", new(talk).agent("Do this:\n```go\nfirst()\nsecond()\n\nthird()\n```\nThen stop."), "sentence Do this:\n>sentence first() / second()\n>sentence third()\nsentence Then stop."},
		{"lists in a list", new(talk).agent("Look:\n- one:\n- two:\n- three"), "sentence Look:\n>sentence - one:\n>sentence - two:\n>sentence - three"},
		{
			"an object between rows of a table", new(talk).call("brew", `{}`, "cup | tea | price\n----|-----|------\nred | green | 1.50\n{\"said\": \""+strings.Repeat("more tea ", 20)+"\"}\nwhite | oolong | 3.50"),
			"step • brew\n>output cup | tea | price\n>>output red | green | 1.50\n>output said: " + strings.TrimSpace(strings.Repeat("more tea ", 20)) + "\n>output white | oolong | 3.50",
		},
		{"an entry of more lines", new(talk).agent("Look:\n- one\n  and\n  more\n- two\nthree\n  four"), "sentence Look:\n>sentence - one /   and /   more\n>sentence - two\nsentence three\nsentence four"},
		{"an entry that a line ends", new(talk).agent("- one\n\n  two"), "sentence - one\nsentence two"},
		{"a table", new(talk).call("brew", `{}`, "cup | tea | price\n----|-----|------\nred | green | 1.50\nblue | black | 2.00\nall done"), "step • brew\n>output cup | tea | price\n>>output red | green | 1.50\n>>output blue | black | 2.00\n>output all done"},
		{"a table without names", new(talk).call("brew", `{}`, "red | green | 1.50\nblue | black | 2.00"), "step • brew\n>output red | green | 1.50\n>output blue | black | 2.00"},
		{"a table in columns", new(talk).call("brew", `{}`, "NAME      STATUS   AGE\nlamp      dark     2\nbulb      light    3"), "step • brew\n>output NAME      STATUS   AGE\n>>output lamp      dark     2\n>>output bulb      light    3"},
		{"code without an end", new(talk).agent("```\nfirst()"), "sentence first()"},
		{
			"much code", new(talk).agent("```\n" + strings.Repeat("a", 79) + "\n" + strings.Repeat("b", 81) + "\n" + strings.Repeat("c", 79) + "\n" + strings.Repeat("d", 82) + "\nend\n```"),
			"sentence " + strings.Repeat("a", 79) + " / " + strings.Repeat("b", 81) + "\nsentence " + strings.Repeat("c", 79) + "\nsentence " + strings.Repeat("d", 82) + " / end",
		},
		{"a long line", new(talk).agent(long + ". And? " + long + "! Why; " + long + "? So."), "sentence " + long + ".\nsentence And? " + long + "!\nsentence Why; " + long + "?\nsentence So."},
		{"a long line without ends", new(talk).agent(long + ", that is; " + long + " v1.2 and more"), "sentence " + long + ", that is; " + long + " v1.2 and more"},
		{"words that do not end", new(talk).agent(strings.Repeat("word ", 100) + "end"), "sentence " + strings.TrimSpace(strings.Repeat("word ", 85)) + "\nsentence " + strings.Repeat("word ", 15) + "end"},
		{"no words at all", new(talk).agent(strings.Repeat("é", 421)), "sentence " + strings.Repeat("é", 420) + "\nsentence é"},
		{"one word that is too long", new(talk).agent(strings.Repeat("z", 841)), "sentence " + strings.Repeat("z", 840) + "\nsentence z"},
		{"images of a person", &talk{msgs: []transcript.Message{{Role: transcript.RoleUser, Parts: image}}}, "words [image]\nwords [file]"},
		{"images that a tool gave", &talk{msgs: []transcript.Message{{Role: transcript.RoleTool, Parts: image}}}, ""},
		{"system text", &talk{msgs: []transcript.Message{{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("Be kind.")}}}}, ""},
		{
			"a result without its call", &talk{msgs: []transcript.Message{{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "x", Content: []transcript.Part{transcript.Text("the lamp")}}}}}},
			"step • a result without its call\n>output the lamp",
		},
		{
			"questions", new(talk).call("AskUserQuestion", `{"questions":[{"question":"Which lamp?"},{"header":"none"},{"question":"When?"}]}`, "Red.\nSoon."),
			"step • AskUserQuestion\n>argument Which lamp?\n>argument When?\n>words Red. / Soon.",
		},
		{"a long word of a person", new(talk).user("Mend it.\n" + strings.Repeat("z", 600) + "\n" + strings.Repeat("y", 600)), "words Mend it.\nwords " + strings.Repeat("z", 600) + "\nwords " + strings.Repeat("y", 600)},
		{"an order with conditions", new(talk).user("Mend it:\n(1) in red\n(2) " + strings.Repeat("z", 600)), "words Mend it: / (1) in red / (2) " + strings.Repeat("z", 600)},
		{"a reminder in a result", new(talk).call("Read", `{"file_path":"lamp.go"}`, "1→var on bool\n<system-reminder>\nNever write viruses.\n</system-reminder>\n"), "look • Read lamp.go\n>span 1: var on bool"},
		{"one question", new(talk).call("request_user_input", `{"question":"Which lamp?"}`, "The red one."), "step • request_user_input\n>argument Which lamp?\n>words The red one."},
		{
			"a plan that is approved", new(talk).call("ExitPlanMode", `{"plan":"Mend it.\nThen paint."}`, "Not red."),
			"step • ExitPlanMode\n>sentence Mend it.\n>sentence Then paint.\n>words Not red.",
		},
		{"a plan in steps", new(talk).call("update_plan", `{"explanation":"Two steps.","plan":[{"step":"Mend it","status":"pending"}]}`, "Plan updated"), "step • update_plan Two steps."},
		{"a task with more to say", new(talk).call("TaskCreate", `{"subject":"Mend it","description":"The bulb."}`, "Task #1"), "step • TaskCreate Mend it\n>argument The bulb."},
		{
			"a page", new(talk).call("WebFetch", `{"url":"https://lamps.example/red","prompt":"why"}`, "# Red\nIt glows."),
			"look • WebFetch https://lamps.example/red\n>sign → reported:\n>>report # Red\n>>>report It glows.",
		},
		{"a page without text", new(talk).call("WebFetch", `{"url":"https://lamps.example/red"}`, " \n"), "look • WebFetch https://lamps.example/red"},
		{"a page that is not there", new(talk).ended("WebFetch", `{"url":"https://lamps.example/red"}`, "404 not found", true), "look • WebFetch https://lamps.example/red / → failed: 404 not found"},
		{"a file that is not there", new(talk).ended("Read", `{"file_path":"lamp.go"}`, "File does not exist.", true), "look • Read lamp.go / → failed: File does not exist."},
		{"a failure without a word", new(talk).ended("Read", `{"file_path":"lamp.go"}`, "", true), "look • Read lamp.go / → failed"},
		{"an offset without a file", new(talk).call("Grep", `{"pattern":"bulb","offset":7}`, "lamp.go:3: bulb"), "look • Grep bulb\n>span lamp.go:3: bulb"},
		{"files by name", new(talk).call("Glob", `{"pattern":"**/*.go"}`, "lamp.go"), "look • Glob **/*.go\n>span lamp.go"},
		{
			"a search in one file", new(talk).call("Grep", `{"pattern":"bulb","path":"lamp.md"}`, "# 3 bulbs\nlight"),
			"look • Grep bulb lamp.md\n>span # 3 bulbs\n>span light",
		},
		{"a file of prose", new(talk).call("Read", `{"file_path":"LAMP.MD"}`, "     1\t# Lamp\n     2\tIt is dark."), "look • Read LAMP.MD\n>span # Lamp\n>>span It is dark."},
		{"a file without a name", new(talk).call("Read", `{"file_path":".md"}`, "# Lamp\ndark"), "look • Read .md\n>span # Lamp\n>>span dark"},
		{"a file without an ending", new(talk).call("Read", `{"file_path":"lamp"}`, "# Lamp\ndark"), "look • Read lamp\n>span # Lamp /   dark"},
		{"a sub-agent", new(talk).call("Agent", `{"prompt":"Look.\nWhy?"}`, "# Why\nThe bulb."), "step • Agent Look. Why?\n>argument Look.\n>argument Why?\n>sign → reported:\n>>report # Why\n>>>report The bulb."},
		{"a sub-agent by another name", new(talk).call("delegate", `{"what":"look"}`, "The bulb."), "step • delegate look\n>sign → reported:\n>>report The bulb."},
		{"a sub-agent that failed", new(talk).ended("Task", `{"description":"look"}`, "No lamp", true), "step • Task look / → failed: No lamp"},
		{"a tool that is given a long text", new(talk).call("run_sql", `{"sql":"select id, name\n  from lamps where bulb_id in (select id from bulbs where watt > 40)"}`, "none"), "step • run_sql select id, name from lamps where bulb_id in (select id from …\n>argument select id, name\n>argument from lamps where bulb_id in (select id from bulbs where watt > 40)\n>output none"},
		{"a tool that is given a text", new(talk).call("brew", `"tea"`, "brewing"), "step • brew tea\n>output brewing"},
		{"a tool that is given a list", new(talk).call("brew", `["tea",2,""," "]`, "brewing"), "step • brew tea 2\n>output brewing"},
		{"arguments that are long", new(talk).call("brew", `{"a":"`+strings.Repeat("a", 120)+`","b":"`+strings.Repeat("b", 121)+`","c":"one\ntwo"}`, ""), "step • brew " + strings.Repeat("a", 120) + "\n>argument " + strings.Repeat("b", 121) + "\n>argument one\n>argument two"},
		{"a tool that failed", new(talk).ended("brew", `{}`, "no water", true), "step • brew / → failed: no water"},
		{"an output", new(talk).call("brew", `{}`, "one\n{\n10% \r50%\r99% done\r\nend\nOutput:\n"+strings.Repeat("7", 80)+"\n     3→numbered\n<system-reminder>"), "step • brew\n>output one\n>output 99% done\n>output end\n>output numbered"},
		{"an output of values that are no objects", new(talk).call("brew", `{}`, "\"a text between marks, and long enough that it could be an object\"\n12345678901234567890123456789012345678901234567890 cups\n{not an object, though it begins as one does, and long enough for it}"), "step • brew\n>output \"a text between marks, and long enough that it could be an object\"\n>output 12345678901234567890123456789012345678901234567890 cups\n>output {not an object, though it begins as one does, and long enough for it}"},
		{"an output that says what its call says", new(talk).call("brew", `{"kind":"green tea"}`, "green tea\nready"), "step • brew green tea\n>output ready"},
	} {
		t.Run(test.name, func(t *testing.T) {
			units, _ := account.Read(test.talk.msgs, test.talk.blocks(), nil)
			if got := outline(units); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// A summary that a client wrote is the agent's.
func TestSummaryIsTheAgents(t *testing.T) {
	msgs := new(talk).user("The lamp was mended.").msgs
	blocks := transcript.Group("s", 0, msgs)
	blocks[0].Kind = transcript.KindSummary
	units, _ := account.Read(msgs, blocks, nil)
	if got, want := outline(units), "sentence The lamp was mended."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The spans of a file are statements, each with the number of its first line.
func TestSpans(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"a function", "1→func a() {\n2→\treturn\n3→}\n4→\n5→var b int", "  1: func a() {|  2: return|  5: var b int"},
		{"an open bracket", "call(\n\tone,\n\ttwo[\n\t3])\nnext", "  call(\n   one,\n   two[\n   3])|  next"},
		{"what is less indented begins anew", "\tcall(\n\t\tone\nfour", "  call(\n   one|  four"},
		{"a comment", "// one\n// two\nthree\nfour", "  // one\n  // two\n  three|  four"},
		{"four lines", "# one\n# two\n# three\n# four\nfive\nsix", "  # one\n  # two\n  # three\n  # four|  five|  six"},
		{"long lines", "// " + strings.Repeat("a", 157) + "\n// " + strings.Repeat("b", 37) + "\nccc", "  // " + strings.Repeat("a", 157) + "\n  // " + strings.Repeat("b", 37) + "|  ccc"},
		{"a short line is no beginning", "}\n;;\nend", "  end"},
		{"a short line is an end", "call(\n)", "  call(\n  )"},
		{"a bracket alone", "begin\n}", "  begin"},
		{"data", "one\n" + strings.Repeat("7", 80) + "\ntwo", "  one|  two"},
		{"a line that agents add", "one\n<system-reminder>\ntwo", "  one|  two"},
		{"trailing spaces", "(one \t\r\n  two", "  (one\n    two"},
		{"numbers of their own", "7: one\n8 two", "  7: one\n  8 two"},
		{"a number and a tab", "  7\tone(\n  8\ttwo", "  7: one(\n  two"},
	} {
		t.Run(test.name, func(t *testing.T) {
			talk := new(talk).call("Read", `{"file_path":"lamp.go"}`, test.file)
			units, _ := account.Read(talk.msgs, talk.blocks(), nil)
			var got []string
			for i := range units[1:] {
				got = append(got, units[1+i].Text)
			}
			want := strings.ReplaceAll(test.want, "|", "\n")
			if joined := strings.Join(got, "\n"); joined != want || strings.Contains(test.want, "|") && len(got) != 1+strings.Count(test.want, "|") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "|"), test.want)
			}
		})
	}
}

// A file of prose has sentences, which are indented below the call as the spans of others are.
func TestSpansOfProse(t *testing.T) {
	talk := new(talk).call("Read", `{"file_path":"lamp.md"}`, "1→The lamp is dark.\n2→\n3→The bulb is gone.")
	units, _ := account.Read(talk.msgs, talk.blocks(), nil)
	var got []string
	for i := range units[1:] {
		got = append(got, units[1+i].Text)
	}
	if want := []string{"  The lamp is dark.", "  The bulb is gone."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What was data is told by how few of its characters are letters.
func TestDataIsLeftOut(t *testing.T) {
	for _, test := range []struct {
		name, line string
		want       bool
	}{
		{"digits", strings.Repeat("0", 80), false},
		{"a short line", strings.Repeat("0", 79), true},
		{"a third of it letters", strings.Repeat("aZ0000", 15), true},
		{"just less than a third", strings.Repeat("aZ0000", 14) + "a00000", false},
		{"fewer letters", strings.Repeat("aZ00000", 15), false},
		{"letters of other scripts", strings.Repeat("灯", 40), true},
	} {
		got := strings.Contains(new(talk).call("brew", `{}`, "begin\n"+test.line).written(), test.line)
		if got != test.want {
			t.Errorf("%s: in the account: %v, want %v", test.name, got, test.want)
		}
	}
}

// A command stands with its outcome, and with the lines that say more.
func TestCommands(t *testing.T) {
	const diff = "commit 1a2b3c4\ndiff --git a/lamp.go b/lamp.go\n--- a/lamp.go\n+++ b/lamp.go\n@@ -1,2 +1,2 @@\n package lamp\n-old line\n+new line\n"
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{"a script", new(talk).bash("make lamp <<END\nred\nblue\nEND", ""), "run $ / make lamp <<END / → passed\n>argument red\n>argument blue\n>argument END"},
		{"it passed and said so", new(talk).bash("go test ./...", "ok  \texample.com/lamp\t0.012s\na line more"), "run $ / go test ./... / → ok example.com/lamp 0.012s\n>output a line more"},
		{"it failed without a word", new(talk).ended("Bash", `{"command":"make"}`, "Exit code 2", true), "run $ / make / → failed"},
		{"it looked and failed", new(talk).ended("Bash", `{"command":"cat lamp.go"}`, "Exit code 1\ncat: lamp.go: No such file or directory", true), "run $ / cat lamp.go / → failed: cat: lamp.go: No such file or directory"},
		{"a folder to begin with", new(talk).bash("cd /w && cat lamp.md", "# Lamp\ndark"), "look $ / cd /w && cat lamp.md\n>span # Lamp\n>>span dark"},
		{"prose", new(talk).bash("sed -n 1,9p lamp.md", "# Lamp\ndark"), "look $ / sed -n 1,9p lamp.md\n>span # Lamp\n>>span dark"},
		{"the same file twice", new(talk).bash("head -1 lamp.md; tail -1 lamp.md", "# Lamp\ndark"), "look $ / head -1 lamp.md; tail -1 lamp.md\n>span # Lamp\n>>span dark"},
		{"two files", new(talk).bash("cat lamp.go bulb.md", "# Lamp\ndark"), "look $ / cat lamp.go bulb.md\n>span # Lamp\n>span dark"},
		{"two files for people", new(talk).bash("cat lamp.md bulb.md", "# Lamp\ndark"), "look $ / cat lamp.md bulb.md\n>span # Lamp\n>>span dark"},
		{"a search in prose", new(talk).bash("grep -n a lamp.md", "# Lamp\ndark"), "look $ / grep -n a lamp.md\n>span # Lamp\n>span dark"},
		{"a change that is shown", new(talk).bash("git show", diff), "look $ / git show\n>span commit 1a2b3c4\n>sign lamp.go:\n>>sign -\n>>>change old line\n>>sign +\n>>>change new line"},
		{"a change that is all that is shown", new(talk).bash("git diff", strings.TrimPrefix(diff, "commit 1a2b3c4\n")), "look $ / git diff\n>sign lamp.go:\n>>sign -\n>>>change old line\n>>sign +\n>>>change new line"},
		{"a change that a program prints", new(talk).bash("make", "diff --git a/lamp.go b/lamp.go\n+new line"), "run $ / make / → passed\n>output diff --git a/lamp.go b/lamp.go\n>output +new line"},
		{"no line of a shell", new(talk).bash("cat 'lamp.go", "the lamp"), "run $ / cat 'lamp.go / → passed\n>output the lamp"},
		{"no command", new(talk).call("Bash", `{"timeout":7}`, "the lamp"), "step • Bash 7\n>output the lamp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			units, _ := account.Read(test.talk.msgs, test.talk.blocks(), nil)
			if got := outline(units); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Paths of the project stand as they are from its folder, which is the one that is given, or
// else the one that four fifths of the paths are below.
func TestPathsOfTheProject(t *testing.T) {
	read := func(paths ...string) *talk {
		t := new(talk)
		for _, p := range paths {
			t.tool("Read", map[string]string{"file_path": p}, "")
		}
		return t
	}
	for _, test := range []struct {
		name, project string
		talk          *talk
		want          string
	}{
		{"a folder that is given", "/w", read("/w/lamp.go", "/v/lamp.go"), "• Read lamp.go\n• Read /v/lamp.go"},
		{"a folder with a slash", "/w/", read("/w/lamp.go"), "• Read lamp.go"},
		{"the deepest folder that has all", "", read("/a/b/c/d/lamp.go", "/a/b/c/d/e/lamp.go"), "• Read lamp.go\n• Read e/lamp.go"},
		{"five levels at most", "", read("/a/b/c/d/e/f/lamp.go"), "• Read f/lamp.go"},
		{"three levels at least", "", read("/a/b/lamp.go"), "• Read /a/b/lamp.go"},
		{"three levels", "", read("/a/b/c/lamp.go"), "• Read lamp.go"},
		{"four of five", "", read("/a/b/c/1.go", "/a/b/c/2.go", "/a/b/c/3.go", "/a/b/c/4.go", "/x/y/z/5.go"), "• Read 1.go\n• Read 2.go\n• Read 3.go\n• Read 4.go\n• Read /x/y/z/5.go"},
		{"three of four", "", read("/a/b/c/1.go", "/a/b/c/2.go", "/a/b/c/3.go", "/x/y/z/5.go"), "• Read /a/b/c/1.go\n• Read /a/b/c/2.go\n• Read /a/b/c/3.go\n• Read /x/y/z/5.go"},
		{"paths that are relative do not count", "", read("/a/b/c/1.go", "2.go", "3.go"), "• Read 1.go\n• Read 2.go\n• Read 3.go"},
		{"a command in the folder", "/w", new(talk).bash("cd /w && make x", "").bash("cd /w; make y", "").bash("cd /v && make /w/z", ""), "$\nmake x\n$\nmake y\n$\ncd /v && make z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			units, _ := account.Read(test.talk.msgs, test.talk.blocks(), &account.Options{Project: test.project})
			var got []string
			for i := range units {
				text, _, _ := strings.Cut(units[i].Text, "\n→")
				got = append(got, text)
			}
			if joined := strings.Join(got, "\n"); joined != test.want {
				t.Errorf("got\n%s\nwant\n%s", joined, test.want)
			}
		})
	}
}

// A part of a file that stands there again later is known as a copy, with whatever number.
func TestLaterCopies(t *testing.T) {
	read := func(t *talk, path, file string) { t.tool("Read", map[string]string{"file_path": path}, file) }
	talk := new(talk).user("Look.")
	read(talk, "lamp.go", "1→the lamp\n2→\n3→the bulb")
	read(talk, "other.go", "1→the lamp")
	read(talk, "lamp.go", "4→the lamp\n5→\n6→the socket")
	units, _ := account.Read(talk.msgs, talk.blocks(), nil)
	later := make(map[string]string)
	for i := range units {
		if n := units[i].Later; n > 0 {
			later[strings.TrimSpace(units[i].Text)] = strings.TrimSpace(units[n].Text)
		}
	}
	if len(later) != 1 || later["1: the lamp"] != "4: the lamp" {
		t.Errorf("got %v, want that the lamp alone is there again", later)
	}
}

// A file is the same from wherever it is named.
func TestACopyByAnotherPath(t *testing.T) {
	talk := new(talk).tool("Read", map[string]string{"file_path": "/w/lamp.go"}, "the lamp").bash("cat lamp.go", "the lamp")
	units, _ := account.Read(talk.msgs, talk.blocks(), &account.Options{Project: "/w"})
	if units[1].Later != int32(len(units)-1) {
		t.Errorf("got %+v, want that it is there again", units[1])
	}
}

// An account knows what of a conversation came after a unit, and what the task is.
func TestUnitsAreDated(t *testing.T) {
	talk := new(talk).user("Mend it.\nSoon.").agent("I look.").bash("make", "done").user("Paint it.").bash("make paint", "done")
	units, _ := account.Read(talk.msgs, talk.blocks(), nil)
	var got []string
	for i := range units {
		b, err := json.Marshal([]any{units[i].Text, units[i].Calls, units[i].Turns, units[i].Task})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b))
	}
	want := []string{
		`["Mend it.\nSoon.",2,1,true]`, `["I look.",2,1,false]`, `["$\nmake\n→ passed",1,1,false]`, `["  done",1,1,false]`,
		`["Paint it.",1,0,false]`, `["$\nmake paint\n→ passed",0,0,false]`, `["  done",0,0,false]`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
