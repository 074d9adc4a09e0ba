package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// Session returns the demonstration's conversation, a session file in the form of Claude Code.
// A person asks an agent to find out why a deploy of an invented service hangs. It has the
// features of real sessions: long tool output, parallel calls, signed thinking, a correction, a
// plan, successive edits of one file, a rewound branch, and rows of unknown types. The bytes
// are always the same.
func Session() []byte {
	s := &script{at: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)}
	s.side(map[string]any{"type": "file-history-snapshot", "messageId": "m0", "snapshot": map[string]any{}, "isSnapshotUpdate": false})
	s.user("The deploy of the billing service hangs after \"waiting for workers\" since yesterday. Find out why and fix it. The service lives in cmd/billing, the worker pool in internal/pool.")
	s.think("The pool is the likely place: something waits for workers that never finish. Look at the layout first.")
	s.run("ls", "ls -R cmd internal", listing())
	s.say("I will read the pool and its callers first.")
	s.both(
		toolCall{"Read", map[string]any{"file_path": "/srv/billing/internal/pool/pool.go"}}, source("pool", 130),
		toolCall{"Read", map[string]any{"file_path": "/srv/billing/cmd/billing/main.go"}}, source("main", 90),
	)
	s.call(toolCall{"TodoWrite", map[string]any{"todos": []map[string]string{
		{"content": "find what the shutdown waits for", "status": "in_progress"},
		{"content": "reproduce with a test", "status": "pending"},
		{"content": "fix and run the whole suite", "status": "pending"},
	}}}, "Todos have been modified.", false)
	for i, word := range []string{"Drain", "Submit", "WaitGroup", "shutdownTimeout", "ErrClosed", "retryBudget"} {
		s.call(toolCall{"Grep", map[string]any{"pattern": word, "path": "/srv/billing"}}, matches(word, 24+6*i), false)
		s.call(toolCall{"Read", map[string]any{"file_path": fmt.Sprintf("/srv/billing/internal/%s/%s.go", packages[i], packages[i])}}, source(packages[i], 90+15*i), false)
	}
	s.say("Drain waits for a WaitGroup whose counter is raised in Submit, but a job that is rejected after Close never lowers it. That fits: since yesterday's change, rejected jobs are counted.")
	s.rewound("Let me try raising the timeout instead.", "sed -i 's/30s/300s/' deploy/billing.yaml")
	s.run("test", "go test ./internal/pool/ -run TestDrain -count=20 -v", testLog(20, false))
	s.user("No, don't change the public API of the pool: billing-jobs and ledger-sync depend on it. And never raise shutdownTimeout above 30s.")
	s.think("So Submit keeps its signature. Lower the counter where the job is rejected.")
	s.call(edit("/srv/billing/internal/pool/pool.go", "p.wg.Add(1)\n\tp.queue <- job", "p.wg.Add(1)\n\tselect {\n\tcase p.queue <- job:\n\tcase <-p.closed:\n\t\tp.wg.Done()\n\t\treturn ErrClosed\n\t}"), "The file /srv/billing/internal/pool/pool.go has been updated.", false)
	s.call(toolCall{"Write", map[string]any{"file_path": "/srv/billing/internal/pool/drain_test.go", "content": "package pool\n\n" + strings.Repeat("// a test of the order of Close and Submit\n", 12)}}, "File created successfully at: /srv/billing/internal/pool/drain_test.go", false)
	s.run("test", "go test ./internal/pool/ -run TestDrain -count=20 -v", testLog(20, true))
	for i := range 12 {
		s.call(toolCall{"Bash", map[string]any{"command": fmt.Sprintf("kubectl -n billing logs billing-worker-%d --since=24h", i), "description": "look at a worker's log"}}, podLog(i), i == 7)
	}
	s.say("Worker 7 has the panic that started it: index out of range in ledger.go:212. It is a second defect: the ledger reads past its page when currency is XTS.")
	s.call(edit("/srv/billing/internal/ledger/ledger.go", "rows[i+1]", "rows[min(i+1, len(rows)-1)]"), "The file /srv/billing/internal/ledger/ledger.go has been updated.", false)
	s.call(edit("/srv/billing/internal/pool/pool.go", "return ErrClosed", "return fmt.Errorf(\"job %s: %w\", job.ID, ErrClosed)"), "The file /srv/billing/internal/pool/pool.go has been updated.", false)
	for i := range 6 {
		s.run("suite", fmt.Sprintf("go test ./internal/%s/...", packages[i]), suiteLog(packages[i]))
	}
	s.user("Good. Open a pull request against release-2.41 and mention incident INC-20417.")
	s.think("The branch name must have the incident. Then push and open it.")
	s.run("git", "git checkout -b fix/INC-20417-pool-drain && git push -u origin fix/INC-20417-pool-drain", "Switched to a new branch 'fix/INC-20417-pool-drain'\nremote: Create a pull request by visiting:\nremote:   https://git.example.com/acme/billing/pull/new/fix/INC-20417-pool-drain\n")
	s.say("The pull request is open against release-2.41: https://git.example.com/acme/billing/pull/1873. It names INC-20417, keeps the pool's API, leaves shutdownTimeout at 30s, and has a test that fails without the change.")
	s.side(map[string]any{"type": "turn-weather", "note": "a row of a kind that Carrel does not know", "big": json.Number("9007199254740993")})
	return s.out.Bytes()
}

var packages = []string{"pool", "ledger", "queue", "retry", "config", "metrics"}

// A script writes the rows of a session file.
type script struct {
	out    bytes.Buffer
	at     time.Time
	parent string
	rows   int
	calls  int
	reply  int
}

type toolCall struct {
	name  string
	input map[string]any
}

func edit(path, from, to string) toolCall {
	return toolCall{"Edit", map[string]any{"file_path": path, "old_string": from, "new_string": to}}
}

func (s *script) side(row map[string]any) {
	b, err := json.Marshal(row)
	if err != nil {
		panic(err) // rows are made of strings and maps
	}
	s.out.Write(append(b, '\n'))
}

// row writes a row and returns its uuid. The argument parent is the uuid of the row before it, or
// "" for the first row.
func (s *script) row(kind, parent string, message map[string]any, extra map[string]any) string {
	s.rows++
	s.at = s.at.Add(1500 * time.Millisecond)
	id := fmt.Sprintf("d3300000-0000-4000-8000-%012d", s.rows)
	row := map[string]any{
		"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": "/srv/billing", "version": "2.1.42",
		"sessionId": "de300000-5e55-4000-8000-000000000001", "gitBranch": "main", "type": kind, "message": message,
		"uuid": id, "timestamp": s.at.Format("2006-01-02T15:04:05.000Z"),
	}
	if parent != "" {
		row["parentUuid"] = parent
	}
	maps.Copy(row, extra)
	s.side(row)
	return id
}

func (s *script) user(text string) {
	s.reply++
	s.parent = s.row("user", s.parent, map[string]any{"role": "user", "content": text}, nil)
}

// block writes one content block of the current reply as a row of its own, as Claude Code does, and
// returns the uuid of the row.
func (s *script) block(content map[string]any) string {
	s.parent = s.row("assistant", s.parent, map[string]any{
		"id": fmt.Sprintf("msg_demo_%03d", s.reply), "type": "message", "role": "assistant", "model": "claude-opus-4-6",
		"content": []any{content}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 12, "output_tokens": 34},
	}, nil)
	return s.parent
}

func (s *script) think(text string) {
	s.reply++
	s.block(map[string]any{"type": "thinking", "thinking": text, "signature": fmt.Sprintf("ZGVtbw%05d==", s.reply)})
	s.reply-- // the next call belongs to the same reply
}

func (s *script) say(text string) {
	s.reply++
	s.block(map[string]any{"type": "text", "text": text})
}

func (s *script) use(c toolCall) (id, row string) {
	s.calls++
	id = fmt.Sprintf("toolu_demo_%03d", s.calls)
	return id, s.block(map[string]any{"type": "tool_use", "id": id, "name": c.name, "input": c.input})
}

func (s *script) result(id, parent, text string, failed bool) {
	content := map[string]any{"tool_use_id": id, "type": "tool_result", "content": text}
	if failed {
		content["is_error"] = true
	}
	s.parent = s.row("user", parent, map[string]any{"role": "user", "content": []any{content}}, map[string]any{
		"toolUseResult": map[string]any{"stdout": text[:min(len(text), 60)]}, "sourceToolAssistantUUID": parent,
	})
}

func (s *script) call(c toolCall, text string, failed bool) {
	s.reply++
	id, row := s.use(c)
	s.result(id, row, text, failed)
}

func (s *script) run(what, command, text string) {
	s.call(toolCall{"Bash", map[string]any{"command": command, "description": what}}, text, false)
}

// both writes a reply with two parallel calls. Each result is the child of its own call, so the
// tree forks.
func (s *script) both(a toolCall, textA string, b toolCall, textB string) {
	s.reply++
	idA, rowA := s.use(a)
	idB, rowB := s.use(b)
	s.result(idA, rowA, textA, false)
	s.result(idB, rowB, textB, false)
}

// rewound writes a branch that the user left by going back.
func (s *script) rewound(text, command string) {
	back := s.parent
	s.say(text)
	s.run("try", command, "")
	s.parent = back
}

func listing() string {
	var b strings.Builder
	for _, p := range packages {
		fmt.Fprintf(&b, "internal/%s:\n%s.go\n%s_test.go\ndoc.go\n\n", p, p, p)
	}
	return b.String() + "cmd/billing:\nmain.go\nflags.go\n"
}

// source returns an invented Go file with a number of lines, as an editor's tool shows it.
func source(name string, lines int) string {
	verbs := []string{"open", "close", "load", "store", "begin", "commit", "reject", "schedule", "collect", "notify"}
	things := []string{"Batch", "Invoice", "Worker", "Lease", "Cursor", "Window", "Ledger", "Retry"}
	var b strings.Builder
	fmt.Fprintf(&b, "     1→package %s\n", name)
	for i := 2; i <= lines; i++ {
		v, t := verbs[i*7%len(verbs)], things[i*5%len(things)]
		switch i % 6 {
		case 2:
			fmt.Fprintf(&b, "%6d→// %s%s is called by the scheduler every %d seconds.\n", i, v, t, 5+i%40)
		case 3:
			fmt.Fprintf(&b, "%6d→func (s *%sService) %s%s(ctx context.Context, id string) error {\n", i, t, v, t)
		case 4:
			fmt.Fprintf(&b, "%6d→\tif err := s.%s.%s(ctx, id, %d*time.Second); err != nil {\n", i, strings.ToLower(t), v, i%30)
		case 5:
			fmt.Fprintf(&b, "%6d→\t\treturn fmt.Errorf(\"%s %s %%s: %%w\", id, err)\n", i, v, strings.ToLower(t))
		case 0:
			fmt.Fprintf(&b, "%6d→\t}\n", i)
		default:
			fmt.Fprintf(&b, "%6d→}\n", i)
		}
	}
	return b.String()
}

func matches(word string, n int) string {
	var b strings.Builder
	for i := range n {
		p := packages[i*5%len(packages)]
		fmt.Fprintf(&b, "/srv/billing/internal/%s/%s.go:%d:\t%s(ctx, batch%d)\n", p, p, 17+i*11, word, i)
	}
	return b.String()
}

func testLog(n int, passes bool) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "=== RUN   TestDrain\n    drain_test.go:%d: closed with %d jobs waiting\n", 40+i%3, i%5)
		if passes || i%4 != 3 {
			fmt.Fprintf(&b, "--- PASS: TestDrain (0.0%ds)\n", i%9+1)
		} else {
			fmt.Fprintf(&b, "--- FAIL: TestDrain (30.00s)\n    drain_test.go:58: still waiting for %d workers after shutdownTimeout=30s\n", i%5+1)
		}
	}
	if passes {
		return b.String() + "PASS\nok  \texample.com/billing/internal/pool\t1.284s\n"
	}
	return b.String() + "FAIL\nFAIL\texample.com/billing/internal/pool\t151.093s\nexit status 1\n"
}

func podLog(i int) string {
	var b strings.Builder
	for k := range 45 {
		fmt.Fprintf(&b, "2025-12-31T%02d:%02d:07Z level=info worker=%d msg=\"settled batch\" batch=b-%05d invoices=%d took=%dms\n",
			8+k/4, k*7%60, i, 31000+i*100+k, 10+k*3%40, 40+k*17%300)
	}
	if i == 7 {
		b.WriteString("panic: runtime error: index out of range [64] with length 64\ngoroutine 118 [running]:\nexample.com/billing/internal/ledger.(*Ledger).page(0xc000412000)\n\t/srv/billing/internal/ledger/ledger.go:212 +0x1c5\n")
	}
	return b.String()
}

func suiteLog(p string) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "--- PASS: Test%s%02d (0.%02ds)\n", strings.ToUpper(p[:1])+p[1:], i, i*3%60)
	}
	return b.String() + "PASS\nok  \texample.com/billing/internal/" + p + "\t0.412s\n"
}
