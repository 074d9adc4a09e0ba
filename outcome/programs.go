package outcome

import "slices"

// programs returns the table of common programs. Their patterns were written from recorded
// output, if testdata/recorded has some, and otherwise from their documentation.
func programs() []Program {
	return slices.Concat(goPrograms(), gitPrograms(), scriptPrograms(), pythonPrograms(), compiledPrograms(), systemPrograms(), runners())
}

// rtk is a pattern of the line that the program rtk prints in place of the output of a
// successful command.
const rtk = `ok ✓.*|ok \(.*\)`

func goPrograms() []Program {
	const (
		place = `(?:vet: )?\S+\.go:\d+:\d+: .*`
		pkg   = `(?:\S+: )?no required module .*|(?:\S+: )?cannot find .*|(?:\S+: )?(?:package|module) \S+ is not in std.*|go: .*(?:cannot|not found|unknown|no such|updates to go\.mod|does not contain|no Go files|invalid|missing|unrecognized|errors? parsing).*|pattern \S+: .*`
	)
	build := Program{Items: []string{place, `\S+\.go:\d+: .*`, pkg}, Fail: `FAIL \S+ \[(?:build|setup) failed\]`}
	quiet := build
	quiet.Quiet = true
	list := []Program{
		{
			Name: "go test", Pass: `ok \S+ (?:\(cached\)|[\d.]+s)(?: .*)?|PASS`, Fail: `FAIL|FAIL \S+ (?:[\d.]+s|\[.*\])|--- FAIL: .*`,
			Items: []string{
				`--- FAIL: .*|panic: .*|fatal error: .*|` + place, `\S+_test\.go:\d+: .*(?i:want|expect|got|should|unexpected|fail|error|must|not ).*`,
				pkg, `flag provided but not defined.*`,
			},
		},
		{
			Name: "gotestsum", Pass: `DONE (?:\d+ runs?, )?\d+ tests?(?:, \d+ skipped)? in .*`, Fail: `DONE .*(?:failure|error).*`,
			Items: []string{`=== FAIL: .*|--- FAIL: .*|panic: .*|` + place, `\S+_test\.go:\d+: .*`, `ERROR .*`},
		},
		{Name: "go run", Fail: `exit status \d+|panic: .*`, Items: []string{place + `|panic: .*|fatal error: .*`, pkg}, Alone: true},
		{
			Name: "golangci-lint", Pass: `0 issues\.`, Fail: `[1-9]\d* issues?:|level=error msg="(?:\[linters_context\]|Running error).*`,
			Items: []string{place, `\S+\.go:\d+: [^:].*`, `level=error .*|Error: .*`}, Note: `\* \w+: \d+`,
		},
		{Name: "govulncheck", Pass: `No vulnerabilities found\.`, Fail: `Your code is affected by .*`, Items: []string{`Vulnerability #\d+: .*`}},
	}
	list = append(list, named(quiet, "go build", "go vet", "go install", "go generate", "go fmt", "go mod", "gofmt", "gofumpt", "goimports", "staticcheck", "errcheck")...)
	return append(list, named(build, "go", "go get", "go tool")...)
}

func gitPrograms() []Program {
	const (
		item     = `(?:fatal|error): .*`
		conflict = `CONFLICT .*`
		stuck    = conflict + `|Automatic merge failed.*|error: could not (?:apply|revert) .*|Could not apply .*|Aborting`
		refs     = `(?:\+ )?[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40} \S+ -> .*|\* \[new \w+\] .*|- \[deleted\] .*|= \[up to date\] .*|t \[tag update\] .*`
		changed  = `\d+ files? changed.*`
		at       = `HEAD is now at .*`
	)
	commit := Program{
		Pass: `\[[^\]]+ [0-9a-f]{7,40}\] .*|` + rtk, Fail: `Aborting commit.*|FAILED: git .*|` + conflict,
		Items: []string{conflict, `husky - .*|` + item, `nothing (?:added )?to commit.*|no changes added to commit.*`}, Note: changed,
	}
	merge := Program{
		Pass: `Already up to date\.|Fast-forward|Merge made by .*|Successfully rebased .*|Current branch .* is up to date\.|Squash commit .*|` + rtk, Fail: stuck,
		Items: []string{conflict, item}, Note: changed + `|` + refs,
	}
	move := Program{Pass: at + `|Switched to .*|Already on .*|Note: switching to .*|Updated \d+ paths? from .*|Deleted branch .*`, Items: []string{item}, Quiet: true}
	list := []Program{
		{Name: "git add", Pass: rtk, Items: []string{item, `The following paths are ignored.*`}, Quiet: true},
		{Name: "git rm", Note: `rm '.*`, Items: []string{item}, Quiet: true},
		{
			Name: "git push", Pass: refs + `|Everything up-to-date|` + rtk, Fail: `! \[(?:remote )?rejected\] .*|error: failed to push .*|FAILED: git .*`,
			Items: []string{`! \[.*|remote: (?:error|fatal|ERROR).*`, `husky - .*|` + item},
		},
		{Name: "git fetch", Note: refs, Items: []string{item}, Quiet: true},
		{Name: "git stash", Pass: `Saved working directory .*|No local changes to save|Dropped .*`, Fail: conflict, Items: []string{conflict, item}},
		{Name: "git reset", Pass: at, Items: []string{item}, Quiet: true},
		{Name: "git worktree", Pass: at, Items: []string{item}, Note: `Preparing worktree .*`},
		{Name: "git clone", Items: []string{item}, Note: `Cloning into .*`},
		{Name: "git init", Pass: `(?:Rei|I)nitialized .*`, Items: []string{item}},
		{Name: "git tag", Pass: `Deleted tag .*`, Items: []string{item}, Quiet: true},
		{Name: "git", Items: []string{item}, Quiet: true},
		{Name: "gh", Pass: `https://\S+/(?:pull|issues)/\d+.*|✓ .*`, Items: []string{`X .*|! .*|GraphQL: .*|HTTP \d+: .*|gh: .*|(?:could not|failed to|unknown|no pull requests|no open|invalid) .*`}},
		{Name: "gh pr create", Pass: `https://\S+/pull/\d+`, Items: []string{`(?:pull request create failed|could not|failed to|a pull request for|aborted|unknown).*|GraphQL: .*|HTTP \d+: .*|gh: .*`}},
	}
	list = append(list, named(commit, "git commit", "git cherry-pick", "git revert")...)
	list = append(list, named(merge, "git merge", "git pull", "git rebase", "git am")...)
	return append(list, named(move, "git checkout", "git branch", "git switch", "git restore")...)
}

// scriptPrograms returns the programs of JavaScript and TypeScript.
func scriptPrograms() []Program {
	const thrown = `(?:Uncaught )?(?:[A-Z]\w*)?Error(?: \[\w+\])?: .*`
	node := Program{
		Pass: `[#ℹ] fail 0`, Fail: `[#ℹ] fail [1-9]\d*`, Note: `[#ℹ] (?:tests|pass) \d+`,
		Items: []string{`not ok \d+ .*`, `✖ .*`, thrown},
	}
	list := []Program{
		{
			Name: "bun test", Pass: `0 fail`, Fail: `[1-9]\d* fail|[1-9]\d* errors?`, Note: `\d+ pass|Ran \d+ tests? across .*`,
			Items: []string{`\(fail\) .*`, `error: .*|The following filters did not match any test files:`},
		},
		{Name: "bun install", Pass: `\d+ packages? (?:installed|removed).*|Checked \d+ installs? .*|\[[\d.]+m?s\] done`, Items: []string{`error: .*`}},
		{Name: "bun add", Pass: `\d+ packages? installed.*`, Note: `installed \S+@.*`, Items: []string{`error: .*`}},
		{Name: "bun remove", Pass: `\d+ packages? removed.*`, Items: []string{`error: .*`}},
		{Name: "bun build", Pass: `Bundled \d+ modules? in .*`, Items: []string{`error: .*`}},
		{
			Name: "jest", Pass: `Tests: (?:\d+ \w+, )*\d+ total|No tests found, exiting with code 0`, Note: `Test Suites: .*`,
			Fail:  `Tests: .*\b[1-9]\d* failed.*|Test Suites: .*\b[1-9]\d* failed.*|No tests found, exiting with code 1|Jest: .*threshold.*not met.*`,
			Items: []string{`● .*`, thrown + `|expect\(.*|Cannot find module .*`, `FAIL \S+.*`},
		},
		{
			Name: "vitest", Pass: `Tests (?:\d+ \w+ \| )*\d+ (?:passed|skipped|todo)(?: \| \d+ \w+)* \(\d+\)|No test files found, exiting with code 0`, Note: `Test Files .*`,
			Fail:  `(?:Tests|Test Files) [1-9]\d* failed.*|Errors [1-9]\d* errors?|No test files found, exiting with code 1`,
			Items: []string{`FAIL \S.*`, thrown, `× .*`},
		},
		{
			Name: "mocha", Pass: `\d+ passing(?: \(.*\))?`, Fail: `[1-9]\d* failing|Error: No test files found.*`, Note: `\d+ pending`,
			Items: []string{`\d+\) .*`, thrown},
		},
		{Name: "ava", Pass: `\d+ tests? passed|# fail 0`, Fail: `(?:1 test|(?:[2-9]|[1-9]\d+) tests) failed|\d+ uncaught exceptions?|# fail [1-9]\d*`, Items: []string{`✘ .*|✖ .*|not ok .*`}},
		{
			Name: "playwright", Pass: `\d+ passed \(.*\)|[1-9]\d* flaky`, Fail: `[1-9]\d* (?:failed|did not run|interrupted)|Error: No tests found.*`, Note: `\d+ skipped`,
			Items: []string{`\d+\) (?:\[.*\] › )?\S+:\d+:\d+ › .*`, `Error: .*`},
		},
		{
			Name: "tsc", Quiet: true, Fail: `error TS\d+: .*|\S+\(\d+,\d+\): error TS\d+: .*|\S+:\d+:\d+ - error TS\d+: .*|Found [1-9]\d* errors? in .*`,
			Items: []string{`\S+\(\d+,\d+\): error TS\d+: .*|\S+:\d+:\d+ - error TS\d+: .*`, `error TS\d+: .*`},
		},
		{
			Name: "biome", Pass: `(?:Checked|Formatted) \d+ files? in .*`, Fail: `Found [1-9]\d* errors?\.|× .* were emitted .*|× No files were processed .*`, Note: `Found [1-9]\d* warnings?\.`,
			Items: []string{`(?:at )?\S+(?::\d+:\d+)? lint/\S+(?: .*)?|(?:at )?\S+(?::\d+:\d+)? (?:format|organizeImports|parse)(?: .*)?|(?:at )?\S+(?::\d+:\d+)? assist/.*`, `× .*`},
		},
		{
			Name: "eslint", Quiet: true, Fail: `✖ \d+ problems? \([1-9]\d* errors?, .*|ESLint found too many warnings .*|Oops! Something went wrong! :\(`,
			Pass: `✖ \d+ problems? \(0 errors, .*`, Items: []string{`\d+:\d+ error .*`, `No files matching .*|Invalid option .*|Error: .*`},
		},
		{
			Name: "prettier", Pass: `All matched files use Prettier code style!`,
			Fail: `\[warn\] Code style issues (?:found|fixed) .*|\[error\] (?:\S+: \w+Error: |No files matching ).*|Error occurred when checking code style .*`, Items: []string{`\[error\] \S.*`, `\[warn\] \S.*`},
		},
		{
			Name: "npm install", Pass: `(?:added|removed|changed) \d+ packages?.*|up to date.*`, Fail: `npm (?:ERR!|error) .*`, Note: `found \d+ vulnerabilities|[1-9]\d* vulnerabilit.*`,
			Items: []string{`npm (?:ERR!|error) (?:notarget|404 |ERESOLVE|JSON\.parse|peer|enoent|[45]\d\d) ?.*`, `npm (?:ERR!|error) code .*`},
		},
		{Name: "pnpm install", Pass: `Done in .*|Already up to date`, Fail: `ERR_PNPM_.*`, Items: []string{`ERR_PNPM_.*|ERROR .*`}},
		{Name: "yarn install", Pass: `success .*|✨ Done in .*|Done in .*|➤ YN0000: · Done .*`, Fail: `➤ YN\d+: .*Failed with errors.*`, Items: []string{`error .*|➤ YN\d+: .*(?:error|couldn't|can't).*`}, Alone: true},
		{Name: "vite build", Pass: `✓ built in .*`, Fail: `error during build:|✗ Build failed .*`, Items: []string{`\[.*\] .*|(?:\w*Error|error): .*`}},
		{Name: "next build", Pass: `✓ Compiled successfully.*`, Fail: `Failed to compile\.|> Build .*failed.*`, Items: []string{`Type error: .*|\w*Error: .*`}},
		{Name: "webpack", Pass: `webpack .* compiled (?:successfully|with \d+ warnings?).*`, Fail: `webpack .* compiled with [1-9]\d* errors?.*`, Items: []string{`ERROR in .*`}},
	}
	for _, of := range []struct {
		like  string
		names []string
	}{
		{"npm install", []string{"npm i", "npm ci", "npm add", "npm uninstall", "npm update", "npm audit"}},
		{"pnpm install", []string{"pnpm i", "pnpm add", "pnpm remove", "pnpm update"}},
		{"yarn install", []string{"yarn add", "yarn remove", "yarn upgrade"}},
		{"bun install", []string{"bun i", "bun update"}},
	} {
		i := slices.IndexFunc(list, func(p Program) bool { return p.Name == of.like })
		list = append(list, named(list[i], of.names...)...)
	}
	return append(list, named(node, "node --test", "tap")...)
}

func pythonPrograms() []Program {
	pytest := Program{
		Pass:  `(?:\d+ \w+, )*\d+ (?:passed|skipped|xfailed|xpassed|deselected)(?:, \d+ \w+)* in [\d.]+s.*`,
		Fail:  `(?:\d+ \w+, )*[1-9]\d* (?:failed|errors?)(?:, \d+ \w+)* in [\d.]+s.*|no tests ran in .*|(?:\d+ deselected|.*no tests collected.*) in .*|!+ .*Interrupted: .*`,
		Items: []string{`FAILED \S+.*|ERROR \S+\.py.*`, `E \S.*`, `ERROR: .*`},
	}
	unittest := Program{
		Pass: `OK(?: \(.*\))?`, Fail: `FAILED \(.*\)|NO TESTS RAN.*`, Note: `Ran \d+ tests? in .*`,
		Alone: true,
		Items: []string{`(?:FAIL|ERROR): \S+.*`, `(?:\w+\.)*[A-Z]\w*Error: .*`},
	}
	mypy := Program{Pass: `Success: no issues found in .*`, Fail: `Found [1-9]\d* errors? in .*`, Items: []string{`\S+:\d+:(?:\d+:)? error: .*`, `mypy: (?:can't|error).*|usage: mypy .*`}}
	flake8 := Program{Quiet: true, Items: []string{`\S+:\d+:\d+: [A-Z]+\d+ .*`}}
	black := Program{
		Pass: `All done! .*`, Fail: `Oh no! .*|error: cannot format .*`, Note: `\d+ files? (?:would be |reformatted|left|would).*`,
		Items: []string{`error: .*|Error: .*`, `would reformat .*`},
	}
	pylint := Program{Note: `Your code has been rated at .*`, Items: []string{`\S+:\d+:\d+: [EF]\d+: .*`, `\S+:\d+:\d+: [WRC]\d+: .*`}}
	pip := Program{
		Pass: `Successfully (?:un)?installed .*|Requirement already satisfied: .*`, Alone: true,
		Items: []string{`ERROR: (?:Could|No|Invalid|Cannot|Exception|Failed|File|Directory|You).*`, `(?:ERROR|error): .*`}, Note: `WARNING: Skipping .*`,
	}
	list := []Program{
		{
			Name: "ruff", Pass: `All checks passed!|\d+ files? (?:already formatted|left unchanged)`, Fail: `Found [1-9]\d* errors?.*|\d+ files? would be reformatted(?:, \d+ files? .*)?|ruff failed`,
			Items: []string{`\S+:\d+:\d+: [A-Z]+\d+ .*`, `[A-Z]+\d{3,} .*`}, Note: `\d+ files? reformatted.*`,
		},
		{Name: "pyright", Pass: `0 errors, .*`, Fail: `[1-9]\d* errors?, \d+ warnings?.*`, Items: []string{`\S+:\d+:\d+ - error: .*`}},
		{Name: "uv", Pass: `(?:Installed|Audited|Uninstalled) \d+ packages? in .*`, Items: []string{`error: .*`, `× .*`}},
		{Name: "poetry", Items: []string{`\w*Error.*`}},
	}
	for _, p := range []struct {
		program Program
		names   []string
	}{
		{pytest, []string{"pytest", "py.test", "python -m pytest"}},
		{unittest, []string{"python -m unittest"}},
		{mypy, []string{"mypy", "dmypy", "python -m mypy"}},
		{flake8, []string{"flake8", "pycodestyle", "python -m flake8"}},
		{black, []string{"black", "python -m black"}},
		{pylint, []string{"pylint", "python -m pylint"}},
		{pip, []string{"pip", "python -m pip", "uv pip"}},
	} {
		list = append(list, named(p.program, p.names...)...)
	}
	return list
}

// compiledPrograms returns the programs of other languages.
func compiledPrograms() []Program {
	const rust = `error(?:\[E\d+\])?: .*`
	build := Program{Pass: `Finished .* target\(s\) in .*`, Fail: `error: could not compile .*`, Items: []string{`error\[E\d+\]: .*`, rust}, Alone: true}
	list := []Program{
		{
			Name: "cargo test", Pass: `test result: ok\. .*`, Fail: `test result: FAILED\. .*|error: test failed, .*|error: could not compile .*`,
			Items: []string{`test .* \.\.\. FAILED|error\[E\d+\]: .*`, `thread '.*' panicked at .*|assertion .* failed.*`, rust},
		},
		{Name: "cargo run", Fail: `error: could not compile .*|error: process didn't exit successfully: .*`, Items: []string{`thread '.*'(?: \(\d+\))? panicked at .*|error\[E\d+\]: .*`, rust}},
		{Name: "cargo fmt", Quiet: true, Items: []string{`Diff in .*`, rust}},
		{Name: "cargo nextest", Pass: `Summary \[.*\] \d+ tests? run: \d+ passed.*`, Fail: `error: test run failed`, Items: []string{`FAIL \[.*`}},
		{
			Name: "mvn", Pass: `\[INFO\] BUILD SUCCESS`, Fail: `\[INFO\] BUILD FAILURE|\[ERROR\] Tests run: .*`, Note: `\[(?:INFO|WARNING|ERROR)\] Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+`,
			Items: []string{`\[ERROR\] \S+\.java:.*|\[ERROR\] \S+:\d+ .*`, `\[ERROR\] \S.*`},
		},
		{
			Name: "gradle", Pass: `BUILD SUCCESSFUL in .*`, Fail: `BUILD FAILED.*|FAILURE: .*`, Note: `\d+ tests? completed.*`,
			Items: []string{`\S+ > .* FAILED`, `> \S.*`},
		},
		{
			Name: "java", Pass: `\[ +0 tests failed +\]|OK \(\d+ tests?\)`, Fail: `\[ +[1-9]\d* (?:tests|containers) failed +\]|FAILURES!!!|Tests run: \d+, Failures: [1-9]\d*`, Note: `\[ +\d+ tests successful +\]`,
			Items: []string{`\d+\) \w+\(.*\)|JUnit \w+:.* MethodSource .*`, `(?:\w+\.)+\w*(?:Error|Exception)(?:: .*)?|=> .*|Error: .*`},
		},
		{Name: "javac", Quiet: true, Fail: `[1-9]\d* errors?`, Items: []string{`\S+\.java:\d+: error: .*`, `error: .*`}},
		{
			Name: "dotnet", Pass: `Passed! +- .*|Build succeeded(?: in .*)?\.?|Test Run Successful\.|Test summary: .*failed: 0,.*`,
			Fail: `Failed! +- .*|Build FAILED\.|Build failed with .*|Test Run Failed\.|Test summary: .*failed: [1-9].*`, Note: `[1-9]\d* Error\(s\)|Total tests: \d+`,
			Items: []string{`\S+: error [A-Z]+\d+: .*`, `Failed \S+ \[.*\]|error [A-Z]+\d+: .*`},
		},
		{Name: "shellcheck", Quiet: true, Items: []string{`\S+: error: .*|\^-*\^? SC\d+ \(error\): .*`, `\^-*\^? SC\d+ .*|\S+:\d+:\d+: \w+: .*`, `\S+: openBinaryFile: .*`}},
		{Name: "swift", Pass: `Build complete!.*|Test Suite 'All tests' passed .*`, Fail: `error: fatalError|Test Suite 'All tests' failed .*`, Note: `Executed \d+ tests.*`, Items: []string{`\S+\.swift:\d+:\d+: error: .*`}},
		{Name: "rspec", Pass: `\d+ examples?, 0 failures.*`, Fail: `\d+ examples?, [1-9]\d* failures?.*`, Items: []string{`rspec \S+.*`, `\d+\) .*`}},
		{Name: "phpunit", Pass: `OK \(\d+ tests?, .*\)|OK, but .*`, Fail: `FAILURES!|ERRORS!|Tests: .*(?:Failures|Errors): [1-9].*`, Items: []string{`\d+\) .*`}},
		{Name: "mix test", Pass: `\d+ (?:tests?|doctests?, \d+ tests?), 0 failures.*`, Fail: `\d+ (?:tests?|doctests?, \d+ tests?), [1-9]\d* failures?.*`, Items: []string{`\d+\) .*`}},
		{Name: "ctest", Pass: `100% tests passed, .*`, Fail: `\d+% tests passed, [1-9].*`, Items: []string{`\d+ - .* \(Failed\)`}},
		{Name: "cmake", Pass: `-- Build files have been written to: .*|\[100%\] Built target .*`, Fail: `-- Configuring incomplete, errors occurred!`, Items: []string{`CMake Error.*`}},
		{Name: "terraform", Pass: `Apply complete! .*|No changes\. .*|Success! .*`, Fail: `│ Error: .*`, Items: []string{`Error: .*`}, Note: `Plan: .*`},
	}
	list = append(list, named(build, "cargo", "cargo build", "cargo check", "cargo clippy")...)
	for _, name := range []string{"mvnw", "gradlew"} {
		i := slices.IndexFunc(list, func(p Program) bool { return name == p.Name+"w" })
		list = append(list, named(list[i], name)...)
	}
	compiler := Program{Quiet: true, Items: []string{`\S+:\d+:\d+: (?:fatal )?error: .*`, `(?:fatal )?error(?:\[E\d+\])?: .*|\S+ undefined reference to .*|collect2: error.*`}}
	return append(list, named(compiler, "gcc", "g++", "cc", "c++", "clang", "clang++", "rustc")...)
}

// systemPrograms returns the programs for machines and networks, and programs that only show
// something.
func systemPrograms() []Program {
	list := []Program{
		{Name: "curl", Items: []string{`curl: \(\d+\) .*`}},
		{Name: "wget", Items: []string{`wget: .*|.* ERROR \d+: .*`}},
		{Name: "brew", Items: []string{`Error: .*`}},
		{Name: "kubectl", Items: []string{`error: .*|Error from server .*`}, Note: `\S+ (?:created|configured|unchanged|deleted)`, Alone: true},
	}
	list = append(list, named(Program{Items: []string{`E: .*`}}, "apt", "apt-get")...)
	return append(list, named(Program{Shows: true},
		"go list", "go doc", "go env", "go version", "go help", "npm ls", "npm list", "npm view", "npm outdated", "npm explain", "pnpm ls", "pnpm list", "pnpm why", "yarn list", "yarn why",
		"pip list", "pip show", "pip freeze", "cargo tree", "cargo metadata", "docker ps", "docker logs", "docker images", "docker inspect", "kubectl get", "kubectl describe", "kubectl logs",
		"brew list", "brew info", "mise ls", "mise tasks")...)
}

// runners returns the programs that run other programs.
func runners() []Program {
	return named(Program{
		Fail: `error: script "[^"]+" (?:exited with|was terminated).*|\[[\w:./-]+\] ERROR task failed.*|mise ERROR .*|g?make(?:\[\d+\])?: \*\*\* .*` +
			`|npm (?:ERR!|error) (?:Lifecycle script|code|Test failed|Missing script).*|ELIFECYCLE .*|ERR_PNPM_.*|error Command (?:failed|".*" not found).*|error: Recipe .*|error: Script not found .*` +
			`|task: Failed to run task .*|husky - .*(?:failed|exited with code).*|ERROR run failed: .*`,
		Items: []string{`error: unrecognized subcommand .*`},
		Runs:  true,
	}, "bun", "bun run", "bun x", "npm", "npm run", "npm test", "npm exec", "pnpm", "yarn", "make", "gmake", "ninja", "mise", "just", "task", "turbo", "nx", "lerna", "rake", "pre-commit", "tox", "nox", "docker", "husky", "lint-staged", "act")
}

// named returns p under each of names.
func named(p Program, names ...string) []Program {
	list := make([]Program, len(names))
	for i, name := range names {
		list[i] = p
		list[i].Name = name
	}
	return list
}
