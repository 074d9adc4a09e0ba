package account_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/account"
)

// many has a talk take steps.
func (t *talk) many(n int, step func(t *talk, i int)) *talk {
	for i := range n {
		step(t, i)
	}
	return t
}

// What holds at the end is what nothing later overtook.
func TestStateIsWhatHoldsAtTheEnd(t *testing.T) {
	commit := func(branch, hash, subject string) string {
		return fmt.Sprintf("[%s %s] %s\n 1 file changed, 1 insertion(+)", branch, hash, subject)
	}
	change := func(t *talk, file string) {
		t.tool("Edit", map[string]string{"file_path": file, "old_string": "a", "new_string": "b"}, "ok")
	}
	push := "To example.com:lamps.git\n   1a2b3c4..5d6e7f8  main -> main"
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{"a task that nobody numbered", new(talk).call("TaskCreate", `{"subject":"Mend it"}`, "created").call("TaskCreate", `{"subject":"Paint it"}`, "created # now"), "tasks:\n  #1 open: Mend it\n  #2 open: Paint it"},
		{"a task of another number", new(talk).call("TaskCreate", `{"subject":"Mend it"}`, "Task #12 created"), "tasks:\n  #12 open: Mend it"},
		{"a task of another number of one digit", new(talk).call("TaskCreate", `{"subject":"Mend it"}`, "Task #7"), "tasks:\n  #7 open: Mend it"},
		{"a task by another name", new(talk).call("TaskCreate", `{"subject":"Mend it"}`, "Task #1").call("TaskUpdate", `{"taskId":"1","subject":"Paint it"}`, "ok"), "tasks:\n  #1 open: Paint it"},
		{"a task that is not changed", new(talk).call("TaskCreate", `{"subject":"Mend it"}`, "Task #1").ended("TaskUpdate", `{"taskId":"1","status":"done"}`, "no", true), "tasks:\n  #1 open: Mend it"},
		{
			"a list in place of another", new(talk).call("TodoWrite", `{"todos":[{"content":"Mend it","status":"pending"},{"content":"Look","status":"pending"}]}`, "ok").call("TodoWrite", `{"todos":[{"content":"Paint it","status":"in_progress"}]}`, "ok"),
			"tasks:\n  #1 in_progress: Paint it",
		},
		{"a plan", new(talk).call("update_plan", `{"plan":[{"step":"Mend it","status":"pending"}]}`, "ok"), "tasks:\n  #1 pending: Mend it"},
		{"a list, and then none", new(talk).call("TodoWrite", `{"todos":[{"content":"Mend it","status":"pending"}]}`, "ok").call("ExitPlanMode", `{"plan":"Mend it."}`, "ok"), "tasks:\n  #1 pending: Mend it"},
		{"files, the last at the end", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "two.go"); change(t, "one.go") }), "changed, not committed:\n  two.go\n  one.go"},
		{
			"more files than are listed", new(talk).many(27, func(t *talk, i int) { change(t, fmt.Sprintf("%d.go", i)) }),
			"changed, not committed (2 more before):" + strings.Join(strings.Split(counted(2, 27), " "), "\n  "),
		},
		{
			"one file more than are listed", new(talk).many(26, func(t *talk, i int) { change(t, fmt.Sprintf("%d.go", i)) }),
			"changed, not committed (1 more before):" + strings.Join(strings.Split(counted(1, 26), " "), "\n  "),
		},
		{"a path that is none", new(talk).many(1, func(t *talk, _ int) { change(t, strings.Repeat("a", 161)); change(t, strings.Repeat("b", 160)) }), "changed, not committed:\n  " + strings.Repeat("b", 160)},
		{
			"files that commands write", new(talk).bash("printf x > bulb.txt && sed -i s/a/b/ lamp.go && cat lamp.go > /tmp/x && echo y > /dev/null", "").ended("Bash", `{"command":"echo z > no.txt"}`, "Exit code 1", true).bash("ls > list.txt; rm old.txt", ""),
			"changed, not committed:\n  bulb.txt\n  lamp.go\n  list.txt\nfailed, not run again since: echo z > no.txt\n  → failed\nlast command: ls > list.txt; rm old.txt",
		},
		{"a file that was written before a failure", new(talk).ended("Bash", `{"command":"cd a && sed -i s/a/b/ lamp.go && go test ./... && rm old.go"}`, "Exit code 1\n--- FAIL: TestLamp\nFAIL", true), "changed, not committed:\n  a/lamp.go\nlast command: cd a && sed -i s/a/b/ lamp.go && go test ./... && rm old.go\n  → --- FAIL: TestLamp"},
		{
			"a script that is gone, before a failure", new(talk).ended("Bash", `{"command":"sed -i s/a/b/ lamp.go; echo x > p.py; python3 p.py; rm p.py; go test ./..."}`, "Exit code 1\n--- FAIL: TestLamp\nFAIL", true),
			"changed, not committed:\n  lamp.go\nlast command: sed -i s/a/b/ lamp.go; echo x > p.py; python3 p.py; rm p.py; go test ./...\n  → --- FAIL: TestLamp",
		},
		{"a program that was compiled", new(talk).bash("go build -o bin/lamp ./cmd/lamp && go test -coverprofile cover.out ./... && go env > env.txt", ""), "changed, not committed:\n  env.txt\nlast command: go build -o bin/lamp ./cmd/lamp && go test -coverprofile cover.out ./... && go env > env.txt\n  → passed"},
		{"a file that was perhaps written", new(talk).ended("Bash", `{"command":"make && cp a.go b.go"}`, "Exit code 2\nno bulb", true), "last command: make && cp a.go b.go\n  → no bulb"},
		{"files that are gone", new(talk).many(1, func(t *talk, _ int) { change(t, "a/one.go"); change(t, "two.go"); change(t, "ab.go") }).bash("rm -r a two.go", ""), "changed, not committed:\n  ab.go\nlast command: rm -r a two.go\n  → passed"},
		{"files that a pattern deleted elsewhere", new(talk).many(1, func(t *talk, _ int) { change(t, "r1.txt"); change(t, "a/r2.txt") }).bash("(cd a && ls); rm r?.txt", ""), "changed, not committed:\n  a/r2.txt\nlast command: (cd a && ls); rm r?.txt\n  → passed"},
		{"files that a pattern deleted", new(talk).many(1, func(t *talk, _ int) { change(t, "r1.txt"); change(t, "r22.txt"); change(t, "a/r2.txt") }).bash("rm r?.txt; cd a && rm r?.txt", ""), "changed, not committed:\n  r22.txt\nlast command: rm r?.txt; cd a && rm r?.txt\n  → passed"},
		{"a file of another name", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("mv one.go two.go", ""), "changed, not committed:\n  two.go\nlast command: mv one.go two.go\n  → passed"},
		{"a file of another name for git", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("git mv one.go two.go && git diff > all.diff", ""), "changed, not committed:\n  two.go\n  all.diff\nlast command: git mv one.go two.go && git diff > all.diff\n  → passed"},
		{"files elsewhere", new(talk).bash("echo x > ../one.go; echo x > ~/two.go; ssh lamp 'echo x > three.go'; ssh lamp cat a > four.go", ""), "changed, not committed:\n  four.go\nlast command: echo x > ../one.go; echo x > ~/two.go; ssh lamp 'echo x > three.go'; ssh lamp cat a > four.go\n  → passed"},
		{"a folder of another name", new(talk).many(1, func(t *talk, _ int) { change(t, "a/one.go"); change(t, "two.go") }).bash("mv a b", ""), "changed, not committed:\n  b/one.go\n  two.go\nlast command: mv a b\n  → passed"},
		{"a command that a person turned down", new(talk).ended("Bash", `{"command":"make"}`, "The user doesn't want to take this action right now. STOP what you are doing.", true), ""},
		{"a change that failed", new(talk).ended("Edit", `{"file_path":"lamp.go","old_string":"a","new_string":"b"}`, "not found", true), ""},
		{"a call that nobody answered", &talk{msgs: new(talk).bash("make", "done").msgs[:1]}, ""},
		{"pushed", new(talk).bash("git commit -qam x", commit("main", "1a2b3c4", "mend it")).bash("git push", push), "git: branch main, last commit 1a2b3c4 mend it, pushed\nlast command: git push\n  → 1a2b3c4..5d6e7f8 main -> main"},
		{"pushed, and then more", new(talk).bash("git commit -qam x", commit("main", "1a2b3c4", "mend it")).bash("git push", push).bash("git commit -qam y", commit("main", "5d6e7f8", "paint it")).bash("make", ""), "git: branch main, last commit 5d6e7f8 paint it, not pushed\n  before: 1a2b3c4 mend it\nlast command: make\n  → passed"},
		{"pushed, and then a branch", new(talk).bash("git commit -qam x", commit("main", "1a2b3c4", "mend it")).bash("git push", push).bash("git checkout -b red", "Switched to a new branch 'red'").bash("make", ""), "git: branch red, last commit 1a2b3c4 mend it, pushed\nlast command: make\n  → passed"},
		{"pushed alone", new(talk).bash("git push", push).bash("make", ""), "git: pushed\nlast command: make\n  → passed"},
		{
			"commits without a word", new(talk).bash("git add -A && git commit -qm 'mend it'", "").bash("git commit -q -m 'paint it\n\nRed.' && git log --oneline", "* 5d6e7f8 paint it\n* 1a2b3c4 mend it").bash("git commit --message='sell it' -q", ""),
			"git: last commit sell it, not pushed\n  before: 5d6e7f8 paint it\n  before: mend it\nlast command: git commit --message='sell it' -q\n  → passed",
		},
		{
			"a commit with a message below it", new(talk).bash("git add -A && git commit -q -F - <<'X'\nmend it\n\nIt was dark.\nX", ""),
			"git: last commit mend it, not pushed\nlast command: git add -A && git commit -q -F - <<'X' mend it It was dark. X\n  → passed",
		},
		{
			"a commit that is shown", new(talk).bash("git commit -qm 'mend it' && git show --stat", "commit 1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d\nAuthor: Ada <ada@lamps.example>\n\n    mend it\n\n lamp.go | 1 +\n"),
			"git: last commit 1a2b3c4 mend it, not pushed\nlast command: git commit -qm 'mend it' && git show --stat\n  → passed",
		},
		{
			"work in another tree", new(talk).bash("git checkout main", "Switched to branch 'main'").bash("git worktree add /srv/old red && cd /srv/old && git status -sb", "## red"),
			"git in /srv/old: branch red, no commit here\ngit: branch main, no commit here\nlast command: git worktree add /srv/old red && cd /srv/old && git status -sb\n  → passed",
		},
		{
			"a merge", new(talk).bash("git commit -qam x", commit("main", "1a2b3c4", "mend it")).many(1, func(t *talk, _ int) { change(t, "lamp.go") }).bash("git merge -q -m 'Merge the red lamp' red && git log --oneline --graph", "*   5d6e7f8 Merge the red lamp\n|\\  \n| * 1234567 paint it"),
			"git: branch main, last commit 5d6e7f8 Merge the red lamp, not pushed\n  before: 1a2b3c4 mend it\nchanged, not committed:\n  lamp.go\nlast command: git merge -q -m 'Merge the red lamp' red && git log --oneline --graph\n  → passed",
		},
		{"a merge without its hash", new(talk).bash("git merge --no-edit red", "Merge made by the 'ort' strategy.\n lamp.go | 1 +"), "git: last commit Merge, not pushed\nlast command: git merge --no-edit red\n  → Merge made by the 'ort' strategy."},
		{"a merge that moves a branch", new(talk).bash("git merge red", "Updating 1a2b3c4..5d6e7f8\nFast-forward\n lamp.go | 1 +"), "git: last commit 5d6e7f8 (merged by fast-forward), not pushed\nlast command: git merge red\n  → Fast-forward"},
		{"a merge that changes nothing", new(talk).bash("git merge red", "Already up to date."), "last command: git merge red\n  → Already up to date."},
		{"a merge in conflict", new(talk).bash("git merge red; true", "CONFLICT (content): Merge conflict in lamp.go\nAutomatic merge failed"), "last command: git merge red; true\n  → CONFLICT (content): Merge conflict in lamp.go; Automatic merge failed"},
		{"a merge that is given up", new(talk).bash("git merge --abort", ""), "last command: git merge --abort\n  → passed"},
		{"a commit that failed", new(talk).ended("Bash", `{"command":"git commit -qm x"}`, "Exit code 1\nhook failed", true), "last command: git commit -qm x\n  → hook failed"},
		{"a failure of long ago", new(talk).ended("Bash", `{"command":"make x"}`, "Exit code 2\nno bulb", true).many(41, func(t *talk, _ int) { t.bash("ls", "x") }).bash("./run", ""), "last command: ./run\n  → passed"},
		{"a failure of forty calls ago", new(talk).ended("Bash", `{"command":"make x"}`, "Exit code 2\nno bulb", true).many(39, func(t *talk, _ int) { t.bash("ls", "x") }).bash("./run", ""), "failed, not run again since: make x\n  → no bulb\nlast command: ./run\n  → passed"},
		{"two failures forty calls apart", new(talk).ended("Bash", `{"command":"make x"}`, "Exit code 2\nno bulb", true).many(39, func(t *talk, _ int) { t.bash("ls", "x") }).ended("Bash", `{"command":"./run"}`, "Exit code 2\nno lamp", true), "failed, not run again since: make x\n  → no bulb\nlast command: ./run\n  → no lamp"},
		{"a failure of forty-one calls ago", new(talk).ended("Bash", `{"command":"make x"}`, "Exit code 2\nno bulb", true).many(40, func(t *talk, _ int) { t.bash("ls", "x") }).bash("./run", ""), "last command: ./run\n  → passed"},
		{"a failure before a commit", new(talk).ended("Bash", `{"command":"make x"}`, "Exit code 2\nno bulb", true).bash("git commit -qm y", commit("main", "1a2b3c4", "mend it")).bash("./run", ""), "git: branch main, last commit 1a2b3c4 mend it, not pushed\nlast command: ./run\n  → passed"},
		{"a failure eight calls ago, before the user spoke", new(talk).ended("Bash", `{"command":"make x"}`, "Exit code 2\nno bulb", true).user("Go on.").many(7, func(t *talk, _ int) { t.bash("ls", "x") }).bash("./run", ""), "failed, not run again since: make x\n  → no bulb\nlast command: ./run\n  → passed"},
		{"a failure nine calls ago, before the user spoke", new(talk).ended("Bash", `{"command":"make x"}`, "Exit code 2\nno bulb", true).user("Go on.").many(8, func(t *talk, _ int) { t.bash("ls", "x") }).bash("./run", ""), "last command: ./run\n  → passed"},
		{"a merge that failed", new(talk).ended("Bash", `{"command":"git merge red"}`, "Exit code 1\nmerge: red - not something we can merge", true), "last command: git merge red\n  → merge: red - not something we can merge"},
		{"a merge that tells of other versions", new(talk).bash("git merge red", "lamp 1.0..1a2b3c4d\n lamp.go | 1 +"), "git: last commit Merge, not pushed\nlast command: git merge red\n  → passed"},
		{"a branch behind other commands", new(talk).bash("mkdir lamps && git checkout -b red", "Switched to a new branch 'red'").bash("make", ""), "git: branch red, no commit here\nlast command: make\n  → passed"},
		{"a branch behind a folder of a subshell", new(talk).bash("(cd lamps) && git checkout -b red", "Switched to a new branch 'red'").bash("make", ""), "git: branch red, no commit here\nlast command: make\n  → passed"},
		{"six commits", new(talk).many(7, func(t *talk, i int) {
			t.bash("git commit -qam x", commit("main", fmt.Sprintf("1a2b3c%d", i), fmt.Sprintf("mend %d", i)))
		}).bash("make", ""), "git: branch main, last commit 1a2b3c6 mend 6, not pushed\n  before: 1a2b3c5 mend 5\n  before: 1a2b3c4 mend 4\n  before: 1a2b3c3 mend 3\n  before: 1a2b3c2 mend 2\n  before: 1a2b3c1 mend 1\nlast command: make\n  → passed"},
		{"a branch alone", new(talk).bash("git checkout -b red", "Switched to a new branch 'red'").bash("make", ""), "git: branch red, no commit here\nlast command: make\n  → passed"},
		{
			"places, the last first", new(talk).bash("cd /a && git checkout -b one", "Switched to a new branch 'one'").bash("cd /b && git checkout -b two", "Switched to a new branch 'two'").bash("make", ""),
			"git in /b: branch two, no commit here\ngit in /a: branch one, no commit here\nlast command: make\n  → passed",
		},
		{"five places", new(talk).many(5, func(t *talk, i int) {
			t.bash(fmt.Sprintf("cd /%d && git checkout -b b%[1]d", i), fmt.Sprintf("Switched to a new branch 'b%d'", i))
		}).bash("make", ""), "git in /4: branch b4, no commit here\ngit in /3: branch b3, no commit here\ngit in /2: branch b2, no commit here\ngit in /1: branch b1, no commit here\nlast command: make\n  → passed"},
		{"a sub-agent that runs", new(talk).call("Task", `{"description":"Look","run_in_background":true}`, "Started. agentId: abc123 (internal)").user("go on"), "sub-agents that run:\n  Look (abc123)"},
		{"a sub-agent that has ended", new(talk).call("Task", `{"description":"Look","run_in_background":true}`, "agentId: abc123\nmore").call("Task", `{"description":"Paint","run_in_background":true}`, "agentId: def456\nmore").user("<task-notification>abc123 is done</task-notification>"), "sub-agents that run:\n  Paint (def456)"},
		{"sub-agents of which only another tells", new(talk).call("Task", `{"description":"Look","run_in_background":true}`, "agentId: abc123\nmore").agent("abc123 is done"), "sub-agents that run:\n  Look (abc123)"},
		{"sub-agents by name", new(talk).many(4, func(t *talk, i int) {
			t.call("Task", fmt.Sprintf(`{"description":"%c","run_in_background":true}`, 'D'-i), fmt.Sprintf("agentId: x%d", i))
		}), "sub-agents that run:\n  A (x3)\n  B (x2)\n  C (x1)\n  D (x0)"},
		{"a sub-agent that was waited for", new(talk).call("Task", `{"description":"Look"}`, "agentId: abc123"), ""},
		{"a sub-agent without an id", new(talk).call("Task", `{"description":"Look","run_in_background":true}`, "started"), ""},
		{"failures, the last three", new(talk).many(5, func(t *talk, i int) {
			t.ended("Bash", fmt.Sprintf(`{"command":"make t%d"}`, i), "Exit code 2\nno bulb", true)
		}), "failed, not run again since: make t1\n  → no bulb\nfailed, not run again since: make t2\n  → no bulb\nfailed, not run again since: make t3\n  → no bulb\nlast command: make t4\n  → no bulb"},
		{"a failure that something alike mends", new(talk).ended("Bash", `{"command":"make lint"}`, "Exit code 2\nno bulb", true).bash("make lint-fix", "").bash("ls", "lamp.go"), "last command: make lint-fix\n  → passed"},
		{"a failure that a shorter line mends", new(talk).ended("Bash", `{"command":"make lint-all"}`, "Exit code 2\nno bulb", true).bash("make lint", "").bash("ls", "lamp.go"), "last command: make lint\n  → passed"},
		{"a failure that nothing mends", new(talk).ended("Bash", `{"command":"go test ./a ./b"}`, "Exit code 1\nno bulb", true).bash("go vet ./a", "").bash("cat go.mod", "module x"), "failed, not run again since: go test ./a ./b\n  → no bulb\nlast command: go vet ./a\n  → passed"},
		{"a failure of what only looks", new(talk).ended("Bash", `{"command":"cat lamp.go"}`, "Exit code 1\ncat: lamp.go: No such file", true).bash("ls", "lamp.go"), "last command: cat lamp.go\n  → cat: lamp.go: No such file"},
		{"a look that failed without a word", new(talk).ended("Bash", `{"command":"cat lamp.go"}`, "Exit code 1", true), "last command: cat lamp.go\n  → failed"},
		{
			"calls that changed something", new(talk).call("open_ticket", `{"lamp":"L-7","text":"`+strings.Repeat("dark ", 40)+`"}`, `{"ok":true,"ticket_id":"T-12","lamp":"L-7","lines":[1],"words":"so it is","due":"Friday"}`).call("get_ticket", `{"id":"T-12"}`, `{"ticket":"T-12"}`).call("mcp__shop__orderBulb", `{"watt":7}`, "B-3 is on its way.\nThank you."),
			"done by calls:\n  open_ticket L-7 dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark dark… → ticket_id: T-12, words: so it is, due: Friday\n  mcp__shop__orderBulb 7 → B-3 is on its way.",
		},
		{"a call with more values than fit", new(talk).call("pay_order", `{"order":"O-1"}`, `{"error":null,"to":"card 8812","note":"`+strings.Repeat("n", 24)+`","by":"`+strings.Repeat("b", 25)+`","by2":"`+strings.Repeat("c", 24)+`","payment":"PM-9331","total":"12.50 `+strings.Repeat("t", 20)+`"}`), "done by calls:\n  pay_order O-1 → to: card 8812, note: " + strings.Repeat("n", 24) + ", total: 12.50 " + strings.Repeat("t", 20)},
		{"calls without an error", new(talk).call("set_lamp", `{"n":1}`, `{"error":""}`).call("set_lamp", `{"n":2}`, `{"error":false}`).call("set_lamp", `{"n":3}`, `{"error":0}`).call("set_lamp", `{"n":4}`, `{"error":{"code":1}}`).call("set_lamp", `{"n":5}`, `{"error":true}`).call("set_lamp", `{"n":6}`, `{"error":7}`), "done by calls:\n  set_lamp 1\n  set_lamp 2\n  set_lamp 3 → error: 0"},
		{
			"values that do not change", new(talk).call("update_claim", `{"claim":"CL-1","note":"one"}`, `{"claim_id":"CL-1","kind":"theft","status":"open"}`).call("update_claim", `{"claim":"CL-1","note":"two"}`, `{"claim_id":"CL-1","kind":"theft","status":"closed"}`).call("update_claim", `{"claim":"CL-2"}`, `{"claim_id":"CL-2","kind":"theft"}`),
			"done by calls:\n  update_claim CL-1 one → status: open\n  update_claim CL-1 two → kind: theft, status: closed\n  update_claim CL-2 → kind: theft",
		},
		{"a call twice", new(talk).call("set_lamp", `{"lamp":"red"}`, `{"at":1}`).call("set_lamp", `{"lamp":"blue"}`, `{"at":2}`).call("set_lamp", `{"lamp":"red"}`, `{"at":3}`), "done by calls:\n  set_lamp blue → at: 2\n  set_lamp red → at: 3"},
		{"calls that changed nothing", new(talk).call("order_bulb", `{}`, `{"ok":false,"reason":"none left"}`).call("order_bulb", `{"n":1}`, `{"error":"none left"}`).call("order_bulb", `{"n":2}`, "Error: none left").ended("order_bulb", `{"n":3}`, "none left", true), ""},
		{"more changing calls than are listed", new(talk).many(32, func(t *talk, i int) { t.call("set_lamp", fmt.Sprintf(`{"n":%d}`, i+10), `{}`) }), "done by calls (4 more before):" + strings.Join(strings.Split(strings.ReplaceAll(counted(14, 42), ".go", ""), " "), "\n  set_lamp ")},
		{"ids of changing calls that are not listed", new(talk).call("open_ticket", `{"n":1}`, `{"ticket_id":"T-1"}`).call("update_ticket", `{"n":2}`, `{"at":5,"ticket_id":"T-1"}`).call("open_ticket", `{"n":3}`, `{"valid":"2","id":"T-2"}`).call("set_lamp", `{"n":9}`, `{"lamp_id":"red"}`).many(28, func(t *talk, i int) { t.call("set_lamp", fmt.Sprintf(`{"n":%d}`, i+14), `{}`) }), "done by calls (4 more before):\n  before: open_ticket 1 → T-1; open_ticket 3 → T-2" + strings.Join(strings.Split(strings.ReplaceAll(counted(14, 42), ".go", ""), " "), "\n  set_lamp ")},
		{"what a call that is not listed was about", new(talk).call("open_ticket", `{"order":"O-548873","text":"one leg of the table is split from end to end"}`, `{"ticket_id":"T-1"}`).call("update_ticket", `{"ticket":"T-2","text":"soon"}`, `{"ticket_id":"T-2"}`).call("take_payment", `{"claim":"CL-7"}`, `{"payment_id":"PM-9"}`).call("take_picture", `{"n":1}`, `{"picture_id":"P-4"}`).many(28, func(t *talk, i int) { t.call("set_lamp", fmt.Sprintf(`{"n":%d}`, i+14), `{}`) }), "done by calls (3 more before):\n  before: open_ticket O-548873 one leg of the table is split from… → T-1; update_ticket T-2 soon; take_payment CL-7 → PM-9" + strings.Join(strings.Split(strings.ReplaceAll(counted(14, 42), ".go", ""), " "), "\n  set_lamp ")},
		{"a call with an object", new(talk).call("change_order", `{"order":"O-7","changes":{"delivery":{"date":"2026-04-01"},"notes":["by lift","no calls"]}}`, `{"ok":true}`), "done by calls:\n  change_order O-7 delivery: date: 2026-04-01, notes: by lift, no calls"},
		{"more ids than fit", new(talk).many(30, func(t *talk, i int) {
			t.call("open_ticket", fmt.Sprintf(`{"n":%d}`, i), fmt.Sprintf(`{"id":"T-%d"}`, i+100))
		}).many(28, func(t *talk, i int) { t.call("set_lamp", fmt.Sprintf(`{"n":%d}`, i+14), `{}`) }), "done by calls (30 more before):\n  before: " + tickets(18, 30) + strings.Join(strings.Split(strings.ReplaceAll(counted(14, 42), ".go", ""), " "), "\n  set_lamp ")},
		{"a file that git lists as changed after its commit", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "two.go") }).bash("git commit -qam x", commit("main", "1a2b3c4", "x")).bash("go vet ./... ; git status --short", " M one.go\nM  b/three.go\n?? junk\n D four.go\n M ../five.go\n M \"a b\"\nXM six.go\n M"), "git: branch main, last commit 1a2b3c4 x, not pushed\nchanged and committed:\n  two.go\ncommitted, then changed again:\n  one.go\nchanged, not committed:\n  b/three.go\nlast command: go vet ./... ; git status --short"},
		{"a quiet commit before a status that lists nothing", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("make test; git add -A; git commit -qm 'Mend it'; git status --short", "2 passed\n").bash("make", ""), "git: last commit Mend it, not pushed\nchanged and committed:\n  one.go\nlast command: make\n  → passed"},
		{"a quiet commit that a hook refused", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("make test; git add -A; git commit -qm 'Mend it'; git status --short", "2 passed\nA  one.go\n").bash("make", ""), "changed, not committed:\n  one.go\nlast command: make\n  → passed"},
		{"a quiet commit of nothing", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("make test; git commit -qm 'Mend it'; git status --short", "On branch main\nnothing to commit, working tree clean\n").bash("make", ""), "git: branch main, no commit here\nchanged, not committed:\n  one.go\nlast command: make\n  → passed"},
		{"a long status", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("git commit -qam x", commit("main", "1a2b3c4", "x")).bash("make; git status", " M one.go"), "git: branch main, last commit 1a2b3c4 x, not pushed\nchanged and committed:\n  one.go\nlast command: make; git status"},
		{"a tree that is removed", new(talk).bash("git checkout main", "Switched to branch 'main'").bash("git worktree add /srv/old red && cd /srv/old && git status -sb", "## red").bash("cd /srv && git worktree remove --force old", ""), "git: branch main, no commit here\nlast command: cd /srv && git worktree remove --force old\n  → passed"},
		{"a part of the changes in a commit", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "b/two.go"); change(t, "b/three.go") }).bash("git add one.go && git commit -m x", commit("main", "1a2b3c4", "x")), "git: branch main, last commit 1a2b3c4 x, not pushed\nchanged and committed:\n  one.go\nchanged, not committed:\n  b/two.go\n  b/three.go\nlast command: git add one.go && git commit -m x\n  → [main 1a2b3c4] x; 1 file changed, 1 insertion(+)"},
		{"a folder of the changes in a commit", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "b/two.go") }).bash("cd b && git add .", "").bash("git commit -m x", commit("main", "1a2b3c4", "x")).bash("make", ""), "git: branch main, last commit 1a2b3c4 x, not pushed\nchanged and committed:\n  b/two.go\nchanged, not committed:\n  one.go\nlast command: make\n  → passed"},
		{"all changes in a commit", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "two.go") }).bash("git add one.go", "").bash("git commit -qam x", commit("main", "1a2b3c4", "x")).bash("make", ""), "git: branch main, last commit 1a2b3c4 x, not pushed\nchanged and committed:\n  one.go\n  two.go\nlast command: make\n  → passed"},
		{"a commit of paths", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "two.go") }).bash("git commit -m x -- two.go", commit("main", "1a2b3c4", "x")).bash("make", ""), "git: branch main, last commit 1a2b3c4 x, not pushed\nchanged and committed:\n  two.go\nchanged, not committed:\n  one.go\nlast command: make\n  → passed"},
		{"a commit that is amended", new(talk).bash("git commit -qam x", commit("main", "1a2b3c4", "first")).bash("git commit --amend -m second", commit("main", "2a2b3c4", "second")).bash("make", ""), "git: branch main, last commit 2a2b3c4 second, not pushed\nlast command: make\n  → passed"},
		{"a commit that is taken back", new(talk).bash("git commit -qam x", commit("main", "1a2b3c4", "first")).bash("git commit -qam y", commit("main", "2a2b3c4", "second")).bash("git reset --soft HEAD~1", "").bash("make", ""), "git: branch main, last commit 1a2b3c4 first, not pushed\nlast command: make\n  → passed"},
		{"commits that are taken back", new(talk).bash("git commit -qam x", commit("main", "1a2b3c4", "first")).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("git reset --hard origin/main", "").bash("make", ""), "git: branch main, no commit here\nlast command: make\n  → passed"},
		{"a change that is staged no more", new(talk).bash("git commit -qam x", commit("main", "1a2b3c4", "first")).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("git reset one.go", "").bash("make", ""), "git: branch main, last commit 1a2b3c4 first, not pushed\nchanged, not committed:\n  one.go\nlast command: make\n  → passed"},
		{"a commit that was perhaps not made", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("git diff --cached --quiet || git commit -qm x", "").bash("make", ""), "changed, not committed:\n  one.go\nlast command: make\n  → passed"},
		{"changes undone by git", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "two.go"); change(t, "three.go") }).bash("git checkout -- one.go && git restore two.go && git restore --staged three.go", ""), "changed, not committed:\n  three.go\nlast command: git checkout -- one.go && git restore two.go && git restore --staged three.go\n  → passed"},
		{"all changes undone by git", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "two.go") }).bash("git checkout -- .", ""), "last command: git checkout -- .\n  → passed"},
		{"a folder that a program writes", new(talk).bash("gofmt -w .", ""), "last command: gofmt -w .\n  → passed"},
		{"files that tools delete and move", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "two.go") }).call("delete_file", `{"path":"one.go"}`, "ok").call("move_file", `{"source":"two.go","destination":"three.go"}`, "ok"), "changed, not committed:\n  three.go"},
		{"files that a patch deletes and moves", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go"); change(t, "two.go") }).call("apply_patch", `{"input":"*** Begin Patch\n*** Delete File: one.go\n*** Update File: two.go\n*** Move to: three.go\n@@\n-a\n+b\n*** End Patch"}`, "ok"), "changed, not committed:\n  three.go"},
		{"an empty file", new(talk).call("Write", `{"file_path":"a/__init__.py","content":""}`, "ok"), "changed, not committed:\n  a/__init__.py"},
		{"a list of texts", new(talk).call("write_todos", `{"todos":["Mend it","Paint it"]}`, "ok"), "tasks:\n  #1 open: Mend it\n  #2 open: Paint it"},
		{"a list with boxes", new(talk).call("update_todo_list", `{"todos":"[ ] Mend it\n- [x] Paint it\n[-] Sell it\nsoon"}`, "ok"), "tasks:\n  #1 open: Mend it\n  #2 completed: Paint it\n  #3 in_progress: Sell it"},
		{"an empty list", new(talk).call("TodoWrite", `{"todos":[{"content":"Mend it","status":"pending"}]}`, "ok").call("TodoWrite", `{"todos":[]}`, "ok"), ""},
		{"files that a program in the line writes", new(talk).bash("python3 - <<'P'\np = 'a/b.py'\ns = open(p).read()\nopen(p, 'w').write(s)\nP", ""), "changed, not committed:\n  a/b.py\nlast command: python3 - <<'P' p = 'a/b.py' s = open(p).read() open(p, 'w').write(s) P\n  → passed"},
		{"files that a program writes before a failure", new(talk).ended("Bash", `{"command":"python3 - <<'P'\nopen('b.py', 'w').write(s)\nP\npython3 b.py"}`, "Exit code 1\nb.py\", line 3", true).ended("Bash", `{"command":"python3 -u d/p.py && make"}`, "Exit code 1\n", true), "changed, not committed:\n  b.py\nfailed, not run again since: python3 - <<'P' open('b.py', 'w').write(s) P python3 b.py\n  → b.py\", line 3\nlast command: python3 -u d/p.py && make\n  → failed"},
		{"a copy of a folder", new(talk).bash("cp -Rp /srv/old store && cp --archive x y && cp a.go b.go", ""), "changed, not committed:\n  b.go\nlast command: cp -Rp /srv/old store && cp --archive x y && cp a.go b.go\n  → passed"},
		{"a command before a change", new(talk).bash("make", "").many(1, func(t *talk, _ int) { change(t, "one.go") }), "changed, not committed:\n  one.go\nlast command, before the last change of a file: make\n  → passed"},
		{"a command between changes", new(talk).many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("make", "").many(1, func(t *talk, _ int) { change(t, "one.go") }).bash("make x", ""), "changed, not committed:\n  one.go\nlast command: make x\n  → passed"},
		{"a command without a line", new(talk).call("Bash", `{"timeout":7}`, "x"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, state := account.Read(test.talk.msgs, test.talk.blocks(), nil)
			if got := state.Text(""); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// A command that nobody answered yet has run, and nothing is known of how.
func TestACommandThatStarted(t *testing.T) {
	talk := &talk{msgs: new(talk).bash("sh build.sh", "done").msgs[:1]}
	_, state := account.Read(talk.msgs, talk.blocks(), nil)
	if len(state.Runs) != 1 || state.Runs[0].Command != "sh build.sh" || state.Runs[0].Outcome != "" || state.Last.Command != "" {
		t.Errorf("the state has %+v", state)
	}
}

// counted returns names of files by number.
func counted(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, " %d.go", i)
	}
	return b.String()
}

// tickets returns the text about tickets, opened in calls with such numbers, that are not listed.
func tickets(from, to int) string {
	var all []string
	for i := from; i < to; i++ { // 12 of 24 bytes with 2 bytes between them have fewer than 320
		all = append(all, fmt.Sprintf("open_ticket %d → T-%d", i, i+100))
	}
	return strings.Join(all, "; ")
}

// A state names the blocks that it is from, and no others.
func TestStateNamesItsBlocks(t *testing.T) {
	talk := new(talk).user("Mend it.").
		call("TaskCreate", `{"subject":"Mend it"}`, "Task #1").user("go on").
		call("Edit", `{"file_path":"lamp.go","old_string":"a","new_string":"b"}`, "ok").user("go on").
		bash("git commit -qam x", "[main 1a2b3c4] mend it\n 1 file changed").user("go on").
		bash("make", "done").user("go on").
		call("Task", `{"description":"Look","run_in_background":true}`, "agentId: abc123").user("go on").
		call("Read", `{"file_path":"lamp.go"}`, "the lamp")
	_, state := account.Read(talk.msgs, talk.blocks(), nil)
	if got, want := fmt.Sprint(state.Blocks), "[1 3 5 7 9]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A client may use the id of a call again: each call has its own outcome.
func TestCallsWithOneID(t *testing.T) {
	c := new(talk).bash("make", "ok")
	c.calls = 0
	c.ended("Bash", `{"command":"make"}`, "Exit code 2", true)
	_, s := account.Read(c.msgs, c.blocks(), nil)
	if s.Last.Outcome != "failed" {
		t.Errorf("the last call ended with %q", s.Last.Outcome)
	}
}

// The state tells what changed files define, the last changed first, in a two-hundredth of the
// conversation's bytes.
func TestWhatChangedFilesDefine(t *testing.T) {
	long := strings.Repeat("x", 19)
	write := func(c *talk, name, content string) {
		in, err := json.Marshal(map[string]string{"file_path": name, "content": content})
		if err != nil {
			t.Fatal(err)
		}
		c.call("Write", string(in), "ok")
	}
	for _, tt := range []struct {
		name  string
		bytes int // of other text
		does  func(c *talk)
		want  string // of the last changed file
	}{
		{"languages", 20_000, func(c *talk) {
			write(c, "a.x", "func Lamp() {\nfunc (b *Bulb) Shine(n int) {\n\tlet no = 1\nexport async function dim() {\n  def _hidden(self):\n    def fade(self):\npub(crate) fn glow<T>() {\nconst HALL = 1\nexport const ceiling = () => {}\n// func gone\nfunc Lamp() {")
		}, " (Lamp, Shine, dim, fade, glow, HALL, ceiling)"},
		{"a definition behind another on its line", 20_000, func(c *talk) { write(c, "a.go", "type Lamp func(n int) error\ntype Bulb struct{}\n") }, " (Lamp, Bulb)"},
		{"nothing", 20_000, func(c *talk) { write(c, "a.go", "package a\n") }, ""},
		{"a test", 20_000, func(c *talk) { write(c, "a_test.go", "func TestLamp(") }, ""},
		{"a text for people", 20_000, func(c *talk) { write(c, "a.md", "class Lamp\n") }, ""},
		{"as many bytes as may be", 40_000, func(c *talk) {
			write(c, "a.go", "func A"+long+"\nfunc B"+long+"\nfunc C"+long+"\nfunc D"+long+"\nfunc E"+long+"\n")
		}, " (A" + long + ", B" + long + ", C" + long + ", D" + long + ", E" + long + ")"},
		{"more", 40_000, func(c *talk) {
			write(c, "a.go", "func A"+long+"\nfunc B"+long+"\nfunc C"+long+"\nfunc D"+long+"\nfunc E"+long+"\nfunc Fxxxxxxxxx\nfunc G\n")
		}, " (A" + long + ", B" + long + ", C" + long + ", D" + long + ", E" + long + ", Fxxxxxxxxx, …)"},
		{"a short conversation", 0, func(c *talk) { write(c, "a.go", "func Lamp\n") }, ""},
		{"an edit", 20_000, func(c *talk) {
			write(c, "a.go", "func Lamp\nfunc Bulb\n")
			c.call("Edit", `{"file_path":"a.go","old_string":"Lamp","new_string":"Light"}`, "ok")
		}, " (Light, Bulb)"},
		{"a command", 20_000, func(c *talk) { write(c, "a.go", "func Lamp\n"); c.bash("sed -i s/Lamp/Light/ a.go", "") }, " (Light, …)"},
		{"a word replaced in two files", 20_000, func(c *talk) {
			write(c, "a.go", "func Lamp\nfunc Bulb\n")
			c.bash(`sed -i 's/\bLamp\b/Light/g' b.go a.go`, "").bash(`sed -i 's|Bulb|Wire|' a.go`, "").bash(`sed -i 's/x/y/' b.go`, "")
		}, " (Light, Wire, …)"},
		{"a pattern replaced", 20_000, func(c *talk) {
			write(c, "a.go", "func Lamp\n")
			c.bash(`sed -i 's/L.mp/Light/' a.go; sed -i s/Lamp/Light/ b.go; grep s/Lamp/Light/ a.go`, "")
		}, " (Lamp, …)"},
		{"a command, and an edit", 20_000, func(c *talk) {
			write(c, "a.go", "func Lamp\n")
			c.bash("echo '// x' >> a.go", "").call("Edit", `{"file_path":"a.go","old_string":"Lamp","new_string":"Light"}`, "ok")
		}, " (Light, …)"},
		{"a command with the text", 20_000, func(c *talk) { c.bash("cat > a.go <<'X'\nfunc Lamp() {\n}\nX", "") }, " (Lamp, …)"},
		{"a program with a part of the text", 20_000, func(c *talk) {
			write(c, "a.py", "def dim(lamp):\n")
			c.bash("python3 - <<'P'\np = 'a.py'\nopen(p, 'w').write(s + \"\"\"\ndef shine(lamp):\n\"\"\")\nP", "")
		}, " (dim, shine, …)"},
		{"an edit of what a command wrote", 20_000, func(c *talk) {
			write(c, "a.go", "func Lamp\n")
			c.bash("echo 'func Light' >> a.go", "").call("Edit", `{"file_path":"a.go","old_string":"Light","new_string":"Shade"}`, "ok")
		}, " (Lamp, …)"},
		{"a command that writes a file twice, and one that it deletes", 20_000, func(c *talk) {
			c.bash("cat > a.go <<'X'\nfunc Lamp() {\nX\ncat > p.txt <<'X'\nx\nX\ncat >> a.go <<'X'\nfunc Bulb() {\nX\nrm p.txt", "")
		}, " (Lamp, Bulb, …)"},
		{"a command that writes two files", 20_000, func(c *talk) {
			write(c, "a.go", "func Lamp\n")
			c.bash("for f in a.go; do echo 'func Bulb' >> a.go; done; echo 'func Wire' > b.go; echo '// x' >> a.go", "")
		}, ""},
		{"a command before the file is read", 20_000, func(c *talk) {
			c.bash("echo 'func Lamp' >> a.go", "").call("Read", `{"file_path":"a.go"}`, "func Lamp\n")
		}, " (Lamp)"},
		{"a command before a part is read", 20_000, func(c *talk) {
			write(c, "a.go", "func Lamp\n")
			c.bash("echo 'func Light' >> a.go", "").call("Read", `{"file_path":"a.go","offset":2}`, "func Light\n")
		}, " (Lamp, …)"},
		{"a command before the file is written", 20_000, func(c *talk) { c.bash("echo 'func Lamp' >> a.go", ""); write(c, "a.go", "func Lamp\n") }, " (Lamp)"},
	} {
		c := new(talk).agent(strings.Repeat("A lamp. ", tt.bytes/8))
		tt.does(c)
		_, s := account.Read(c.msgs, c.blocks(), nil)
		if got := s.Defined[s.Changed[0]]; got != tt.want || !strings.Contains(s.Text("")+"\n", "\n  "+s.Changed[0]+tt.want+"\n") {
			t.Errorf("%s: got %q, want %q, in\n%s", tt.name, got, tt.want, s.Text(""))
		}
	}
	c := new(talk).agent(strings.Repeat("A lamp. ", 1800))
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		write(c, name, "func "+strings.Repeat("L", 28)+"\n")
	}
	if _, s := account.Read(c.msgs, c.blocks(), nil); len(s.Defined) != 2 || s.Defined["a.go"] != "" {
		t.Errorf("of three files in a short conversation: %q", s.Defined)
	}
}

// The text below a heading that says so binds: all of it in a long message of the user, and the entries
// of lists in a file written for people.
func TestHeadingsThatBind(t *testing.T) {
	for title, want := range map[string]bool{"## 2. Acceptance": true, "# Rules": true, "# Constraints": true, "# Conventions": true, "# Requirements": true, "# Notes": false} {
		said := "# Lamp\n\nIt is old.\n\n" + title + "\n\nIt shines.\n- It is red.\n\n# Notes\n\n- It hangs.\n" + strings.Repeat("Nothing else is known about it.\n", 40)
		in, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			c    *talk
			want string
		}{
			{new(talk).user(said), title + "|It shines.|- It is red."},
			{new(talk).agent(said), ""},
			{new(talk).call("Write", `{"file_path":"lamp.md","content":`+string(in)+`}`, "ok"), "- It is red."},
		} {
			if !want {
				tt.want = ""
			}
			units, _ := account.Read(tt.c.msgs, tt.c.blocks(), nil)
			var got []string
			for i := range units {
				if units[i].Rule {
					got = append(got, strings.TrimSpace(units[i].Text))
				}
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("below %s %q binds, want %q", title, got, tt.want)
			}
		}
	}
}

// What a failed command printed counts as repeated once the command ran again.
func TestFailuresThatRanAgain(t *testing.T) {
	const failed = "Exit code 1\n--- FAIL: TestLamp (0.00s)\n    lamp_test.go:7: it is dark\nFAIL"
	for next, want := range map[string]bool{"go test ./...": true, "make lint": false} {
		c := new(talk).bash("make", "lamp.o is built").ended("Bash", `{"command":"go test ./..."}`, failed, true).bash(next, "ok")
		units, _ := account.Read(c.msgs, c.blocks(), nil)
		seen := 0
		for i := range units {
			u := &units[i]
			if seen++; u.Stated != (want && u.Failed) {
				t.Errorf("before %q the unit %q counts as repeated: %v", next, u.Text, u.Stated)
			}
		}
		if seen < 5 {
			t.Errorf("%d units, want 5 at least", seen)
		}
	}
}

// A file may have two paths in the calls: the state knows its newest text.
func TestDefinitionsOfAFileWithTwoPaths(t *testing.T) {
	const absolute, relative = `{"file_path":"/srv/lamp/a.go","content":"func Lamp\n"}`, `{"file_path":"a.go","content":"func Bulb\n"}`
	for _, tt := range [][3]string{{absolute, relative, " (Bulb)"}, {relative, absolute, " (Lamp)"}} {
		c := new(talk).agent(strings.Repeat("A lamp. ", 3000)).call("Write", tt[0], "ok").call("Write", tt[1], "ok")
		_, s := account.Read(c.msgs, c.blocks(), &account.Options{Project: "/srv/lamp"})
		if got := s.Defined["a.go"]; got != tt[2] {
			t.Errorf("the file defines %q, want%s", got, tt[2])
		}
	}
}

// Beside a text that names a file, the state tells it only if it is not committed, and without what
// it defines.
func TestStateBesideAText(t *testing.T) {
	c := new(talk).agent(strings.Repeat("A lamp. ", 5000))
	for _, name := range []string{"lamp.go", "bulb.go"} {
		c.call("Write", `{"file_path":"/src/`+name+`","content":"func Made() {}\n"}`, "ok")
	}
	c.bash("git add -A && git commit -qm made && git log --oneline | head -1", "1234567 made")
	for _, name := range []string{"wire.go", "plug.go"} {
		c.call("Write", `{"file_path":"/src/`+name+`","content":"func Made() {}\n"}`, "ok")
	}
	_, s := account.Read(c.msgs, c.blocks(), &account.Options{Project: "/src"})
	for beside, want := range map[string]string{
		"":                       "lamp.go (Made) bulb.go (Made) wire.go (Made) plug.go (Made)",
		"lamp.go and wire.go":    "bulb.go (Made) wire.go plug.go (Made)",
		"bulb.go, lamp.go":       "wire.go (Made) plug.go (Made)",
		"- `plug.go`: the lamps": "lamp.go (Made) bulb.go (Made) wire.go (Made) plug.go",
	} {
		var got []string
		for line := range strings.SplitSeq(s.Text(beside), "\n") {
			if f, is := strings.CutPrefix(line, "  "); is && strings.Contains(f, ".go") {
				got = append(got, f)
			}
		}
		if list := strings.Join(got, " "); list != want {
			t.Errorf("beside %q: %q, want %q, in\n%s", beside, list, want, s.Text(beside))
		}
	}
}
