package outcome

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

// bash returns a call of the shell of Claude Code.
func bash(line string) transcript.ToolCall { return call("Bash", map[string]any{"command": line}) }

func call(name string, input map[string]any) transcript.ToolCall {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return transcript.ToolCall{ID: "c", Name: name, Input: data}
}

func result(text string, failed bool) transcript.ToolResult {
	return transcript.ToolResult{CallID: "c", Error: failed, Content: []transcript.Part{transcript.Text(text)}}
}

// Lines of a shell, where the client flags a status that is not 0.
func TestShell(t *testing.T) {
	const ok, no = false, true
	for _, tt := range []struct {
		name    string
		line    string
		failed  bool
		printed string
		verdict Verdict
		text    string
	}{
		{"a test that passes", "go test ./lamp", ok, "ok  \tlamp/lens\t0.012s", Passed, "ok lamp/lens 0.012s"},
		{"many that pass", "go test ./...", ok, "ok  \tlamp/a\t0.1s\n?   \tlamp/b\t[no test files]\nok  \tlamp/c\t(cached)", Passed, "ok lamp/a 0.1s (+1 more)"},
		{
			"a test that fails", "go test ./...", no, "Exit code 1\n--- FAIL: TestDim (0.00s)\n    lens_test.go:12: got 3, want 4\nFAIL\nFAIL\tlamp/lens\t0.012s\nFAIL", Failed,
			"--- FAIL: TestDim (0.00s); lens_test.go:12: got 3, want 4; FAIL lamp/lens 0.012s",
		},
		{"a test that fails in a pipe", "go test ./... 2>&1 | tail -3", ok, "FAIL\nFAIL\tlamp/lens\t0.012s\nFAIL", Failed, "FAIL lamp/lens 0.012s"},
		{"a pipe proves nothing", "go test ./... 2>&1 | tail -1", ok, "coverage: 81% of statements", Unknown, ""},
		{"a file that is emptied beside a test", "> x.log; go test ./...", ok, "ok  \tlamp/a\t0.1s", Passed, "ok lamp/a 0.1s"},
		{"a file that shows a failure, and one that is not there", "cat mypy.log x", no, "Exit code 1\nFound 3 errors in 2 files.\ncat: x: No such file or directory", Failed, "cat: x: No such file or directory"},
		{"silence proves nothing where all is thrown away", "go vet ./... &> x.log | cat", ok, "", Unknown, ""},
		{"a failure before a search that finds nothing", "go vet ./...; grep lens a.go", no, "Exit code 1\n./lamp.go:3:7: undefined: lens", Failed, "./lamp.go:3:7: undefined: lens"},
		{"a bare word beside a failure", "go test ./...", no, "Exit code 1\npanic: lamp is off\nFAIL", Failed, "panic: lamp is off"},
		{"a bare word", "go test ./... | tail -1", ok, "FAIL", Failed, "FAIL"},
		{"a word of gh that is no refusal", "gh api repos/a/b | jq .id", ok, "gh: a note", Unknown, ""},
		{"tests that fail with status 0", "jest", ok, "Tests: 1 failed, 2 total", Failed, "Tests: 1 failed, 2 total"},
		{"a crash before what passes", "node --test a.js; ./check", ok, "at x (lamp.js:1:7)\nNode.js v20.20.2", Failed, "at x (lamp.js:1:7)"},
		{"a word in a log is no failure", "go test -v ./...", ok, "    lens_test.go:9: the call failed as expected\n--- PASS: TestFailed (0.00s)\nPASS\nok  \tlamp/lens\t0.012s", Passed, "ok lamp/lens 0.012s"},
		{"head cuts off what decides", "go test ./... | head -2", ok, "ok  \tlamp/a\t0.1s\nok  \tlamp/b\t0.1s", Unknown, "ok lamp/a 0.1s (+1 more)"},
		{"head that shows all cuts nothing off", "go test ./... | head -20", ok, "ok  \tlamp/a\t0.1s", Passed, "ok lamp/a 0.1s"},
		{"a filter takes failures out", "go test ./... | grep ok", ok, "ok  \tlamp/a\t0.1s", Unknown, "ok lamp/a 0.1s"},
		{"a filter that leaves them", "go test ./... | grep -E '^(ok|FAIL)'", ok, "ok  \tlamp/a\t0.1s", Passed, "ok lamp/a 0.1s"},
		{"the test within a test is said", "go test ./...", no, "Exit code 1\n--- FAIL: TestDim (0.00s)\n    --- FAIL: TestDim/low (0.00s)\nFAIL", Failed, "--- FAIL: TestDim/low (0.00s)"},
		{"a panic", "go test ./...", no, "Exit code 1\npanic: lamp is off\n\ngoroutine 7 [running]:\nFAIL\tlamp/lens\t0.012s\nFAIL", Failed, "panic: lamp is off; FAIL lamp/lens 0.012s"},

		{"a build without a word", "go build ./...", ok, "", Passed, ""},
		{"a build without a word in a pipe", "go build ./... 2>&1 | head -20", ok, "", Passed, ""},
		{"silence proves nothing where errors are thrown away", "go build ./... 2>/dev/null | head", ok, "", Unknown, ""},
		{"silence of a filter proves nothing", "go build ./... 2>&1 | grep undefined", ok, "", Unknown, ""},
		{"a build that fails", "go build ./...", no, "Exit code 1\n# lamp\n./lamp.go:3:7: undefined: lens", Failed, "./lamp.go:3:7: undefined: lens"},
		{"a build that fails in a pipe", "go build ./... 2>&1 | head", ok, "# lamp\n./lamp.go:3:7: undefined: lens", Failed, "./lamp.go:3:7: undefined: lens"},
		{"a program that fails", "go run .", no, "Exit code 1\npanic: off\nexit status 2", Failed, "panic: off; exit status 2"},

		{"tests of bun", "bun test", ok, "bun test v1.3.5\n\n 12 pass\n 0 fail\n 30 expect() calls\nRan 12 tests across 2 files. [12.00ms]", Passed, "12 pass; 0 fail; Ran 12 tests across 2 files. [12.00ms]"},
		{"logs of errors in tests that pass", "bun test 2>&1 | tail", ok, "error: lamp is off\n 12 pass\n 0 fail", Passed, "12 pass; 0 fail"},
		{"tests of bun that fail in a pipe", "bun run test | tail -5", ok, "(fail) lamp > dims [1ms]\n 11 pass\n 1 fail\nerror: script \"test\" exited with code 1", Failed, "(fail) lamp > dims [1ms]; 1 fail; 11 pass; error: script \"test\" exited with code 1"},
		{"a script without a word of its own", "bun run typecheck", ok, "$ tsc --noEmit", Passed, ""},

		{"a commit", "git add -A && git commit -m 'Dim it'", ok, "[main 1a2b3c4] Dim it\n 1 file changed, 2 insertions(+)", Passed, "[main 1a2b3c4] Dim it; 1 file changed, 2 insertions(+)"},
		{"a commit that has nothing", "git commit -m x", no, "Exit code 1\nOn branch main\nnothing to commit, working tree clean", Failed, "nothing to commit, working tree clean"},
		{"a status after a commit", "git commit -m x; git status", ok, "[main 1a2b3c4] x\nOn branch main\nnothing to commit, working tree clean", Passed, "[main 1a2b3c4] x"},
		{"a clean status is no failure", "git status", ok, "On branch main\nnothing to commit, working tree clean", Unknown, ""},
		{"a hook that stops a commit", "git commit -m x", no, "Exit code 1\n 11 pass\n 1 fail\nhusky - pre-commit hook exited with code 1 (error)", Failed, "1 fail; 11 pass; husky - pre-commit hook exited with code 1 (error)"},
		{"a push", "git push 2>&1 | tail -2", ok, "To example.com:lamp.git\n   1a2b3c4..5d6e7f8  main -> main", Passed, "1a2b3c4..5d6e7f8 main -> main"},
		{"a push that is turned down", "git push", no, "Exit code 1\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'example.com'", Failed, "! [rejected] main -> main (fetch first); error: failed to push some refs to 'example.com'"},
		{"a push of what is there", "git push", ok, "Everything up-to-date", Passed, "Everything up-to-date"},
		{"a conflict", "git merge lens | cat", ok, "Auto-merging a.go\nCONFLICT (content): Merge conflict in a.go\nAutomatic merge failed; fix conflicts and then commit the result.", Failed, "CONFLICT (content): Merge conflict in a.go; Automatic merge failed; fix conflicts and then commit the result."},
		{"another branch", "git checkout -b lens", ok, "Switched to a new branch 'lens'", Passed, "Switched to a new branch 'lens'"},
		{"a log shows", "git log --oneline", ok, "1a2b3c4 fix: the build failed", Unknown, ""},
		{"a log of nothing", "git log lens", no, "Exit code 128\nfatal: bad revision 'lens'", Failed, "fatal: bad revision 'lens'"},

		{"a file that shows a failure", "cat test.log", ok, "--- FAIL: TestDim (0.00s)\nFAIL", Unknown, ""},
		{"a file that is not there", "cat x", no, "Exit code 1\ncat: x: No such file or directory", Failed, "cat: x: No such file or directory"},
		{"a search that finds nothing", "grep -r lens .", no, "Exit code 1", Unknown, ""},
		{"a search that fails", "grep -r lens x", no, "Exit code 2\ngrep: x: No such file or directory", Failed, "grep: x: No such file or directory"},
		{"a test before a search", "go test ./lamp && grep lens a.go", no, "Exit code 1\nok  \tlamp/lens\t0.012s", Unknown, "ok lamp/lens 0.012s"},
		{"a script with an error flag does not pass", "make all", no, "Exit code 2\nok  \tlamp/a\t0.1s\nmake: *** [all] Error 1", Failed, "make: *** [all] Error 1; ok lamp/a 0.1s"},
		{"a folder", "mkdir -p a/b", ok, "", Passed, ""},
		{"the second of two commands alone is known", "./a; ./b", ok, "done", Unknown, ""},
		{"both commands are known", "./a && ./b", ok, "done", Passed, ""},
		{"what is of no account beside a test", "rm -rf out; go test ./...", ok, "ok  \tlamp/a\t0.1s", Passed, "ok lamp/a 0.1s"},
		{"tests of a program that only the shell knows, in a pipe", "$PY -m pytest | tail -5", ok, "3 failed, 2 passed in 1.2s", Failed, "3 failed, 2 passed in 1.2s"},
		{"a status that the line prints", "./lamp --off 2>&1; echo \"exit: $?\"", ok, "Error: no such flag\nexit: 2", Failed, "Error: no such flag"},
		{"a status 0 that the line prints", "./lamp --off; echo \"exit=$?\"", ok, "exit=0", Passed, ""},
		{"a file that ends like the report of another client", "cat gemini.log", ok, "hello\nExit Code: 1", Unknown, ""},
		{"an answer that is printed like the report of another client", "grep foo x; echo \"Exit Code: $?\"", ok, "Exit Code: 1", Unknown, ""},
		{"a script that begins like another client", "./report.sh", ok, "Exit code: 1\nall fine", Passed, ""},
		{"a file that begins like a failed call", "cat doc/exit.txt", ok, "Exit code 1 is returned when no line matched.\nlit", Unknown, ""},
		{"a folder that the client goes back to", "./lamp", no, "Exit code 1\noff\nShell cwd was reset to /w", Failed, "off"},
		{"a pull that says nothing of the push", "(git pull; git push) | cat", ok, "From example.com:lamp\n   1a2b3c4..5d6e7f8  main -> origin/main\nUpdating 1a2b3c4..5d6e7f8\nFast-forward", Unknown, "1a2b3c4..5d6e7f8 main -> origin/main; Fast-forward"},
		{"one of two rounds passes", "for d in a b; do (cd $d && npm test); done", ok, "Tests: 3 passed, 3 total\nsh: jest: command not found", Unknown, "Tests: 3 passed, 3 total"},
		{"one of some rounds passes", "for d in */; do (cd $d && npm test); done", ok, "Tests: 3 passed, 3 total\nsh: jest: command not found", Unknown, "Tests: 3 passed, 3 total"},
		{"one of two tests passes", "(npm test; npm run lint) | cat", ok, "Tests: 3 passed, 3 total\nsomething odd", Unknown, "Tests: 3 passed, 3 total"},
		{"both of two tests pass", "(npm test; npm run e2e) | cat", ok, "Tests: 3 passed, 3 total\nTests: 1 passed, 1 total", Passed, "Tests: 3 passed, 3 total (+1 more)"},
		{"a build and tests that pass", "(make build; make test) | cat", ok, "cc: fatal: no input\n5 passed in 0.1s", Unknown, "5 passed in 0.1s"},
		{"a runner beside a program that passes", "(make build; go test ./...) | cat", ok, "cc: fatal: no input\nok  \tlamp/a\t0.1s", Unknown, "ok lamp/a 0.1s"},
		{"what an echo says", "docker build .; echo PASS", ok, "ERROR: failed to solve: x\nPASS", Unknown, ""},
		{"what an echo says of success", "(docker build . && echo PASS) | cat", ok, "PASS", Passed, "PASS"},
		{"a status 0 of a line that perhaps did not run it", "[ -f x ] || ./deploy.sh; echo \"exit: $?\"", ok, "exit: 0", Unknown, ""},
		{"a status 0 that is turned round", "! ./check.sh; echo \"exit: $?\"", ok, "bad\nexit: 0", Unknown, ""},
		{"a status 0 of a condition", "if [ -f x ]; then ./deploy.sh; fi; echo $?", ok, "0", Unknown, ""},
		{"a status 0 of the last round", "for f in *.txt; do ./x $f; done; echo $?", ok, "bad a.txt\n0", Unknown, ""},
		{"a status 0 of what still runs", "./server & echo $?", ok, "0", Unknown, ""},
		{"a status 0 in a group", "(./lamp; echo \"exit: $?\")", ok, "lit\nexit: 0", Passed, ""},
		{"a status 0 of the first of a pipe", "./lamp 2>&1 | tail -3; echo ${PIPESTATUS[0]}", ok, "lit\n0", Passed, ""},
		{"a status of the first of a pipe", "./lamp 2>&1 | tail -3; echo ${PIPESTATUS[0]}", ok, "lamp is off\n1", Failed, "lamp is off"},
		{"a line of a traceback", "python3 lamp.py", no, "Exit code 1\nTraceback (most recent call last):\n  File \"lamp.py\", line 1\nValueError: off", Failed, "ValueError: off"},
		{"a list of packages", "go list ./...", ok, "lamp\nlamp/lens", Unknown, ""},
		{"a version", "bun --version", ok, "1.3.5", Unknown, ""},
		{"a list of what is not there", "npm ls lens", no, "Exit code 1\nlamp@1.0.0\n└── (empty)", Failed, "lamp@1.0.0"},
		{"a page that is not there", "curl -sS https://example.com/x | head -5", ok, "curl: (22) The requested URL returned error: 404", Failed, "curl: (22) The requested URL returned error: 404"},
		{"tests that log what their runner says", "npx playwright test", ok, "  1 failed\n  2 passed (3.1s)", Passed, "2 passed (3.1s)"},
		{"tests that fail in a pipe, and pass", "npx playwright test | cat", ok, "  1) lamp.spec.js:3:1 › far ───\n  1 failed\n  2 passed (3.1s)", Failed, "1) lamp.spec.js:3:1 › far; 1 failed"},
		{"a script that ran more than tests", "./deploy.sh 2>&1 | tail -5", ok, " 12 pass\n 0 fail\nno route to host", Unknown, "12 pass; 0 fail"},
		{"a report of failures elsewhere", "./report.sh", ok, "Found 3 errors in 2 files.", Unknown, ""},
		{"tests that fail in a script", "./check.sh 2>&1 | tail -5", ok, " 11 pass\n 1 fail", Failed, "1 fail; 11 pass"},
		{"a traceback in a pipe", "python3 lamp.py 2>&1 | tail -2", ok, "  File \"lamp.py\", line 1, in <module>\nValueError: off", Failed, "ValueError: off"},
		{"a logged exception that ends nothing", "python3 lamp.py 2>&1 | tail -3", ok, "Traceback (most recent call last):\nValueError: off\nlit", Unknown, ""},
		{"an uncaught error of Node in a pipe", "node lamp.js 2>&1 | tail -5", ok, "Error: off\n    at Object.<anonymous> (lamp.js:1:7)\n\nNode.js v20.20.2", Failed, "Error: off"},
		{"a program that is not there, in a pipe", "lamp 2>&1 | head", ok, "bash: lamp: command not found", Failed, "bash: lamp: command not found"},
		{"a time that is over", "make", ok, "lit\nCommand timed out after 2m 0.0s", Failed, "Command timed out after 2m 0.0s"},
		{"a refusal of git in a pipe", "git show lens 2>&1 | head -5", ok, "fatal: ambiguous argument 'lens'", Failed, "fatal: ambiguous argument 'lens'"},
		{"a refusal of gh in a pipe", "gh api repos/a/b | jq .id", ok, "null\ngh: Not Found (HTTP 404)", Failed, "gh: Not Found (HTTP 404)"},
		{"a quiet program behind a runner", "bun run typecheck 2>&1 | head -50", ok, "$ tsc --noEmit", Passed, ""},
		{"a program behind a runner that is not quiet", "bun run check 2>&1 | head -50", ok, "$ go test ./...", Unknown, ""},
		{"a program of which a runner says nothing", "bun run gen 2>&1 | head -50", ok, "$ ./gen.sh", Unknown, ""},
		{"rtk says that a commit failed", "rtk git add a && rtk git commit -m x", ok, "ok ✓ 1 file changed\nFAILED: git commit\n 1 pass\n 2 fail", Failed, "2 fail; 1 pass; FAILED: git commit; ok ✓ 1 file changed"},
		{"a runner of which only its own word is known", "mise run fmt", no, "Exit code 2\nlamp.go:3:7: expected ';'\n[fmt] ERROR task failed", Failed, "lamp.go:3:7: expected ';'; [fmt] ERROR task failed"},
		{"what runs in the background", "bun dev", ok, "Command running in background with ID: b1", Unknown, ""},
		{"a call that the user turned down", "rm -rf /", no, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, …). To tell you how to proceed, the user said:\nnot that one", Failed, "not that one"},
		{"a file that begins like a refusal", "cat git.log", ok, "fatal: bad revision 'lens'", Unknown, ""},
		{"a look that is refused before what passes", "git log lens; make", ok, "fatal: bad revision 'lens'\nlit", Passed, ""},
		{"a search that fails, as the line says", "grep -r lens x 2>&1; echo \"exit: $?\"", ok, "grep: x: No such file or directory\nexit: 2", Failed, "grep: x: No such file or directory"},
		{"a search that finds nothing, as the line says", "grep -r lens x 2>&1; echo \"exit: $?\"", ok, "exit: 1", Unknown, ""},
		{"no Bash, with the status of an answer", "if then", no, "Exit code 1\nbash: syntax error", Failed, "bash: syntax error"},
		{"tests that pass, and a crash behind them", "python3 check.py 2>&1 | tail -5", ok, "3 passed in 0.1s\nTraceback (most recent call last):\nValueError: off", Unknown, "3 passed in 0.1s"},
		{"a traceback of what passes", "python3 lamp.py", ok, "Traceback (most recent call last):\nValueError: off", Passed, ""},
		{"of several exceptions the last", "./lamp", no, "Exit code 1\nValueError: off\nKeyError: dim\nlit", Failed, "KeyError: dim"},
		{"silence, whatever made an argument", "go build $(go list ./...); true", ok, "", Passed, ""},
		{"silence of what goes into a file", "go build ./... > build.log; true", ok, "", Unknown, ""},
		{"silence of what goes into a file in the end", "go build ./... | cat > build.log; true", ok, "", Unknown, ""},
		{"a filter that takes something else out", "go test ./... | grep -v '^?'", ok, "ok  \tlamp/a\t0.1s", Passed, "ok lamp/a 0.1s"},
		{"a filter with another option", "go test ./... | grep -i ok", ok, "ok  \tlamp/a\t0.1s", Unknown, "ok lamp/a 0.1s"},
		{"a filter with a long option", "go test ./... | grep --color=never ok", ok, "ok  \tlamp/a\t0.1s", Unknown, "ok lamp/a 0.1s"},
		{"a filter for a version", "go test ./... | grep lamp/v2", ok, "ok  \tlamp/v2\t0.1s", Unknown, "ok lamp/v2 0.1s"},
		{"head that shows as much as it may", "go test ./... | head -12", ok, strings.Repeat("ok  \tlamp/a\t0.1s\n", 12), Unknown, "ok lamp/a 0.1s (+11 more)"},
		{"head that may show one line more", "go test ./... | head -n 13", ok, strings.Repeat("ok  \tlamp/a\t0.1s\n", 12), Passed, "ok lamp/a 0.1s (+11 more)"},
		{"a color that is cut off", "go test ./...", ok, "ok  \tlamp/a\t0.1s\n\x1b[1mlit\x1b", Passed, "ok lamp/a 0.1s"},
		{"a reminder that does not end", "go test ./... | cat", ok, "lit\n<system-reminder> is a word\nFAIL\tlamp/lens\t0.012s\nFAIL", Failed, "FAIL lamp/lens 0.012s"},
		{"a reminder behind an output", "go test ./... | cat", ok, "lit\n<system-reminder>\nFAIL\tlamp/lens\t0.012s\n</system-reminder>", Unknown, ""},
		{"a call that the user turned down with a word", "rm -rf /", no, "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said: not that one", Failed, "not that one"},
		{"a call that the user turned down without a word", "rm -rf /", no, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, it was not written). STOP what you are doing and wait.", Failed, "The user doesn't want to proceed with this tool use. The tool use was rejected"},
		{"a call that the user interrupted", "rm -rf /", no, "[Request interrupted by user for tool use] STOP what you are doing", Failed, "[Request interrupted by user for tool use]"},
		{"what a script says of its success", "./deploy.sh | tail -3", ok, "success lamp is lit", Unknown, ""},
		{"what others say beside a program that is named", "go test ./... | cat", ok, "--- FAIL: TestDim (0.00s)\n 11 pass\n 1 fail\nFAIL\tlamp\t0.1s", Failed, "--- FAIL: TestDim (0.00s); FAIL lamp 0.1s"},
		{"first the program that says what failed", "./check.sh | tail -5", ok, " 1 fail\nlamp.ts(1,2): error TS2304: off", Failed, "lamp.ts(1,2): error TS2304: off; 1 fail"},
		{"two tests that fail", "go test ./...", no, "Exit code 1\n--- FAIL: TestDim (0.00s)\n--- FAIL: TestFar (0.00s)\nFAIL", Failed, "--- FAIL: TestDim (0.00s); --- FAIL: TestFar (0.00s)"},
		{"the line that is nearest to the test", "go test ./...", no, "Exit code 1\n    far_test.go:3: got 1, want 2\n\n\n--- FAIL: TestDim (0.00s)\n    lens_test.go:12: got 3, want 4\nFAIL", Failed, "--- FAIL: TestDim (0.00s); lens_test.go:12: got 3, want 4; far_test.go:3: got 1, want 2"},
		{"a bare word beside one that says more", "go test ./... | tail -2", ok, "FAIL\nFAIL\tlamp/lens [build failed]", Failed, "FAIL lamp/lens [build failed]"},
		{"the line with most numbers, not most digits", "npx jest | tail -2", ok, "Test Suites: 1000000 failed\nTests: 1 failed, 2 passed, 3 total", Failed, "Tests: 1 failed, 2 passed, 3 total"},
		{"more failures than are kept", "go test ./... | cat", ok, strings.Repeat("--- FAIL: TestDim (0.00s)\n", 70) + "FAIL\tlamp/lens\t0.012s", Failed, "--- FAIL: TestDim (0.00s); FAIL lamp/lens 0.012s"},
		{"a failure of which the client says no status", "go test ./...", no, "ok  \tlamp/a\t0.1s\nFAIL\tlamp/b\t0.1s", Failed, "FAIL lamp/b 0.1s"},
		{"sequences of a terminal", "go test ./... | cat", ok, "\x1b[mFAIL\tlamp/b\t0.1s\x1b[3~\n\x1b7lit", Failed, "FAIL lamp/b 0.1s"},
		{"a saved cursor", "go test ./... | cat", ok, "\x1b7FAIL\tlamp/b\t0.1s", Failed, "FAIL lamp/b 0.1s"},
		{"a part of an output", "./lamp", no, "<persisted-output>\nOutput too large (70KB). Full output saved to: x\n\nPreview (first 2KB):\noff\n...\n</persisted-output>", Failed, "off"},
		{"a part of an output proves nothing", "go test ./... | cat", ok, "<persisted-output>\nOutput too large (70KB). Full output saved to: x\n\nPreview (first 2KB):\nok  \tlamp/a\t0.1s\n...\n</persisted-output>", Unknown, "ok lamp/a 0.1s"},
		{"what a script says that installs", "./deploy.sh | tail -3", ok, "Successfully installed lamp-1.0", Unknown, ""},
		{"a removal without a word", "git rm -q a.go; true", ok, "", Passed, ""},
		{"a bare word alone", "go test ./... | tail -2", ok, "lit\nFAIL", Failed, "FAIL"},
		{"the line with most numbers, not most letters", "npx jest | tail -2", ok, "Test Suites: 1 failed, of all that there are in the folder of the lamps\nTests: 1 failed, 2 passed, 3 total", Failed, "Tests: 1 failed, 2 passed, 3 total"},
		{"what is of no account prints", "rm -rf out; go build ./... | cat", ok, " 1 fail", Unknown, ""},
		{"what a runner puts before a line", "mise run lint | cat", ok, "[lint:go] 0 issues.", Passed, "0 issues."},
		{"an option with a word before what is to be done", "go -C lamp test ./... | cat", ok, "ok  \tlamp/a\t0.1s", Passed, "ok lamp/a 0.1s"},
		{"a refusal of gh", "gh api repos/a/b", ok, "gh: Not Found (HTTP 404)", Failed, "gh: Not Found (HTTP 404)"},
		{"a folder before something silent", "mkdir -p a; true", ok, "", Passed, ""},
		{"a status that the line prints before its end", "./lamp; echo \"exit: $?\"; echo done; true", ok, "off\nexit: 2\ndone", Failed, "off"},
		{"a status of what came before", "./lamp; echo \"exit: $?\"; ./other", ok, "off\nexit: 2\nlit", Unknown, ""},
		{"what a terminal overwrites", "go test ./... | cat", ok, "10%\rok  \tlamp/a\t0.1s", Passed, "ok lamp/a 0.1s"},
		{"a bare word that passes", "go test ./... | tail -1", ok, "PASS", Passed, "PASS"},
		{"no Bash", "if then", no, "Exit code 2\nbash: syntax error near unexpected token `then'", Failed, "bash: syntax error near unexpected token `then'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Builtin().Of(bash(tt.line), result(tt.printed, tt.failed))
			if o.Verdict != tt.verdict || o.Text != tt.text {
				t.Errorf("%q printed %q:\n got %q, %q\nwant %q, %q", tt.line, tt.printed, o.Verdict, o.Text, tt.verdict, tt.text)
			}
		})
	}
}

// What clients put around an output is read and not said.
func TestClients(t *testing.T) {
	run := func(name string) transcript.ToolCall { return call(name, map[string]any{"cmd": "./lamp"}) }
	for _, tt := range []struct {
		name    string
		call    transcript.ToolCall
		failed  bool
		printed string
		verdict Verdict
		text    string
	}{
		{"Codex, with a chunk", run("exec_command"), false, "Chunk ID: 1a2b\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 4\nOutput:\nError: off", Failed, "Error: off"},
		{"Codex, a status of 0", run("exec_command"), false, "Chunk ID: 1a2b\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\non", Passed, ""},
		{"Codex, what runs on", run("exec_command"), false, "Chunk ID: 1a2b\nWall time: 10 seconds\nProcess running with session ID 7\nOutput:\non", Unknown, ""},
		{"JSON around an output", run("shell"), false, `{"output":"Error: off\n","metadata":{"exit_code":1,"duration_seconds":0.1}}`, Failed, "Error: off"},
		{"JSON with a status of 0", run("shell"), false, `{"output":"on\n","metadata":{"exit_code":0}}`, Passed, ""},
		{"JSON around what is no text", run("shell"), false, `{"output":{"lamp":"Error: off"},"metadata":{"exit_code":1}}`, Unknown, ""},
		{"a command that took too long", bash("./lamp"), true, "Command timed out after 2m 0s\nlit\ndim", Failed, "Command timed out after 2m 0s"},
		{"a command that took too long, said at the end", bash("./lamp"), true, "lit\nCommand timed out after 2m 0s", Failed, "Command timed out after 2m 0s"},
		{"a line that only says something", call("shell", map[string]any{"cmd": "cd lamp; echo on"}), false, "on", Unknown, ""},
		{"Gemini", run("run_shell_command"), false, "Command: ./lamp\nDirectory: (root)\nOutput: off\nError: (none)\nExit Code: 1\nSignal: (none)", Failed, "off"},
		{"Gemini 0.61, a status of 0", run("run_shell_command"), false, "<untrusted_context>\nOutput: total 12\n-rw-r--r-- 1 ann ann 11 a.txt\nalpha\nProcess Group PGID: 22876\n</untrusted_context>", Passed, ""},
		{"Gemini 0.61, another status", run("run_shell_command"), false, "<untrusted_context>\nOutput: off\nExit Code: 3\nProcess Group PGID: 22881\n</untrusted_context>", Failed, "off"},
		{"Gemini 0.61, nothing and a status", run("run_shell_command"), false, "<untrusted_context>\nOutput: (empty)\nExit Code: 3\nProcess Group PGID: 22881\n</untrusted_context>", Failed, ""},
		{"Gemini 0.61, ended by a signal", run("run_shell_command"), false, "<untrusted_context>\nOutput: on\nSignal: 9\nProcess Group PGID: 22881\n</untrusted_context>", Unknown, ""},
		{"Gemini 0.61, a file that was made", call("write_file", map[string]any{"file_path": "b.txt", "content": "hello\n"}), false, "Successfully created and wrote to new file: /srv/pool/b.txt. Here is the updated code:\nhello\n", Passed, ""},
		{"Gemini 0.61, a file that was changed", call("replace", map[string]any{"file_path": "b.txt", "old_string": "world", "new_string": "moon"}), false, "Successfully modified file: /srv/pool/b.txt (1 replacements). Here is the updated code:\nhello\nmoon\n", Passed, ""},
		{"Gemini 0.61, a file that is not there", call("read_file", map[string]any{"file_path": "missing.txt"}), true, "File not found: /srv/pool/missing.txt", Failed, "File not found: /srv/pool/missing.txt"},
		{"Gemini 0.61, what the program says of a status", run("run_shell_command"), false, "Output: hi\nExit Code: 0\nExit Code: 1\nProcess Group PGID: 9", Failed, "hi"},
		{"OpenHands", run("execute_bash"), false, "on\n[The command completed with exit code 0.]", Passed, ""},
		{"Codex, with a status in front", run("shell_command"), false, "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nError: off", Failed, "Error: off"},
		{"Cursor", run("run_terminal_cmd"), false, "Exit code: 0\n\nCommand output:\n\non", Passed, ""},
		{"Cursor, of a failure", run("run_terminal_cmd"), false, "Exit code: 1\n\nCommand output:\n\noff", Failed, "off"},
		{"an exception behind a trace without files", bash("./lamp | cat"), false, "Traceback (most recent call last):\nValueError: off", Failed, "ValueError: off"},
		{"an exception of a file that cannot be read", bash("./lamp | cat"), false, "File \"lamp.py\", line 1\nSyntaxError: off", Failed, "SyntaxError: off"},
		{"a word of an exception alone", bash("./lamp | cat"), false, "lit\nValueError: off", Unknown, ""},
		{"a line with signs before it", bash("./lamp"), true, "Exit code 1\n== Error: off", Failed, "== Error: off"},
		{"a line between signs", bash("./lamp"), true, "Exit code 1\n== Error: off ==", Failed, "Error: off"},
		{"Roo Code", run("execute_command"), false, "Command executed in terminal within working directory '/w'. Exit code: 1\nOutput:\nError: off", Failed, "Error: off"},
		{"Copilot", run("bash"), false, "on\n<exited with exit code 0>", Passed, ""},
		{"mini-SWE-agent", run("bash"), false, "<returncode>1</returncode>\n<output>\nError: off\n</output>", Failed, "Error: off"},
		{"a status 0 that the line prints", call("shell", map[string]any{"command": "./lamp; echo $?"}), false, "on\n0", Passed, ""},
		{"a client that says no status", run("shell"), false, "on", Unknown, ""},
		{"tests of a program that only the shell knows", call("shell", map[string]any{"cmd": "$PY -m pytest"}), false, "3 failed, 2 passed in 1.2s", Failed, "3 failed, 2 passed in 1.2s"},
		{"silence of a program that only the shell knows", call("shell", map[string]any{"cmd": "$PY build.py"}), false, "", Unknown, ""},
		{"silence of a line that is no Bash", call("shell", map[string]any{"cmd": "foreach ($f in $x) { & ./x.ps1 }"}), false, "", Unknown, ""},
		{"tests that code runs", call("run_code", nil), false, "3 failed, 2 passed in 1.2s", Failed, "3 failed, 2 passed in 1.2s"},
		{"silence of code", call("run_code", nil), false, "", Unknown, ""},
		{"a task in the background", call("BashOutput", map[string]any{"bash_id": "b"}), false, "<status>completed</status>\n\n<exit_code>1</exit_code>\n\n<stdout>\n11 pass\n1 fail\n</stdout>", Failed, "1 fail; 11 pass"},
		{"Codex, with a time in front", run("exec_command"), false, "Wall time: 0.1 seconds\nProcess exited with code 1\nOutput:\noff", Failed, "off"},
		{"Roo Code, without a word that tells", run("execute_command"), false, "Command executed in terminal within working directory '/w'. Exit code: 1\nOutput:\noff\nOutput:", Failed, "off"},
		{"a program that speaks like Roo Code", run("shell"), false, "It ended. Exit code: 1", Unknown, ""},
		{"a program that speaks like Roo Code, and failed", run("shell"), true, "Command executed by nobody\nlit", Failed, "Command executed by nobody"},
		{"Copilot, of nothing", run("bash"), false, "<exited with exit code 0>", Passed, ""},
		{"OpenHands, a status below 0", run("execute_bash"), false, "on\n[The command completed with exit code -1.]", Failed, "on"},
		{"OpenHands, no status", run("execute_bash"), false, "on\n[The command completed with exit code unknown.]", Unknown, ""},
		{"OpenHands, a status of ten digits", run("execute_bash"), false, "on\n[The command completed with exit code 1234567890.]", Unknown, ""},
		{"a task that waits", call("BashOutput", map[string]any{"bash_id": "b"}), false, "<status>pending</status>\n\n<stdout>\n1 fail\n</stdout>", Unknown, ""},
		{"a task of which more is said", call("BashOutput", map[string]any{"bash_id": "b"}), false, "<status>completed</status>\n<exit_code>1</exit_code>\n<stdout>\nlit\n</stdout>\n<note>failed: no</note>", Failed, "lit"},
		{"Codex, what runs on and is silent", call("exec_command", map[string]any{"cmd": "go build ./..."}), false, "Chunk ID: 1a2b\nProcess running with session ID 7\nOriginal token count: 0\nOutput:\n", Unknown, ""},
		{"Roo Code, without a line for the output", run("execute_command"), false, "Command executed in terminal within working directory '/w'. Exit code: 1\noff", Failed, "off"},
		{"Gemini, without a folder", run("run_shell_command"), false, "Command: ./lamp\nOutput: off\nExit Code: 1", Failed, "off"},
		{"Gemini, without an output", run("run_shell_command"), false, "Command: ./lamp\nExit Code: 1", Failed, ""},
		{"mini-SWE-agent, with more", run("bash"), false, "<returncode>1</returncode>\n<output>\noff\n</output>\n<note>failed: no</note>", Failed, "off"},
		{"a task that runs in silence", call("BashOutput", map[string]any{"bash_id": "b"}), false, "<status>running</status>", Unknown, ""},
		{"a task that waits in silence", call("BashOutput", map[string]any{"bash_id": "b"}), false, "<status>pending</status>", Unknown, ""},
		{"a task that is not ready", call("TaskOutput", map[string]any{"task_id": "b"}), false, "<retrieval_status>not_ready</retrieval_status>\n<task_type>local_bash</task_type>", Unknown, ""},
		{"a task that took too long", call("TaskOutput", map[string]any{"task_id": "b"}), false, "<retrieval_status>timeout</retrieval_status>\n<status>unknown</status>", Unknown, ""},
		{"a sub-agent in the background", call("TaskOutput", map[string]any{"task_id": "b"}), false, "<retrieval_status>success</retrieval_status>\n<task_type>local_agent</task_type>", Unknown, ""},
		{"a task that failed on its other channel", call("BashOutput", map[string]any{"bash_id": "b"}), false, "<status>completed</status>\n<exit_code>1</exit_code>\n<stderr>\nlit\n</stderr>\n<note>failed: no</note>", Failed, "lit"},
		{"one that runs", call("BashOutput", map[string]any{"bash_id": "b"}), false, "<status>running</status>\n\n<stdout>\n1 fail\n</stdout>", Unknown, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Builtin().Of(tt.call, result(tt.printed, tt.failed))
			if o.Verdict != tt.verdict || o.Text != tt.text {
				t.Errorf("%q:\n got %q, %q\nwant %q, %q", tt.printed, o.Verdict, o.Text, tt.verdict, tt.text)
			}
		})
	}
}

// Tools that run no command.
func TestTools(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tool    string
		failed  bool
		printed string
		verdict Verdict
		text    string
	}{
		{"an edit", "Edit", false, "The file /w/lamp.go has been updated successfully.", Passed, ""},
		{"an edit that finds nothing", "Edit", true, "<tool_use_error>String to replace not found in file.\nString: lamp</tool_use_error>", Failed, "String to replace not found in file."},
		{"an edit of a client without flags", "str_replace_editor", false, "Error: no match found", Failed, "Error: no match found"},
		{"a patch", "apply_patch", false, "Success. Updated the following files:\nM lamp.go", Passed, ""},
		{"an edit of which nothing is known", "edit_file", false, "lamp.go", Unknown, ""},
		{"a file that is read", "Read", false, "     1→Error: off", Unknown, ""},
		{"a file that begins with an error", "read_file", false, "Error: off", Unknown, ""},
		{"a file that is not there", "Read", true, "<tool_use_error>File does not exist.</tool_use_error>", Failed, "File does not exist."},
		{"an answer", "AskUserQuestion", false, `User has answered your questions: "Which lamp?"="The left one". You can now continue with the user's answers in mind.`, Passed, `"Which lamp?"="The left one"`},
		{
			"answers to long questions", "AskUserQuestion", false, `User has answered your questions: "` + strings.Repeat("Which lamp? ", 20) + `"="The left one, or \"none\"", "` +
				strings.Repeat("How bright? ", 20) + `"="Dim". You can now continue with the user's answers in mind.`, Passed, `The left one, or \"none\"; Dim`,
		},
		{"a plan that is turned down", "ExitPlanMode", true, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. x). To tell you how to proceed, the user said:\nuse two lamps", Failed, "use two lamps"},
		{"a plan that is turned down without a word", "ExitPlanMode", true, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. x). To tell you how to proceed, the user said:", Failed, "The user doesn't want to proceed with this tool use. The tool use was rejected"},
		{"a plan that is taken", "ExitPlanMode", false, "User has approved your plan. You can now start coding.", Passed, ""},
		{"a list", "TodoWrite", false, "Todos have been modified successfully. Ensure that you continue", Passed, ""},
		{"a task", "TaskCreate", false, "Task #3 created successfully: Dim it", Passed, "Task #3"},
		{"a task that is not there", "TaskUpdate", true, "Task not found", Failed, "Task not found"},
		{"a report of a sub-agent", "Task", false, "I could not do it: 3 tests failed.", Unknown, ""},
		{"a report that begins like an error", "Task", false, "Failed to find any other user of parseLine.", Unknown, ""},
		{"a sub-agent that failed", "Task", true, "Error: no such agent", Failed, "Error: no such agent"},
		{"a report of another sub-agent that begins like an error", "Agent", false, "Failed to find any other user of parseLine.", Unknown, ""},
		{"a sub-agent without a report", "Task", false, "", Unknown, ""},
		{"an empty error in JSON", "book_table", false, `{"error":""}`, Unknown, ""},
		{"a question and an answer of 200 bytes", "AskUserQuestion", false, `User has answered your questions: "` + strings.Repeat("z", 194) + `"="a"`, Passed, `"` + strings.Repeat("z", 194) + `"="a"`},
		{"no answer to the first of two long questions", "AskUserQuestion", false, `User has answered your questions: "` + strings.Repeat("z", 200) + `"="", "` + strings.Repeat("y", 200) + `"="Dim"`, Passed, "; Dim"},
		{"a sub-agent that runs on", "Task", false, "Async agent launched successfully.\nagentId: a1b2 (internal)\nThe agent is working.", Unknown, "agentId: a1b2"},
		{"an error of a service", "book_table", false, `Error: no table is free`, Failed, "Error: no table is free"},
		{"an error in JSON", "book_table", false, `{"error":"no table is free"}`, Failed, "no table is free"},
		{"a file of JSON with an error", "read_file", false, `{"error":"off"}`, Unknown, ""},
		{"lines of JSON", "book_table", false, `{"error":"off"}` + "\n" + `{"table":7}`, Unknown, ""},
		{"an edit without a word", "edit_file", false, "", Unknown, ""},
		{"a long question, and an answer with quotes", "AskUserQuestion", false, `User has answered your questions: "` + strings.Repeat("z", 200) + `"="left", "right". You can now continue.`, Passed, `left", "right`},
		{"an answer in another form", "AskUserQuestion", false, "Answers\nThe left one", Passed, "The left one"},
		{"an answer of a service", "book_table", false, `{"table":7}`, Unknown, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Builtin().Of(call(tt.tool, nil), result(tt.printed, tt.failed))
			if o.Verdict != tt.verdict || o.Text != tt.text {
				t.Errorf("%s: %q:\n got %q, %q\nwant %q, %q", tt.tool, tt.printed, o.Verdict, o.Text, tt.verdict, tt.text)
			}
		})
	}
}

// Only a client that says so has turned a call down.
func TestRefused(t *testing.T) {
	for _, failed := range []bool{false, true} {
		o := Builtin().Of(bash("cat notes.txt"), result("[Request interrupted by user for tool use]\nlit", failed))
		if o.Refused != failed {
			t.Errorf("with the error flag %t, the call is turned down: %t", failed, o.Refused)
		}
	}
}

func TestGitState(t *testing.T) {
	for _, tt := range []struct {
		line, printed string
		want          Outcome
	}{
		{
			"git commit -m x && git push", "[lens 1a2b3c4] Dim it (again)\n 1 file changed\nTo example.com:lamp.git\n * [new branch]      lens -> lens",
			Outcome{
				Verdict: Passed, Text: "[lens 1a2b3c4] Dim it (again); 1 file changed; * [new branch] lens -> lens", Lines: []int{0, 1, 3},
				Commit: &Commit{"lens", "1a2b3c4", "Dim it (again)"}, Pushed: true, Branch: "lens",
			},
		},
		{
			"git commit -m x", "[main (root-commit) 1a2b3c4] Begin", Outcome{
				Verdict: Passed, Text: "[main (root-commit) 1a2b3c4] Begin", Lines: []int{0},
				Commit: &Commit{"main", "1a2b3c4", "Begin"}, Branch: "main",
			},
		},
		{"git fetch", "From example.com:lamp\n   1a2b3c4..5d6e7f8  main -> origin/main", Outcome{Verdict: Passed, Text: "1a2b3c4..5d6e7f8 main -> origin/main", Lines: []int{1}}},
		{"git status", "On branch lens\nYour branch is up to date with 'origin/lens'.", Outcome{Branch: "lens"}},
		{"git branch --show-current", "lens", Outcome{Branch: "lens"}},
		{"git switch lens", "Switched to branch 'lens'", Outcome{Verdict: Passed, Text: "Switched to branch 'lens'", Lines: []int{0}, Branch: "lens"}},
		{"git status -sb", "## lens...origin/lens [ahead 1]\n M a.go", Outcome{Branch: "lens"}},
		{"git branch --list lens", "  lens", Outcome{}},
		{"echo $(git status | wc -l); cat notes", "On branch lens", Outcome{}},
		{"git status; cat notes", "On branch lens\n[main 1a2b3c4] Not a commit", Outcome{Branch: "lens"}},
		{"git commit -m x", "[see lamps] Dim it", Outcome{Verdict: Passed}},
		{"git commit -m x", "[main 1a2b3c] Dim it", Outcome{Verdict: Passed}},
		{"git commit -m x", "[main " + strings.Repeat("a", 65) + "] Dim it", Outcome{Verdict: Passed}},
		{"git show HEAD:notes", "On branch main\n[main 1a2b3c4] x", Outcome{}},
		{"git push --dry-run && git push", "   1a2b3c4..5d6e7f8  main -> main\n   1a2b3c4..5d6e7f8  main -> main", Outcome{Verdict: Passed, Text: "1a2b3c4..5d6e7f8 main -> main (+1 more)", Lines: []int{0}, Pushed: true}},
		{"git commit -qm x; cat NEWS.md", "## 1.4.0", Outcome{}},
		{"git push --dry-run", "   1a2b3c4..5d6e7f8  main -> main", Outcome{Verdict: Passed, Text: "1a2b3c4..5d6e7f8 main -> main", Lines: []int{0}}},
		{"cat notes", "[main 1a2b3c4] Not a commit", Outcome{}},
	} {
		got := Builtin().Of(bash(tt.line), result(tt.printed, false))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q printed %q (-want +got):\n%s", tt.line, tt.printed, diff)
		}
	}
}

func ExampleTable_With() {
	table, err := Builtin().With([]Program{{Name: "lamp check", Pass: `all \d+ lamps burn`, Fail: `\d+ lamps? (?:is|are) dark`}}, nil)
	if err != nil {
		panic(err)
	}
	o := table.Of(bash("lamp check | tail -1"), result("2 lamps are dark", false))
	fmt.Println(o.Verdict, "—", o.Text)
	// Output: failed — 2 lamps are dark
}

// A nil table is that of the common programs.
func TestNilTable(t *testing.T) {
	var table *Table
	if o := table.Of(bash("go test ./... | cat"), result("FAIL\tlamp\t0.1s", false)); o.Verdict != Failed {
		t.Errorf("got %q, want failed", o.Verdict)
	}
}

// Of a long output, the beginning and the end are read, and lines have their numbers.
func TestLongOutput(t *testing.T) {
	printed := "--- FAIL: TestDim (0.00s)\n" + strings.Repeat(strings.Repeat("lit ", 24)+"\n", 3000) + "FAIL\tlamp/lens\t0.012s"
	o := Builtin().Of(bash("go test ./... | cat"), result(printed, false))
	if o.Verdict != Failed || o.Text != "--- FAIL: TestDim (0.00s); FAIL lamp/lens 0.012s" || !slices.Equal(o.Lines, []int{0, 3001}) {
		t.Errorf("got %+v", o)
	}
}

// A text has 200 bytes at most: the longest pieces are cut, the last are left out where
// little of each would be left, and those that are extra are whole or left out.
func TestCompose(t *testing.T) {
	long := func(c string, n int) piece { return piece{text: strings.Repeat(c, n)} }
	extra := func(c string, n int) piece { return piece{text: strings.Repeat(c, n), extra: true} }
	for _, tt := range []struct {
		name   string
		pieces []piece
		want   string // letters with how often they stand there
	}{
		{"nothing", nil, ""},
		{"all has room", []piece{long("a", 100), long("b", 98)}, "a100 b98"},
		{"all has room to the byte", []piece{long("a", 65), long("b", 65), long("c", 66)}, "a65 b65 c66"},
		{"the longer one is cut", []piece{long("a", 50), long("b", 300)}, "a50 b145"},
		{"both are cut", []piece{long("a", 300), long("b", 300)}, "a96 b96"},
		{"five long ones", []piece{long("a", 60), long("b", 60), long("c", 60), long("d", 60), long("e", 60)}, "a45 b45 c45 d45"},
		{"a short one behind those that fit", []piece{long("a", 60), long("b", 60), long("c", 60), long("d", 60), long("e", 3)}, "a44 b44 c44 d44 e3"},
		{"what is extra and fits", []piece{long("a", 100), extra("b", 98)}, "a100 b98"},
		{"what is extra and does not fit", []piece{long("a", 100), extra("b", 99), extra("c", 20)}, "a100 c20"},
		{"what is extra beside what is cut", []piece{long("a", 300), extra("b", 1)}, "a197"},
		{"how many more there are", []piece{{text: strings.Repeat("a", 300), more: 7}}, "a187"},
	} {
		got, _ := compose(tt.pieces)
		var words []string
		for part := range strings.SplitSeq(got, separator) {
			if part != "" {
				words = append(words, fmt.Sprintf("%s%d", part[:1], strings.Count(part, part[:1])))
			}
		}
		if drawn := strings.Join(words, " "); len(got) > maxText || drawn != tt.want {
			t.Errorf("%s: got %s, want %s (%d bytes)", tt.name, drawn, tt.want, len(got))
		}
	}
}
