package outcome

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// state finds the commit, the branch and the push in git's output.
func (j *judge) state() {
	verbs, dry, short := j.gitVerbs()
	has := func(list string) bool {
		for v := range verbs {
			if text.HasWord(list, v) {
				return true
			}
		}
		return false
	}
	commits, moves := has("commit cherry-pick revert merge") && !dry, has("status commit checkout switch stash merge rebase pull cherry-pick revert")
	if !commits && !moves && !verbs["push"] {
		return
	}
	for _, l := range j.out.lines {
		if c, ok := commitOf(l.text); ok && commits {
			j.commit, j.branch = c, c.Branch
		}
		if verbs["push"] && !dry && pushed.Get().match(l.text) {
			j.pushed = true
		}
		if b, ok := branchOf(l.text, short); ok && moves {
			j.branch = b
		}
	}
}

// gitVerbs returns the git commands on the command line, whether they are a dry run, and
// whether one of them is git status. If the command line only asks for the branch, gitVerbs
// also records the branch.
func (j *judge) gitVerbs() (verbs map[string]bool, dry, short bool) {
	verbs = make(map[string]bool)
	for i := range j.line.Commands {
		c := &j.line.Commands[i]
		if c.Name != "git" || c.Inner {
			continue
		}
		verb, args := c.Verb()
		trial := slices.Contains(args, "--dry-run") || verb == "push" && slices.Contains(args, "-n")
		dry = trial && (dry || !verbs[verb])
		verbs[verb] = true
		short = short || verb == "status"
		if verb == "branch" && slices.Equal(args, []string{"--show-current"}) && len(j.line.Commands) == 1 && len(j.out.lines) == 1 && !j.out.failed {
			j.branch = j.out.lines[0].text
		}
	}
	return verbs, dry, short
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

// branchOf returns the current branch that a line of git names. Some of these lines occur
// elsewhere as headings; they count only in the output of a status.
func branchOf(s string, status bool) (string, bool) {
	for _, head := range [...]string{"Switched to branch '", "Switched to a new branch '", "Switched to and reset branch '", "Already on '"} {
		if rest, ok := strings.CutPrefix(s, head); ok {
			if b, ok := strings.CutSuffix(rest, "'"); ok {
				return b, true
			}
		}
	}
	if rest, ok := strings.CutPrefix(s, "## "); ok && status { // git status -sb
		rest, _, _ = strings.Cut(rest, " ")
		rest, _, _ = strings.Cut(rest, "...")
		return rest, rest != "HEAD" && rest != "No"
	}
	rest, ok := strings.CutPrefix(s, "On branch ")
	return rest, ok && !strings.Contains(rest, " ")
}
