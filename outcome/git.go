package outcome

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
)

// state finds the commit, the branch and the push in git's output.
func (j *judge) state() {
	verbs, short := j.gitVerbs()
	has := func(list string) bool {
		for v := range verbs {
			if text.HasWord(list, v) {
				return true
			}
		}
		return false
	}
	commits, moves := has("commit cherry-pick revert merge"), has("status commit checkout switch stash merge rebase pull cherry-pick revert")
	if !commits && !moves && !verbs["push"] {
		return
	}
	fetched := j.fetched()
	for _, l := range j.out.lines {
		if c, ok := commitOf(l.text); ok && commits {
			j.commit, j.branch = c, c.Branch
		}
		if verbs["push"] && !fetched[l.number] && pushed.Get().match(l.text) {
			j.pushed = true
		}
		if b, ok := branchOf(l.text, short); ok && moves {
			j.branch = b
		}
		short = short && !strings.HasPrefix(l.text, "## ")
	}
}

// gitVerbs returns the git commands on the command line without dry runs, and whether git status
// prints the branch in its short form before other commands print something. If the command line
// only asks for the branch, gitVerbs also records the branch.
func (j *judge) gitVerbs() (verbs map[string]bool, short bool) {
	verbs = make(map[string]bool)
	first := true // no other program has printed before
	for i := range j.line.Commands {
		c := &j.line.Commands[i]
		if c.Name != "git" || c.Inner {
			first = first && (c.Inner || c.Silent() || c.Name == "echo")
			continue
		}
		verb, args := c.Verb()
		switch {
		case verb == "commit" && slices.Contains(args, "--dry-run"):
			verb = "status" // that is what it prints
		case slices.Contains(args, "--dry-run"), verb == "push" && slices.Contains(args, "-n"):
			continue
		}
		verbs[verb] = true
		short = short || first && verb == "status" && slices.ContainsFunc(args, func(a string) bool {
			return a == "--branch" || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "b")
		})
		if verb == "branch" && slices.Equal(args, []string{"--show-current"}) && len(j.line.Commands) == 1 && len(j.out.lines) == 1 && !j.out.failed {
			j.branch = j.out.lines[0].text
		}
	}
	return verbs, short
}

// fetched returns the numbers of the lines that a fetch or a pull printed, if there is one on the
// command line. A push prints the same lines about branches, but behind a line "To".
func (j *judge) fetched() map[int]bool {
	lines := make(map[int]bool)
	fetches := slices.ContainsFunc(j.line.Commands, func(c shell.Command) bool {
		verb, _ := c.Verb()
		return c.Name == "git" && text.HasWord("fetch pull remote", verb)
	})
	for _, l := range j.out.lines {
		if !fetches {
			break
		}
		if strings.HasPrefix(l.text, "To ") {
			fetches = false
		}
		lines[l.number] = l.text != "Everything up-to-date"
	}
	return lines
}

// commitOf parses the line in which git reports a commit: [main 1a2b3c4] Subject.
func commitOf(s string) (*Commit, bool) {
	if s[0] != '[' {
		return nil, false
	}
	head, subject, ok := strings.Cut(s[1:], "] ")
	if !ok {
		return nil, false
	}
	i := strings.LastIndexByte(head, ' ')
	if i <= 0 || !IsHash(head[i+1:]) {
		return nil, false
	}
	return &Commit{Branch: strings.TrimSuffix(head[:i], " (root-commit)"), Hash: head[i+1:], Subject: subject}, true
}

// IsHash reports whether a word can be the hash of a commit.
func IsHash(w string) bool {
	return len(w) >= 7 && len(w) <= 64 && strings.Trim(w, "0123456789abcdef") == ""
}

// branchOf returns the current branch that a line of git names. Lines with ## occur elsewhere as
// headings; they count only if status is true.
func branchOf(s string, status bool) (string, bool) {
	for _, head := range [...]string{"Switched to branch '", "Switched to a new branch '", "Switched to and reset branch '", "Already on '"} {
		if rest, ok := strings.CutPrefix(s, head); ok {
			if b, ok := strings.CutSuffix(rest, "'"); ok {
				return b, true
			}
		}
	}
	if rest, ok := strings.CutPrefix(s, "## "); ok && status { // git status -sb
		rest, more, _ := strings.Cut(rest, " ")
		rest, _, _ = strings.Cut(rest, "...")
		return rest, more == "" || more[0] == '['
	}
	rest, ok := strings.CutPrefix(s, "On branch ")
	return rest, ok && !strings.Contains(rest, " ")
}
