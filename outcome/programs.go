package outcome

// programs is the table of common programs.
func programs() []Program {
	const (
		gitItem  = `(?:fatal|error): .*`
		conflict = `CONFLICT .*|Automatic merge failed.*|error: could not apply .*|Could not apply .*`
		moved    = `HEAD is now at .*|Switched to .*|Already on .*|Note: switching to .*`
		refs     = `[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40} +\S+ -> .*|[*+=-] \[?[^\]]+\]? +\S+(?: -> .*)?|[*+-] .* -> .*`
		changed  = `\d+ files? changed.*`
		rtk      = `ok ✓.*` // says of what it runs that it succeeded
		goItem   = `\S+\.go:\d+:\d+: .*`
		goTest   = `ok \S+ (?:\(cached\)|[\d.]+s)(?: .*)?`
	)
	commit := Program{
		Pass:  `\[[^\]]+ [0-9a-f]{7,40}\] .*|` + rtk,
		Fail:  `Aborting commit.*|FAILED: git .*`,
		Items: []string{`husky - .*|` + gitItem, `nothing (?:added )?to commit.*|no changes added to commit.*`},
		Note:  changed,
	}
	merge := Program{
		Pass:  `Already up to date\.|Fast-forward|Merge made by .*|Successfully rebased .*|Current branch .* is up to date\.|Squash commit .*`,
		Fail:  conflict + `|Aborting`,
		Items: []string{`CONFLICT .*`, gitItem},
		Note:  changed + `|` + refs,
	}
	move := Program{Pass: moved + `|Updated \d+ paths? from .*|Deleted branch .*`, Items: []string{gitItem}}
	runner := Program{
		Fail: `error: script "[^"]+" (?:exited with|was terminated).*|\[[\w:./-]+\] ERROR task failed.*|mise ERROR task .*|g?make(?:\[\d+\])?: \*\*\* .*|npm (?:ERR!|error) (?:Lifecycle script .*|code .*|Test failed.*|Missing script.*)` +
			`|ELIFECYCLE .*|ERR_PNPM_.*|error Command failed.*|error: Recipe .*|task: Failed to run task .*|husky - .*(?:failed|exited with code).*|FAILED: .*`,
		Runs: true,
	}
	list := []Program{
		{
			Name: "go test", Pass: goTest + `|PASS`,
			Fail: `FAIL|FAIL \S+ (?:[\d.]+s|\[.*\])|--- FAIL: .*`,
			Items: []string{
				`--- FAIL: .*|panic: .*|` + goItem,
				`\S+_test\.go:\d+: .*(?i:want|expect|got|should|unexpected|fail|error|must|not ).*`,
				`no required module .*|go: .*(?:cannot|not found|unknown|no such|updates to go\.mod).*|.*package \S+ is not in std.*|flag provided but not defined.*`,
			},
			Note: `DONE \d+ tests.*`, Quiet: false,
		},
		{Name: "gotestsum", Pass: `DONE \d+ tests?(?:, \d+ skipped)? in .*`, Fail: `DONE .*(?:failure|error).*|=== Failed`, Items: []string{`=== FAIL: .*|--- FAIL: .*|panic: .*|` + goItem}},
		{Name: "go build", Quiet: true, Items: []string{goItem, `\S+\.go:\d+: .*|go: .*(?:cannot|not found|unknown|no such|updates to go\.mod|does not contain).*|no required module .*|.*package \S+ is not in std.*`}},
		{Name: "go run", Fail: `exit status \d+`, Items: []string{goItem + `|panic: .*`, `no required module .*|go: .*(?:cannot|not found|unknown|no such|updates to go\.mod).*`}},
		{Name: "go mod", Items: []string{`go: .*(?:cannot|not found|unknown|no such|errors? parsing|invalid|missing).*`}, Quiet: true},
		{
			Name: "golangci-lint", Pass: `0 issues\.`, Fail: `[1-9]\d* issues?:|level=error .*`,
			Items: []string{goItem, `\S+\.go:\d+: .*`}, Note: `\* \w+: \d+`,
		},
		{Name: "gofmt", Quiet: true, Items: []string{goItem}},
		{Name: "staticcheck", Quiet: true, Items: []string{goItem}},

		{
			Name: "bun test", Pass: `0 fail`, Fail: `[1-9]\d* fail|[1-9]\d* errors?`,
			Items: []string{`\(fail\) .*`, `error: .*`}, Note: `\d+ pass|Ran \d+ tests? across .*`,
		},
		{Name: "bun install", Pass: `\d+ packages? installed.*|Checked \d+ installs? .*|Saved lockfile`, Items: []string{`error: .*`}},
		{Name: "bun build", Pass: `Bundled \d+ modules? in .*`, Items: []string{`error: .*`}},

		{
			Name: "biome", Pass: `Checked \d+ files? in .*`, Fail: `Found [1-9]\d* errors?\.|× Some errors were emitted .*`,
			Items: []string{`(?:at )?\S+(?::\d+:\d+)? (?:lint/\S+|format|organizeImports|assist/\S+|parse|suppressions/\S+)(?: .*)?`}, Note: `Found [1-9]\d* warnings?\.`,
		},
		{
			Name: "tsc", Quiet: true, Fail: `error TS\d+: .*|\S+\(\d+,\d+\): error TS\d+: .*|\S+:\d+:\d+ - error TS\d+: .*|Found [1-9]\d* errors?.*`,
			Items: []string{`\S+\(\d+,\d+\): error TS\d+: .*|\S+:\d+:\d+ - error TS\d+: .*`, `error TS\d+: .*`},
		},
		{
			Name: "eslint", Quiet: true, Pass: `✖ \d+ problems? \(0 errors, .*`, Fail: `✖ \d+ problems? \([1-9]\d* errors?, .*`,
			Items: []string{`\d+:\d+ error .*`},
		},

		{Name: "git add", Pass: rtk, Quiet: true, Items: []string{gitItem, `The following paths are ignored.*`}},
		{Name: "git rm", Note: `rm '.*`, Items: []string{gitItem}},
		{Name: "git push", Pass: refs + `|` + rtk + `|Everything up-to-date`, Fail: `! \[(?:remote )?rejected\] .*|error: failed to push .*`, Items: []string{`! \[.*|remote: error: .*`, gitItem}},
		{Name: "git fetch", Items: []string{gitItem}, Note: refs, Quiet: true},
		{Name: "git stash", Pass: `Saved working directory .*|No local changes to save|Dropped .*`, Fail: conflict, Items: []string{gitItem}},
		{Name: "git reset", Pass: `HEAD is now at .*`, Items: []string{gitItem}, Quiet: true},
		{Name: "git worktree", Pass: `HEAD is now at .*`, Items: []string{gitItem}, Note: `Preparing worktree .*`},
		{Name: "git clone", Items: []string{gitItem}, Note: `Cloning into .*`},
		{Name: "git init", Pass: `(?:Rei|I)nitialized .*`, Items: []string{gitItem}},
		{Name: "git tag", Pass: `Deleted tag .*`, Items: []string{gitItem}, Quiet: true},
		{Name: "git", Items: []string{gitItem}, Quiet: true},

		{Name: "gh", Pass: `https://\S+/(?:pull|issues)/\d+.*|✓ .*`, Items: []string{`X .*|! .*|GraphQL: .*|HTTP \d+: .*|gh: .*|(?:could not|failed to|unknown|no pull requests|no open|accepts|required|invalid) .*`}},
		{Name: "gh pr create", Pass: `https://\S+/pull/\d+.*`, Items: []string{`(?:pull request create failed|could not|failed to|a pull request for|GraphQL|HTTP \d|gh:|aborted|unknown).*`}},
	}
	for _, name := range []string{"go vet", "go install", "go generate", "go get", "go fmt", "go tool", "go"} {
		p := list[2]
		p.Name, p.Quiet = name, name != "go tool" && name != "go get" && name != "go"
		list = append(list, p)
	}
	list = append(list, named(commit, "git commit", "git cherry-pick", "git revert")...)
	list = append(list, named(merge, "git merge", "git pull", "git rebase", "git am")...)
	list = append(list, named(move, "git checkout", "git branch", "git switch", "git restore")...)
	return append(list, named(runner, "bun", "bun run", "npm", "pnpm", "yarn", "make", "gmake", "mise", "just", "task", "turbo", "nx", "lerna", "pre-commit", "tox", "nox", "docker", "npm run", "npm test")...)
}

// named returns a program under other names.
func named(p Program, names ...string) []Program {
	list := make([]Program, len(names))
	for i, name := range names {
		list[i] = p
		list[i].Name = name
	}
	return list
}
