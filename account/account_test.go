package account_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A talk is a conversation that a test makes.
type talk struct {
	msgs  []transcript.Message
	calls int
}

func (t *talk) user(text string) *talk {
	t.msgs = append(t.msgs, transcript.Message{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text(text)}})
	return t
}

func (t *talk) agent(text string) *talk {
	t.msgs = append(t.msgs, transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text(text)}})
	return t
}

func (t *talk) call(name, input, result string) *talk { return t.ended(name, input, result, false) }

func (t *talk) ended(name, input, result string, failed bool) *talk {
	t.calls++
	id := fmt.Sprintf("c%d", t.calls)
	t.msgs = append(t.msgs,
		transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}}},
		transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: id, Content: []transcript.Part{transcript.Text(result)}, Error: failed}}})
	return t
}

func (t *talk) bash(line, result string) *talk {
	in, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		panic(err)
	}
	return t.call("Bash", string(in), result)
}

func (t *talk) blocks() []transcript.Block { return transcript.Group("s", 0, t.msgs) }

// written returns what an account has of all blocks if nothing is left out.
func (t *talk) written() string {
	units, _ := account.Read(t.msgs, t.blocks(), nil)
	kept := slices.Repeat([]bool{true}, len(units))
	return account.Text(units, kept, "12345678")
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{"words", new(talk).user("Fix the lamp.\n\n<system-reminder>be brief</system-reminder>"), "Fix the lamp."},
		{"what a program says in the user's name", new(talk).user("<local-command-stdout>ok</local-command-stdout>").user("go on"), "go on"},
		{"arguments of a slash command", new(talk).user("<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>only lamp.go</command-args>"), "only lamp.go"},
		{"an answer to a question", new(talk).call("AskUserQuestion", `{"questions":[{"question":"Which lamp?"}]}`, "The red one."), "• AskUserQuestion\n  Which lamp?\nThe red one."},
		{"a command that passed", new(talk).bash("go test ./...", "ok  \texample.com/lamp\t0.012s\n"), "$\ngo test ./...\n→ ok example.com/lamp 0.012s"},
		{"a command that failed", new(talk).ended("Bash", `{"command":"make"}`, "Exit code 2\nmake: *** No targets.  Stop.", true), "$\nmake\n→ failed: make: *** No targets. Stop."},
		{"a command that shows", new(talk).bash("sed -n 1,2p lamp.go", "package lamp\nvar on bool"), "$\nsed -n 1,2p lamp.go\n  package lamp\n  var on bool"},
		{"a command with its limit", new(talk).call("Bash", `{"command":"go vet","timeout":60000}`, ""), "$\ngo vet\n→ passed\n  (timeout: 60000)"},
		{
			"a change", new(talk).call("Edit", `{"file_path":"lamp.go","old_string":"func a() {\n\treturn 1\n}","new_string":"func a() {\n\treturn 2\n}"}`, "updated"),
			"• Edit lamp.go\n-\nreturn 1\n+\nreturn 2",
		},
		{
			"a change that failed", new(talk).ended("Edit", `{"file_path":"lamp.go","old_string":"x","new_string":"y"}`, "<tool_use_error>String to replace not found in file.</tool_use_error>", true),
			"• Edit lamp.go\n→ failed: String to replace not found in file.",
		},
		{"code that is run", new(talk).call("execute_code", `{"code":"print(lamps)"}`, "7 lamps"), "$\nprint(lamps)\n  7 lamps"},
		{"a patch", new(talk).call("apply_patch", `{"input":"*** Begin Patch\n*** Update File: lamp.go\n@@\n-old line\n+new line\n*** End Patch"}`, "done"), "• apply_patch lamp.go\n-\nold line\n+\nnew line"},
		{"a file that was read", new(talk).call("Read", `{"file_path":"/w/p/x/lamp.go","offset":7}`, "     7→package lamp\n     8→}\n"), "• Read from line 7 of lamp.go\n  7: package lamp"},
		{
			"a statement with its comment", new(talk).call("Read", `{"file_path":"lamp.go"}`, "     3→// On lights it.\n     4→func On(\n     5→\tbulb int,\n     6→) {\n     7→\tlight(bulb)\n     8→}\n"),
			"• Read lamp.go\n  3: // On lights it.\n  func On(\n   bulb int,\n  ) {\n  7: light(bulb)",
		},
		{
			"a file that was read and is written anew", new(talk).call("Read", `{"file_path":"lamp.go"}`, "     1→package lamp\n     2→\n     3→var on bool\n     4→var bulb = 1").
				call("Edit", `{"file_path":"lamp.go","old_string":"bulb = 1","new_string":"bulb = 2"}`, "ok").
				call("Write", `{"file_path":"lamp.go","content":"package lamp\n\nvar on bool\nvar bulb = 3"}`, "ok"),
			"• Read lamp.go\n  1: package lamp\n  3: var on bool\n  4: var bulb = 1\n• Edit lamp.go\n-\nbulb = 1\n+\nbulb = 2\n• Write lamp.go\n-\nvar bulb = 2\n+\nvar bulb = 3",
		},
		{"tests of what passed", new(talk).bash("go test -v ./...", "=== RUN   TestLamp\n--- PASS: TestLamp (0.00s)\nPASS\nok  \texample.com/lamp\t0.012s\nok  \texample.com/bulb\t0.012s\nlamp number 7\n"), "$\ngo test -v ./...\n→ ok example.com/lamp 0.012s (+1 more)\n  lamp number 7"},
		{
			"complaints of what passed", new(talk).bash("go test -v ./...", "error: no bulb\nok  \texample.com/lamp\t0.012s\nlamp number 7\n"),
			"$\ngo test -v ./...\n→ ok example.com/lamp 0.012s\n  lamp number 7\n[12345678]",
		},
		{"complaints of what only ended", new(talk).bash("python3 count.py", "rows: 1000\nerrors: 17\n"), "$\npython3 count.py\n→ passed\n  rows: 1000\n  errors: 17"},
		{"a short result", new(talk).bash("ls | wc -l", "42\n"), "$\nls | wc -l\n  42"},
		{"a short result that the line has", new(talk).bash("grep -c 4 lamp.go", "4\n"), "$\ngrep -c 4 lamp.go\n  4"},
		{"columns of numbers", new(talk).bash("git diff --numstat", "10\t2\ta.go\n7\t0\tb.go"), "$\ngit diff --numstat\n  10\t2\ta.go\n  7\t0\tb.go"},
		{"numbers that a tool printed", new(talk).bash("cat -n lamp.go | grep -v x", "     7\tlamps are red\n     8\tbulbs are not"), "$\ncat -n lamp.go | grep -v x\n  lamps are red\n  bulbs are not"},
		{"tags for the model in a file", new(talk).call("Read", `{"file_path":"a.txt"}`, "     1→The tag <system-reminder> begins.\n     2→The tag </system-reminder> ends.\n\n<system-reminder>\nBe good.\n</system-reminder>\n"), "• Read a.txt\n  The tag <\\system-reminder> begins.\n  The tag <\\/system-reminder> ends."},
		{"a line of figures", new(talk).bash("cat table | head -n 1", strings.Repeat("12345 ", 20)), "$\ncat table | head -n 1\n[12345678]"},
		{"a search", new(talk).call("Grep", `{"pattern":"bulb","path":"src"}`, "src/lamp.go:3: bulb"), "• Grep bulb src\n  src/lamp.go:3: bulb"},
		{"a text and its replacement", new(talk).call("apply_diff", `{"path":"a.go","diff":"<<<<<<< SEARCH\nold lamp\n=======\nnew lamp\n>>>>>>> REPLACE"}`, "ok"), "• apply_diff a.go\n-\nold lamp\n+\nnew lamp"},
		{"lines that are inserted", new(talk).call("Read", `{"file_path":"a.go"}`, "     1→package lamps").call("insert_content", `{"path":"a.go","line":2,"content":"var lamp int"}`, "ok"), "• Read a.go\n  1: package lamps\n• insert_content a.go\n+\nvar lamp int"},
		{"a task", new(talk).call("TaskUpdate", `{"taskId":"3","status":"completed"}`, "Updated task #3"), "• TaskUpdate 3 completed"},
		{
			"a sub-agent", new(talk).call("Task", `{"description":"Look at the lamp","prompt":"Look at it.\nSay why it is dark."}`, "The bulb is broken."),
			"• Task Look at the lamp\n  Look at it.\n  Say why it is dark.\n→ reported:\n  The bulb is broken.",
		},
		{"an output that is indented", new(talk).call("brew", `{}`, "     brewing"), "• brew\n  brewing"},
		{"a tool that nobody knows", new(talk).call("brew", `{"kind":"tea","cups":2}`, "brewing"), "• brew tea 2\n  brewing"},
		{
			"a result in JSON", new(talk).call("get_order", `{"id":"O-7"}`, `{"order":{"id":"O-7","note":"","state":"packed","gifts":[],"lines":[{"sku":"LAMP-2","name":"`+strings.Repeat("a standing lamp ", 6)+`","price":279,"days":null,"warranty":"two years on all parts but the bulb"}]},"ok":true}`),
			"• get_order O-7\n  order: id: O-7, state: packed\n  order.lines[0]: sku: LAMP-2, name: " + strings.TrimSpace(strings.Repeat("a standing lamp ", 6)) + ", price: 279\n" +
				"  order.lines[0]: warranty: two years on all parts but the bulb\n  ok: true",
		},
		{"long lines", new(talk).agent(strings.Repeat("One sentence that is not short at all. ", 6)), strings.TrimSpace(strings.Repeat("One sentence that is not short at all. ", 6))},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.talk.written(); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// What is missing is marked: in a line of prose by an ellipsis, and behind a block by its id.
func TestTextMarksWhatIsMissing(t *testing.T) {
	units, _ := account.Read(new(talk).agent("The lamp is broken, as its bulb is gone since May. It needs a new one, and a socket that holds it. "+strings.Repeat("It is red all over. ", 8)).msgs,
		new(talk).agent("x").blocks(), nil)
	if len(units) < 4 {
		t.Fatalf("%d units", len(units))
	}
	kept := make([]bool, len(units))
	kept[0], kept[2] = true, true
	want := units[0].Text + " … " + units[2].Text + "\n[12345678]"
	if got := account.Text(units, kept, "1234567890"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	kept[3] = true
	want = units[0].Text + " … " + units[2].Text + " " + units[3].Text + "\n[12345678]"
	if got := account.Text(units, kept, "1234567890"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for want, kind := range map[string]account.Kind{"a\n[12345678]": account.Words, "a\n…\n[12345678]": account.Change} {
		if got := account.Text([]account.Unit{{Kind: kind, Text: "a", Head: 7}, {Kind: kind, Text: "b", Head: 7}}, []bool{true, false}, "1234567890"); got != want {
			t.Errorf("of a letter and what follows it leaves %q, want %q", got, want)
		}
	}
	if got := account.Text(units, make([]bool, len(units)), "1234567890"); got != "[12345678]" {
		t.Errorf("of nothing it leaves %q", got)
	}
}

func TestState(t *testing.T) {
	talk := new(talk).
		call("TaskCreate", `{"subject":"Mend the lamp"}`, "Task #1 created successfully: Mend the lamp").
		call("TaskCreate", `{"subject":"Paint it"}`, "Task #2 created successfully: Paint it").
		call("TaskUpdate", `{"taskId":"1","status":"completed"}`, "Updated task #1").
		call("Edit", `{"file_path":"/w/p/x/lamp.go","old_string":"a","new_string":"b"}`, "ok").
		bash("git commit -qam x", "[red-lamp 1a2b3c4] mend the lamp\n 1 file changed, 1 insertion(+)").
		call("Edit", `{"file_path":"/w/p/x/bulb.go","old_string":"a","new_string":"b"}`, "ok").
		ended("Bash", `{"command":"npm run lint"}`, "Exit code 1\n2 problems (2 errors, 0 warnings)", true).
		ended("Bash", `{"command":"go test ./bulb"}`, "Exit code 1\nFAIL\texample.com/bulb [build failed]", true).
		bash("go test ./bulb", "ok  \texample.com/bulb\t0.01s").
		ended("Bash", `{"command":"go test ./socket"}`, "Exit code 1\nFAIL\texample.com/socket [build failed]", true).
		bash("go test .", "ok  \texample.com\t0.01s").
		bash("cat bulb.go", "package bulb")
	_, state := account.Read(talk.msgs, talk.blocks(), nil)
	got := state.Text("")
	for _, want := range []string{
		"folder: /w/p/x\n",
		"tasks:\n  #1 completed: Mend the lamp\n  #2 open: Paint it\n",
		"git: branch red-lamp, last commit 1a2b3c4 mend the lamp, not pushed\n",
		"changed and committed:\n  lamp.go\nchanged, not committed:\n  bulb.go\n",
		"failed, not run again since: npm run lint\n", "failed, not run again since: go test ./socket\n",
		"last command: go test .\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "example.com/bulb") {
		t.Errorf("a failure that was mended is in\n%s", got)
	}
	var runs []string
	for _, r := range state.Runs {
		runs = append(runs, r.Command)
	}
	if want := []string{"git commit -qam x", "npm run lint", "go test ./bulb", "go test ./socket", "go test ."}; !slices.Equal(runs, want) {
		t.Errorf("the newest runs are %q, want %q", runs, want)
	}
	_, state = account.Read(nil, nil, nil)
	if got := state.Text(""); got != "" {
		t.Errorf("of nothing the state is %q", got)
	}
}

// The state of a long conversation says what was ordered last and what the agent said since,
// as both may be far above.
func TestStateOfALongConversation(t *testing.T) {
	talk := new(talk).user("Mend the lamp.").user("Never touch the socket.").agent("I see what you mean, and leave the socket alone from here on.\n\nThe bulb comes next, because the lamp is dark without it.")
	for n := range 3 {
		talk.bash("make", fmt.Sprint(n, strings.Repeat(" lamp", 20)))
	}
	says := func() string {
		_, s := account.Read(talk.msgs, talk.blocks(), nil)
		return s.Order + "|" + s.Said
	}
	if got := says(); got != "|" {
		t.Errorf("a short conversation ends with %q", got)
	}
	for n := range 200 {
		talk.bash("make", strings.ReplaceAll(counted(100*n, 100*n+99), " ", "\n"))
	}
	if got, want := says(), "Never touch the socket.|The bulb comes next, because the lamp is dark without it."; got != want {
		t.Errorf("a long conversation ends with %q, want %q", got, want)
	}
	_, state := account.Read(talk.msgs, talk.blocks(), nil)
	if got := state.Text(""); !strings.Contains(got, "\nthe agent last said: The bulb comes next") {
		t.Errorf("the state is\n%s", got)
	}
	talk.edit("a", "b")
	_, state = account.Read(talk.msgs, talk.blocks(), nil)
	if got := state.Text(""); !strings.Contains(got, "\nthe agent last said, before its last change: The bulb comes next") {
		t.Errorf("behind a change the state is\n%s", got)
	}
	talk.user("Now paint it.")
	if got := says(); got != "|" {
		t.Errorf("just behind an order it ends with %q", got)
	}
}

// A gap in code that has no line numbers is marked, and in code that has them it is seen.
func TestGapsAreMarked(t *testing.T) {
	for _, test := range []struct {
		file string
		kept []bool
		want string
	}{
		{"one := 1\ntwo := 2\nthree := 3", []bool{true, true, false, true}, "• Read lamp.go\n  one := 1\n…\n  three := 3\n[12345678]"},
		{"one := 1\ntwo := 2\nthree := 3", []bool{true, true, false, false}, "• Read lamp.go\n  one := 1\n…\n[12345678]"},
		{"one := 1\ntwo := 2\nthree := 3", []bool{true, false, false, false}, "• Read lamp.go\n[12345678]"},
		{"1→one := 1\n2→two := 2\n3→three := 3", []bool{true, true, false, true}, "• Read lamp.go\n  1: one := 1\n  3: three := 3\n[12345678]"},
		{"1→one := 1\n2→two := 2\n3→three := 3", []bool{true, true, false, false}, "• Read lamp.go\n  1: one := 1\n[12345678]"},
	} {
		talk := new(talk).tool("Read", map[string]string{"file_path": "lamp.go"}, test.file)
		units, _ := account.Read(talk.msgs, talk.blocks(), nil)
		if got := account.Text(units, test.kept, "12345678"); got != test.want {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
	}
}

// A line that ends with a colon never stands without what it is about.
func TestNoEmptyShells(t *testing.T) {
	talk := new(talk).user("Mend the lamp.").agent("These must be mended at once, and never left:\n- " + strings.Repeat("bulb of lamp-17 ", 30) + "\n\nWe never stop.\n\n**New, and never to be left:**\n```\n" + strings.Repeat("bulb lamp-18 ", 30) + "\n```\n\nDone.")
	r := request(talk)
	for r.Budget = 30; r.Budget < 900; r.Budget += 10 {
		p, err := account.Make(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Units {
			if strings.HasSuffix(strings.TrimRight(r.Units[i].Text, "*"), ":") && p.Kept[i] != p.Kept[i+1] {
				t.Fatalf("at %d, of %q and %q one stands alone", r.Budget, r.Units[i].Text, r.Units[i+1].Text)
			}
		}
	}
}

// An entry of a list with a colon leads in the entries that are deeper, and no others.
func TestListsInLists(t *testing.T) {
	talk := new(talk).user("Mend the lamp.").agent("What I did:\n1. **Made a script** (`lamp.sh`):\n   - It lights the lamp-17.\n   - It dims the lamp-18.\n2. **Updated the settings**:\n   ```\n   lamp = \"lamp-19\"\n   ```\n3. **Nothing below**:\n4. The lamp-20 is done.\n\nAll is well.")
	units, _ := account.Read(talk.msgs, talk.blocks(), nil)
	var got []string
	for i := range units {
		u := &units[i]
		if u.Kind != account.Sentence {
			continue
		}
		line := strings.TrimSpace(u.Text)
		if u.Opens {
			line += " +"
		}
		if u.Head >= 0 {
			line = strings.TrimSpace(units[u.Head].Text)[:2] + " > " + line
		}
		got = append(got, line)
	}
	want := []string{
		"What I did: +",
		"Wh > 1. **Made a script** (`lamp.sh`): +", "1. > - It lights the lamp-17.", "1. > - It dims the lamp-18.",
		"Wh > 2. **Updated the settings**: +", "2. > lamp = \"lamp-19\"",
		"Wh > 3. **Nothing below**:", "Wh > 4. The lamp-20 is done.",
		"All is well.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// genTalk draws a conversation.
func genTalk(rt *rapid.T) *talk {
	word := rapid.SampledFrom([]string{"lamp", "bulb.go", "src/main.go", "go test ./...", "must not fail", "error: no bulb", "42 passed", "É", "a_name", "<system-reminder>", "[carrel 12345678]"})
	text := rapid.Custom(func(rt *rapid.T) string {
		words := rapid.SliceOfN(word, 1, 30).Draw(rt, "words")
		return strings.Join(words, rapid.SampledFrom([]string{" ", ". ", "\n", "\n\n# "}).Draw(rt, "between"))
	})
	t := new(talk).user(text.Draw(rt, "task"))
	for range rapid.IntRange(0, 12).Draw(rt, "steps") {
		s := text.Draw(rt, "text")
		in := func(m map[string]string) string {
			b, err := json.Marshal(m)
			if err != nil {
				rt.Fatal(err)
			}
			return string(b)
		}
		switch rapid.IntRange(0, 5).Draw(rt, "what") {
		case 0:
			t.user(s)
		case 1:
			t.agent(s)
		case 2:
			t.bash(word.Draw(rt, "line"), s)
		case 3:
			t.call("Edit", in(map[string]string{"file_path": "/w/p/x/lamp.go", "old_string": s, "new_string": text.Draw(rt, "now")}), "ok")
		case 4:
			t.call("Read", in(map[string]string{"file_path": "/w/p/x/lamp.go"}), s)
		default:
			t.ended("brew", in(map[string]string{"what": s}), text.Draw(rt, "result"), rapid.Bool().Draw(rt, "failed"))
		}
	}
	return t
}

// request returns what a plan depends on, but for the budget.
func request(t *talk) *account.Request {
	blocks := t.blocks()
	pieces := facts.History(t.msgs, blocks, nil)
	units, _ := account.Read(t.msgs, blocks, nil)
	r := &account.Request{
		Units: units, Worth: account.NewWorth(units, pieces, facts.Estimate(pieces, nil), nil), Blocks: make([]account.Block, len(blocks)),
		Count: func(i int) token.Count { return token.Count(len(units[i].Text) + 1) },
	}
	for i := range blocks {
		r.Blocks[i] = account.Block{Tokens: token.Count(len(blocks[i].Text(t.msgs)) + 4), Frame: 6, Mark: 10, Traced: i == 0, Urgent: blocks[i].Kind == transcript.KindUser}
	}
	return r
}

// A plan fits its budget, its figure is the sum of its parts, no unit stands without its
// head, and what it keeps every plan with a larger budget keeps, too. A plan that is extended
// to a larger budget is the plan for that.
func TestPlansGrowWithTheirBudget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := request(genTalk(rt))
		var last, extended *account.Plan
		budget := token.Count(rapid.IntRange(16, 200).Draw(rt, "budget"))
		for range 6 {
			r.Budget = budget
			p, err := account.Make(r)
			if err != nil {
				rt.Fatal(err)
			}
			check(rt, r, p)
			if last == nil {
				if extended, err = account.Make(r); err != nil {
					rt.Fatal(err)
				}
			} else {
				extended.Extend(budget)
				check(rt, r, extended)
				if !slices.Equal(extended.Kept, p.Kept) || !slices.Equal(extended.Whole, p.Whole) {
					rt.Fatalf("a plan that was extended to %d differs from the plan for %[1]d", budget)
				}
				for i := range r.Units {
					if last.Kept[i] && !p.Kept[i] && !p.Whole[r.Units[i].Block] {
						rt.Fatalf("a budget of %d loses unit %d, %q", budget, i, r.Units[i].Text)
					}
				}
				for i := range r.Blocks {
					if last.Whole[i] && !p.Whole[i] {
						rt.Fatalf("block %d is no longer whole at a budget of %d", i, budget)
					}
				}
			}
			last = p
			budget += budget/2 + token.Count(rapid.IntRange(1, 100).Draw(rt, "more"))
		}
	})
}

// A plan says of each unit with which budget it comes in: with that it is there, and with
// one token less it is not.
func TestPlansSayFromWhereUnitsAreThere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := request(genTalk(rt))
		if len(r.Units) == 0 {
			return
		}
		r.Budget = math.MaxInt
		all, err := account.Make(r)
		if err != nil {
			rt.Fatal(err)
		}
		i := rapid.IntRange(0, len(r.Units)-1).Draw(rt, "unit")
		there := func(budget token.Count) bool {
			r.Budget = budget
			p, err := account.Make(r)
			return err == nil && (p.Kept[i] || p.Whole[r.Units[i].Block])
		}
		switch from := all.From[i]; {
		case from == 0:
			if all.Kept[i] || all.Whole[r.Units[i].Block] {
				rt.Fatalf("unit %d, %q, is there and has no budget", i, r.Units[i].Text)
			}
		case !there(from) || there(from-1):
			rt.Fatalf("unit %d, %q, is to be there from %d on: it is with %[3]d %v, with one less %v", i, r.Units[i].Text, from, there(from), there(from-1))
		}
	})
}

// Of lines of a file that are read again, the later copy says them in place of the earlier,
// and of two units with the same text the one that is worth more.
func TestPlansSayWhereAUnitIsSaid(t *testing.T) {
	lamp := "the lamp is broken because its socket has no spring"
	r := request(new(talk).user("Mend the lamp.").call("Read", `{"file_path":"/w/p/x/lamp.go"}`, lamp).
		call("Read", `{"file_path":"/w/p/x/lamp.go"}`, lamp).user("Go on."))
	r.Budget = math.MaxInt
	p, err := account.Make(r)
	if err != nil {
		t.Fatal(err)
	}
	var spans []int
	for i := range r.Units {
		if r.Units[i].Kind == account.Span {
			spans = append(spans, i)
		}
	}
	if len(spans) != 2 || p.In(r, spans[0]) != spans[1] || p.In(r, spans[1]) != -1 || p.In(r, 0) != -1 {
		t.Errorf("of the spans %v, the first is said in %d and the second in %d", spans, p.In(r, spans[0]), p.In(r, spans[1]))
	}
}

func TestReasonsOfAUnit(t *testing.T) {
	r := request(new(talk).user("Mend the lamp."))
	prior := account.DefaultPrior()
	list := prior.Explain(&r.Worth.Sights[0])
	for i, reason := range list {
		if reason.Weight == 0 || reason.Weight != prior.Weight(reason.Feature, reason.Bin) {
			t.Errorf("reason %+v has another weight than its bin", reason)
		}
		if i > 0 && max(reason.Weight, -reason.Weight) > max(list[i-1].Weight, -list[i-1].Weight) {
			t.Errorf("reason %+v weighs more than the one before", reason)
		}
	}
	if len(list) == 0 || !slices.ContainsFunc(list, func(r facts.Contribution) bool { return r.Feature == "kind" && r.Bin == account.Words.String() }) {
		t.Errorf("nothing says that it is a person's: %+v", list)
	}
}

func check(rt *rapid.T, r *account.Request, p *account.Plan) {
	var sum token.Count
	for i := range r.Blocks {
		switch {
		case p.Whole[i] && p.Opened[i]:
			rt.Fatalf("block %d is there twice", i)
		case p.Whole[i]:
			sum += r.Blocks[i].Tokens
		case p.Opened[i]:
			sum += r.Blocks[i].Frame
			if missing(r, p, i) {
				sum += r.Blocks[i].Mark
			}
		case r.Blocks[i].Traced:
			rt.Fatalf("block %d has left no trace", i)
		}
	}
	for i := range r.Units {
		if !p.Kept[i] {
			continue
		}
		sum += r.Count(i)
		u := &r.Units[i]
		switch {
		case !p.Opened[u.Block]:
			rt.Fatalf("unit %d is kept of block %d, which nothing stands for", i, u.Block)
		case u.Head >= 0 && !p.Kept[u.Head]:
			rt.Fatalf("unit %d, %q, stands without its head %q", i, u.Text, r.Units[u.Head].Text)
		case u.Head >= int32(i):
			rt.Fatalf("unit %d has a head behind it", i)
		}
	}
	if sum != p.Tokens || sum > r.Budget {
		rt.Fatalf("a plan of %d tokens says %d, of %d", sum, p.Tokens, r.Budget)
	}
}

// missing reports whether a unit of a block is not kept, or there is none.
func missing(r *account.Request, p *account.Plan, block int) bool {
	all := 0
	for i := range r.Units {
		if int(r.Units[i].Block) == block {
			if all++; !p.Kept[i] {
				return true
			}
		}
	}
	return all == 0
}

// A part of a budget names blocks of which nothing else is worth its place, so that they can
// be recalled.
func TestBlocksAreNamed(t *testing.T) {
	talk := new(talk).user("Mend the lamp, and never touch the socket. Say what the bulb, the wire and the switch are like.")
	for range 8 {
		talk.bash("true", "")
	}
	for range 60 {
		talk.agent("We decided to keep the old bulb because the new one must never be used with lamp-" + strings.Repeat("x", len(talk.msgs)) + ".")
	}
	r := request(talk)
	r.Budget = 3000
	p, err := account.Make(r)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range r.Blocks {
		if i > 0 && i <= 8 && p.Opened[i] {
			n++
		}
	}
	if n == 0 {
		t.Error("no call of the eight that say nothing is named")
	}
}

// Nothing that a tool said begins a line of an account at its margin, and no line of an
// account looks like one of Carrel's own.
func TestNoUnitSpeaksForCarrel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for line := range strings.SplitSeq(genTalk(rt).written(), "\n") {
			if strings.HasPrefix(line, transcript.Mark) || strings.HasPrefix(line, "<system-reminder>") {
				rt.Fatalf("the account has the line %q", line)
			}
		}
	})
}

func TestTooSmall(t *testing.T) {
	r := request(new(talk).user("Mend the lamp."))
	r.Budget = 15
	_, err := account.Make(r)
	small, ok := err.(*account.TooSmallError) //nolint:errorlint // it is not wrapped
	if !ok || small.Need != 16 {
		t.Fatalf("got %v, want an error that says that 16 is needed", err)
	}
}

// What a person asked for is there before anything else.
func TestWordsComeFirst(t *testing.T) {
	talk := new(talk).user("Mend the lamp, and never touch the socket.")
	for range 20 {
		talk.bash("go test ./...", strings.Repeat("ok  \texample.com/lamp\t0.012s\n", 5))
	}
	r := request(talk)
	r.Budget = 16 + 44
	p, err := account.Make(r)
	if err != nil || !p.Kept[0] {
		t.Fatalf("the order is not there: %v", err)
	}
}

func TestPriorIsReadAsItIsWritten(t *testing.T) {
	p, err := account.ParsePrior(account.DefaultPrior().String())
	if err != nil || p.String() != account.DefaultPrior().String() {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "kind words=1", "nothing a=1", strings.Replace(p.String(), "words=", "words=9999", 1), strings.Replace(p.String(), "no=", "none=", 1)} {
		if _, err := account.ParsePrior(bad); err == nil {
			t.Errorf("no error for %.40q", bad)
		}
	}
}

// A tool of a server may have a name that begins with ask: its answer is no user's word.
func TestOnlyClientsAskTheUser(t *testing.T) {
	talk := new(talk).call("mcp__wiki__ask_question", `{"question":"Which cache?"}`, "You must use LRU.").
		call("AskUserQuestion", `{"question":"Which lamp?"}`, "The red one.")
	units, _ := account.Read(talk.msgs, talk.blocks(), nil)
	var words []string
	for i := range units {
		if units[i].Kind == account.Words {
			words = append(words, units[i].Text)
		}
	}
	if len(words) != 1 || !strings.Contains(words[0], "The red one.") {
		t.Errorf("the user's words are %q", words)
	}
}

// An object that is nested deeply becomes one line, in time that grows with its size.
func TestDeeplyNestedResults(t *testing.T) {
	const levels = 20_000
	talk := new(talk).call("look_up", `{"n":1}`, strings.Repeat(`{"lamp":`, levels)+`1`+strings.Repeat("}", levels))
	if units, _ := account.Read(talk.msgs, talk.blocks(), nil); len(units) != 2 {
		t.Errorf("there are %d units, want the call and a line", len(units))
	}
}

// Of two sentences, the one with a name of the newest message is in the window first, and that with
// two such names before it. A name of an older message gains nothing, and a third name hardly anything.
func TestNamesOfTheNewestMessage(t *testing.T) {
	from := func(sentence, older, newest string) token.Count {
		c := new(talk).user("Look at "+older+" please.").bash("make", "ok").agent(sentence).bash("make lint", "ok").agent(strings.Repeat("The valve of the pump is open now. ", 9)).
			user(newest)
		r := request(c)
		r.Budget = 10_000
		for i := range r.Blocks {
			r.Blocks[i].Tokens = 100_000 // none stays whole
		}
		p, err := account.Make(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Units {
			if r.Units[i].Text == sentence {
				if !p.Kept[i] {
					t.Fatalf("%q is not in the window", sentence)
				}
				return token.Count(p.Rate[i])
			}
		}
		t.Fatalf("%q is no unit", sentence)
		return 0
	}
	const sentence = "The tests of pump_a.go and pump_b.go and pump_c.go need a port."
	none, one, two, three := from(sentence, "it", "Go on with it."), from(sentence, "it", "Go on with pump_a.go now."), from(sentence, "it", "Go on, pump_a.go, pump_b.go"),
		from(sentence, "it", "pump_a.go, pump_b.go, pump_c.go")
	if none >= one || one >= two || three-two > (two-one)/4 {
		t.Errorf("worth %d, %d, %d, %d with no name, one, two and three", none, one, two, three)
	}
	if older := from(sentence, "pump_a.go", "Go on with it."); older > none {
		t.Errorf("worth %d with a name of an older message, %d without", older, none)
	}
}
