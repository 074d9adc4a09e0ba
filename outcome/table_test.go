package outcome

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/carrel-dev/carrel/tool"
)

// expressions returns those of a program.
func expressions(p Program) []string {
	return append([]string{p.Pass, p.Fail, p.Note}, p.Items...)
}

// The parts that an expression is compiled to match the lines that the whole of it does,
// among all lines that programs printed.
func TestPartsMatchWhatTheWholeDoes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range archive.Files {
			for l := range strings.Lines(string(part.Data)) {
				seen[plain(l)] = true
			}
		}
	}
	delete(seen, "")
	lines := slices.Sorted(maps.Keys(seen))
	for i := range lines[:len(lines)/5] {
		lines[i] = lines[5*i]
	}
	lines = lines[:len(lines)/5]
	tried := map[string]bool{}
	for _, p := range slices.Concat(programs(), []Program{{
		Pass: `a|[|]b]c|(?:d|e)f|\|g|[^]x]+h|\Qi|j\E|[[:alpha:]|]k`, Fail: `(?i)ok|done`, Note: `(?s:x|y)z|`, Items: []string{`(?:a|b*)c`, `(?:b*|a)c`, `[\x{7f}-\x{80}]`, `é.*|ü`, `(?i:dim)`, `\Qi|j\E`, `[^]](]|b)|x`, `[]^](]|b)|x`, `[x[:digit:]|]|b`, `[a-c|[]\||d`},
	}}) {
		for _, e := range expressions(p) {
			if e == "" || tried[e] {
				continue
			}
			tried[e] = true
			parts, err := compile(e)
			if err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
			whole := regexp.MustCompile(`\A(?:` + e + `)\z`)
			for _, l := range append([]string{"a", "|", "|b]c", "]c", "df", "ef", "|g", "yh", "i|j", "i", "OK", "Done", "xz", "yz", "dim", "DIM", "a]", "ab", "]]", "x", "b", "7", "[", "a|", "b|", "d", "é", "éx", "ü", "ü ", "c", "ac", "bc", "\u0080"}, lines...) {
				if got, want := parts.match(l), whole.MatchString(l); got != want {
					t.Errorf("%q: the parts match %q: %t, the whole %t", e, l, got, want)
				}
			}
		}
	}
}

func TestWith(t *testing.T) {
	for want, p := range map[string]Program{
		`program "": the name has no word: want a command such as go test`:      {},
		"program \"lamp\": pass: error parsing regexp: missing closing ): `":    {Name: "lamp", Pass: "(", Fail: "*"},
		"program \"lamp\": fail: error parsing regexp: missing argument to rep": {Name: "lamp", Fail: "*"},
		"program \"lamp\": items: error parsing regexp: ":                       {Name: "lamp", Items: []string{"ok", "["}},
		"program \"lamp\": note: error parsing regexp: ":                        {Name: "lamp", Note: `\8`},
	} {
		if table, err := Builtin().With([]Program{p}, nil); err == nil || !strings.HasPrefix(err.Error(), want) || table != nil {
			t.Errorf("With(%+v): %v, want %s", p, err, want)
		}
	}
	classes, err := (*tool.Table)(nil).With(map[string]tool.Class{"ignite": tool.Edit})
	if err != nil {
		t.Fatal(err)
	}
	table, err := (*Table)(nil).With([]Program{{Name: "go test", Pass: "all lamps burn"}, {Name: "lamp check", Fail: "dark"}, {Name: "lamp", Pass: "lit"}, {Name: "lamp all", Runs: true}, {Name: "lamp --dim", Fail: "dark"}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line, printed string
		want          Verdict
	}{
		{"go test ./... | cat", "all lamps burn", Passed},
		{"go test ./... | cat", "ok  \tlamp\t0.1s", Unknown}, // the user's program takes the place of ours
		{"go vet ./... | cat", "a.go:1:2: x", Failed},
		{"lamp check | cat", "dark", Failed},
		{"lamp check | cat", "lit", Unknown},            // the longest name counts
		{"lamp -q -C hall --dim | cat", "lit", Unknown}, // options may stand before that of the name
		{"lamp list | cat", "lit", Passed},
		{"lamp all | cat", "5 passed in 0.1s", Passed},
		{"(npm test; lamp all) | cat", "5 passed in 0.1s", Unknown}, // one report is none of two programs
	} {
		if o := table.Of(bash(tt.line), result(tt.printed, false)); o.Verdict != tt.want {
			t.Errorf("%q printed %q: %q, want %q", tt.line, tt.printed, o.Verdict, tt.want)
		}
	}
	if o := table.Of(call("ignite", nil), result("Done!", false)); o.Verdict != Passed {
		t.Errorf("a tool of the user's table: %q, want passed", o.Verdict)
	}
	if o := Builtin().Of(bash("go test ./... | cat"), result("ok  \tlamp\t0.1s", false)); o.Verdict != Passed {
		t.Errorf("the table that With was called on has changed: %q", o.Verdict)
	}
}

// What programs print that could not be run here, from their documentation, in a pipe.
func TestDocumented(t *testing.T) {
	for _, tt := range []struct {
		line, printed string
		want          Verdict
		text          string
	}{
		{"dotnet test", "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 12 ms - lamp.dll (net8.0)", Passed, "Passed! - Failed: 0, Passed: 3"},
		{"dotnet test", "  Failed Lamp.Dims [3 ms]\nFailed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 12 ms - lamp.dll (net8.0)", Failed, "Failed Lamp.Dims [3 ms]"},
		{"dotnet test", "Test Run Successful.\nTotal tests: 3\n     Passed: 3", Passed, "Test Run Successful."},
		{"dotnet test", "Test Run Failed.\nTotal tests: 3\n     Failed: 1", Failed, "Test Run Failed."},
		{"dotnet build", "Build succeeded.\n    0 Warning(s)\n    0 Error(s)", Passed, "Build succeeded."},
		{"dotnet build", "/w/Lamp.cs(3,9): error CS1002: ; expected [/w/lamp.csproj]\nBuild FAILED.\n    0 Warning(s)\n    1 Error(s)", Failed, "error CS1002: ; expected"},
		{"dotnet build", "Build succeeded in 1.2s", Passed, "Build succeeded in 1.2s"},
		{"dotnet build", "Build failed with 1 error(s) in 1.2s", Failed, "Build failed with 1 error(s)"},
		{"dotnet test", "Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 1.2s", Passed, "failed: 0"},
		{"dotnet test", "Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 1.2s", Failed, "failed: 1"},
		{"mvn -q test", "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", Passed, "[INFO] BUILD SUCCESS"},
		{"mvn test", "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE", Failed, "Failures: 1"},
		{"./mvnw verify", "[ERROR]   LampTest.dims:12 expected: <1> but was: <2>\n[INFO] BUILD FAILURE", Failed, "LampTest.dims:12"},
		{"gradle test", "BUILD SUCCESSFUL in 3s\n5 actionable tasks: 5 executed", Passed, "BUILD SUCCESSFUL in 3s"},
		{"./gradlew test", "LampTest > dims() FAILED\n    org.opentest4j.AssertionFailedError at LampTest.java:12\n\n3 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.\nBUILD FAILED in 3s", Failed, "LampTest > dims() FAILED"},
		{"ruff check .", "All checks passed!", Passed, "All checks passed!"},
		{"ruff check .", "lamp.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.", Failed, "F401"},
		{"ruff format --check .", "Would reformat: lamp.py\n1 file would be reformatted", Failed, "1 file would be reformatted"},
		{"uv sync", "Resolved 5 packages in 12ms\nInstalled 2 packages in 3ms", Passed, "Installed 2 packages in 3ms"},
		{"swift test", "Test Suite 'All tests' passed at 2026-01-01 10:00:00.000.\n\t Executed 3 tests, with 0 failures (0 unexpected) in 0.1 (0.2) seconds", Passed, "Test Suite 'All tests' passed"},
		{"rspec", "3 examples, 0 failures", Passed, "3 examples, 0 failures"},
		{"bundle exec rspec", "3 examples, 1 failure\n\nrspec ./spec/lamp_spec.rb:3 # Lamp dims", Failed, "rspec ./spec/lamp_spec.rb:3"},
		{"phpunit", "OK (3 tests, 5 assertions)", Passed, "OK (3 tests, 5 assertions)"},
		{"phpunit", "1) LampTest::testDims\nFAILURES!\nTests: 3, Assertions: 5, Failures: 1.", Failed, "Failures: 1."},
		{"mix test", "3 tests, 0 failures", Passed, "3 tests, 0 failures"},
		{"mix test", "  1) test dims (LampTest)\n3 tests, 1 failure", Failed, "3 tests, 1 failure"},
		{"ctest", "100% tests passed, 0 tests failed out of 3", Passed, "100% tests passed"},
		{"ctest", "67% tests passed, 1 tests failed out of 3\n\nThe following tests FAILED:\n\t  2 - dims (Failed)", Failed, "2 - dims (Failed)"},
		{"terraform apply", "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.", Passed, "Apply complete!"},
		{"cargo nextest run", "     Summary [   0.012s] 3 tests run: 3 passed, 0 skipped", Passed, "3 tests run: 3 passed"},
		{"gh pr merge 7 --squash", "✓ Squashed and merged pull request #7 (Dim it)", Passed, "✓ Squashed and merged pull request #7 (Dim it)"},
		{"gh pr create --fill", "pull request create failed: GraphQL: No commits between main and lens (createPullRequest)", Failed, "No commits between main and lens"},
		{"gh issue comment 3 -b x", "https://example.com/lamp/lamp/issues/3#issuecomment-17", Passed, "https://example.com/lamp/lamp/issues/3#issuecomment-17"},
	} {
		o := Builtin().Of(bash(tt.line+" 2>&1 | tail -50"), result(tt.printed, false))
		if o.Verdict != tt.want || !strings.Contains(o.Text, tt.text) {
			t.Errorf("%s printed %q: %q, %q; want %q, %q", tt.line, tt.printed, o.Verdict, o.Text, tt.want, tt.text)
		}
	}
}

// Programs that print nothing on success, others, and lines that decide nothing unless their
// program is named.
func TestSilentProgramsAndThoseThatMustBeNamed(t *testing.T) {
	for want, lines := range map[Verdict]string{
		Passed:  "go build|gofmt -w .|git add a|git rm a|git checkout a|git fetch|git reset|git tag v1|git gc|tsc|eslint .|flake8 a|cargo fmt|javac A.java|shellcheck a|gcc a.c",
		Unknown: "go test|go run .|go get a|git commit -m a|git push|jest|mypy a|cargo build|pip install a|kubectl apply|yarn add a",
	} {
		for line := range strings.SplitSeq(lines, "|") {
			if o := Builtin().Of(bash(line+" 2>&1 | cat"), result("", false)); o.Verdict != want {
				t.Errorf("without a word %s %q, want %q", line, o.Verdict, want)
			}
		}
	}
	for _, printed := range []string{"exit status 2", "success Saved lockfile.", "OK", "Successfully installed lamp-1.0", "Finished `dev` profile target(s) in 0.1s", "pod/lamp created"} {
		if o := Builtin().Of(bash("./deploy.sh 2>&1 | cat"), result(printed, false)); o.Verdict != Unknown || o.Text != "" {
			t.Errorf("%q of a script: %q, %q", printed, o.Verdict, o.Text)
		}
	}
}
