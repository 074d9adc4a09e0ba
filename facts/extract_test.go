package facts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// A talk builds a conversation.
type talk struct {
	msgs  []transcript.Message
	calls int
}

func (s *talk) user(text string) *talk {
	s.msgs = append(s.msgs, transcript.Message{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text(text)}})
	return s
}

func (s *talk) reply(text string) *talk {
	s.msgs = append(s.msgs, transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text(text)}})
	return s
}

// call adds a reply with text and a call, and the result of the call. A result that begins
// with ! is an error.
func (s *talk) call(said, name string, input any, result string) *talk {
	s.calls++
	id := fmt.Sprint("call-", s.calls)
	raw, _ := input.(json.RawMessage)
	if raw == nil {
		raw, _ = json.Marshal(input)
	}
	parts := []transcript.Part{transcript.ToolCall{ID: id, Name: name, Input: raw}}
	if said != "" {
		parts = append([]transcript.Part{transcript.Text(said)}, parts...)
	}
	text, failed := strings.CutPrefix(result, "!")
	s.msgs = append(s.msgs,
		transcript.Message{Role: transcript.RoleAssistant, Parts: parts},
		transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{
			transcript.ToolResult{CallID: id, Content: []transcript.Part{transcript.Text(text)}, Error: failed},
		}})
	return s
}

func (s *talk) run(line, result string) *talk {
	return s.call("", "Bash", map[string]string{"command": line}, result)
}

func (s *talk) edit(path, old, now string) *talk {
	return s.call("", "Edit", map[string]string{"file_path": path, "old_string": old, "new_string": now}, "The file has been updated.")
}

func (s *talk) extract(o *Options) []Fact {
	return Extract(s.msgs, transcript.Group("s", 0, s.msgs), o)
}

// correction is a simple Options.Correction.
func correction(text string) bool {
	low := strings.ToLower(text)
	return strings.HasPrefix(low, "no,") || strings.Contains(low, "don't ") || strings.Contains(low, "never ") || strings.Contains(low, "always ")
}

// written writes facts of some kinds as lines.
func written(list []Fact, kinds ...FactKind) []string {
	var out []string
	for _, f := range list {
		if !slices.Contains(kinds, f.Kind) {
			continue
		}
		line := string(f.Kind)
		if f.Status != "" {
			line += " " + string(f.Status)
		}
		for _, s := range []string{f.Subject, f.Text} {
			if s != "" {
				line += " | " + s
			}
		}
		if f.Why != "" {
			line += " <- " + f.Why
		}
		out = append(out, line)
	}
	return out
}

// listOf returns a text with each number from 1 to n in it.
func listOf(n int, format string) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf(format, 1+i))
	}
	return list
}

func TestExtract(t *testing.T) {
	for _, tt := range []struct {
		name  string
		talk  *talk
		kinds []FactKind
		want  []string
	}{
		{
			"what a person wants is a task, what programs say in the user's name is none",
			new(talk).user("<command-name>/clear</command-name><command-args></command-args>").user("<local-command-stdout>ok</local-command-stdout>").
				user("Fix the\n pool.").reply("Done.").user("thanks!").user("[Request interrupted by user]").user("Now the README, please."),
			[]FactKind{FactTask},
			[]string{"task | Fix the pool.", "task | Now the README, please."},
		},
		{
			"a slash command counts by its arguments",
			new(talk).user("<command-name>/plan</command-name><command-args>add telemetry to the CLI</command-args>"),
			[]FactKind{FactTask},
			[]string{"task | add telemetry to the CLI"},
		},
		{
			"a correction is the sentence that carries it",
			new(talk).user("Build the server.").reply("Done.").user("Good so far. But don't touch the lock file. I don't have the logs."),
			[]FactKind{FactCorrection},
			[]string{"correction | But don't touch the lock file."},
		},
		{
			"of what an agent says it did in one message, the first sixteen are kept",
			new(talk).user("Go.").reply(strings.Join(listOf(19, "Test cup%d is fixed now and works."), " ")).user("Go on."),
			[]FactKind{FactProgress},
			listOf(16, "progress | Test cup%d is fixed now and works."),
		},
		{
			"of what a person decides in one message, the first twelve are kept",
			new(talk).user(strings.Join(listOf(14, "We decided to use cup %d there."), " ")),
			[]FactKind{FactDecision},
			listOf(12, "decision | We decided to use cup %d there."),
		},
		{
			"of what an agent decides in one message, too",
			new(talk).user("Go.").reply(strings.Join(listOf(14, "We decided to use cup %d there."), " ")),
			[]FactKind{FactDecision},
			listOf(12, "decision | We decided to use cup %d there."),
		},
		{
			"an agent thinks in a call, too",
			new(talk).user("Go.").call("", "think", map[string]string{"thought": "We decided to use the blue cup."}, "ok"),
			[]FactKind{FactDecision},
			[]string{"decision | We decided to use the blue cup."},
		},
		{
			"what cannot be done yet is open",
			new(talk).user("Go.").reply("I cannot push the branch until the token is there. I cannot see it. I wait until noon."),
			[]FactKind{FactQuestion},
			[]string{"question open | I cannot push the branch until the token is there."},
		},
		{
			"a heading of a person is a step if it is of a list, and of an agent if it says so",
			new(talk).user("Go on so.\n\n# 1. Mend the lamp first\n\n# The lamp beside it\n\n" + strings.Repeat("The lamp is dark. ", 60)).reply("# 2. Paint the lamp\n\n# Step 3: sell the lamp"),
			[]FactKind{FactPlan},
			[]string{"plan | Mend the lamp first", "plan | Step 3: sell the lamp"},
		},
		{
			"a task that has no number is changed by none",
			new(talk).user("Go.").call("", "TaskCreate", map[string]string{"subject": "Mend the lamp"}, "ok").call("", "TaskUpdate", map[string]string{"status": "completed"}, "ok").
				call("", "TaskCreate", map[string]string{"subject": "Paint the lamp"}, "Task #7 created").call("", "TaskUpdate", map[string]string{"taskId": "7", "status": "completed"}, "ok"),
			[]FactKind{FactTodo},
			[]string{"todo pending | Mend the lamp | Mend the lamp", "todo completed | Paint the lamp | Paint the lamp"},
		},
		{
			"an edit says what became of the line",
			new(talk).edit("/srv/app/main.go", "\tshutdownTimeout = 5 * time.Second\n", "\tshutdownTimeout = 30 * time.Second\n"),
			[]FactKind{FactChange},
			[]string{"change modified | main.go | shutdownTimeout: 5 → 30"},
		},
		{
			"an edit names what it declares and takes away",
			new(talk).edit("pool.go", "func Old() {}\n", "func (p *Pool) Close() error {\n\treturn nil\n}\n\ntype Pool struct{}\n"),
			[]FactKind{FactChange},
			[]string{"change modified | pool.go | new func Pool.Close, type Pool; gone func Old (+4 −1 lines)"},
		},
		{
			"a failed edit changes nothing, and is put right by the next one",
			new(talk).call("", "Edit", map[string]string{"file_path": "a.go", "old_string": "x", "new_string": "y"}, "!<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>").
				edit("a.go", "count := 1", "count := 2"),
			[]FactKind{FactChange, FactError},
			[]string{"error resolved | a.go | String to replace not found in file. <- edited again", "change modified | a.go | count: 1 → 2"},
		},
		{
			"a file that is written lists what it declares",
			new(talk).call("", "Write", map[string]string{"file_path": "/srv/app/x.py", "content": "class Pool:\n    def get(self):\n        pass\n"}, "File created successfully at: x.py"),
			[]FactKind{FactChange},
			[]string{"change created | x.py | class Pool, def get, 3 lines"},
		},
		{
			"edits in one call are one change",
			new(talk).call("", "MultiEdit", map[string]any{"file_path": "a.ts", "edits": []map[string]string{
				{"old_string": "port: 3000", "new_string": "port: 8443"}, {"old_string": "", "new_string": "export function stop() {}"},
			}}, "ok"),
			[]FactKind{FactChange},
			[]string{"change modified | a.ts | port: 3000 → 8443, new function stop (+1 −0 lines)"},
		},
		{
			"apply_patch in an envelope, also one that is no JSON",
			new(talk).call("", "apply_patch", json.RawMessage("*** Begin Patch\n*** Add File: a.go\n+package a\n+func New() {}\n*** Update File: b.go\n*** Move to: c.go\n@@\n-x\n+y\n*** Delete File: d.go\n*** End Patch"), "Done!"),
			[]FactKind{FactChange},
			[]string{"change created | a.go | func New, 2 lines", "change moved | c.go | from b.go", "change deleted | d.go"},
		},
		{
			"a shell changes files, too",
			new(talk).run("cd /srv/app && cat > cfg.yaml <<'EOF'\nport: 8443\nEOF\nsed -i 's/a/b/' x.txt && git mv old.go new.go; rm -f gone.go; echo hi > /dev/null", ""),
			[]FactKind{FactChange},
			[]string{"change created | cfg.yaml | port: 8443", "change modified | x.txt | s/a/b/", "change moved | new.go | from old.go", "change deleted | gone.go"},
		},
		{
			"a shell that failed is not said to have changed anything",
			new(talk).run("rm a.go", "!rm: cannot remove 'a.go': No such file or directory"),
			[]FactKind{FactChange, FactCommand},
			[]string{"command failed | rm a.go | rm: cannot remove 'a.go': No such file or directory"},
		},
		{
			"a command has the outcome that its output tells",
			new(talk).run("cd /srv/app && go test ./... 2>&1", "?   \tacme/cmd\t[no test files]\nok  \tacme/pool\t0.3s").
				run("bun test", "error: logged by a test\n 1216 pass\n 0 fail\nRan 1216 tests across 56 files.").
				run("git commit -m y", " 1216 pass\n 0 fail\nerror: script typecheck exited with code 2").
				run("pytest", "== 2 failed, 10 passed in 0.5s ==").
				run("git commit -m x", "[main 1a2b3c4] x\n 1 file changed").
				run("gh pr create --fill", "https://github.com/acme/app/pull/17"),
			[]FactKind{FactCommand},
			[]string{
				"command ok | go test ./... 2>&1 | ok acme/pool 0.3s", "command ok | bun test | 1216 pass 0 fail Ran 1216 tests across 56 files.",
				"command failed | git commit -m y | error: script typecheck exited with code 2", "command failed | pytest | == 2 failed, 10 passed in 0.5s ==", "command ok | git commit -m x | [main 1a2b3c4] x",
				"command ok | gh pr create --fill | https://github.com/acme/app/pull/17",
			},
		},
		{
			"a code at the end of an output says how the command went, and one within it does not",
			new(talk).call("", "python", map[string]string{"code": "make e2e"}, "gave up after 4 tries\nexit code 1").run("go run ./cmd/x", "usage: x FILE\nexit status 2\n").
				run("make doc", "see \"exit code 1\" in the manual\nwritten"),
			[]FactKind{FactCommand},
			[]string{
				"command failed | make e2e | gave up after 4 tries", "command failed | go run ./cmd/x | usage: x FILE", "command ok | make doc | written",
			},
		},
		{
			"what only shows what is there is read, whatever it shows",
			new(talk).run("git log --oneline | head -5", "1a2b3c4 FAIL early").run("cat err.log", "panic: gone"),
			[]FactKind{FactCommand, FactRead, FactError},
			[]string{"read | git log --oneline | head -5", "read | err.log"},
		},
		{
			"an error is resolved by the edits before the command succeeds",
			new(talk).run("go vet . && go test ./pool", "!Exit code 1\n--- FAIL: TestClose (0.00s)\nFAIL").edit("pool.go", "a := 1", "a := 2").run("go test ./pool", "ok  \tacme/pool\t0.1s"),
			[]FactKind{FactError},
			[]string{"error resolved | go vet . && go test ./pool | --- FAIL: TestClose (0.00s) <- edited pool.go"},
		},
		{
			"the same error is one error, and open if it came last",
			new(talk).run("make", "!Exit code 2\nmain.c:17:4: expected ;").run("make", "all built").run("make", "!Exit code 2\nmain.c:17:4: expected ;"),
			[]FactKind{FactError},
			[]string{"error open | make | main.c:17:4: expected ;"},
		},
		{
			"an error that a person reports is resolved by an answer after edits",
			new(talk).user("I get this:\npanic: runtime error: index out of range\nwhy?").edit("a.go", "i := 0", "i := 1").reply("Fixed the index."),
			[]FactKind{FactError},
			[]string{"error resolved | panic: runtime error: index out of range <- edited a.go"},
		},
		{
			"decisions with the reason that is given",
			new(talk).reply("I chose SQLite because it needs no server. Let me check the schema.\n\nI'll read the file first.\n\nWe're going with port 8443. This avoids a clash.\n\n" +
				"Since the config is read once, I'll use a constant."),
			[]FactKind{FactDecision},
			[]string{
				"decision | I chose SQLite because it needs no server. <- it needs no server.",
				"decision | We're going with port 8443. <- This avoids a clash.",
				"decision | Since the config is read once, I'll use a constant. <- the config is read once",
			},
		},
		{
			"what only describes or looks is no decision",
			new(talk).user("Should we use X instead of Y?").reply("Let me look at the pool.\nThe cache holds entries instead of copies.\nI'll check the tests.\nIf you prefer, tell me.\nWould you prefer tabs?"),
			[]FactKind{FactDecision},
			nil,
		},
		{
			"a short answer to a question is a decision of the user",
			new(talk).user("Add a cache.").reply("Two ways.\n\nWhich one do you want?").user("option 2").reply("Should I commit?"),
			[]FactKind{FactDecision, FactQuestion},
			[]string{"question resolved | Which one do you want? <- option 2", "decision | Which one do you want? | option 2", "question open | Should I commit?"},
		},
		{
			"a question by a tool is answered by its result",
			new(talk).call("", "AskUserQuestion", map[string]any{"questions": []map[string]string{{"question": "Which database?"}}},
				`User has answered your questions: "Which database?"="PostgreSQL". You can now continue.`),
			[]FactKind{FactDecision, FactQuestion},
			[]string{"decision | Which database? | PostgreSQL", "question resolved | Which database? <- PostgreSQL"},
		},
		{
			"a plan that was accepted is a decision",
			new(talk).call("", "ExitPlanMode", map[string]string{"plan": "Move the cache to disk. Then measure."}, "User has approved your plan."),
			[]FactKind{FactDecision},
			[]string{"decision | accepted plan | Move the cache to disk. Then measure."},
		},
		{
			"who refuses a call and says why asks for something",
			new(talk).call("", "Bash", map[string]string{"command": "rm -rf build"},
				"!The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nNo, never delete the build."),
			[]FactKind{FactCorrection, FactCommand},
			[]string{"correction | No, never delete the build."},
		},
		{
			"what blocks is an open question",
			new(talk).reply("The release is blocked on the signing key.\nI can't push until the token is renewed."),
			[]FactKind{FactQuestion},
			[]string{"question open | The release is blocked on the signing key.", "question open | I can't push until the token is renewed."},
		},
		{
			"a list of things to do as it stands last",
			new(talk).call("", "TodoWrite", map[string]any{"todos": []map[string]string{{"content": "Write it", "status": "in_progress"}, {"content": "Test it", "status": "pending"}}}, "ok").
				call("", "TodoWrite", map[string]any{"todos": []map[string]string{{"content": "Write it", "status": "completed"}, {"content": "Test it", "status": "in_progress"}}}, "ok"),
			[]FactKind{FactTodo},
			[]string{"todo completed | Write it | Write it", "todo in_progress | Test it | Test it"},
		},
		{
			"a list that a call could not change",
			new(talk).call("", "TodoWrite", map[string]any{"todos": []map[string]string{{"content": "Write it", "status": "pending"}}}, "ok").
				call("", "TodoWrite", map[string]any{"todos": []map[string]string{{"content": "Bad", "status": "odd"}}}, "!InputValidationError"),
			[]FactKind{FactTodo},
			[]string{"todo pending | Write it | Write it"},
		},
		{
			"a list that was cleared",
			new(talk).call("", "TodoWrite", map[string]any{"todos": []map[string]string{{"content": "Write it", "status": "pending"}}}, "ok").
				call("", "TodoWrite", map[string]any{"todos": []string{}}, "ok"),
			[]FactKind{FactTodo},
			nil,
		},
		{
			"a failure that a line prints the status of",
			new(talk).call("", "Bash", map[string]string{"command": "go test ./a"}, "!--- FAIL: TestA\nFAIL").
				call("", "Bash", map[string]string{"command": "go test ./a; echo \"exit: $?\""}, "--- FAIL: TestA\nFAIL\tx/a\t0.1s\nFAIL\nexit: 1"),
			[]FactKind{FactError},
			[]string{"error open | go test ./a | --- FAIL: TestA"},
		},
		{
			"tasks that are created and updated one by one",
			new(talk).call("", "TaskCreate", map[string]string{"subject": "Write it"}, "Task #1 created successfully: Write it").
				call("", "TaskCreate", map[string]string{"subject": "Test it"}, "Task #2 created successfully: Test it").
				call("", "TaskUpdate", map[string]string{"taskId": "1", "status": "completed"}, "Updated task #1 status"),
			[]FactKind{FactTodo},
			[]string{"todo completed | Write it | Write it", "todo pending | Test it | Test it"},
		},
		{
			"a check list in prose, and update_plan",
			new(talk).reply("- [x] Write it\n- [ ] Test it").call("", "update_plan", map[string]any{"plan": []map[string]string{{"step": "Ship it", "status": "pending"}}}, "Plan updated"),
			[]FactKind{FactTodo},
			[]string{"todo pending | Ship it | Ship it"},
		},
		{
			"steps that are announced",
			new(talk).reply("The cache works.\n\n## Next steps\n1. Measure the cache\n2. Write the README"),
			[]FactKind{FactPlan},
			[]string{"plan | Measure the cache", "plan | Write the README"},
		},
		{
			"what is done or the case",
			new(talk).user("go").call("All 42 tests pass. Let me verify the build passes.", "Bash", map[string]string{"command": "make"}, "").
				reply("## Changes made\n- Added a **retry** to `Dial`\n\nThe root cause was a closed channel. Latency took 40ms in total."),
			[]FactKind{FactProgress},
			[]string{
				"progress | All 42 tests pass.", "progress | Added a retry to `Dial`", "progress | The root cause was a closed channel.",
				"progress | Latency took 40ms in total.",
			},
		},
		{
			"references, each once",
			new(talk).user("See https://example.com/acme/pull/17 on port 8443, reservation JG7FMM.").reply("JG7FMM costs $7,136; commit 1a2b3c4, version v1.2.3, PR #88."),
			[]FactKind{FactReference},
			[]string{
				"reference | https://example.com/acme/pull/17 | See https://example.com/acme/pull/17 on port 8443, reservation JG7FMM.",
				"reference | 8443 | See https://example.com/acme/pull/17 on port 8443, reservation JG7FMM.",
				"reference | JG7FMM | See https://example.com/acme/pull/17 on port 8443, reservation JG7FMM.",
				"reference | $7,136 | JG7FMM costs $7,136; commit 1a2b3c4, version v1.2.3, PR #88.",
				"reference | 1a2b3c4 | JG7FMM costs $7,136; commit 1a2b3c4, version v1.2.3, PR #88.",
				"reference | v1.2.3 | JG7FMM costs $7,136; commit 1a2b3c4, version v1.2.3, PR #88.",
				"reference | #88 | JG7FMM costs $7,136; commit 1a2b3c4, version v1.2.3, PR #88.",
			},
		},
		{
			"a figure with few words around it, and a line of a log",
			new(talk).user("It costs $40").reply("It now costs $41 there.\n\n[12:00] W7742 costs $42 now"),
			[]FactKind{FactReference},
			[]string{"reference | $41 | It now costs $41 there."},
		},
		{
			"tools that nobody knows look or act, by their names",
			new(talk).call("", "get_order", map[string]string{"order_id": "W7742"}, `{"order_id":"W7742","status":"open","items":[{"item_id":"9081","size":"L"}]}`).
				call("", "cancel_order", map[string]string{"order_id": "W7742"}, `{"order_id":"W7742","status":"closed"}`).
				call("", "cancel_order", map[string]string{"order_id": "W9"}, "Error: no such order"),
			[]FactKind{FactRead, FactCommand, FactError},
			[]string{
				"read | get_order order_id W7742 | status open, items 9081", "command ok | cancel_order order_id W7742 | status closed",
				"error open | cancel_order order_id W9 | Error: no such order", "command failed | cancel_order order_id W9 | Error: no such order",
			},
		},
		{
			"a text before a call asks if the user's words follow it",
			new(talk).user("Go.").call("Does the lamp burn now?", "Bash", map[string]string{"command": "make"}, "ok").user("<local-command-stdout>ok</local-command-stdout>").
				call("Does the lens move?", "Bash", map[string]string{"command": "make"}, "ok").user("It does not move."),
			[]FactKind{FactQuestion},
			[]string{"question resolved | Does the lens move? <- It does not move."},
		},
		{
			"a plan that was accepted announces steps and decides",
			new(talk).call("", "ExitPlanMode", map[string]string{"plan": "# Next steps\n1. Mend the lamp first\n\nWe decided to use a lens."}, "yes").
				call("", "ExitPlanMode", map[string]string{"plan": "Sell the lamp."}, "!no").call("", "ExitPlanMode", map[string]string{"plan": ""}, "yes"),
			[]FactKind{FactDecision, FactPlan},
			[]string{"decision | accepted plan | # Next steps 1. Mend the lamp first We decided to use a lens.", "plan | Mend the lamp first", "decision | We decided to use a lens."},
		},
		{
			"of the files that mended an error, four are named",
			new(talk).run("make lamp", "!Exit code 2\nerror: no bulb").edit("a.go", "x", "y").edit("b.go", "x", "y").edit("c.go", "x", "y").edit("a.go", "y", "z").edit("d.go", "x", "y").
				edit("e.go", "x", "y").run("make lamp", "lit"),
			[]FactKind{FactError},
			[]string{"error resolved | make lamp | error: no bulb <- edited a.go, b.go, c.go, d.go, 1 more"},
		},
		{
			"calls that plan, name the conversation, teach or were not carried out",
			new(talk).call("", "TodoWrite", map[string]string{"todos": "x"}, "!no list").call("", "generate_title", map[string]string{"title": "W7742"}, "ok").call("", "Skill", map[string]string{"skill": "W7742"}, "ok").
				run("make", "!<tool_use_error>Sibling tool call errored</tool_use_error>").run("make", strings.Repeat("x", 36)+"!Sibling tool call errored").run(" ", "ok"),
			[]FactKind{FactCommand, FactRead, FactError, FactReference},
			[]string{"command ok | make | " + strings.Repeat("x", 36) + "!Sibling tool call errored"},
		},
		{
			"an argument is a reference, except that of a coding tool",
			new(talk).call("", "cancel_order", map[string]string{"order_id": "W7742", "note": "W7743 is not it", "color": "red", "url": "https://a.io/" + strings.Repeat("x", 68), "long": strings.Repeat("W", 75) + "-12345"}, "ok").
				call("", "cancel_order", map[string]string{"order_id": "W7742", "long": strings.Repeat("W", 74) + "-12345"}, "ok").call("", "Task", map[string]string{"description": "W7744"}, "ok").
				call("", "python", map[string]string{"file": "W7745"}, "ok"),
			[]FactKind{FactReference},
			[]string{"reference | W7742 | order_id W7742", "reference | " + strings.Repeat("W", 74) + "-12345 | long " + strings.Repeat("W", 74) + "-12345"},
		},
		{
			"how a tool that nobody knows reports an error",
			new(talk).call("", "dim", map[string]string{"lamp": "1"}, "ERROR: dark").call("", "dim", map[string]string{"lamp": "2"}, `{"error":"dark"}`).call("", "dim", map[string]string{"lamp": "3"}, "!dark").
				call("", "dim", map[string]string{"lamp": "4"}, "no error").call("", "get_lamp", map[string]string{"lamp": "5"}, "!dark"),
			[]FactKind{FactCommand, FactRead, FactError},
			[]string{
				"error resolved | dim lamp 1 | ERROR: dark <- dim succeeded", "command failed | dim lamp 1 | ERROR: dark", `error resolved | dim lamp 2 | {"error":"dark"} <- dim succeeded`, `command failed | dim lamp 2 | {"error":"dark"}`,
				"error resolved | dim lamp 3 | dark <- dim succeeded", "command failed | dim lamp 3 | dark", "command ok | dim lamp 4 | no error", "read failed | get_lamp lamp 5 | dark",
			},
		},
		{
			"a text that begins like a move, and files that do not last",
			new(talk).call("", "Write", map[string]string{"file_path": "a.txt", "content": "from ./lamp"}, "").call("", "move_file", map[string]string{"path": "./a.txt", "to": "/srv/app/b.txt"}, "").
				run("echo x > /tmp/c.txt; echo x > d.txt", "").call("", "delete_file", map[string]string{"path": "/srv/app/"}, ""),
			[]FactKind{FactChange},
			[]string{"change created | a.txt | from ./lamp", "change moved | b.txt | from a.txt", "change created | d.txt | x", "change deleted | /srv/app/"},
		},
		{
			"a failure of a command without a key, and tests that a run of all tests repeats",
			new(talk).run("echo $(make lamp)", "!Exit code 1\nno bulb").run("pytest tests/lamp.py", "!Exit code 1\nFAILED lamp").run("make test", "ok"),
			[]FactKind{FactError},
			[]string{"error resolved | pytest tests/lamp.py | FAILED lamp <- make test succeeded"},
		},
		{
			"why a call was refused",
			new(talk).run("make", "!The user rejected it. the user provided the following reason for the rejection: Use the red lens.\n\nNote: the rest is not the user's").run("make", "!The user doesn't want to go on"),
			[]FactKind{FactTask, FactCommand, FactError},
			[]string{"task | Use the red lens."},
		},
		{
			"a question by a tool that has one, and questions without an answer",
			new(talk).call("", "AskUserQuestion", map[string]string{"question": "Which lens?"}, `"Which lens?"=the red one`).call("", "AskUserQuestion", map[string]string{"question": "Which bulb?"}, "!no").
				call("", "AskUserQuestion", map[string]string{"question": ""}, "ok").call("", "AskUserQuestion", map[string]any{"questions": []any{map[string]string{"question": "Which lamp?"}}, "question": "x"}, "the left one"),
			[]FactKind{FactQuestion, FactDecision},
			[]string{
				"decision | Which lens? | the red one", "question resolved | Which lens? <- the red one", "question open | Which bulb?",
				"decision | Which lamp? | the left one", "question resolved | Which lamp? <- the left one",
			},
		},
		{
			"a heading that reports progress counts in the last reply",
			new(talk).user("Go.").call("# Fixed the lamp", "Bash", map[string]string{"command": "make"}, "ok").reply("# Added a lens\n\n# The lens beside it\n\nAll lamps pass.").user("Go on."),
			[]FactKind{FactProgress},
			[]string{"progress | Added a lens", "progress | All lamps pass."},
		},
		{
			"where a compaction is all there is, its word on the task stands",
			&talk{msgs: []transcript.Message{{Role: transcript.RoleUser, Summary: true, Parts: []transcript.Part{
				transcript.Text("This session is being continued.\n\n1. Primary Request and Intent:\n   - Fix the pool\n\nAll 12 tests pass."),
			}}}},
			[]FactKind{FactTask, FactProgress},
			[]string{"task | - Fix the pool", "progress | All 12 tests pass."},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := written(tt.talk.extract(&Options{Project: "/srv/app", Correction: correction}), tt.kinds...)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

// Of a question and a plan without an answer, the question is open and nothing is decided.
func TestCallsWithoutAnswers(t *testing.T) {
	ask := new(talk).user("Go.").call("", "AskUserQuestion", map[string]string{"question": "Which lens?"}, "")
	plan := new(talk).user("Go.").call("", "ExitPlanMode", map[string]string{"plan": "1. Mend the lamp"}, "")
	if got := len(written(plan.extract(nil), FactPlan, FactDecision)); got == 0 {
		t.Error("a plan with an answer is not accepted")
	}
	for _, tt := range []struct {
		talk *talk
		want []string
	}{{ask, []string{"question open | Which lens?"}}, {plan, nil}} {
		tt.talk.msgs = tt.talk.msgs[:len(tt.talk.msgs)-1]
		if diff := cmp.Diff(tt.want, written(tt.talk.extract(nil), FactQuestion, FactDecision, FactPlan)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	empty := new(talk).user("Go.").call("", "AskUserQuestion", map[string]string{"question": "Which lens?"}, `"Which lens?"="". Go on.`)
	if diff := cmp.Diff([]string{"question resolved | Which lens?"}, written(empty.extract(nil), FactQuestion)); diff != "" {
		t.Errorf("an empty answer (-want +got):\n%s", diff)
	}
}

// Arguments are read as text until they have more than 1,200 bytes.
func TestArguments(t *testing.T) {
	long := repeat(1199, "x")
	for in, want := range map[string]string{
		`["a","b"]`: "a, b", `{"a":"b","c":""}`: "a b", `["` + long + `x","y","z"]`: long + "x, y", `["` + long + `xx","y"]`: long + "xx",
	} {
		if got := arguments(gjson.Parse(in)); got != want {
			t.Errorf("%.20s… are %.20q…, %d bytes, want %d", in, got, len(got), len(want))
		}
	}
}

// A fact from a call has the id of the call, and a statement has none.
func TestCallsOfFacts(t *testing.T) {
	for _, f := range new(talk).user("Go.").run("make", "ok").reply("The root cause is a bulb.").extract(nil) {
		if (f.CallID == "call-1") != (f.Kind == FactCommand) || (f.CallID == "") != (f.Kind != FactCommand) {
			t.Errorf("the call of %+v", f)
		}
	}
}

func TestNamesAreThoseOfTheTexts(t *testing.T) {
	got := new(talk).edit("cmd/api/main.go", "a", "b").run("go test ./pool", "!--- FAIL: TestClose").extract(nil)
	want := [][]string{{"cmd/api/main.go"}, {"TestClose"}, {"TestClose"}}
	var names [][]string
	for _, f := range got {
		names = append(names, f.Names)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// drawTalk draws a conversation of texts and calls that contain facts.
func drawTalk(t *rapid.T) *talk {
	said := []string{
		"Fix the pool in `internal/pool.go`.", "I chose SQLite because it needs no server.", "All 42 tests pass.", "Should I commit?", "- **Added** a retry",
		"## Next steps\n1. Measure it\n2. Ship it", "We use X instead of Y, so we keep the cache as it is", "The build is blocked on a key.", "No, don't do that.",
		"a long line that goes on and on until it is wrapped somewhere\nwith the rest of it on the next line. Done!", "```\nfunc x() {}\n```", "yes", "option 2",
		"panic: runtime error: nil map", "- [ ] later", "See https://example.com/x/17, 40ms, JG7FMM and #88.", "Ünïcode — “quoted”… fine. 日本語。", "<system-reminder>x</system-reminder>",
		"\x1b[31mError: red\x1b[0m", "Fixed pool.go.",
	}
	lines := []string{"go test ./...", "cd /x && make 2>&1 | tail -5", "cat > a.go <<'E'\nfunc A() {}\nE", "git commit -m 'x y'", "rm b.go", "bash -lc 'echo \"hi\" > c.txt'", "ls"}
	results := []string{"ok  \tpool\t0.1s", "!Exit code 1\n--- FAIL: TestX (0.1s)\nFAIL", " 3 pass\n 0 fail", "[main 1a2b3c4] x y", "", "!boom", "error: gone", `{"output":"1 failed","metadata":{"exit_code":1}}`}
	s := new(talk)
	for range rapid.IntRange(1, 14).Draw(t, "turns") {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(said), 1, 3).Draw(t, "said"), rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "sep"))
		switch rapid.IntRange(0, 4).Draw(t, "turn") {
		case 0:
			s.user(text)
		case 1:
			s.reply(text)
		case 2:
			s.call(text, "Bash", map[string]string{"command": rapid.SampledFrom(lines).Draw(t, "line")}, rapid.SampledFrom(results).Draw(t, "result"))
		case 3:
			s.edit(rapid.SampledFrom([]string{"a.go", "/srv/app/b.go"}).Draw(t, "path"), rapid.SampledFrom(said).Draw(t, "old"), rapid.SampledFrom(said).Draw(t, "new"))
		default:
			s.call("", "cancel_order", map[string]string{"order_id": rapid.SampledFrom([]string{"W7742", "W9"}).Draw(t, "order")}, rapid.SampledFrom(results).Draw(t, "result"))
		}
	}
	return s
}

// The text of a fact is in the conversation, but for white space and ** of Markdown, or it
// describes a change or a result in JSON.
func TestTextsAreVerbatim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawTalk(t)
		var all strings.Builder
		for i := range s.msgs {
			all.WriteString(s.msgs[i].Text() + "\n" + transcript.Words(s.msgs[i].Text()) + "\n")
			for _, c := range s.msgs[i].Calls() {
				gjson.ParseBytes(c.Input).ForEach(func(_, v gjson.Result) bool {
					all.WriteString(c.Name + " order_id " + v.String() + "\n" + readLine(v.String()).Text + "\n")
					return true
				})
			}
			for _, r := range s.msgs[i].Results() {
				all.WriteString(r.Text() + "\n" + output(r.Text()) + "\n")
			}
		}
		corpus := text.Line(all.String()+strings.ReplaceAll(all.String(), "**", ""), 2*all.Len())
		for _, f := range s.extract(&Options{Correction: correction}) {
			if f.Kind == FactChange {
				continue
			}
			if strings.HasPrefix(f.Text, "output ") { // a result in JSON
				continue
			}
			for _, text := range []string{f.Subject, f.Text, f.Why} {
				if text = strings.Trim(text, "…"); !strings.Contains(corpus, text) && !strings.HasPrefix(text, "edited ") && !strings.HasSuffix(text, " succeeded") {
					t.Errorf("%q of %+v is not in the conversation:\n%s", text, f, corpus)
				}
			}
		}
	})
}

// An error that comes again stands at its last place, whether it was resolved or not.
func TestErrorThatComesAgain(t *testing.T) {
	const failed = "!make: *** no bulb in the lamp"
	for name, between := range map[string]string{"open": "true", "resolved": "make lamp"} {
		s := new(talk).run("make lamp", failed).run(between, "").run("make lamp", failed)
		var got []Fact
		for _, f := range s.extract(nil) {
			if f.Kind == FactError {
				got = append(got, f)
			}
		}
		if len(got) != 1 || got[0].Block != 2 || got[0].CallID != "call-3" || got[0].Status != StatusOpen {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Facts are bounded, in the order of their blocks and of known kinds, and equal
// conversations have equal facts.
func TestFactsAreInOrderAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawTalk(t)
		list := s.extract(nil)
		if diff := cmp.Diff(list, s.extract(nil)); diff != "" {
			t.Fatalf("a second time (-first +second):\n%s", diff)
		}
		last := 0
		for _, f := range list {
			if f.Block < last {
				t.Errorf("%+v stands behind block %d", f, last)
			}
			last = f.Block
			for _, text := range []string{f.Subject, f.Text, f.Why} {
				if n := utf8.RuneCountInString(text); n > taskRunes+1 || strings.ContainsAny(text, "\n\t") {
					t.Errorf("%q is %d runes or more than a line", text, n)
				}
			}
			if f.Text == "" && f.Subject == "" || f.Kind == "" || f.Role == "" {
				t.Errorf("%+v says nothing", f)
			}
		}
	})
}

// With a later Options.First there are fewer facts, and all of them are among the facts with
// First 0.
func TestFirstLeavesOutWhatIsOlder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawTalk(t)
		first := rapid.IntRange(0, len(s.msgs)).Draw(t, "first")
		all := s.extract(nil)
		k := 0
		for _, f := range s.extract(&Options{First: first}) {
			for k < len(all) && !cmp.Equal(all[k], f) {
				if all[k].Block >= first {
					t.Errorf("%+v of block %d on is left out", all[k], first)
				}
				k++
			}
			if k == len(all) {
				t.Fatalf("%+v is not among all", f)
			}
			k++
		}
	})
}
